"""The graph of one answer, without a language model: which way a question takes, and what is done without."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any
from uuid import UUID

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph.state import CompiledStateGraph
from pydantic import Field

from agent import nodes
from agent.context import Context
from agent.graph import graph
from agent.messages import say
from agent.output import answer_writing
from agent.output import events as agent_events
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import (
    CollectionNotFound,
    DatabaseUnavailable,
    InvalidFilter,
    InvalidQuestion,
    RetrievalUnavailable,
)
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.models import LOCAL_OWNER, Chunk, Collection, Hit
from graphrag.retrieval import pipeline
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import DOCUMENTS, ask, data_of, done, filenames, open_library, stages, tokens, with_parts
from tests.answering import unsure_answers as unsure_answers
from tests.graphrag.embeddings.stubborn import failing

pytestmark = pytest.mark.usefixtures("unsure_answers")

COST = "¿Cuánto costó la reparación del puente de Arenal?"
CAUSE = "¿Por qué se cerró el puente de Arenal?"
UNKNOWN = {
    "es": "¿Quién ganó el campeonato de ajedrez?",
    "fr": "Qui a gagné le championnat d'échecs ?",
    "en": "Who won the chess championship?",
}


class BreakableStore(InMemoryStore):
    """Fails where it is told to, like a database that went away."""

    def __init__(self) -> None:
        super().__init__()
        self.broken: set[str] = set()

    async def search_fulltext(self, collection: Collection, words: Sequence[str], **options: Any) -> list[Hit]:
        self._check("search_fulltext")
        return await super().search_fulltext(collection, words, **options)

    async def read_chunks(
        self, collection: Collection, spans: Sequence[tuple[UUID, int, int]]
    ) -> dict[UUID, list[Chunk]]:
        self._check("read_chunks")
        return await super().read_chunks(collection, spans)

    def _check(self, name: str) -> None:
        if name in self.broken:
            raise DatabaseUnavailable(f"{name} is broken, on purpose")


class NoCollections(InMemoryStore):
    """Another's shelves, which it does not list."""

    def __init__(self, other: object) -> None:
        self.__dict__.update(vars(other))

    async def list_collections(self, owner_id: str) -> list[Collection]:
        raise AssertionError("read twice")


class FailingReranker:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        raise TimeoutError("the reranker is down, on purpose")


class ReversingReranker:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        return list(hits)[::-1][:top_k]


class FailingModel(ExtractiveChatModel):
    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        raise TimeoutError("the model is down, on purpose")
        yield


class ListeningModel(FakeListChatModel):
    """Says what it was given, a character at a time, and remembers what it was told."""

    heard: list[list[BaseMessage]] = Field(default_factory=list)
    said: int = 0  # characters

    async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        self.heard.append(messages)
        async for chunk in super()._astream(messages, *args, **kwargs):
            self.said += 1
            yield chunk


@pytest.fixture
def store() -> BreakableStore:
    return BreakableStore()


@pytest.fixture
async def library(registry: EmbeddingRegistry, store: BreakableStore) -> Services:
    return await open_library(registry, store=store, least_share=0.0)


def break_embeddings(services: Services, registry: EmbeddingRegistry) -> Services:
    return with_parts(services, embeddings=EmbeddingRegistry([failing(registry.models[registry.default])]))


async def test_an_answer_quotes_and_cites_its_document(library: Services) -> None:
    """R8.3, R8.8 Without any model: the evidence's own sentence, its mark, its place in the document."""
    answer = done(await ask(library, COST))
    assert answer["answer"].startswith("**9.240 euros** — La reparación costó 9.240 euros. [1]")
    citation = answer["citations"][0]
    assert citation["quote"] == "La reparación costó 9.240 euros."
    assert DOCUMENTS["puente.md"][citation["start_char"] : citation["end_char"]] == citation["quote"]
    assert (citation["filename"], citation["title"]) == ("puente.md", "Informe del puente")
    assert (citation["chunk_index"], citation["status"]) == (0, "supported")
    assert (answer["found"], answer["degraded"], answer["unsupported_statements"]) == (True, [], [])
    assert (answer["language"], answer["intent"]) == ("es", "factual")


@pytest.mark.parametrize(
    ("question", "name"),
    [
        (COST, "puente.md"),
        ("Qui est le directeur de la bibliothèque ?", "bibliotheque.md"),
        ("How often must the boiler be serviced?", "boiler.md"),
    ],
)
async def test_three_languages_find_their_document(library: Services, question: str, name: str) -> None:
    """R8.3 The first source is the document that answers, and the answer cites it."""
    answer = done(await ask(library, question))
    assert filenames(answer["sources"])[0] == name
    assert {citation["filename"] for citation in answer["citations"]} == {name}


async def test_sources_are_spans_of_their_documents(library: Services) -> None:
    """R8.3, R4.7 Numbered from 1; each content is the text at its offsets."""
    answer = done(await ask(library, COST))
    assert [source["number"] for source in answer["sources"]] == list(range(1, len(answer["sources"]) + 1))
    for source in answer["sources"]:
        assert DOCUMENTS[source["filename"]][source["start_char"] : source["end_char"]] == source["content"]


async def test_reliability_is_the_share_of_sources_used(library: Services) -> None:
    """R8.9 used / available."""
    answer = done(await ask(library, COST))
    used = {citation["number"] for citation in answer["citations"]}
    assert answer["reliability"] == round(len(used) / len(answer["sources"]), 3) > 0


@pytest.mark.parametrize("language", UNKNOWN)
async def test_what_the_documents_do_not_hold_is_not_answered(library: Services, language: str) -> None:
    """R8.5 The refusal in the question's language, as a miss, without a citation."""
    events = await ask(library, UNKNOWN[language])
    answer = done(events)
    assert answer["answer"] == say("not_found", language) == "".join(tokens(events))
    assert (answer["found"], answer["language"]) == (False, language)
    assert (answer["citations"], answer["unsupported_statements"], answer["reliability"]) == ([], [], 0.0)


@pytest.mark.parametrize("language", UNKNOWN)
async def test_an_empty_collection_is_refused_without_a_model(registry: EmbeddingRegistry, language: str) -> None:
    """R8.5 Nothing found: said at once; the model is not asked."""
    services = await open_library(registry, {}, store=InMemoryStore())
    model = ListeningModel(responses=["something invented"])
    services = with_parts(services, chat_model=model)
    events = await ask(services, UNKNOWN[language])
    assert stages(events) == ["retrieve", "rerank", "expand"]
    assert done(events)["answer"] == say("empty_collection", language) == "".join(tokens(events))
    assert (done(events)["outcome"], done(events)["sources"], model.heard) == ("none", [], [])


async def test_a_causal_question_follows_the_graph(library: Services) -> None:
    """R7.2 Causal intent → traversal; the reason is the answer."""
    events = await ask(library, CAUSE)
    assert "traverse" in stages(events)
    assert done(events)["intent"] == "causal"


async def test_a_question_of_several_parts_follows_the_graph(library: Services) -> None:
    """R6.1, R8.7 Each part is searched; the answer cites a document for each."""
    events = await ask(library, "¿Cuánto costó la reparación del puente y quién es el directeur de la bibliothèque?")
    assert "traverse" in stages(events)
    assert set(filenames(done(events)["citations"])) == {"puente.md", "bibliotheque.md"}


async def test_a_factual_question_does_not_follow_the_graph(library: Services) -> None:
    """R7.2"""
    assert stages(await ask(library, COST)) == ["retrieve", "rerank", "expand", "generate", "verify"]


@pytest.mark.parametrize("question", [COST, CAUSE, UNKNOWN["fr"]])
async def test_the_order_of_events(library: Services, question: str) -> None:
    """R8.9 Status first, sources before the first token, a citation after its mark, done last."""
    events = await ask(library, question)
    names = [event["event"] for event in events]
    assert names[0] == "status"
    assert names.count("sources") == names.count("done") == 1
    assert names.index("sources") < names.index("token")
    assert names[-1] == "done"
    said = ""
    marks = 0
    for event in events:
        if event["event"] == "token":
            said += event["data"]["text"]
        if event["event"] == "citation":
            marks += 1
            assert said.endswith(f"[{event['data']['number']}]")
            assert said.count("[") == marks
    assert data_of(events, "citation") == done(events)["citations"]
    assert data_of(events, "sources")[0]["sources"] == done(events)["sources"]


@pytest.mark.parametrize("question", [COST, CAUSE, UNKNOWN["en"]])
async def test_tokens_join_to_the_answer(library: Services, question: str) -> None:
    """R8.9 Streamed and not streamed, the same text."""
    events = await ask(library, question)
    assert len(tokens(events)) > 5
    assert "".join(tokens(events)) == done(events)["answer"]


async def test_events_are_json(library: Services) -> None:
    """R8.9 Any door can send them as they are."""
    for event in await ask(library, CAUSE):
        assert json.loads(json.dumps(event)) == event


async def test_answer_gives_what_the_stream_ends_with(library: Services) -> None:
    """R8.9 Streaming and non-streaming."""
    streamed = done(await ask(library, COST))
    whole = await agent_events.answer(graph, [HumanMessage(COST)], Context(services=library))
    assert {**whole, "timings_ms": {}} == {**streamed, "timings_ms": {}}


async def test_timings_name_every_stage(library: Services) -> None:
    """R11.2 Latency per stage, in milliseconds, within the total."""
    timings = done(await ask(library, COST))["timings_ms"]
    assert set(timings) == {
        *("transform", "retrieve", "fulltext", "vector", "fuse", "rerank", "expand", "generate", "verify", "total")
    }
    assert all(0 <= value <= timings["total"] for value in timings.values())


async def test_plain_chat_reaches_the_model_without_excerpts(library: Services) -> None:
    """R8.10 rag_enabled false: history and question only; no search."""
    model = ListeningModel(responses=["Hola de nuevo."])
    library = with_parts(library, chat_model=model)
    messages: list[AnyMessage] = [HumanMessage("Hola"), AIMessage("Hola."), HumanMessage(COST)]
    events = await ask(library, messages, rag_enabled=False)
    (heard,) = model.heard
    assert [message.text for message in heard[1:]] == ["Hola", "Hola.", COST]
    assert "9.240" not in str(heard)
    assert stages(events) == ["generate", "verify"]
    assert done(events)["answer"] == "".join(tokens(events)) == "Hola de nuevo."
    assert (done(events)["sources"], done(events)["citations"], done(events)["found"]) == ([], [], True)


async def test_rag_can_be_off_for_all(registry: EmbeddingRegistry) -> None:
    """R8.10 RAG_ENABLED=false; without a model, it is said that one is needed."""
    services = await open_library(registry, store=InMemoryStore(), enabled=False)
    events = await ask(services, COST)
    assert stages(events) == ["generate", "verify"]
    assert done(events)["answer"] == say("no_chat_model", "es")


async def test_top_k_bounds_the_sources(library: Services) -> None:
    """R4.10 Per request; else RAG_CHAT_TOP_K."""
    assert filenames(done(await ask(library, COST, top_k=1))["sources"]) == ["puente.md"]
    assert len(done(await ask(library, COST))["sources"]) == 3


async def test_reranking_can_be_turned_off(library: Services) -> None:
    """R5.2 disabled → original order."""
    library = with_parts(library, reranker=ReversingReranker())
    reranked = filenames(done(await ask(library, COST))["sources"])
    events = await ask(library, COST, rerank=False)
    assert filenames(done(events)["sources"]) == reranked[::-1]
    assert done(events)["degraded"] == []
    assert "rerank" not in done(events)["timings_ms"]


def first_fields(events: Sequence[Any]) -> tuple[list[str], list[str]]:
    answer = done(events)
    return filenames(answer["sources"]), answer["warnings"]


async def test_a_request_says_how_is_searched(library: Services) -> None:
    """R4.10 strategy and depth per request; what is not valid is passed over, with a warning in the answer."""
    sources, warnings = first_fields(await ask(library, COST, retrieval={"top_k": 1, "strategy": "fulltext"}))
    assert (sources, warnings) == (["puente.md"], [])
    events = await ask(library, COST, retrieval={"strategy": "semantic", "top_k": 0, "temperature": 2})
    assert "fulltext" not in done(events)["timings_ms"]
    assert len(done(events)["sources"]) == 3
    ignored = [warning.partition(" is not used")[0] for warning in done(events)["warnings"]]
    assert ignored == ["top_k=0", "'temperature'=2"]


async def test_the_fields_of_their_own_count_more(library: Services) -> None:
    """R4.10 top_k and rerank stay what they were."""
    assert len(done(await ask(library, COST, top_k=1, retrieval={"top_k": 3}))["sources"]) == 1
    events = await ask(library, COST, rerank=False, retrieval={"rerank": True})
    assert "rerank" not in done(events)["timings_ms"]


async def test_a_collection_says_how_it_is_searched(library: Services) -> None:
    """R4.10 per collection; a request counts more."""
    await library.store.configure_collection(
        await library.collections.open(LOCAL_OWNER, None), {"rerank": False, "top_k": 2}
    )
    events = await ask(library, COST)
    assert len(done(events)["sources"]) == 2
    assert "rerank" not in done(events)["timings_ms"]
    assert "rerank" in done(await ask(library, COST, retrieval={"rerank": True}))["timings_ms"]


async def test_windows_can_be_off(registry: EmbeddingRegistry) -> None:
    """R4.10, R2.4"""
    services = await open_library(registry, store=InMemoryStore(), chunk_tokens=24, chunk_overlap_tokens=0)
    question = "¿Cuánto costó la reparación?"
    grown, bare = [
        done(await ask(services, question, top_k=1, retrieval={"window_sentences": window}))["sources"][0]["content"]
        for window in (2, 0)
    ]
    assert bare in grown != bare


async def test_filters_bound_the_sources(library: Services) -> None:
    """R4.5"""
    for filters in ({"language": "fr"}, {"filename": ["bibliotheque.md"]}):
        sources, warnings = first_fields(await ask(library, COST, filters=filters))
        assert (sources, warnings) == (["bibliotheque.md"], [])
    with pytest.raises(InvalidFilter, match="owner_id"):
        await ask(library, COST, filters={"owner_id": "x"})


async def test_a_question_that_names_files_is_answered_from_them(library: Services) -> None:
    """R4.5, R8.7"""
    sources, _ = first_fields(await ask(library, "¿Qué se cerró según boiler.md y puente.md?", top_k=2))
    assert set(sources) == {"boiler.md", "puente.md"}
    sources, warnings = first_fields(await ask(library, "¿Qué se cerró según tejado.md?"))
    assert len(sources) == 3
    assert "tejado.md" in warnings[0]


async def test_a_collection_that_a_door_has_read_is_not_read_again(library: Services) -> None:
    opened = await library.collections.open(LOCAL_OWNER, None)
    services = with_parts(library, store=NoCollections(library.store))
    context = Context(services=services, opened=(opened,))
    assert (await agent_events.answer(graph, [HumanMessage(COST)], context))["found"]


async def test_embedder_down(library: Services, registry: EmbeddingRegistry) -> None:
    """R4.1, R11.1 Full text still answers; what is missing is shown in the question's language."""
    library = break_embeddings(library, registry)
    answer = done(await ask(library, COST))
    assert answer["degraded"] == ["vector"]
    assert answer["degraded_messages"] == [say("degraded_vector", "es")]
    assert (answer["found"], filenames(answer["citations"])[0]) == (True, "puente.md")


async def test_full_text_down(library: Services, store: BreakableStore) -> None:
    """R4.1, R11.1 Vectors still answer."""
    store.broken = {"search_fulltext"}
    answer = done(await ask(library, "How often must the boiler be serviced?"))
    assert answer["degraded"] == ["fulltext"]
    assert answer["degraded_messages"] == [say("degraded_fulltext", "en")]
    assert (answer["found"], filenames(answer["citations"])[0]) == (True, "boiler.md")


async def test_a_leg_that_is_down_is_named_once(library: Services, registry: EmbeddingRegistry) -> None:
    """R11.1 Also where a question of two parts searches three times."""
    library = break_embeddings(library, registry)
    answer = done(await ask(library, "¿Cuánto costó el puente y quién es el directeur de la bibliothèque?"))
    assert answer["degraded"] == ["vector"]


async def test_both_searches_down(library: Services, store: BreakableStore, registry: EmbeddingRegistry) -> None:
    """R11.1 Then nothing can be searched, which is no «not found»."""
    store.broken = {"search_fulltext"}
    library = break_embeddings(library, registry)
    with pytest.raises(RetrievalUnavailable):
        await ask(library, COST)


async def test_reranker_down(library: Services) -> None:
    """R5.2, R11.1 failure → original order, within top_k."""
    library = with_parts(library, reranker=FailingReranker())
    retrieved = filenames(done(await ask(library, CAUSE, rerank=False))["sources"])
    answer = done(await ask(library, CAUSE, top_k=2))
    assert answer["degraded"] == ["rerank"]
    assert filenames(answer["sources"]) == retrieved[:2]
    assert filenames(answer["citations"])[0] == "puente.md"


async def test_expansion_down(registry: EmbeddingRegistry, store: BreakableStore) -> None:
    """R2.4, R11.1 The passages are the bare chunks, which still answer."""
    services = await open_library(registry, store=store, chunk_tokens=24, chunk_overlap_tokens=0)
    question = "¿Cuánto costó la reparación?"
    grown = done(await ask(services, question, top_k=1))["sources"][0]
    store.broken = {"read_chunks"}
    answer = done(await ask(services, question, top_k=1))
    bare = answer["sources"][0]
    assert answer["degraded"] == ["expand"]
    assert "La reparación costó 9.240 euros." in bare["content"]
    assert bare["content"] in grown["content"]
    assert len(bare["content"]) < len(grown["content"])
    assert answer["citations"][0]["quote"] == "La reparación costó 9.240 euros."


async def test_transformation_down(library: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """R6.2, R11.1 The question is searched as it is written."""

    def fail(*args: object) -> None:
        raise RuntimeError("the rules are broken, on purpose")

    monkeypatch.setattr(pipeline, "transform", fail)
    answer = done(await ask(library, CAUSE))
    assert answer["degraded"] == ["transform"]
    assert (answer["intent"], filenames(answer["citations"])[0]) == ("factual", "puente.md")


async def test_model_down(library: Services) -> None:
    """R8.8, R11.1 The extractive model takes its place."""
    library = with_parts(library, chat_model=FailingModel())
    answer = done(await ask(library, COST))
    assert answer["degraded"] == ["generate"]
    assert answer["answer"].startswith("**9.240 euros** — La reparación costó 9.240 euros. [1]")


async def test_a_check_that_fails_in_mid_answer_does_not_end_it(
    library: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8.9 The answer is whole, and checked when it is over."""

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("no check")

    monkeypatch.setattr(answer_writing, "cite", fail)
    events = await ask(library, COST)
    assert data_of(events, "citation") == []
    assert (done(events)["degraded"], done(events)["citations"][0]["status"]) == ([], "supported")


async def test_verification_down(library: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """R8.4, R11.1 The answer stands, unverified, and says so."""

    def fail(answer: str, passages: object) -> None:
        raise RuntimeError("verification is broken, on purpose")

    monkeypatch.setattr(nodes, "verify_citations", fail)
    answer = done(await ask(library, COST))
    assert (answer["degraded"], answer["citations"]) == (["verify"], [])
    assert answer["degraded_messages"] == [say("degraded_verify", "es")]
    assert answer["answer"].startswith("**9.240 euros** — La reparación costó 9.240 euros.")


async def test_everything_that_can_be_done_without_at_once(
    library: Services, store: BreakableStore, registry: EmbeddingRegistry
) -> None:
    """R11.1 Partial results: four stages fail, the answer is there."""
    store.broken = {"read_chunks"}
    library = break_embeddings(library, registry)
    library = with_parts(library, reranker=FailingReranker(), chat_model=FailingModel())
    answer = done(await ask(library, COST))
    assert answer["degraded"] == ["vector", "rerank", "expand", "generate"]
    assert answer["citations"][0]["quote"] == "La reparación costó 9.240 euros."


@pytest.mark.parametrize(
    ("question", "reason"), [("  ", "empty"), ("x" * 4_001, "too_long"), ("¿\0?", "control_characters")]
)
async def test_what_is_no_question_is_refused(library: Services, question: str, reason: str) -> None:
    """R9.1, security 10: before anything is searched."""
    with pytest.raises(InvalidQuestion) as caught:
        await ask(library, question)
    assert caught.value.details["reason"] == reason


async def test_an_unknown_collection_is_named(library: Services) -> None:
    """R9.3 With those that there are."""
    with pytest.raises(CollectionNotFound, match="default") as caught:
        await ask(library, COST, collection="nóminas")
    assert caught.value.details == {"name": "nóminas", "known": ["default"]}


async def test_another_owner_finds_nothing(library: Services) -> None:
    """R4.8 Not even the collection."""
    with pytest.raises(CollectionNotFound) as caught:
        await ask(library, COST, owner_id="somebody-else")
    assert caught.value.details["known"] == []


@pytest.fixture
def remembering_graph() -> CompiledStateGraph[Any, Context, Any, Any]:
    return graph.builder.compile(checkpointer=MemorySaver())


async def test_a_thread_does_not_carry_degraded_over(
    remembering_graph: CompiledStateGraph[Any, Context, Any, Any], library: Services, registry: EmbeddingRegistry
) -> None:
    """R11.1 What failed for the last question says nothing of this one."""

    async def turn(question: str) -> dict[str, Any]:
        return await remembering_graph.ainvoke(
            {"messages": [HumanMessage(question)]},
            {"configurable": {"thread_id": "one"}},
            context=Context(services=library),
        )

    library = break_embeddings(library, registry)
    assert (await turn(COST))["degraded"] == ["vector"]
    library = with_parts(library, embeddings=registry)
    second = await turn("How often must the boiler be serviced?")
    assert second["degraded"] == []
    assert second["question"] == "How often must the boiler be serviced?"
    assert [message.type for message in second["messages"]] == ["human", "ai", "human", "ai"]
    assert second["messages"][-1].text.startswith("**Twelve months** — The boiler must be serviced")
    assert {passage.document.filename for passage in second["passages"]} == set(DOCUMENTS)


async def test_a_thread_that_found_nothing_finds_again(
    remembering_graph: CompiledStateGraph[Any, Context, Any, Any], library: Services
) -> None:
    """R8.5 A refusal does not stay with the thread, nor does an answer hide a refusal."""
    config: Any = {"configurable": {"thread_id": "two"}}
    answers = []
    for question in (UNKNOWN["es"], COST, UNKNOWN["es"]):
        state = await remembering_graph.ainvoke(
            {"messages": [HumanMessage(question)]}, config, context=Context(services=library)
        )
        answers.append(state["verification"].answer)
    assert answers[0] == answers[2] == say("not_found", "es")
    assert "9.240" in answers[1]


async def test_stage_outputs_are_not_kept_with_the_thread(
    remembering_graph: CompiledStateGraph[Any, Context, Any, Any], library: Services
) -> None:
    """Design 5: messages are checkpointed; passages, hits and checks are not."""
    config: Any = {"configurable": {"thread_id": "three"}}
    await remembering_graph.ainvoke({"messages": [HumanMessage(COST)]}, config, context=Context(services=library))
    assert set((await remembering_graph.aget_state(config)).values) == {"messages", "question", "degraded"}


async def test_a_stream_that_is_closed_stops_the_model(library: Services) -> None:
    """Security 18: nothing is generated after the reader left."""
    model = ListeningModel(responses=["una respuesta larga " * 20], sleep=0.005)
    library = with_parts(library, chat_model=model)
    async with aclosing(agent_events.stream_answer(graph, [HumanMessage(COST)], Context(services=library))) as events:
        async for event in events:
            if event["event"] == "token":
                break
    said = model.said
    await asyncio.sleep(0.1)
    assert 0 < said == model.said < len(model.responses[0])
