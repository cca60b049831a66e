"""What a service reads from disk before it answers: once, by the process that the others are forked from."""

from graphrag import language
from graphrag.embeddings.bundled import BundledEmbeddings

language.load()
BundledEmbeddings()
