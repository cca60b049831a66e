"""Keywords by meaning: of a document's phrases, those that are nearest to all of it and far from each other.

KeyBERT's way (Grootendorst 2020), with the collection's embeddings in place of a model of its own.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from graphrag.ingestion.keywords import Phrase, different
from graphrag.models import Document
from graphrag.rerankers.mmr import cosines, pick

Vector = Sequence[float]
MOST_PHRASES = 20  # best first; with more of them come clauses that were written once
DIVERSITY = 0.2
NOT_EMBEDDED = "its keywords are not chosen by meaning: the embedding model failed"


def with_keywords(
    document: Document, phrases: Sequence[Phrase], vectors: Sequence[Vector | None], *, chunks: Sequence[Vector | None]
) -> Document:
    """Given the vectors of its phrases and of its chunks, None where there is none. Where one of its phrases has none
    it keeps its keywords, and gets a warning."""
    known = [vector for vector in vectors if vector is not None]
    if len(known) < len(phrases):
        return replace(document, warnings=(*document.warnings, NOT_EMBEDDED))
    whole = np.mean([vector for vector in chunks if vector is not None], axis=0)
    relevances = cosines([whole, *known])[0, 1:].tolist()
    order = pick(relevances, known, diversity=DIVERSITY, top_k=len(phrases))
    return replace(document, keywords=different(phrases[index] for index, _ in order))
