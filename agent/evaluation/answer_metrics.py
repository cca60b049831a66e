"""Answer a golden question, and measure the answer."""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence, Set
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import Any, ClassVar, Protocol, cast
from uuid import UUID

from langchain_core.messages import HumanMessage

from agent.context import Context
from agent.graph import graph
from agent.output.outcomes import Outcome, read_outcome, read_short_answer
from agent.verification.checking import CheckedStatement, Verification
from agent.verification.statements import MARK, find_statements
from agent.verification.support import Support
from graphrag.errors import ProviderError
from graphrag.linguistics.language import fold, words
from graphrag.models import Collection, Passage
from graphrag.observability.request_context import changed_context
from graphrag.observability.telemetry import log
from graphrag.services import Services


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer as a person would have been shown it, and its passages."""

    verification: Verification
    passages: tuple[Passage, ...]
    is_refusal: bool  # nothing was found, or only passages on the subject
    chat_model: str | None  # None: it was refused without asking one
    failed: tuple[str, ...]  # stages that were done without
    milliseconds: float
    first_token_milliseconds: float | None


async def answer_question(
    question: str, *, services: Services, collection: Collection, retrieval: Mapping[str, Any]
) -> GivenAnswer | None:
    """Answer a golden question by the agent's graph, without a conversation.

    None means that no model answered.
    """
    context = Context(services=services, owner_id=collection.owner_id, opened=(collection,), retrieval=dict(retrieval))
    try:
        with changed_context(is_evaluation=True):
            return await _answer(question, context)
    except ProviderError as exc:
        log.warning("golden question without an answer", error=exc)
        return None


async def _answer(question: str, context: Context) -> GivenAnswer:
    state: dict[str, Any] = {}
    first: float | None = None
    started = perf_counter()
    parts = graph.astream({"messages": [HumanMessage(question)]}, context=context, stream_mode=["custom", "values"])
    async with aclosing(cast(AsyncGenerator[tuple[str, Any], None], parts)) as stream:
        async for mode, payload in stream:
            if mode == "values":
                state = payload
            elif payload["event"] == "token" and first is None:
                first = _since(started)
    return _given(state, milliseconds=_since(started), first_token_milliseconds=first)


def _since(started: float) -> float:
    return round((perf_counter() - started) * 1000, 3)


def _given(state: dict[str, Any], **times: Any) -> GivenAnswer:
    verification: Verification = state["verification"]
    return GivenAnswer(
        verification=verification,
        passages=tuple(state["passages"]),
        is_refusal=read_outcome(verification.answer, state["query"].language) is not Outcome.ANSWERED,
        chat_model=state["chat_model"],
        failed=tuple(dict.fromkeys(state["degraded"])),
        **times,
    )


SENSIBLE_WORDS = 35  # of an answer to an ordinary question
# Name → what it is; of each, more is better. Of these, a run has either the judged ones or the estimates.
ANSWER_METRICS = {
    "faithfulness": "share of an answer's statements that its context supports, by a model's judgement",
    "answer_relevance": "how well it answers the question, and agrees with the expected answer, by a model's judgement",
    "faithfulness_estimate": "share of an answer's statements that its context seems to support, by words and meaning",
    "answer_relevance_estimate": "how near it is to the expected answer and the question, by words and meaning",
    "citation_precision": "share of an answer's citations that carry what they are cited for",
    "citation_recall": "share of an answer's statements that a citation carries",
    "cited_relevant": "1 where a relevant document is cited",
    "short_answer": "agreement of the short answer's words with the expected answer's (F1); 0 where there is none",
    "conciseness": f"1 for an answer of at most {SENSIBLE_WORDS} words, less for a longer one",
    "refused_rightly": "1 where a question without an answer is refused or shown only what comes closest, else 0",
    "answered": "1 where a question with an answer is answered, 0 where it is refused or shown only what comes closest",
}


class AnswerJudge(Protocol):
    """A judge of answers: both values are in [0, 1], and both methods raise ProviderError without a verdict."""

    suffix: ClassVar[str]  # of its metrics' names: that of an estimate says so

    async def faithfulness(self, statements: Sequence[str], passages: Sequence[Passage]) -> float: ...

    async def relevance(self, answer: str, *, question: str, expected: str, passages: Sequence[Passage]) -> float: ...


def measure_answer(given: GivenAnswer, *, relevant: Sequence[UUID] | Set[UUID], expected: str = "") -> dict[str, float]:
    """Return the metrics that need no judge. No relevant document: the collection holds no answer."""
    refused = float(given.is_refusal)
    if not relevant:
        return {**measure_citations(given.verification), "refused_rightly": refused}
    cited = {citation.document_id for citation in given.verification.citations}
    return {
        **measure_citations(given.verification),
        **({} if given.is_refusal else _measure_wording(given.verification.answer, expected)),
        "cited_relevant": float(bool(cited & set(relevant))),
        "answered": 1.0 - refused,
    }


def _measure_wording(answer: str, expected: str) -> dict[str, float]:
    count = len(words(MARK.sub("", answer)))
    wording = {"conciseness": min(1.0, SENSIBLE_WORDS / max(1, count))}
    if expected:
        wording["short_answer"] = _f1(read_short_answer(answer), expected)
    return wording


def _f1(text: str, expected: str) -> float:
    """Return the harmonic mean of precision and recall of a text's words against the expected ones, as SQuAD has it."""
    told, wanted = (Counter(map(fold, words(each))) for each in (text, expected))
    shared = (told & wanted).total()
    return 2 * shared / (told.total() + wanted.total()) if shared else 0.0


def measure_citations(verification: Verification) -> dict[str, float]:
    """Precision is not defined where nothing is cited, recall where nothing is stated."""
    metrics = {}
    if cited := verification.citations:
        metrics["citation_precision"] = sum(each.status is Support.SUPPORTED for each in cited) / len(cited)
    if stated := verification.statements:
        metrics["citation_recall"] = sum(map(_is_cited, stated)) / len(stated)
    return metrics


def _is_cited(statement: CheckedStatement) -> bool:
    """Return whether marks of the answer support the statement, one of them or all together."""
    return statement.status is Support.SUPPORTED and any(not citation.implied for citation in statement.citations)


async def judge_answer(
    given: GivenAnswer, judge: AnswerJudge, *, question: str, expected: str, is_answerable: bool
) -> tuple[dict[str, float], tuple[str, ...]]:
    """Return the judge's metrics, and the names of those that it gave no usable value for.

    Faithfulness is not defined where nothing is stated, as in a refusal; without a context nothing is supported. The
    relevance of a refusal or of an empty answer is 0, and not defined where there is no answer to the question.
    """
    name, relevance = f"faithfulness{judge.suffix}", f"answer_relevance{judge.suffix}"
    statements = () if given.is_refusal else stated_in(given.verification.answer)
    text = MARK.sub("", given.verification.answer).strip()
    metrics: dict[str, float] = {}
    asked: dict[str, Callable[[], Awaitable[float]]] = {}
    if statements and not given.passages:
        metrics[name] = 0.0
    elif statements:
        asked[name] = partial(judge.faithfulness, statements, given.passages)
    if is_answerable and (given.is_refusal or not text):
        metrics[relevance] = 0.0
    elif is_answerable:
        asked[relevance] = partial(judge.relevance, text, question=question, expected=expected, passages=given.passages)
    judged = {each: await _verdict(ask) for each, ask in asked.items()}
    metrics |= {each: value for each, value in judged.items() if value is not None}
    return metrics, tuple(each for each, value in judged.items() if value is None)


async def _verdict(ask: Callable[[], Awaitable[float]]) -> float | None:
    try:
        return await ask()
    except ProviderError as exc:
        log.warning("answer left unjudged", error=exc)
        return None


def stated_in(answer: str) -> tuple[str, ...]:
    """Its statements without their marks, and without headings, greetings and what is ours."""
    return tuple(each.text for each in find_statements(answer) if each.states or each.numbers)


def count_statements(verification: Verification) -> dict[str, int]:
    return dict(sorted(Counter(each.status.value for each in verification.statements).items()))
