"""Who may be asking: keys of every kind, for tests that go through every endpoint with each."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

from graphrag.authentication.identity import Scope
from graphrag.services import Services
from tests.conftest import with_services

T = TypeVar("T")
OVER = timedelta(seconds=-1)


@dataclass(frozen=True, slots=True)
class Keys:
    """Of two owners, as they are shown; what is not A's or B's says nothing of who asks, or not enough."""

    owner_a: str
    owner_b: str
    a: str
    b: str
    read_only_of_a: str
    metrics_of_a: str
    revoked_of_a: str
    expired_of_a: str
    unknown: str

    @property
    def refused(self) -> dict[str, str]:
        """That all get 401, in the same words."""
        return {
            "revoked": self.revoked_of_a,
            "expired": self.expired_of_a,
            "unknown": self.unknown,
            "of another's secret": self.a[:20] + self.b[20:],
            "malformed": "cw_no-key",
        }


def shown(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def make_keys(services: Services) -> Keys:
    """In the services' database, for two new owners."""
    owner_a, owner_b = (f"owner-{letter}-{uuid4().hex}" for letter in "ab")
    api_keys = services.authentication.api_keys
    _, a = await api_keys.create(owner_a, "a")
    _, b = await api_keys.create(owner_b, "b")
    _, read_only = await api_keys.create(owner_a, "reader", scopes=[Scope.READ])
    _, metrics = await api_keys.create(owner_a, "monitor", scopes=[Scope.METRICS])
    revoked, revoked_shown = await api_keys.create(owner_a, "revoked")
    await api_keys.revoke(owner_a, revoked.id)
    _, expired = await api_keys.create(owner_a, "expired", valid_for=OVER)
    unknown = f"cw_{'0' * 16}_{a[20:]}"
    return Keys(owner_a, owner_b, a, b, read_only, metrics, revoked_shown, expired, unknown)


def make_owners_in(database_url: str, count: int) -> list[str]:
    """A key each, for so many new owners."""

    async def make(services: Services) -> list[str]:
        api_keys = services.authentication.api_keys
        return [(await api_keys.create(f"owner-{uuid4().hex}", "only"))[1] for _ in range(count)]

    return with_services(database_url, make)


def make_keys_in(database_url: str) -> Keys:
    """For a test of a server in a process of its own."""
    return with_services(database_url, make_keys)
