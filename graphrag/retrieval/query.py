"""Values that the stages of the retrieval pipeline hand to each other: query, trace and result."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from graphrag.config.settings import RetrievalConfig
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import OutOfTime
from graphrag.models import EVERYTHING, Collection, Filters, Hit, Passage, Strategy, TransformedQuery
from graphrag.resilience.load_shedding import Effort
from graphrag.retrieval.fusion import reciprocal_rank_fusion

STAGES: Final = ("transform", "fulltext", "vector", "fusion", "rerank", "graph")  # in the order of their ends
RANKINGS: Final = ("graph", "rerank", "fusion")  # the later one knows more


@dataclass(frozen=True, slots=True)
class Leg:
    """One text, searched for by its words, by its meaning or by another service, in one choice of documents."""

    name: str  # fulltext, vector, chunkenizer
    text: str
    files: tuple[str, ...]
    hits: list[Hit]
    failure: str = ""  # an error's code
    collection: str = ""  # its name; empty: another service's documents


@dataclass(slots=True)
class Trace:
    """Holds what the stages hand on anyway, so a search that nobody looks at costs no more for it."""

    is_detailed: bool = False  # every stage is done, also where the query cache knows the result
    collections: tuple[Collection, ...] = ()
    config: RetrievalConfig | None = None
    model: str = ""
    query: TransformedQuery | None = None
    strategy: Strategy | None = None
    reason: str = ""
    legs: list[Leg] = field(default_factory=list)
    files: tuple[str, ...] = ()  # that the question names
    rankings: dict[str, list[Hit]] = field(default_factory=dict)  # by stage
    passages: list[Passage] | None = None  # that an answer would read; None: nobody asked
    _waiting: Counter[str] = field(default_factory=lambda: Counter(STAGES))
    _branches: list["Trace"] = field(default_factory=list)

    def branch(self) -> "Trace":
        """Return the trace of the search of one of several collections, whose legs are this trace's, too."""
        branch = Trace(self.is_detailed, legs=self.legs)
        branch.skip(*(set(STAGES) - {"fulltext", "vector"}))
        self.skip("fulltext", "vector")
        self._branches.append(branch)
        return branch

    def begin(self, query: "Query") -> None:
        config = query.config
        self.collections, self.config, self.model = query.collections, config, query.model.id
        self.skip(*([] if config.rerank else ["rerank"]), *([] if config.graph else ["graph"]))

    def understand(self, query: TransformedQuery) -> None:
        self.query = query
        self.skip("transform")

    def choose(self, strategy: Strategy, reason: str, legs: Sequence[str], *, searches: int) -> None:
        """`legs` are run by each of the searches."""
        self.strategy, self.reason = strategy, reason
        for leg in ("fulltext", "vector"):
            self._waiting[leg] = searches if leg in legs else 0

    def add_legs(self, legs: Sequence[str], reason: str) -> None:
        """One of the searches needs them too."""
        self.strategy, self.reason = "hybrid", reason
        self._waiting.update(legs)

    def end_leg(self, leg: Leg) -> None:
        self.legs.append(leg)
        if leg.failure != OutOfTime.code:  # it was left behind: it has not ended
            self._waiting[leg.name] -= 1

    def find(self, hits: list[Hit], files: tuple[str, ...]) -> None:
        self.files = files
        self.end("fusion", hits)
        self.skip("fulltext", "vector")

    def end(self, stage: str, hits: list[Hit]) -> None:
        self.rankings[stage] = hits
        self.skip(stage)

    def skip(self, *stages: str) -> None:
        for stage in stages:
            del self._waiting[stage]

    @property
    def missing(self) -> list[str]:
        """The stages that have not ended."""
        return [stage for stage in STAGES if any(trace._waiting[stage] > 0 for trace in (self, *self._branches))]

    @property
    def hits(self) -> list[Hit]:
        """Return the hits of the last finished stage; else those of the finished retrievers, fused by rank."""
        for stage in RANKINGS:
            if stage in self.rankings:
                return self.rankings[stage]
        found = {str(number): leg.hits for number, leg in enumerate(self.legs) if leg.hits}
        if len(found) < 2:
            return next(iter(found.values()), [])
        return reciprocal_rank_fusion(found, weights=dict.fromkeys(found, 1.0))


@dataclass(frozen=True, slots=True)
class Query:
    """A transformed question, and all that its search depends on.

    Of several collections each is searched with its own model and configuration; what is done with all that they give
    depends on the first one's.
    """

    transformed: TransformedQuery
    collection: Collection
    model: EmbeddingModel
    config: RetrievalConfig
    filters: Filters = EVERYTHING
    effort: Effort = Effort.FULL
    warnings: tuple[str, ...] = ()  # values of the configuration that are ignored
    left_out: tuple[str, ...] = ()  # stages that high load leaves out, and that reason
    trace: Trace = field(default_factory=Trace)
    others: tuple["Query", ...] = ()  # of further collections

    @property
    def each(self) -> tuple["Query", ...]:
        """Return one query for each collection."""
        return (replace(self, others=()), *self.others)

    @property
    def collections(self) -> tuple[Collection, ...]:
        return tuple(query.collection for query in self.each)

    def change(self, change: Callable[["Query"], "Query"]) -> "Query":
        """Return the query with the change made for each collection."""
        first, *others = map(change, self.each)
        return replace(first, others=tuple(others))

    def deepened(self, depth: int) -> "Query":
        """Return the query for at least so many candidates.

        No more than without an offset where those are enough: all pages are then cut from the same ranking.
        """
        depth = max(self.config.candidates_per_leg, depth)
        return replace(self, config=self.config.model_copy(update={"candidates_per_leg": depth}))

    def within(self, files: tuple[str, ...]) -> "Query":
        """Return the query over these files alone; over all that the filters allow where there are none."""
        if not files:
            return self
        return self.change(lambda query: replace(query, filters=replace(query.filters, filenames=files)))

    def share(self, hits: Sequence[Hit]) -> Iterator[tuple["Query", list[Hit]]]:
        """Yield the query of each collection with its hits; another service's hits go with the first one."""
        shares: dict[object, list[Hit]] = {collection.id: [] for collection in self.collections}
        for hit in hits:
            shares.get(hit.chunk.document.collection_id, shares[self.collection.id]).append(hit)
        yield from zip(self.each, shares.values(), strict=True)


@dataclass(frozen=True, slots=True)
class Retrieval:
    """The hits of one stage, best first."""

    hits: list[Hit]
    failed: tuple[str, ...] = ()  # degraded stages: fulltext, vector, chunkenizer, transform, rerank, graph
    strategy: Strategy = "hybrid"  # the one that was used
    files: tuple[str, ...] = ()  # named by the question: only these were searched
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One page of hits, with what was degraded on the way."""

    query: Query
    hits: list[Hit]
    failed: tuple[str, ...]  # degraded stages: fulltext, vector, chunkenizer, rerank, graph; the reason: time, load
    strategy: Strategy
    warnings: tuple[str, ...]
    files: tuple[str, ...] = ()  # named by the question

    @property
    def config(self) -> RetrievalConfig:
        return self.query.config
