"""Hybrid search of collections, its cache, and the federation with an external retriever."""

import asyncio
import re
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, Literal

import numpy as np
from cachetools import TTLCache

from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import CausewayError, OutOfTime, ProviderError, RetrievalUnavailable
from graphrag.linguistics import language as languages
from graphrag.linguistics import lexicon, spelling
from graphrag.linguistics.rules import read_texts
from graphrag.models import ELSEWHERE, UNDATED, Document, Filters, Hit, Strategy, Synonym
from graphrag.observability.request_context import note
from graphrag.observability.telemetry import count_lookups, count_results, count_retrieval, log, stage
from graphrag.protocols import ChunkStore, Retriever
from graphrag.resilience.cancellation import cancel_surely
from graphrag.resilience.deadline import within
from graphrag.retrieval.filters import lets_through
from graphrag.retrieval.fusion import reciprocal_rank_fusion, weighted_sum
from graphrag.retrieval.named_files import NamedFiles, find_named_files
from graphrag.retrieval.query import Leg, Query, Retrieval

Reason = Literal["quoted words", "keywords", "a long question about a meaning", "neither words nor meaning alone"]
MOST_KEYWORDS = 3
MOST_SYNONYMS = 4  # of a word, in each language
MOST_SPELLINGS = 5  # words of a question that are looked up
LEAST_WORDS_OF_MEANING = 9  # so many words that carry meaning outvote a wording that the documents do not share
_QUOTED = re.compile(r'"(?=\S)([^"]{2,})(?<=\S)"|«([^«»]{2,})»|“([^“”]{2,})”')
_IDENTIFIER = re.compile(r"\d")  # A-2517, L4, 2025: to be found as they are written
_PIECE = r"\w+(?:[.+-]\w+)*"
_JOINED = re.compile(rf"\b(?<!\w[.+-]){_PIECE}(?:[/@]{_PIECE})+|\b[^\W\d]\w*(?:\.\w+)+")
_NAME = re.compile(r"(?<=\w[ ,'’])[A-ZÀ-ÖØ-Þ]\w")


def choose_strategy(question: str, language: str, *, model_is_strong: bool) -> tuple[Strategy, Reason]:
    """Choose full text or vectors alone only if the other could add little; hybrid is never far from the better."""
    if quoted_phrases(question):
        return "fulltext", "quoted words"
    if _is_keywords(question, language):
        return "fulltext", "keywords"
    if model_is_strong and _is_all_meaning(question, language):
        return "semantic", "a long question about a meaning"
    return "hybrid", "neither words nor meaning alone"


def quoted_phrases(text: str) -> list[str]:
    return ["".join(groups).strip() for groups in _QUOTED.findall(text)]


def joined_words(text: str) -> list[str]:
    """Return what full text may keep whole, as written: `INV/2025/0042`, `ana@example.org`, `12/03/2026`, `v2.3.1`."""
    return _JOINED.findall(text)


def find_synonyms(words: Sequence[str], language: str) -> list[Synonym]:
    """Return other words of the same meaning, and their translations into the languages that we answer in."""
    return [
        Synonym(number, into, word)
        for into in languages.ANSWER_LANGUAGES
        for number, found in enumerate(lexicon.find_synonyms(words, language, into, most=MOST_SYNONYMS))
        for word in found
    ]


def _is_keywords(question: str, language: str) -> bool:
    words = languages.words(question)
    asks = "?" in question or any(languages.fold(word) in languages.question_words() for word in words)
    return not asks and 0 < len(languages.content_words(question, language)) <= MOST_KEYWORDS


def _is_all_meaning(question: str, language: str) -> bool:
    is_long = len(languages.content_words(question, language)) >= LEAST_WORDS_OF_MEANING
    return is_long and not _IDENTIFIER.search(question) and not _NAME.search(question)


LEGS: Final[Mapping[Strategy, tuple[str, ...]]] = {
    "fulltext": ("fulltext",),
    "semantic": ("vector",),
    "hybrid": ("fulltext", "vector"),
}
Results = dict[str, list[Hit] | BaseException]


async def search_collection(query: Query, *, store: ChunkStore) -> Retrieval:
    """Return candidates for the question and its sub-queries, best first.

    Files that the question names are searched one by one, unless the filters name files. Raises RetrievalUnavailable
    where both full text and vectors fail, OutOfTime where one of them could not end in time.
    """
    transformed, config, trace = query.transformed, query.config, query.trace
    named = await _named_files(query, store)
    texts = [named.without(text) for text in transformed.searches]
    strategy, reason = _strategy(texts[0], query)
    vectors = _Vectors(query.model, texts, transformed.hypothetical_answer)
    scopes = [query.within((name,)) for name in named.files] or [query]
    trace.choose(strategy, reason, LEGS[strategy], searches=len(scopes) * len(texts))
    searches = [_Search(text, number, scope, vectors, store) for scope in scopes for number, text in enumerate(texts)]
    try:
        with closing(vectors):
            suggestions, found = await asyncio.gather(
                _suggest_spellings(query, texts[0], store),
                asyncio.gather(*(search.run(strategy) for search in searches)),
            )
    except Exception:
        count_retrieval("failed")
        raise
    retrieval = Retrieval(
        fuse_equally([part.hits for part in found])[: config.candidates],
        failed=(*sorted({leg for part in found for leg in part.failed}), *vectors.failed),
        strategy=strategy if all(part.strategy == strategy for part in found) else "hybrid",
        files=named.files,
        warnings=(*(_warn(query, "no_file", name) for name in named.missing), *suggestions),
    )
    trace.find(retrieval.hits, retrieval.files)
    count_found(retrieval)
    log.info("search", asked=config.strategy, strategy=retrieval.strategy, files=len(named.files), parts=len(texts))
    return retrieval


def count_found(retrieval: Retrieval) -> None:
    count_results("fusion", len(retrieval.hits))
    count_retrieval("partial" if retrieval.failed else "found" if retrieval.hits else "nothing")
    note(strategy=retrieval.strategy, files=len(retrieval.files))


async def _named_files(query: Query, store: ChunkStore) -> NamedFiles:
    if query.filters.filenames:
        return NamedFiles()
    return await find_named_files(query.transformed.standalone, store=store, collection=query.collection)


async def _suggest_spellings(query: Query, text: str, store: ChunkStore) -> list[str]:
    """Return « Vouliez-vous dire … ? » for each word that no document says, and that looks like one that some do."""
    language = query.transformed.language
    words = [word for word in languages.content_words(text, language) if spelling.may_be_misspelt(word, language)]
    try:
        async with within("spelling"):
            found = await store.find_spellings(query.collection, words[:MOST_SPELLINGS]) if words else {}
    except CausewayError as exc:
        log.warning("spellings were not looked up", error=exc)
        return []
    return [_warn(query, "did_you_mean", word, known) for word, known in found.items()]


def _warn(query: Query, name: str, *values: str) -> str:
    return _warnings()[name][query.transformed.language].format(*values)


@lru_cache(maxsize=1)
def _warnings() -> dict[str, dict[str, str]]:
    return read_texts("graphrag.retrieval", "warnings")


def _strategy(text: str, query: Query) -> tuple[Strategy, str]:
    if not query.model.is_installed:
        return "fulltext", "the embedding model is not installed"
    if query.config.strategy == "auto":
        return choose_strategy(text, query.transformed.language, model_is_strong=query.model.is_strong)
    return query.config.strategy, "asked for"


def fuse_equally(found: Sequence[list[Hit]]) -> list[Hit]:
    """Every part of the question, every file that it names and every service counts the same, by its first places."""
    if len(found) == 1:
        return found[0]
    rankings = {str(number): hits for number, hits in enumerate(found)}
    return reciprocal_rank_fusion(rankings, weights=dict.fromkeys(rankings, 1.0))


class _Vectors:
    """Vectors of all the texts, by one call of the model, made when the first is asked for.

    That of the whole question lies between its own and that of a passage which might answer it (HyDE, Gao et al. 2022).
    """

    def __init__(self, model: EmbeddingModel, texts: Sequence[str], hypothetical_answer: str = "") -> None:
        self._model = model
        self._texts = texts
        self._hypothetical_answer = hypothetical_answer
        self._embedding: asyncio.Task[list[list[float]]] | None = None
        self.failed: tuple[str, ...] = ()

    async def of(self, number: int) -> list[float]:
        if self._embedding is None:
            self._embedding = asyncio.create_task(self._embed())
        return (await asyncio.shield(self._embedding))[number]  # the others wait for it when one is left behind

    def close(self) -> None:
        if self._embedding:
            cancel_surely(self._embedding)

    async def _embed(self) -> list[list[float]]:
        if not self._hypothetical_answer:
            return await self._model.embed_queries(self._texts)
        asked, imagined = await asyncio.gather(self._model.embed_queries(self._texts), self._imagined())
        return [mean_direction([asked[0], *imagined]), *asked[1:]]

    async def _imagined(self) -> list[list[float]]:
        """Embedded as a passage, but somebody waits for it; the question alone will do where that fails."""
        hurried = replace(self._model, patience=self._model.query_patience)
        try:
            async with within("hypothetical answer"):
                return await hurried.embed([self._hypothetical_answer])
        except (ProviderError, OutOfTime) as exc:
            self.failed = ("transform",)
            log.warning("hypothetical answer not embedded, searching without it", error=exc)
            return []


@dataclass(frozen=True, slots=True)
class _Search:
    """One text in one choice of documents."""

    text: str
    number: int  # among the texts
    query: Query
    vectors: _Vectors
    store: ChunkStore

    async def run(self, strategy: Strategy) -> Retrieval:
        """Search by the strategy's legs; by the others too where these fail or, with "auto", find nothing."""
        config, trace = self.query.config, self.query.trace
        results = await self._search(LEGS[strategy])
        failed = all(isinstance(result, BaseException) for result in results.values())
        if failed or (config.strategy == "auto" and not any(results.values())):
            others = [leg for leg in LEGS["hybrid"] if leg not in results]
            trace.add_legs(others, f"{strategy} alone {'failed' if failed else 'found nothing'}")
            results |= await self._search(others)
        rankings = {leg: result for leg, result in results.items() if isinstance(result, list)}
        failures = {leg: result for leg, result in results.items() if isinstance(result, BaseException)}
        _raise_if_hopeless(failures, rankings)
        hits = fuse(rankings, self.query) if len(results) > 1 else rankings[LEGS[strategy][0]]
        taken = strategy if len(results) == len(LEGS[strategy]) else "hybrid"
        return Retrieval(hits[: config.candidates], tuple(failures), taken)

    async def _search(self, legs: Sequence[str]) -> Results:
        found = await asyncio.gather(*(self._leg(leg) for leg in legs), return_exceptions=True)
        return dict(zip(legs, found, strict=True))

    async def _leg(self, name: str) -> list[Hit]:
        """Run one leg; one that takes too long is abandoned. Raises OutOfTime then."""
        files, trace = self.query.filters.filenames, self.query.trace
        try:
            async with within(name):
                hits = await (self._fulltext() if name == "fulltext" else self._vector())
        except Exception as exc:
            code = exc.code if isinstance(exc, CausewayError) else CausewayError.code
            trace.end_leg(Leg(name, self.text, files, [], code, self.query.collection.name))
            raise
        trace.end_leg(Leg(name, self.text, files, hits, collection=self.query.collection.name))
        count_results(name, len(hits))
        return hits

    async def _fulltext(self) -> list[Hit]:
        query = self.query
        with stage("fulltext"):
            words = languages.content_words(self.text, query.transformed.language)
            if not words:
                return []
            return await self.store.search_fulltext(
                query.collection,
                [*words, *joined_words(self.text)],
                phrases=quoted_phrases(self.text),
                synonyms=find_synonyms(words, query.transformed.language),
                filters=query.filters,
                ranking=query.config.fulltext_ranking,
                limit=query.config.candidates,
            )

    async def _vector(self) -> list[Hit]:
        query = self.query
        with stage("vector"):
            vector = await self.vectors.of(self.number)
            if not any(vector):
                return []
            return await self.store.search_vectors(
                query.collection, vector, filters=query.filters, limit=query.config.candidates
            )


def mean_direction(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Return the mean direction of vectors of any length; one without direction adds none."""
    array = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(array, axis=1, keepdims=True)
    mean = (array / np.where(lengths > 0, lengths, 1)).mean(axis=0)
    length = float(np.linalg.norm(mean))
    return [float(value) for value in (mean / length if length else mean)]


def fuse(rankings: Mapping[str, Sequence[Hit]], query: Query) -> list[Hit]:
    """Fuse full text and vectors as the configuration says, else as suits the embedding model."""
    config, model = query.config, query.model
    vector_weight = model.fusion_weight if config.vector_weight is None else config.vector_weight
    weights = {"fulltext": 1 - vector_weight, "vector": vector_weight}
    with stage("fuse"):
        if (config.fusion or model.fusion) == "rrf":
            return reciprocal_rank_fusion(rankings, weights=weights, k=config.rrf_k)
        return weighted_sum(rankings, weights=weights, depth=config.candidates)


def _raise_if_hopeless(failures: Mapping[str, BaseException], rankings: Mapping[str, Sequence[Hit]]) -> None:
    for name, failure in failures.items():
        if not isinstance(failure, CausewayError):
            raise failure
        log.warning("retrieval leg failed", leg=name, error=failure)
    if not rankings:
        for late in (failure for failure in failures.values() if isinstance(failure, OutOfTime)):
            raise late
        causes = "; ".join(f"{name}: {failure}" for name, failure in failures.items())
        raise RetrievalUnavailable(f"No search is possible ({causes})") from next(iter(failures.values()))


MOST_HITS = 10_000  # in all results together: some 20 MB
SETTINGS_OF_LATER_STAGES = {
    "chunkenizer",
    "top_k",
    "candidates_per_leg",
    "rerank",
    "rerank_candidates",
    "window_sentences",
    "least_share",
    "least_coverage",
    "parent_chars",
}


class QueryCache:
    """Results by owner and revision of the collection, which callers must have read just now."""

    def __init__(self, seconds: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._is_on = seconds > 0
        self._results: TTLCache[Hashable, Retrieval] = TTLCache(
            MOST_HITS, seconds, timer=clock, getsizeof=lambda result: 1 + len(result.hits)
        )

    async def retrieve(self, query: Query, *, store: ChunkStore) -> Retrieval:
        """Search as `search_collection` does, or return what it found before.

        A degraded result isn't stored; a detailed trace is always searched anew.
        """
        key, trace = _cache_key(query), query.trace
        known = self._results.get(key)
        if self._is_on:
            count_lookups("query", hits=int(known is not None), misses=int(known is None))
        if known is not None and not trace.is_detailed:
            log.info("search", cached=True, strategy=known.strategy)
            live = [hit for hit in known.hits if not _has_expired(hit)]
            trace.find(live, known.files)
            count_found(result := replace(known, hits=live))
            return result
        found = await search_collection(query, store=store)
        if self._is_on and not found.failed:
            self._results[key] = replace(found, hits=list(found.hits))
        return found


UNCACHED = QueryCache(0)


def _cache_key(query: Query) -> Hashable:
    """Return all that a result depends on, without what only later stages read, so that chat and search share it."""
    collection, config = query.collection, query.config
    settings = (*config.model_dump(exclude=SETTINGS_OF_LATER_STAGES).values(), config.candidates)
    by_context = collection.ingestion_config.get("contextual_embeddings")  # which changes without a new revision
    asked = (query.transformed, query.filters, *settings)
    return collection.owner_id, collection.id, collection.revision, query.model.id, by_context, asked


def _has_expired(hit: Hit) -> bool:
    expires_at = hit.chunk.document.expires_at
    return expires_at is not None and expires_at <= datetime.now(UTC)


async def search_each(query: Query, *, store: ChunkStore, cache: QueryCache) -> Retrieval:
    """Search every collection with its own model, and fuse by ranks with equal weights: scores can't be compared.

    Files that the question names are looked for in all of them, and only those that have some are then searched. A
    word or a file that one collection has is not missing: a warning counts where every collection gives it.
    """
    if not query.others:
        return await cache.retrieve(query, store=store)
    branches = [replace(each, trace=query.trace.branch()) for each in query.each]
    found = await asyncio.gather(*(cache.retrieve(branch, store=store) for branch in branches))
    chosen = [part for part in found if part.files] or found
    strategies = {part.strategy for part in chosen}
    retrieval = Retrieval(
        fuse_equally([part.hits for part in chosen])[: query.config.candidates],
        failed=tuple(dict.fromkeys(leg for part in found for leg in part.failed)),
        strategy=strategies.pop() if len(strategies) == 1 else "hybrid",
        files=tuple(dict.fromkeys(name for part in chosen for name in part.files)),
        warnings=tuple(told for told in found[0].warnings if all(told in part.warnings for part in found)),
    )
    query.trace.strategy, query.trace.reason = retrieval.strategy, branches[0].trace.reason
    query.trace.find(retrieval.hits, retrieval.files)
    return retrieval


async def retrieve(query: Query, *, store: ChunkStore, cache: QueryCache, retriever: Retriever | None) -> Retrieval:
    """Search the collections, and the external retriever beside them; where that fails, the collections' hits remain.

    That service is asked whatever the strategy, and each time: no event tells when its documents change.
    """
    here = search_each(query, store=store, cache=cache)
    if retriever is None or not all(each.config.chunkenizer for each in query.each):  # some keep questions local
        return await here
    asking = asyncio.create_task(_ask(query, retriever))
    try:
        return _join(query, await here, await asking)
    finally:
        cancel_surely(asking)


async def _ask(query: Query, retriever: Retriever) -> Retrieval:
    limit = query.config.candidates
    with stage(ELSEWHERE):
        legs = await asyncio.gather(*(_ask_for(text, retriever, limit) for text in query.transformed.searches))
    for leg in legs:
        query.trace.end_leg(leg)
    found = fuse_equally([leg.hits for leg in legs if leg.hits])
    count_results(ELSEWHERE, len(found))
    return Retrieval(found, (ELSEWHERE,) if any(leg.failure for leg in legs) else ())


async def _ask_for(text: str, retriever: Retriever, limit: int) -> Leg:
    try:
        async with within(ELSEWHERE):
            return Leg(ELSEWHERE, text, (), await retriever.retrieve(text, limit=limit))
    except Exception as exc:  # a retriever may be anybody's
        code = exc.code if isinstance(exc, CausewayError) else CausewayError.code
        log.warning("another service failed, searched without", service=ELSEWHERE, error=exc)
        return Leg(ELSEWHERE, text, (), [], code)


def _join(query: Query, here: Retrieval, elsewhere: Retrieval) -> Retrieval:
    """Fuse by ranks with equal weights, as the scores of two services can't be compared.

    A document that both have counts as ours.
    """
    scope = query.within(here.files).filters
    ours = {hit.chunk.document.id for hit in here.hits}
    others = [
        hit for hit in elsewhere.hits if hit.chunk.document.id not in ours and _may_be_read(hit.chunk.document, scope)
    ]
    hits = fuse_equally([ranking for ranking in (here.hits, others) if ranking])
    query.trace.end("fusion", hits)
    there = {repr(hit.chunk.document.filename).lower() for hit in others}  # as a warning names a file that is not here
    warnings = [warning for warning in here.warnings if not any(name in warning.lower() for name in there)]
    return replace(here, hits=hits, failed=(*here.failed, *elsewhere.failed), warnings=tuple(warnings))


def _may_be_read(document: Document, filters: Filters) -> bool:
    is_dated = document.created_at != UNDATED
    return lets_through(filters, document) and (is_dated or not (filters.created_from or filters.created_until))
