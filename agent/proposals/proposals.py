"""Golden cases proposed from documents: questions are made, tried with our own retrieval, and kept for a person."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import ceil
from uuid import UUID

from agent.evaluation.golden_run import DEEPEST, rank_documents
from agent.proposals.model_questions import model_questions
from agent.proposals.questions import MadeQuestion, ReadDocument, questions_by_rules
from graphrag.errors import DocumentNotFound
from graphrag.linguistics.language import ANSWER_LANGUAGES, content_stems
from graphrag.models import Collection, Document
from graphrag.models.evaluation import CaseProposal, Difficulty, DocumentProposal, Method, query_key
from graphrag.observability.telemetry import log
from graphrag.services import Services

WORDED_ALIKE = 0.75  # share of a question's words in its quote, from which on it is an easy one
MAX_CANDIDATES = 3  # other documents that may answer, too
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
    settings = services.settings.proposals
    allowed = settings.proposal_calls if max_calls is None else min(max_calls, settings.proposal_calls)
    maker = _QuestionMaker(services, collection, max_calls=allowed, asks_model=method == "model")
    documents_left = _choose(await services.store.list_documents(collection), documents)
    made: list[DocumentProposal] = []
    while documents_left and len(made) < limit:
        share = ceil((limit - len(made)) / len(documents_left))
        document = documents_left.pop(0)
        by, questions = await maker.make(document)
        new = await _without_known(questions, collection, services)
        made += [await _try(question, by, document, collection, services) for question in new[:share]]
    proposals = await services.proposals.add(collection, made) if made else []
    is_by_model = any(proposal.method == "model" for proposal in made)
    return Proposed(
        tuple(proposals), "model" if is_by_model else "rules", maker.calls, tuple(dict.fromkeys(maker.warnings))
    )


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


class _QuestionMaker:
    """Makes questions of one document after another: by the chat model while it may be asked, else by rules."""

    def __init__(self, services: Services, collection: Collection, *, max_calls: int, asks_model: bool) -> None:
        self.calls = 0
        self.warnings: list[str] = []
        self._services, self._collection, self._max_calls = services, collection, max_calls
        self._asks_model = False
        self._deadline = asyncio.get_running_loop().time() + services.settings.proposals.proposal_seconds
        if asks_model and not services.settings.generation.chat_model:
            self.warnings.append("by rules: there is no chat model (RAG_CHAT_MODEL)")
        elif asks_model and not services.collections.may_read(collection):
            self.warnings.append(
                "by rules: the collection has a chat model of its own, which is asked for answers alone"
            )
        else:
            self._asks_model = asks_model

    async def make(self, document: Document) -> tuple[Method, list[MadeQuestion]]:
        chunks = await self._services.store.read_chunks(self._collection, [(document.id, 0, ALL_CHUNKS)])
        read = ReadDocument(document, chunks.get(document.id, ()))
        if self._asks_model and (questions := await self._ask_model(read)) is not None:
            return "model", questions
        if document.language not in ANSWER_LANGUAGES:
            self.warnings.append(f"the rules make questions of documents in {', '.join(ANSWER_LANGUAGES)} alone")
            return "rules", []
        return "rules", await asyncio.to_thread(questions_by_rules, read)

    async def _ask_model(self, read: ReadDocument) -> list[MadeQuestion] | None:
        if self.calls >= self._max_calls:
            self.warnings.append(f"by rules from call {self._max_calls} on: no more are allowed")
            return None
        if asyncio.get_running_loop().time() < self._deadline:
            self.calls += 1
            try:
                async with asyncio.timeout_at(self._deadline):
                    return await model_questions(read, self._services.background_chat_models[0].model)
            except Exception as exc:  # every vendor has its own tree
                log.warning("chat model made no questions of a document", error=type(exc).__name__)
        self.warnings.append("by rules where the chat model failed, or took too long")
        return None


async def _without_known(
    questions: Sequence[MadeQuestion], collection: Collection, services: Services
) -> list[MadeQuestion]:
    """Return the questions that are no golden cases and were not proposed before, each once."""
    first: dict[str, MadeQuestion] = {}
    for question in questions:
        first.setdefault(query_key(question.text), question)
    known = await services.proposals.find_known(collection, list(first))
    return [question for key, question in first.items() if key not in known]


async def _try(
    question: MadeQuestion, method: Method, document: Document, collection: Collection, services: Services
) -> DocumentProposal:
    """Ask our own retrieval, as golden cases do: where it ranks the document tells how difficult the question is."""
    config, _ = services.collections.retrieval_config(collection, {})
    answer = await rank_documents(
        question.text,
        pipeline=replace(services.retrieval.measured(), refiner=None),  # each model's call counts
        collection=collection,
        config=config,
        name=lambda found: str(found.id),
    )
    ranking = [UUID(name) for name in answer.ranking[:DEEPEST]]
    return DocumentProposal(
        question.text,
        document.id,
        document.content_hash,
        question.answer,
        question.quote,
        question.category,
        _difficulty(question, document, ranking),
        (question.kind,),
        method,
        tuple(found for found in ranking if found != document.id)[:MAX_CANDIDATES],
    )


def _difficulty(question: MadeQuestion, document: Document, ranking: Sequence[UUID]) -> Difficulty:
    """Return hard where retrieval does not find the document, easy where it is first and worded like the question."""
    if document.id not in ranking:
        return "hard"
    asked, told = (content_stems(text, document.language) for text in (question.text, question.quote))
    is_worded_alike = len(asked & told) >= WORDED_ALIKE * len(asked)
    return "easy" if ranking[0] == document.id and is_worded_alike else "medium"
