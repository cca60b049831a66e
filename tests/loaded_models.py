"""A service's models, read once for all processes that tests fork, which then start in half the time.

They compute in one thread, for a fork has no others: what measures a service does without them.
"""

import gc
from unittest.mock import patch

from graphrag.embeddings import multilingual_e5, reader
from graphrag.embeddings.e5 import open_tokenizer

if tokenizer := open_tokenizer():
    with patch.object(multilingual_e5, "THREADS", 1), patch.object(reader, "THREADS", 1):
        reader.open_reader()
        multilingual_e5.open_query_encoder(tokenizer.weights)
    multilingual_e5.open_document_encoder(tokenizer.weights)
gc.freeze()  # what is read by now stays: every process would look through it for garbage
