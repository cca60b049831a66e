"""Questions for the causes that a document states."""

from collections.abc import Iterator

from agent.proposing.questions import MadeQuestion, ReadDocument
from agent.proposing.wording import ask, ask_cause
from graphrag.causal_graph.extraction import extract_relations
from graphrag.graph_models import Polarity, RelationType

SURE = 0.7  # confidence in a relation: below it the wording may mean something else


def causal_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Of the relations that are facts, as the causal graph reads them; the answer is what the document says of it."""
    for relation in extract_relations(read.text, language=read.language):
        if relation.polarity is not Polarity.FACT or relation.confidence < SURE or not read.is_harmless(relation.quote):
            continue
        effect = read.read(relation.effect)
        triggered = relation.type is RelationType.TRIGGERS
        question = ask("why", effect, read.language) or ask_cause(effect, read.language, triggered=triggered)
        if question:
            quote = read.text[relation.quote.start : relation.quote.end]
            yield MadeQuestion(question, read.read(relation.quote), quote, "causal", "cause")
