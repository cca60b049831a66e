"""Authentication of requests, the same for HTTP, MCP and the command line: a credential in, an identity out."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphrag.authentication.api_keys import ApiKeys
from graphrag.authentication.identity import Identity
from graphrag.authentication.openid import SignIn, open_sign_in
from graphrag.authentication.sessions import PREFIX
from graphrag.authentication.tokens import Tokens, open_tokens
from graphrag.config.service import AuthenticationConfig
from graphrag.db.database import Database


@dataclass(frozen=True, slots=True)
class Authentication:
    owner: str
    api_keys: ApiKeys
    way: ApiKeys | Tokens | None  # None: nobody is asked
    sign_in: SignIn | None  # beside the way, in a browser

    async def open(self) -> None:
        """Raises InvalidSettings."""
        if isinstance(self.way, Tokens):
            await self.way.keys.open()

    async def close(self) -> None:
        await self.api_keys.close()

    async def identify(self, credential: str | None) -> Identity:
        """Return the identity behind an API key, a token or a session; None stands for a request without one.

        Raises Unauthorized, AuthenticationUnavailable or DatabaseUnavailable.
        """
        if self.sign_in and credential and credential.startswith(PREFIX):
            return self.sign_in.sessions.identify(credential)
        return await self.way.identify(credential) if self.way else Identity(self.owner)


def open_authentication(config: AuthenticationConfig, home: Path, database: Database) -> Authentication:
    """`home` keeps what signs sessions. Raises InvalidSettings."""
    api_keys = ApiKeys(database)
    ways: dict[str, Callable[[], ApiKeys | Tokens | None]] = {
        "none": lambda: None,
        "api_key": lambda: api_keys,
        "jwt": lambda: open_tokens(config),
    }
    return Authentication(config.owner, api_keys, ways[config.auth](), open_sign_in(config, home))
