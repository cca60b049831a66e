"""Authentication of requests, the same for HTTP, MCP and the command line: a credential in, an identity out."""

from collections.abc import Callable
from dataclasses import dataclass

from graphrag.authentication.api_keys import ApiKeys
from graphrag.authentication.identity import Identity
from graphrag.authentication.tokens import Tokens, open_tokens
from graphrag.config.service import AuthenticationConfig
from graphrag.db.database import Database


@dataclass(frozen=True, slots=True)
class Authentication:
    owner: str
    api_keys: ApiKeys
    way: ApiKeys | Tokens | None  # None: nobody is asked

    async def open(self) -> None:
        """Raises InvalidSettings."""
        if isinstance(self.way, Tokens):
            await self.way.keys.open()

    async def close(self) -> None:
        await self.api_keys.close()

    async def identify(self, credential: str | None) -> Identity:
        """Return the identity behind an API key or a token; None stands for a request without one.

        Raises Unauthorized, AuthenticationUnavailable or DatabaseUnavailable.
        """
        return await self.way.identify(credential) if self.way else Identity(self.owner)


def open_authentication(config: AuthenticationConfig, database: Database) -> Authentication:
    """Raises InvalidSettings."""
    api_keys = ApiKeys(database)
    ways: dict[str, Callable[[], ApiKeys | Tokens | None]] = {
        "none": lambda: None,
        "api_key": lambda: api_keys,
        "jwt": lambda: open_tokens(config),
    }
    return Authentication(config.owner, api_keys, ways[config.auth]())
