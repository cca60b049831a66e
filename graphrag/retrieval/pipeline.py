"""READ FIRST in this folder. The retrieval pipeline, from a question to the passages of an answer, stage by stage.

transform → (refine) → retrieve → rerank → expand by graph → (traverse) → expand. `find` runs what a search needs; the
agent's nodes call the stages one by one.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import chain
from typing import Any, Self

from graphrag.causal_graph import traversal
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import CausewayError
from graphrag.extractive_answers.table_answers import asks_what_is_late
from graphrag.ingestion.tables.typed_tables import TypedTable
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.models import EVERYTHING, Collection, Document, Filters, Hit, Intent, Passage, TransformedQuery
from graphrag.models.graph import CausalPath
from graphrag.observability.request_context import identify
from graphrag.observability.telemetry import count_degraded, count_results, log, stage
from graphrag.protocols import ChunkStore, GraphStore, Reranker, Retriever, read_from_each
from graphrag.query_transformation.follow_ups import Exchange
from graphrag.query_transformation.refinement import Refiner
from graphrag.query_transformation.transformation import check_question, transform
from graphrag.rerankers.bundled import read_question
from graphrag.rerankers.mmr import one_per_document_first
from graphrag.resilience.deadline import lacks_time, within
from graphrag.resilience.load_shedding import Effort
from graphrag.retrieval import expansion, hybrid
from graphrag.retrieval.collections import Collections
from graphrag.retrieval.expansion import ExpansionWindow
from graphrag.retrieval.graph_expansion import expand_by_graph, leads_on
from graphrag.retrieval.hybrid import UNCACHED, QueryCache
from graphrag.retrieval.named_files import each_file_first
from graphrag.retrieval.query import Query, Retrieval, SearchResult, Trace
from graphrag.table_queries.answers import (
    AnsweredPlan,
    TableAnswer,
    best_plan,
    explain_no_plan,
    is_of_sheet,
    refer_to_tables,
    write_answer,
)
from graphrag.table_queries.columns import in_one_currency
from graphrag.table_queries.planner import TablePlanner
from graphrag.table_queries.plans import run_plan
from graphrag.table_queries.reading import asks_to_compute

FEWER_CANDIDATES = 25
HIGH_LOAD = "load"  # a reason, among the names of degraded stages
TABLE_HITS, TABLE_DOCUMENTS = 8, 3  # whose tables are asked whole
TABLE_CHARS = 6_000  # of a table that are read to find what is late in it


@dataclass(frozen=True, slots=True)
class SearchRequest:
    question: str
    collections: tuple[str | None, ...] = (None,)  # their names; None: the default one
    overrides: Mapping[str, Any] = field(default_factory=dict)  # of RetrievalConfig: {"top_k": 5}
    filters: Filters = EVERYTHING
    offset: int = 0
    min_score: float = 0.0


@dataclass(frozen=True)
class RetrievalPipeline:
    collections: Collections
    store: ChunkStore
    graph: GraphStore
    reranker_of: Callable[[Sequence[Collection], Effort], Reranker]
    cache: QueryCache = UNCACHED
    retriever: Retriever | None = None  # of another service's documents
    refiner: Refiner | None = None  # None: the rules alone transform a question
    planner: TablePlanner | None = None  # None: the rules and the scored plans alone ask tables

    def measured(self) -> Self:
        """Return the pipeline as evaluations use it: without caches, over the collection's own documents alone."""
        return replace(self, collections=replace(self.collections, cache=None), cache=UNCACHED, retriever=None)

    async def find(
        self, request: SearchRequest, owner_id: str, *, effort: Effort = Effort.FULL, trace: Trace | None = None
    ) -> SearchResult:
        """Run the whole search that a request asks for.

        Raises InvalidQuestion, CollectionNotFound, EmbeddingModelUnavailable, RetrievalUnavailable or OutOfTime.
        """
        question = check_question(request.question, max_chars=self.collections.settings.search.max_question_chars)
        collections = await self.collections.open_all(owner_id, request.collections)
        query = await self.plan(
            TransformedQuery(question, ANSWER_LANGUAGES[0], Intent.FACTUAL),
            collections,
            request.overrides,
            filters=request.filters,
            effort=effort,
            trace=trace,
        )
        query.trace.begin(query)
        transformed, failed = await self.transform(question)
        query.trace.understand(transformed)
        query = query.change(lambda each: replace(each, transformed=transformed))
        found = await self.search(query, offset=request.offset, min_score=request.min_score)
        found = replace(found, failed=(*failed, *found.failed))
        count_degraded(found.failed)
        return found

    async def plan(
        self,
        transformed: TransformedQuery,
        collections: Sequence[Collection],
        overrides: Mapping[str, Any],
        *,
        filters: Filters = EVERYTHING,
        effort: Effort = Effort.FULL,
        top_k: int | None = None,
        trace: Trace | None = None,
    ) -> Query:
        """Return the query with the configuration and the models that apply. Raises EmbeddingModelUnavailable."""
        trace = trace or Trace()
        queries: list[Query] = []
        for collection in reversed(collections):  # logs name the configuration that is read last: the first one's
            config, ignored = self.collections.retrieval_config(collection, overrides, top_k=top_k)
            config, left_out = simplified(config, effort)
            model = await self.collections.embedding_model(collection)
            warnings = tuple(ignored)
            queries.append(Query(transformed, collection, model, config, filters, effort, warnings, left_out, trace))
        identify(collection=" ".join(str(collection.id) for collection in collections))
        first, *others = reversed(queries)
        return replace(
            first,
            warnings=tuple(dict.fromkeys(chain.from_iterable(query.warnings for query in (first, *others)))),
            left_out=tuple(dict.fromkeys(chain.from_iterable(query.left_out for query in (first, *others)))),
            others=tuple(others),
        )

    async def search(self, query: Query, *, offset: int = 0, min_score: float = 0.0) -> SearchResult:
        """Return `config.top_k` hits from `offset` on, of those that score `min_score` or more.

        Raises RetrievalUnavailable or OutOfTime.
        """
        config = query.config
        found = await self.retrieve(query.change(lambda each: each.deepened(offset + config.top_k)))
        ranked = await self.rerank(query, found.hits, files=found.files)
        query.trace.end("rerank", ranked.hits)
        led = await self.expand_by_graph(query.within(found.files), ranked.hits)
        query.trace.end("graph", led.hits)
        return SearchResult(
            query,
            page(led.hits, config, offset=offset, min_score=min_score),
            (*found.failed, *ranked.failed, *led.failed, *lacks_time(), *query.left_out),
            found.strategy,
            (*query.warnings, *found.warnings),
            found.files,
        )

    async def transform(
        self, question: str, earlier: Sequence[Exchange] = (), *, refined_for: Sequence[Collection] = ()
    ) -> tuple[TransformedQuery, tuple[str, ...]]:
        """Return the question as it is understood, and "transform" where that failed in part.

        `refined_for`: the collections whose answers a chat model refines it for, where one may read them.
        """
        transformed = TransformedQuery(question, ANSWER_LANGUAGES[0], Intent.FACTUAL)
        try:
            with stage("transform"):
                transformed = await asyncio.to_thread(transform, question, earlier)
                if self.refiner and refined_for and self.collections.may_read(*refined_for):
                    async with within("transform"):
                        refining = self.refiner.refine(transformed, earlier, owner_id=refined_for[0].owner_id)
                        transformed = await refining
        except Exception as exc:
            return transformed, _degraded("transform", exc)
        return transformed, ()

    async def retrieve(self, query: Query) -> Retrieval:
        """Return the candidates, best first. Raises RetrievalUnavailable or OutOfTime."""
        return await hybrid.retrieve(query, store=self.store, cache=self.cache, retriever=self.retriever)

    async def rerank(self, query: Query, hits: Sequence[Hit], *, files: Sequence[str] = ()) -> Retrieval:
        """Return all the hits: first those that the reranker judged, in its order; the best of each file at the front.

        Where the reranker fails, the order stays.
        """
        config, transformed = query.config, query.transformed
        if not config.rerank:
            return Retrieval(each_file_first(hits, files))
        judged = max(config.rerank_candidates, config.top_k)
        first, failed = list(hits[:judged]), tuple[str, ...]()
        reranker = self.reranker_of(query.collections, query.effort)
        with stage("rerank"):
            try:
                async with within("rerank"):
                    ranked = await reranker.rerank(
                        transformed.standalone, first, language=transformed.language, top_k=len(first)
                    )
                count_results("rerank", len(ranked))
                first = one_per_document_first(ranked)
            except Exception as exc:  # a reranker may be anybody's
                failed = _degraded("rerank", exc)
        return Retrieval(each_file_first([*first, *hits[judged:]], files), failed)

    async def expand_by_graph(self, query: Query, hits: Sequence[Hit]) -> Retrieval:
        """Return the ranked hits and, for a question that needs more than one of them, what their names lead to.

        Names lead on inside a collection; what that gives is merged by its scores.
        """
        if not (query.config.graph and leads_on(query.transformed, hits)):
            return Retrieval(list(hits))
        try:
            with stage("associate"):
                async with within("graph"):
                    shares = list(query.share(hits))
                    expanding = (expand_by_graph(each, share, graph=self.graph) for each, share in shares if share)
                    led = list(merge(*await asyncio.gather(*expanding), key=lambda hit: -hit.score))
            count_results("associate", len(led))
            return Retrieval(led)
        except CausewayError as exc:
            return Retrieval(list(hits), _degraded("graph", exc))

    async def find_paths(self, query: Query, hits: Sequence[Hit], *, limit: int = 5) -> list[CausalPath]:
        """Return causal chains about the question, best first. `hits`: those of a search for it."""
        finding = (
            traversal.find_paths(
                each.transformed,
                share,
                graph=self.graph,
                collection=each.collection,
                filters=each.filters,
                link_threshold=each.config.link_threshold,
                limit=limit,
            )
            for each, share in query.share(hits)
        )
        return list(merge(*await asyncio.gather(*finding), key=lambda path: -path.score))[:limit]

    async def traverse(
        self, query: Query, hits: Sequence[Hit], evidence: Sequence[Hit]
    ) -> tuple[list[CausalPath], list[Hit]]:
        """Return causal chains for the question, and the evidence joined by the chunks that state them."""
        with stage("traverse"):
            async with within("traverse"):
                paths = await self.find_paths(query, hits)
                stating = await traversal.read_hits(paths, store=self.store, collections=query.collections)
        count_results("traverse", len(paths))
        leading = paths if query.transformed.intent is Intent.CAUSAL else []
        return paths, traversal.join(evidence, stating, leading, top_k=query.config.top_k)

    async def expand(
        self, query: Query, hits: Sequence[Hit], *, question: str, files: Sequence[str]
    ) -> tuple[list[Passage], tuple[str, ...]]:
        """Return the hits as passages, each with its surroundings; without them where reading them fails.

        `question`: as it was asked; `files`: those that it names.
        """
        settings = self.collections.settings
        window, max_share = self.expansion_window(query, question=question, files=files)
        max_chars = settings.chat.max_context_chars
        try:
            async with within("expand"):
                return await expansion.expand(
                    hits,
                    store=self.store,
                    collections=query.collections,
                    window=window,
                    max_chars=max_chars,
                    max_share=max_share,
                ), ()
        except Exception as exc:
            found = expansion.passages(hits, {}, window=expansion.NOWHERE, max_chars=max_chars, max_share=max_share)
            return found, _degraded("expand", exc)

    async def query_tables(
        self, query: Query, hits: Sequence[Hit], *, question: str, by_model: bool = False
    ) -> TableAnswer | None:
        """Return what the tables of the first hits give for a question; None where there are none to be asked.

        Where a word is left that the rules do not understand, the likeliest plan is taken, or if `by_model` the chat
        model's. Raises ProviderError where that fails.
        """
        documents = {hit.chunk.document.id: hit.chunk.document for hit in hits[:TABLE_HITS]}
        if asks_what_is_late(question):
            return None
        language = query.transformed.language
        async with within("expand"):
            ids = list(documents)[:TABLE_DOCUMENTS]
            read = await read_from_each(query.collections, lambda each: self.store.read_tables(each, ids))
            tables = [(document, table) for key, document in documents.items() for table in read.get(key, ())]
            if not tables:
                return None
            found = await asyncio.to_thread(best_plan, question, tables, language=language, only_sure=by_model)
            may_plan = by_model and self.collections.may_read(*query.collections)
            if found is None and may_plan and self.planner and asks_to_compute(question, or_how_much=True):
                found = await self._plan_by_model(self.planner, question, tables)
            if found is None:
                of_first = [(document, table) for document, table in tables if document.id == hits[0].chunk.document.id]
                is_of_rows = await asyncio.to_thread(is_of_sheet, question, of_first, language=language)
                note = explain_no_plan(TypedTable.from_bytes(of_first[0][1]), language) if is_of_rows else ""
                return TableAnswer(None, is_of_rows=is_of_rows, note=note)
            spans = found.spans
            chunks = await read_from_each(query.collections, lambda each: self.store.read_chunks(each, spans))
        return TableAnswer(write_answer(found, chunks.get(found.document.id, ()), language=language))

    async def _plan_by_model(
        self, planner: TablePlanner, question: str, tables: Sequence[tuple[Document, bytes]]
    ) -> AnsweredPlan | None:
        read = await asyncio.to_thread(lambda: [TypedTable.from_bytes(data) for _, data in tables])
        planned = await planner.plan(question, read)
        if planned is None:
            return None
        table, plan = planned
        if in_one_currency(table, plan) != plan:
            return None
        result = await asyncio.to_thread(run_plan, table, plan)
        place = next(place for place, other in enumerate(read) if other is table)
        references = refer_to_tables([document for document, _ in tables])
        return AnsweredPlan(tables[place][0], table, plan, result, (references[place],)) if result else None

    def expansion_window(self, query: Query, *, question: str, files: Sequence[str]) -> tuple[ExpansionWindow, float]:
        """Return how far hits grow, and the share of the context that one document may have, in [0, 1]."""
        config, transformed = query.config, query.transformed
        # A question of several parts or steps needs the weaker hits too: each has its own.
        is_simple = not (transformed.is_complex or transformed.is_multi_hop or files)
        window = ExpansionWindow(
            config.window_sentences, config.parent_chars, least_share=config.least_share if is_simple else 0.0
        )
        if is_simple and transformed.intent is not Intent.CAUSAL:  # each link of a chain is quoted
            words = read_question(transformed.standalone, transformed.language)
            window = replace(window, question=words, least_coverage=config.least_coverage)
        if asks_what_is_late(question):  # a row that was not found may be the latest
            return replace(window, parent_chars=max(window.parent_chars, TABLE_CHARS)), 1.0
        return window, self.collections.settings.chat.max_document_share


def simplified(config: RetrievalConfig, effort: Effort) -> tuple[RetrievalConfig, tuple[str, ...]]:
    """Return the configuration for that effort, and the names of what it leaves out.

    A search by meaning alone, where it was asked for, stays one.
    """
    if effort is Effort.FULL:
        return config, ()
    fewer = min(config.candidates_per_leg, FEWER_CANDIDATES)
    changes: dict[str, Any] = {
        "graph": False,
        "candidates_per_leg": fewer,
        "rerank_candidates": min(config.rerank_candidates, fewer),
    }
    left_out = ["graph"] if config.graph else []
    if effort is Effort.SIMPLEST:
        changes |= {"rerank": False}
        left_out += ["rerank"] if config.rerank else []
        if config.strategy in ("auto", "hybrid"):
            changes |= {"strategy": "fulltext"}
            left_out.append("vector")
    return config.model_copy(update=changes), (*left_out, HIGH_LOAD)


def page(hits: Sequence[Hit], config: RetrievalConfig, *, offset: int, min_score: float) -> list[Hit]:
    return [hit for hit in hits if hit.score >= min_score][offset : offset + config.top_k]


def _degraded(name: str, exc: Exception) -> tuple[str, ...]:
    log.warning("stage degraded", stage=name, error=exc)
    return (name,)
