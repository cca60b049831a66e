"""Identities of callers, and the host names of this machine."""

import ipaddress
from dataclasses import dataclass
from enum import StrEnum

from graphrag.errors import Forbidden

# One for all causes: whether a key never was, is over or was taken back is for its owner to know.
REFUSED = "What was shown does not say who asks. Keys are made with: causeway keys create"


class Scope(StrEnum):
    READ = "read"  # ask, search, look; one's own conversations and feedback
    WRITE = "write"  # collections, documents, golden cases
    METRICS = "metrics"  # of the whole service, nobody's in particular


DEFAULT_SCOPES = frozenset({Scope.READ, Scope.WRITE})


@dataclass(frozen=True, slots=True)
class Identity:
    owner_id: str
    scopes: frozenset[Scope] = frozenset(Scope)

    def demand(self, scope: Scope) -> None:
        """Raises Forbidden."""
        if scope not in self.scopes:
            raise Forbidden(f"This key may not do that: it lacks the scope {scope}.", scope=scope.value)


def is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
