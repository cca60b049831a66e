"""Who asks, and what that one may do."""

from dataclasses import dataclass
from enum import StrEnum

from graphrag.errors import Forbidden


class Scope(StrEnum):
    READ = "read"  # ask, search, look; one's own conversations and feedback
    WRITE = "write"  # collections, documents, golden cases
    METRICS = "metrics"  # of the whole service, nobody's in particular


@dataclass(frozen=True, slots=True)
class Identity:
    owner_id: str
    scopes: frozenset[Scope] = frozenset(Scope)

    def demand(self, scope: Scope) -> None:
        """Raises Forbidden."""
        if scope not in self.scopes:
            raise Forbidden(f"This key may not do that: it lacks the scope {scope}.", scope=scope.value)
