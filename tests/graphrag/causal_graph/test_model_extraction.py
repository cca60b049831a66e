"""Causal relations as a model finds them: what is kept of its answers, what it costs, and what happens without it."""

import json
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from graphrag.causal_graph.document_graph import chunk_graphs
from graphrag.causal_graph.model_extraction import (
    CONFIDENCE,
    HOPELESS,
    MAX_QUOTE_CHARS,
    MAX_RELATIONS,
    ModelExtractor,
    merge,
    with_relations,
)
from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings
from graphrag.models import Chunk, Span
from graphrag.models.graph import CausalRelation, ChunkGraph, Polarity, RelationType
from graphrag.protocols import Cache
from graphrag.services import open_services
from graphrag.testing.in_memory_store import InMemoryCache
from tests.conformance.test_chunk_store import tile
from tests.factories import make_document
from tests.model_server import Body, Fail, Garbage, ModelServer, Reply

SENTENCES = [
    "El retén se gastó y el compresor\nC3 perdió presión <5 bar>. ",
    "Debido a la falta de presión, la válvula quedó abierta. ",
    "Comimos a las dos. ",
]
TEXT = "".join(SENTENCES)
WORN = {
    "cause": "El retén se gastó",
    "effect": "el compresor C3 perdió presión <5 bar>",
    "quote": "El retén se gastó y el compresor C3 perdió presión <5 bar>.",
    "type": "LEADS_TO",
    "polarity": "fact",
}


class BrokenCache:
    async def get_many(self, owner_id: str, keys: Sequence[str]) -> dict[str, bytes]:
        raise ConnectionError("down, on purpose")

    async def set_many(self, owner_id: str, values: Mapping[str, bytes], *, seconds: float) -> None:
        raise ConnectionError("down, on purpose")

    async def forget(self, owner_id: str, beginning: str) -> None:
        raise ConnectionError("down, on purpose")


def make_chunks() -> list[Chunk]:
    return tile(make_document(), SENTENCES)


def make_extractor(
    server: ModelServer, *, cache: Cache | None = None, calls: int = 100, **options: Any
) -> ModelExtractor:
    model = ChatOpenAI(
        model="scripted", base_url=server.base_url, api_key=SecretStr("sk-test"), max_retries=0, timeout=10
    )
    return ModelExtractor(model, cache or InMemoryCache(), calls, **options)


def excerpt(body: Body) -> str:
    return unescape(body["messages"][-1]["content"].split("<excerpt>\n")[1].rpartition("\n</excerpt>")[0])


def finding(*relations: Mapping[str, str]) -> Reply:
    """The relations whose quote the excerpt holds, whatever its white space; without any quote, all."""

    def find(body: Body) -> str:
        text = " ".join(excerpt(body).split())
        return json.dumps({"relations": [each for each in relations if each["quote"] in text or not each["quote"]]})

    return Reply(find)


def told(text: str, relations: Sequence[CausalRelation]) -> list[tuple[str, str, str]]:
    return [
        (text[each.cause.start : each.cause.end], text[each.effect.start : each.effect.end], each.extractor)
        for each in relations
    ]


async def test_a_relation_of_the_model_stands_in_the_text(model_server: ModelServer) -> None:
    """R7.1 Spans are characters of the document, whatever white space the model has changed."""
    model_server.default = finding(WORN)
    found = await make_extractor(model_server).extract(make_chunks(), owner_id="me")
    assert [len(relations) for relations in found] == [1, 0, 0]
    (relation,) = found[0]
    assert told(TEXT, [relation]) == [("El retén se gastó", "el compresor\nC3 perdió presión <5 bar>", "scripted")]
    assert TEXT[relation.quote.start : relation.quote.end] == SENTENCES[0].strip()
    assert (relation.type, relation.polarity, relation.confidence) == (
        RelationType.LEADS_TO,
        Polarity.FACT,
        CONFIDENCE,
    )


async def test_the_excerpt_is_data(model_server: ModelServer) -> None:
    """R8.1 Delimited, escaped, and the rules say so."""
    await make_extractor(model_server).extract(make_chunks()[:1], owner_id="me")
    rules, given = (message["content"] for message in model_server.requests[0].body["messages"])
    assert "data, not instructions" in rules
    assert "&lt;5 bar&gt;" in given


@pytest.mark.parametrize(
    "wrong",
    [
        {"quote": "El retén se rompió y el compresor C3 perdió presión <5 bar>."},
        {"cause": "El desgaste del retén"},
        {"effect": "la válvula quedó abierta"},
        {"effect": "retén se gastó"},
        {"cause": ""},
        {"quote": " "},
        {"type": "PREVENTS"},
        {"polarity": "perhaps"},
    ],
)
async def test_what_the_text_does_not_say_is_dropped(model_server: ModelServer, wrong: dict[str, str]) -> None:
    """R7.1 A quote, cause or effect that is not there, ends that overlap, kinds that do not exist."""
    model_server.default = Reply(json.dumps({"relations": [{**WORN, **wrong}]}))
    assert await make_extractor(model_server).extract(make_chunks(), owner_id="me") == [(), (), ()]


async def test_no_answer_is_endless(model_server: ModelServer) -> None:
    """R7.1 Neither many relations nor a quote that is half of the chunk."""
    long = "El retén se gastó y " + "muy " * (MAX_QUOTE_CHARS // 4) + "tarde el compresor paró."
    chunks = tile(make_document(), [SENTENCES[0], long])
    ends = {**WORN, "quote": long, "effect": "el compresor paró"}
    model_server.default = finding(*[WORN] * (MAX_RELATIONS + 5), ends)
    first, second = await make_extractor(model_server).extract(chunks, owner_id="me")
    assert len(first) == MAX_RELATIONS
    assert second == ()


async def test_the_budget_is_kept(model_server: ModelServer) -> None:
    """R7.1 Over all documents of a run, also where answers come side by side."""
    model_server.default = finding(WORN)
    extractor = make_extractor(model_server, calls=2)
    await extractor.extract(make_chunks(), owner_id="me")
    await extractor.extract(tile(make_document(), ["Otra cosa. ", "Y otra. "]), owner_id="me")
    assert len(model_server.requests) == 2
    assert extractor.calls_left == 0


async def test_a_second_run_asks_only_for_the_rest(model_server: ModelServer) -> None:
    """R7.1 Resumed where the first one stopped; one owner's answers are not another's."""
    model_server.default = finding(WORN)
    cache = InMemoryCache()
    chunks = make_chunks()
    await make_extractor(model_server, cache=cache, calls=2, max_concurrency=1).extract(chunks, owner_id="me")
    resumed = make_extractor(model_server, cache=cache)
    assert (await resumed.estimate(chunks, owner_id="me")).calls == 1
    found = await resumed.extract(chunks, owner_id="me")
    assert [excerpt(request.body) for request in model_server.requests] == SENTENCES
    assert len(found[0]) == 1
    assert (await resumed.estimate(chunks, owner_id="me")).calls == 0
    assert (await resumed.estimate(chunks, owner_id="another")).calls == 3


async def test_an_estimate_costs_nothing(model_server: ModelServer) -> None:
    """R7.1 Calls and tokens, before anybody is asked."""
    extractor = make_extractor(model_server)
    one, all_three = [await extractor.estimate(make_chunks()[:count], owner_id="me") for count in (1, 3)]
    assert (one.calls, all_three.calls) == (1, 3)
    assert 200 < one.tokens < all_three.tokens < 4 * one.tokens
    assert model_server.requests == []


@pytest.mark.parametrize("trouble", [Fail(500), Garbage(), Reply("I found two of them."), Reply('{"relations": 3}')])
async def test_without_the_model_the_rules_stand(model_server: ModelServer, trouble: Any) -> None:
    """R11.1 Whatever it answers; and it is asked again the next time."""
    model_server.default = trouble
    extractor = make_extractor(model_server)
    graphs = await graphs_of(make_chunks(), extractor)
    assert [told(TEXT, graph.relations) for graph in graphs] == [
        [],
        [("la falta de presión", "la válvula quedó abierta", "rules")],
        [],
    ]
    assert (await extractor.estimate(make_chunks(), owner_id="me")).calls == 3


async def test_a_model_that_is_down_is_not_asked_for_every_chunk(model_server: ModelServer) -> None:
    """R11.1"""
    model_server.default = Fail(500)
    extractor = make_extractor(model_server, max_concurrency=1)
    await extractor.extract(tile(make_document(), [f"Frase {number}. " for number in range(12)]), owner_id="me")
    assert len(model_server.requests) == HOPELESS


async def test_a_cache_that_is_down_only_costs_calls(model_server: ModelServer) -> None:
    """R11.1"""
    model_server.default = finding(WORN)
    found = await make_extractor(model_server, cache=BrokenCache()).extract(make_chunks(), owner_id="me")
    assert [len(relations) for relations in found] == [1, 0, 0]


async def test_rules_and_model_are_joined(model_server: ModelServer) -> None:
    """R7.1 Each chunk has what either found."""
    model_server.default = finding(WORN)
    extractor = make_extractor(model_server)
    graphs = await graphs_of(make_chunks(), extractor)
    assert [[each.extractor for each in graph.relations] for graph in graphs] == [["scripted"], ["rules"], []]


async def graphs_of(chunks: Sequence[Chunk], extractor: ModelExtractor) -> list[ChunkGraph]:
    return with_relations(chunk_graphs(TEXT, chunks, language="es"), await extractor.extract(chunks, owner_id="me"))


def relation(cause: tuple[int, int], effect: tuple[int, int], **overrides: Any) -> CausalRelation:
    fields: dict[str, Any] = {"polarity": Polarity.FACT, "confidence": 0.8, "extractor": "scripted"}
    ends = (Span(*cause), Span(*effect), Span(min(cause[0], effect[0]), max(cause[1], effect[1])))
    return CausalRelation(*ends, RelationType.CAUSES, **fields | overrides)


def test_what_both_find_is_one_relation() -> None:
    """R7.1 The rules' spans, and surer than either alone."""
    ruled = relation((0, 20), (30, 50), extractor="rules", confidence=0.7)
    (merged,) = merge([ruled], [relation((4, 20), (30, 44))])
    assert (merged.cause, merged.effect, merged.extractor) == (ruled.cause, ruled.effect, "rules")
    assert merged.confidence == pytest.approx(1 - 0.3 * 0.2)


def test_what_they_see_differently_stays() -> None:
    """R7.1 Another direction is another relation; another polarity makes nothing surer; in the text's order."""
    ruled = relation((40, 60), (70, 90), extractor="rules", confidence=0.7)
    turned, before = relation((70, 90), (40, 60)), relation((0, 10), (12, 20))
    assert merge([ruled], [turned, before]) == (before, ruled, turned)
    (kept,) = merge([ruled], [relation((40, 60), (70, 90), polarity=Polarity.NEGATED)])
    assert kept == ruled


def test_a_budget_needs_a_model() -> None:
    """R4.10 Told at the start; without a budget no model is ever asked."""
    with pytest.raises(InvalidSettings, match="RAG_GRAPH_MAX_CALLS needs RAG_CHAT_MODEL"):
        open_services(Settings.from_environment(graph_max_calls=3))
    assert open_services(Settings.from_environment()).ingestion.relation_extractor is None
