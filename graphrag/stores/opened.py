"""What is kept, and where: every store over one database."""

from dataclasses import dataclass
from functools import cached_property

from graphrag.cache import PostgresCache
from graphrag.database import Database
from graphrag.protocols import Cache, GraphStore
from graphrag.redis_cache import RedisCache
from graphrag.settings import Settings
from graphrag.stores.catalog import Catalog
from graphrag.stores.conversations import Conversations
from graphrag.stores.evaluations import EvaluationStore
from graphrag.stores.experiments import ExperimentStore
from graphrag.stores.feedback import FeedbackStore
from graphrag.stores.golden import GoldenStore
from graphrag.stores.graph import PostgresGraph
from graphrag.stores.proposals import ProposalStore
from graphrag.stores.schedules import ScheduleStore
from graphrag.stores.streams import StreamStore


@dataclass(frozen=True)
class Stores:
    """Made cheaply; the database opens itself at its first use."""

    settings: Settings

    @cached_property
    def database(self) -> Database:
        return Database(self.settings)

    @cached_property
    def graph(self) -> GraphStore:
        return PostgresGraph(self.database)

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog(self.database)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self.database)

    @cached_property
    def feedback(self) -> FeedbackStore:
        return FeedbackStore(self.database)

    @cached_property
    def golden(self) -> GoldenStore:
        return GoldenStore(self.database)

    @cached_property
    def proposals(self) -> ProposalStore:
        return ProposalStore(self.database)

    @cached_property
    def evaluations(self) -> EvaluationStore:
        return EvaluationStore(self.database)

    @cached_property
    def experiments(self) -> ExperimentStore:
        return ExperimentStore(self.database)

    @cached_property
    def schedules(self) -> ScheduleStore:
        return ScheduleStore(self.database, self.settings.max_schedules)

    @cached_property
    def streams(self) -> StreamStore:
        return StreamStore(self.database)

    @cached_property
    def cache(self) -> Cache:
        return self.redis_cache or PostgresCache(self.database)

    @cached_property
    def redis_cache(self) -> RedisCache | None:
        """Raises InvalidSettings or MissingExtra."""
        return RedisCache(self.settings.redis_url.get_secret_value()) if self.settings.redis_url else None
