"""Values that the stages of the retrieval pipeline hand to each other: query, trace and result."""

from collections import Counter
from collections.abc import Sequence
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


@dataclass(slots=True)
class Trace:
    """Holds what the stages hand on anyway, so a search that nobody looks at costs no more for it."""

    is_detailed: bool = False  # every stage is done, also where the query cache knows the result
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

    def begin(self, config: RetrievalConfig, model: str) -> None:
        self.config, self.model = config, model
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
        return [stage for stage in STAGES if self._waiting[stage] > 0]

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
    """A transformed question, and all that its search depends on."""

    transformed: TransformedQuery
    collection: Collection
    model: EmbeddingModel
    config: RetrievalConfig
    filters: Filters = EVERYTHING
    effort: Effort = Effort.FULL
    warnings: tuple[str, ...] = ()  # values of the configuration that are ignored
    left_out: tuple[str, ...] = ()  # stages that high load leaves out, and that reason
    trace: Trace = field(default_factory=Trace)

    def within(self, files: tuple[str, ...]) -> "Query":
        """Return the query over these files alone; over all that the filters allow where there are none."""
        return replace(self, filters=replace(self.filters, filenames=files)) if files else self


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
