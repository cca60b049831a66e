"""A document as it is read for questions, of a text alone."""

from agent.proposing.questions import ReadDocument
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document


def read_text(text: str, language: str = "es") -> ReadDocument:
    return ReadDocument(make_document(language=language), tile(make_document(language=language), [text]))
