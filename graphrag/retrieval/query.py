"""Values that the stages of the retrieval pipeline hand to each other."""

from dataclasses import dataclass, field, replace

from graphrag.config.settings import RetrievalConfig
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.models import EVERYTHING, Collection, Filters, Hit, Strategy, TransformedQuery
from graphrag.resilience.load_shedding import Effort
from graphrag.retrieval.trace import Trace


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
