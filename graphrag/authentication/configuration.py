"""How it is known who asks: the settings of every way in."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from graphrag.authentication.identity import is_owner_name
from graphrag.models import LOCAL_OWNER

# With a public key: what verifies a token cannot make one.
ASYMMETRIC = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"})


class AuthenticationConfig(BaseModel):
    """Who asks."""

    model_config = ConfigDict(frozen=True)

    auth: Literal["none", "api_key", "jwt"] = Field(
        default="none",
        description="How it is known who asks over HTTP; none: nobody is asked, and only this machine served",
    )
    owner: str = Field(
        default=LOCAL_OWNER,
        description="Whose documents the command line works with, and the service where it asks nobody",
    )
    api_key: SecretStr | None = Field(
        default=None, description="The key that `causeway mcp` shows, where `RAG_AUTH` is not none"
    )
    jwt_issuer: str | None = Field(default=None, description="The `iss` of tokens, letter for letter")
    jwt_audience: str | None = Field(default=None, description="The `aud` that tokens must name: this service")
    jwt_jwks: str | None = Field(
        default=None, description="The issuer's public keys: a file, or an https address (http on this machine)"
    )
    jwt_algorithms: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("RS256", "ES256", "EdDSA"),
        description="Algorithms that tokens may be signed with, separated by commas",
    )

    @field_validator("api_key", "jwt_issuer", "jwt_audience", "jwt_jwks", mode="before")
    @classmethod
    def _missing_when_empty(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator("owner")
    @classmethod
    def _name_of_an_owner(cls, name: str) -> str:
        if not is_owner_name(name):
            raise ValueError("it must be a name of 1 to 255 printable characters, with no space at either end")
        return name

    @field_validator("jwt_algorithms", mode="before")
    @classmethod
    def _split_algorithms(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("jwt_algorithms")
    @classmethod
    def _only_asymmetric(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if not names or not set(names) <= ASYMMETRIC:
            raise ValueError(f"choose of {', '.join(sorted(ASYMMETRIC))}")
        return names
