"""What a service reads from disk before it answers: once, by the process that the others are forked from."""

from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.linguistics import language

language.load()
BundledEmbeddings()
