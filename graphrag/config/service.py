"""Settings of the service: access, authentication, storage, database, load, streams, logs."""

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from platformdirs import user_data_path
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    SecretStr,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import NoDecode

from graphrag.models import LOCAL_OWNER
from graphrag.models.documents import is_owner_name

SITE = re.compile(r"https?://[^\s/?#@]+", re.IGNORECASE)


class AccessLimits(BaseModel):
    """Access: hosts, rates and sizes."""

    model_config = ConfigDict(frozen=True)

    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Accepted host names, separated by commas, besides this machine's own"
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Allowed CORS origins, as https://HOST[:PORT], separated by commas; *: all, which needs "
        "authentication",
    )
    rate_per_minute: NonNegativeInt | None = Field(
        default=None, description="Maximum requests per owner and minute; 0: no limit; unset: 600 with authentication"
    )
    answers_per_minute: NonNegativeInt | None = Field(
        default=None, description="Maximum questions per owner and minute; 0: no limit; unset: 60 with authentication"
    )
    requests_per_owner: NonNegativeInt | None = Field(
        default=None,
        description="Maximum requests of an owner that one process works on at a time, streams aside; while other "
        "owners ask too, a quarter, begun one after the other; more of them wait; 0: no limit; unset: 16 with "
        "authentication",
    )
    refusals_per_minute: NonNegativeInt = Field(
        default=30, description="Maximum failed authentications per address and minute; 0: no limit"
    )
    request_seconds: PositiveFloat = Field(
        default=60, description="A request that sends nothing for this long, or less than 1 kB per second, is aborted"
    )
    max_request_bytes: PositiveInt = Field(
        default=1_000_000_000, description="Maximum size of an upload, all files together"
    )
    max_bulk_bytes: PositiveInt = Field(
        default=2_000_000, description="Maximum size of texts, golden cases or inputs of embeddings sent together"
    )
    max_json_bytes: PositiveInt = Field(default=256_000, description="Maximum size of any other request")
    max_files: PositiveInt = Field(default=100, description="Maximum files per upload")
    max_owner_bytes: NonNegativeInt | None = Field(
        default=None, description="Maximum size of all files of an owner; 0: no limit; unset: 10 GB with authentication"
    )
    max_collections: NonNegativeInt | None = Field(
        default=None, description="Maximum collections per owner; 0: no limit; unset: 100 with authentication"
    )
    max_schedules: PositiveInt = Field(default=20, description="Maximum evaluation schedules per owner")

    @field_validator("allowed_hosts", "cors_origins", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(filter(None, (part.strip().lower().rstrip("/") for part in value.split(","))))

    @field_validator("cors_origins")
    @classmethod
    def _are_origins(cls, sites: tuple[str, ...]) -> tuple[str, ...]:
        for site in sites:
            if site != "*" and not SITE.fullmatch(site):
                raise ValueError(f"{site!r} is no origin: write https://HOST[:PORT]")
        return sites

    @field_validator(
        "rate_per_minute",
        "answers_per_minute",
        "requests_per_owner",
        "max_owner_bytes",
        "max_collections",
        mode="before",
    )
    @classmethod
    def _none_when_empty(cls, value: object) -> object:
        return None if value == "" else value


# With a public key: what verifies a token cannot make one.
ASYMMETRIC = frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"})


class AuthenticationConfig(BaseModel):
    """Authentication."""

    model_config = ConfigDict(frozen=True)

    auth: Literal["none", "api_key", "jwt"] = Field(
        default="none",
        description="Authentication of HTTP requests; none: only this machine may connect",
    )
    owner: str = Field(
        default=LOCAL_OWNER,
        description="Owner that the command line acts as, and the service without authentication",
    )
    api_key: SecretStr | None = Field(default=None, description="API key for `causeway mcp`, unless `RAG_AUTH` is none")
    jwt_issuer: str | None = Field(default=None, description="Required `iss` of tokens, exactly")
    jwt_audience: str | None = Field(default=None, description="Required `aud` of tokens: this service")
    jwt_jwks: str | None = Field(
        default=None, description="The issuer's public keys: a file, or an https address (http on this machine)"
    )
    jwt_algorithms: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("RS256", "ES256", "EdDSA"),
        description="Algorithms that tokens may be signed with, separated by commas",
    )
    oidc_issuer: str | None = Field(
        default=None,
        description="Address of an OpenID provider, exactly as its `iss`: people sign in there, beside `RAG_AUTH`",
    )
    oidc_client_id: str | None = Field(default=None, description="This service's client ID at the provider")
    oidc_client_secret: SecretStr | None = Field(
        default=None, description="Its client secret; unset: a public client, with PKCE alone"
    )
    oidc_scopes: str = Field(default="openid profile email", description="Scopes to ask for, separated by spaces")
    oidc_owner_claim: str | None = Field(
        default=None,
        description="Claim of the ID token that names the owner, as `email`; unset: issuer and `sub`, as ISSUER#SUB",
    )
    session_hours: float = Field(default=12, gt=0, le=168, description="Hours after which a person must sign in again")
    session_secret: SecretStr | None = Field(
        default=None,
        min_length=32,
        description="Secret that signs sessions, the same for all processes, of 32 characters or more; unset: stored "
        "in a file in `CAUSEWAY_HOME` and replaced every week",
    )

    @field_validator("oidc_scopes")
    @classmethod
    def _of_openid(cls, scopes: str) -> str:
        if "openid" not in scopes.split():
            raise ValueError("it must have openid")
        return scopes

    @field_validator(
        "api_key",
        "jwt_issuer",
        "jwt_audience",
        "jwt_jwks",
        "oidc_issuer",
        "oidc_client_id",
        "oidc_client_secret",
        "oidc_owner_claim",
        "session_secret",
        mode="before",
    )
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


def default_home() -> Path:
    """Return your data folder; /var/lib/causeway for root."""
    # The embedded server runs as another user when we are root, who must be able to enter every parent folder.
    return Path("/var/lib/causeway") if os.name == "posix" and os.geteuid() == 0 else user_data_path("causeway")


class StorageConfig(BaseModel):
    """Storage."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    home: Path = Field(
        default_factory=default_home,
        validation_alias="CAUSEWAY_HOME",
        description="Folder for the embedded PostgreSQL, original files and queued uploads",
    )
    database_url: SecretStr | None = Field(
        default=None,
        validation_alias="DATABASE_URL",
        description="PostgreSQL ≥ 15 with pgvector ≥ 0.8, as postgresql://…; unset: an embedded server under "
        "`CAUSEWAY_HOME`",
    )
    migration_url: SecretStr | None = Field(
        default=None,
        validation_alias="DATABASE_MIGRATION_URL",
        description="The same database, past any pooler, as the owner of its tables, who migrates and maintains them, "
        "so that the login of `DATABASE_URL` needs no more than membership of `causeway_app`, and of `causeway_worker` "
        "where jobs run; unset: `DATABASE_URL`",
    )
    read_urls: Annotated[tuple[SecretStr, ...], NoDecode] = Field(
        default=(),
        validation_alias="DATABASE_READ_URLS",
        description="Hot standbys of the server of `DATABASE_URL`, separated by commas, with the same logins: they "
        "answer searches, each where it has a collection's last change",
    )
    redis_url: SecretStr | None = Field(
        default=None,
        validation_alias="REDIS_URL",
        description="Redis for the cache and shared rate limits, as redis://…; needs the extra `redis`; unset: "
        "the database holds the cache, and each service counts alone",
    )
    embeddings_config: Path | None = Field(
        default=None,
        validation_alias="EMBEDDINGS_CONFIG",
        description="YAML file that lists the embedding models; unset: `e5` and `bundled`, which come with packages",
    )
    index: str | None = Field(
        default=None,
        min_length=1,
        description="Search index: `chroma`, `milvus` or `typesense`, each needs the extra of the same name; unset: "
        "PostgreSQL searches",
    )
    index_url: str | None = Field(
        default=None,
        min_length=1,
        description="Address of the search index, as http://HOST:PORT; unset: for Chroma and Milvus, the folder "
        "`chroma` or `milvus` in `CAUSEWAY_HOME`",
    )
    index_api_key: SecretStr | None = Field(default=None, description="API key of the search index")
    index_timeout_seconds: PositiveFloat = Field(default=5, description="Timeout of a call to the search index")
    collection: str | None = Field(
        default=None,
        min_length=1,
        description="Default collection; unset: `default`, else the only one",
    )
    files_url: str | None = Field(
        default=None,
        description="Storage of original files: `file:///FOLDER` or `s3://BUCKET/PREFIX` (needs the extra `s3`); "
        "unset: the folder `files` in `CAUSEWAY_HOME`",
    )
    files_endpoint: str | None = Field(
        default=None,
        validation_alias="AWS_ENDPOINT_URL",
        description="Address of MinIO or another S3-compatible store; unset: Amazon's",
    )
    files_timeout_seconds: PositiveFloat = Field(default=30, description="Timeout of a call to S3")

    @property
    def owner_url(self) -> SecretStr | None:
        """Return the address of the tables' owner; None where the embedded server is used."""
        return self.migration_url or self.database_url if self.database_url else None

    @field_validator("read_urls", mode="before")
    @classmethod
    def _separated(cls, value: object) -> object:
        return tuple(filter(None, map(str.strip, value.split(",")))) if isinstance(value, str) else value

    @field_validator("database_url", "migration_url", "read_urls")
    @classmethod
    def _are_of_postgres(cls, value: SecretStr | tuple[SecretStr, ...] | None) -> object:
        for url in value if isinstance(value, tuple) else (value,):
            kind, is_url, _ = (url.get_secret_value() if url else "").partition("://")
            if is_url and kind not in ("postgresql", "postgres"):
                raise ValueError(
                    f"{kind}:// is no PostgreSQL: it has the form postgresql://user:password@host/database; unset, an"
                    " embedded server is started"
                )
        return value

    @field_validator("read_urls")
    @classmethod
    def _follow_a_server(cls, urls: tuple[SecretStr, ...], known: ValidationInfo) -> tuple[SecretStr, ...]:
        if urls and not known.data.get("database_url"):
            raise ValueError("these are standbys of the server of DATABASE_URL, which is unset")
        return urls

    @field_validator(
        "database_url",
        "migration_url",
        "redis_url",
        "embeddings_config",
        "index",
        "index_url",
        "index_api_key",
        "collection",
        "files_url",
        "files_endpoint",
        mode="before",
    )
    @classmethod
    def _unset_when_empty(cls, value: object) -> object:
        return None if value == "" else value


class DatabaseLimits(BaseModel):
    """Database."""

    model_config = ConfigDict(frozen=True)

    waiting_bytes: NonNegativeInt = Field(
        default=200_000_000,
        description="Maximum size of uploads stored on disk while the database is unreachable; 0: they are rejected",
    )
    database_pool_size: PositiveInt = Field(default=8, description="Maximum connections per process")
    database_timeout_seconds: PositiveFloat = Field(default=3, description="Timeout of waiting for a connection")
    database_statement_seconds: PositiveFloat = Field(
        default=4, description="Timeout of a statement in a request; jobs and commands have none"
    )


def four_a_core() -> int:
    """Return four a core, at least 8."""
    return max(8, 4 * (os.cpu_count() or 1))


class LoadLimits(BaseModel):
    """High load."""

    model_config = ConfigDict(frozen=True)

    max_searches: PositiveInt = Field(
        default_factory=four_a_core,
        description="Searches and answers prepared concurrently per process; further ones are queued",
    )
    load_queue_seconds: PositiveFloat = Field(
        default=3,
        description="Maximum wait in that queue, and at most half of `RAG_PREPARATION_SECONDS`; requests that "
        "would wait longer are rejected immediately",
    )
    preparation_seconds: PositiveFloat = Field(
        default=4,
        description="Time limit from the question to the call of the language model; stages that exceed it are skipped",
    )


class StreamLimits(BaseModel):
    """Streamed answers."""

    model_config = ConfigDict(frozen=True)

    stream_heartbeat_seconds: PositiveFloat = Field(
        default=15, description="Interval of the comments that keep connections through proxies open"
    )
    stream_grace_seconds: NonNegativeFloat = Field(
        default=3, description="How long an answer continues without a connected client"
    )
    stream_kept_seconds: NonNegativeFloat = Field(
        default=60, description="How long a complete answer can be fetched by a client that reconnects"
    )
    stream_stalled_seconds: PositiveFloat = Field(
        default=30, description="A client that reads nothing for this long is disconnected"
    )
    streams_per_owner: PositiveInt = Field(
        default=100, description="Maximum concurrent streams per owner, in all processes together"
    )


class Observation(BaseModel):
    """Logs and warnings."""

    model_config = ConfigDict(frozen=True)

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING",
        description="Log level; logs go to standard error, as JSON lines unless it is a terminal",
    )
    slow_retrieval_seconds: PositiveFloat = Field(
        default=2, description="Threshold of the warning about slow searches, at most once a minute"
    )
    slow_fulltext_seconds: PositiveFloat = Field(default=0.2, description="The same for full text search")
    slow_rerank_seconds: PositiveFloat = Field(default=1, description="The same for reranking")
    slow_transform_seconds: PositiveFloat = Field(default=0.3, description="The same for query transformation by rules")
    slow_expand_seconds: PositiveFloat = Field(default=0.1, description="The same for context expansion")
    slow_graph_seconds: PositiveFloat = Field(default=0.5, description="The same for the graph")
    slow_first_token_seconds: PositiveFloat = Field(default=2, description="The same for an answer's first token")
    log_salt: SecretStr | None = Field(
        default=None,
        description="Key of the owners' pseudonyms in logs, the same for all processes; unset: stored in a file "
        "in `CAUSEWAY_HOME`",
    )

    @property
    def slow_seconds(self) -> dict[str, float]:
        """Return the seconds from which a stage counts as slow, by stage."""
        return {
            "search": self.slow_retrieval_seconds,
            "retrieve": self.slow_retrieval_seconds,
            "fulltext": self.slow_fulltext_seconds,
            "rerank": self.slow_rerank_seconds,
            "transform": self.slow_transform_seconds,
            "expand": self.slow_expand_seconds,
            "associate": self.slow_graph_seconds,
            "traverse": self.slow_graph_seconds,
            "first_token": self.slow_first_token_seconds,
        }
