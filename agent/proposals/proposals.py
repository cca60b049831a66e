"""Golden cases proposed from documents: questions are made, tried with our own retrieval, and kept for a person."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import ceil
from uuid import UUID

from agent.evaluation.golden_run import DEEPEST, rank_documents
from agent.proposals.model_questions import model_questions
from agent.proposals.questions import MadeQuestion, ReadDocument
from agent.proposals.rule_questions import (
    causal_questions,
    cost_questions,
    dated_questions,
    role_questions,
    row_questions,
)
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import DocumentNotFound
from graphrag.linguistics.language import ANSWER_LANGUAGES, content_stems
from graphrag.models import Collection, Document
from graphrag.models.evaluation import CaseProposal, Difficulty, DocumentProposal, Method, query_key
from graphrag.observability.telemetry import log
from graphrag.services import Services

RULES: tuple[Callable[[ReadDocument], Iterator[MadeQuestion]], ...] = (
    causal_questions,
    dated_questions,
    cost_questions,
    row_questions,
    role_questions,
)
WORDED_ALIKE = 0.75  # share of a question's words in its quote, from which on it is an easy one
CANDIDATES = 3  # other documents that may answer, too
ALL_CHUNKS = 10**6


@dataclass(frozen=True, slots=True)
class Proposed:
    proposals: tuple[CaseProposal, ...]
    method: Method  # rules: no model was asked, or none answered
    calls: int  # of the chat model
    warnings: tuple[str, ...]


async def propose_cases(
    collection: Collection,
    *,
    services: Services,
    documents: Sequence[str] = (),
    limit: int = 20,
    method: Method = "rules",
    max_calls: int | None = None,
) -> Proposed:
    """Propose at most `limit` new golden cases, spread over the documents.

    `documents` names them by id, source or filename; by default all are read. `max_calls` limits the calls of the chat
    model within the settings' limit. If the chat model is not allowed, fails, or has used up its calls or its time, the
    rules replace it, with a warning. Raises DocumentNotFound, EmbeddingModelUnavailable or CollectionNotFound.
    """
    chosen = _choose(await services.store.list_documents(collection), documents)
    allowed = services.settings.proposals.proposal_calls
    maker = _Maker(services, collection, allowed if max_calls is None else min(max_calls, allowed))
    if method == "model":
        maker.begin_asking()
    trial = _SearchTrial(
        services,
        collection,
        services.collections.retrieval_config(collection, {})[0],
    )
    made: list[DocumentProposal] = []
    async for proposal in _spread(chosen, maker, trial, limit):
        made.append(proposal)
        if len(made) == limit:
            break
    by: Method = "model" if any(of.method == "model" for of in made) else "rules"
    proposals = await services.proposals.add(collection, made) if made else []
    return Proposed(tuple(proposals), by, maker.calls, tuple(dict.fromkeys(maker.warnings)))


def _choose(known: Iterable[Document], names: Sequence[str]) -> list[Document]:
    now = datetime.now(UTC)
    there = [document for document in known if document.expires_at is None or document.expires_at > now]
    there.sort(key=lambda document: (document.filename, document.id))
    if not names:
        return there
    called = {name: [of for of in there if name in (str(of.id), of.source, of.filename)] for name in names}
    for name, found in called.items():
        if not found:
            raise DocumentNotFound(f"There is no document {name!r} in the collection.", document=name)
    wanted = {document.id for found in called.values() for document in found}
    return [document for document in there if document.id in wanted]


async def _spread(
    documents: Sequence[Document], maker: "_Maker", trial: "_SearchTrial", limit: int
) -> AsyncIterator[DocumentProposal]:
    """An equal share of each document, then what is left."""
    share = max(1, ceil(limit / max(1, len(documents))))
    left: list[tuple[Document, Method, MadeQuestion]] = []
    for document in documents:
        method, questions = await maker.make(document)
        new = [(document, method, question) for question in await trial.without_known(questions)]
        left += new[share:]
        for each in new[:share]:
            yield await trial.propose(*each)
    for each in left:
        yield await trial.propose(*each)


@dataclass(slots=True)
class _Maker:
    """Makes questions of one document after another."""

    services: Services
    collection: Collection
    calls_left: int
    calls: int = 0
    warnings: list[str] = field(default_factory=list)
    _until: float = 0.0  # on the loop's clock; 0: no model is asked

    def begin_asking(self) -> None:
        if not self.services.settings.generation.chat_model:
            self.warnings.append("by rules: there is no chat model (RAG_CHAT_MODEL)")
        elif not self.services.collections.may_read(self.collection):
            self.warnings.append(
                "by rules: the collection has a chat model of its own, which is asked for answers alone"
            )
        else:
            self._until = asyncio.get_running_loop().time() + self.services.settings.proposals.proposal_seconds

    async def make(self, document: Document) -> tuple[Method, list[MadeQuestion]]:
        chunks = await self.services.store.read_chunks(self.collection, [(document.id, 0, ALL_CHUNKS)])
        read = ReadDocument(document, chunks.get(document.id, ()))
        if self._until and (asked := await self._ask(read)) is not None:
            return "model", asked
        if document.language not in ANSWER_LANGUAGES:
            self.warnings.append(f"the rules make questions of documents in {', '.join(ANSWER_LANGUAGES)} alone")
            return "rules", []
        return "rules", await asyncio.to_thread(_by_rules, read)

    async def _ask(self, read: ReadDocument) -> list[MadeQuestion] | None:
        if self.calls >= self.calls_left:
            self.warnings.append(f"by rules from call {self.calls_left} on: no more are allowed")
            return None
        if asyncio.get_running_loop().time() < self._until:
            self.calls += 1
            try:
                async with asyncio.timeout_at(self._until):
                    return await model_questions(read, self.services.background_chat_models[0].model)
            except Exception as exc:  # every vendor has its own tree
                log.warning("questions of a document by rules alone", error=type(exc).__name__)
        self.warnings.append("by rules where the chat model failed, or took too long")
        return None


def _by_rules(read: ReadDocument) -> list[MadeQuestion]:
    """One of each kind in turn: a person wants to see different ones first."""
    by_kind = [list(make(read)) for make in RULES]
    longest = max(map(len, by_kind))
    return [questions[place] for place in range(longest) for questions in by_kind if place < len(questions)]


@dataclass(frozen=True, slots=True)
class _SearchTrial:
    """Asks our own retrieval, as golden cases do."""

    services: Services
    collection: Collection
    config: RetrievalConfig

    async def without_known(self, questions: Sequence[MadeQuestion]) -> list[MadeQuestion]:
        """Remove golden cases and questions that were proposed before."""
        by_key = {query_key(question.text): question for question in reversed(questions)}
        known = await self.services.proposals.find_known(self.collection, list(by_key))
        return [of for of in questions if by_key[query_key(of.text)] is of and query_key(of.text) not in known]

    async def propose(self, document: Document, method: Method, question: MadeQuestion) -> DocumentProposal:
        answer = await rank_documents(
            question.text,
            pipeline=replace(self.services.retrieval.measured(), refiner=None),  # each model's call counts
            collection=self.collection,
            config=self.config,
            name=lambda of: str(of.id),
        )
        found = answer.ranking[:DEEPEST]
        rank = found.index(str(document.id)) if str(document.id) in found else None
        others = [UUID(name) for name in found if name != str(document.id)]
        return DocumentProposal(
            question.text,
            document.id,
            document.content_hash,
            question.answer,
            question.quote,
            question.category,
            _difficulty(question, rank, document.language),
            (question.kind,),
            method,
            tuple(others[:CANDIDATES]),
        )


def _difficulty(question: MadeQuestion, rank: int | None, language: str) -> Difficulty:
    """Return how hard the question is for retrieval.

    Hard: the document is not among the first ten. Easy: it is the first, and the question has the words of its passage.
    """
    if rank is None:
        return "hard"
    asked, told = content_stems(question.text, language), content_stems(question.quote, language)
    return "easy" if rank == 0 and len(asked & told) >= WORDED_ALIKE * len(asked) else "medium"
