"""A document as it is read for questions, of a text alone."""

from agent.proposals.questions import ReadDocument
from tests.factories import make_chunk, make_document


def read_text(text: str, language: str = "es") -> ReadDocument:
    document = make_document(language=language)
    return ReadDocument(document, [make_chunk(text, document=document)])
