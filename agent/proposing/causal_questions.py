"""Questions for the causes that a document states."""

from collections.abc import Iterator

from agent.proposing.questions import MadeQuestion, ReadDocument
from agent.proposing.wording import ask, ask_cause, has_verb
from graphrag.causal_graph.extraction import extract_relations
from graphrag.graph_models import CausalRelation, Polarity, RelationType

SURE = 0.7  # confidence in a relation: below it the wording may mean something else


def causal_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Of the relations that are facts, as the causal graph reads them; the answer is what the document says of it."""
    for relation in extract_relations(read.text, language=read.language):
        if relation.polarity is not Polarity.FACT or relation.confidence < SURE or not read.is_harmless(relation.quote):
            continue
        effect = read.read(relation.effect)
        question = ask("why", effect, read.language)
        if question is None and _is_predicate(read, relation):
            question = ask_cause(effect, read.language, triggered=relation.type is RelationType.TRIGGERS)
        if question:
            quote = read.text[relation.quote.start : relation.quote.end]
            yield MadeQuestion(question, read.read(relation.quote), quote, "causal", "cause")


def _is_predicate(read: ReadDocument, relation: CausalRelation) -> bool:
    """A verb or a colon stands between cause and effect: then they are noun phrases, whatever verbs we know."""
    first, last = sorted((relation.cause, relation.effect), key=lambda span: span.start)
    between = read.text[first.end : last.start]
    return ":" in between or has_verb(between, read.language)
