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
    field_validator,
)
from pydantic_settings import NoDecode

from graphrag.models import LOCAL_OWNER
from graphrag.models.documents import is_owner_name

SITE = re.compile(r"https?://[^\s/?#@]+")


class AccessLimits(BaseModel):
    """Access: hosts, rates and sizes."""

    model_config = ConfigDict(frozen=True)

    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Names that a proxy has the service under, separated by commas; this machine's own are"
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Sites whose pages may use the service, as https://HOST[:PORT], separated by commas; *: all, which "
        "needs authentication",
    )
    rate_per_minute: NonNegativeInt | None = Field(
        default=None, description="Most requests of one owner; 0: no limit; unset: 600 where it is known who asks"
    )
    answers_per_minute: NonNegativeInt | None = Field(
        default=None, description="Most questions of one owner; 0: no limit; unset: 60 where it is known who asks"
    )
    refusals_per_minute: NonNegativeInt = Field(
        default=30, description="Most wrong keys or tokens from one address; 0: no limit"
    )
    request_seconds: PositiveFloat = Field(
        default=60, description="A request that sends nothing for so long, or less than 1 kB a second, is ended"
    )
    max_request_bytes: PositiveInt = Field(default=100_000_000, description="Largest upload, all files together")
    max_json_bytes: PositiveInt = Field(default=5_000_000, description="Largest request of any other kind")
    max_files: PositiveInt = Field(default=100, description="Most files of one upload")
    max_owner_bytes: PositiveInt | None = Field(
        default=None, description="All files of one owner together; unset: no limit"
    )
    max_collections: PositiveInt | None = Field(
        default=None, description="Most collections of one owner; unset: no limit"
    )
    max_schedules: PositiveInt = Field(default=20, description="Most evaluation schedules of one owner")

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

    @field_validator("rate_per_minute", "answers_per_minute", "max_owner_bytes", "max_collections", mode="before")
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
        description="Folder of the embedded PostgreSQL, of files and of uploads that wait",
    )
    database_url: SecretStr | None = Field(
        default=None,
        validation_alias="DATABASE_URL",
        description="PostgreSQL ≥ 15 with pgvector ≥ 0.8, as postgresql://…; unset: an embedded server under "
        "`CAUSEWAY_HOME`",
    )
    redis_url: SecretStr | None = Field(
        default=None,
        validation_alias="REDIS_URL",
        description="For the cache and the counting of rates, needs the extra `redis`; unset: the cache is in the "
        "database, and each process counts alone",
    )
    embeddings_config: Path | None = Field(
        default=None,
        validation_alias="EMBEDDINGS_CONFIG",
        description="YAML file that lists the embedding models; unset: the bundled one",
    )
    index: str | None = Field(
        default=None,
        min_length=1,
        description="Another system that searches vectors: `chroma` or `typesense`, each with the extra of its name; "
        "unset: PostgreSQL does",
    )
    index_url: str | None = Field(
        default=None,
        min_length=1,
        description="Its address, as http://HOST:PORT; unset: for Chroma the folder `chroma` in `CAUSEWAY_HOME`",
    )
    index_api_key: SecretStr | None = Field(default=None, description="Its key, where it asks for one")
    index_timeout_seconds: PositiveFloat = Field(default=5, description="Longest time for one call to it")
    collection: str | None = Field(
        default=None,
        min_length=1,
        description="The collection that is asked when none is named; unset: `default`, else the only one",
    )
    files_url: str | None = Field(
        default=None,
        description="Where original files are kept: `file:///FOLDER` or `s3://BUCKET/PREFIX` (needs the extra `s3`); "
        "unset: the folder `files` in `CAUSEWAY_HOME`",
    )
    files_endpoint: str | None = Field(
        default=None,
        validation_alias="AWS_ENDPOINT_URL",
        description="Address of MinIO or another S3-compatible store; unset: Amazon's",
    )
    files_timeout_seconds: PositiveFloat = Field(default=30, description="Longest time for one call to S3")

    @field_validator("database_url")
    @classmethod
    def _is_of_postgres(cls, url: SecretStr | None) -> SecretStr | None:
        kind, is_url, _ = (url.get_secret_value() if url else "").partition("://")
        if is_url and kind not in ("postgresql", "postgres"):
            raise ValueError(
                f"{kind}:// is no PostgreSQL: it has the form postgresql://user:password@host/database; unset, an"
                " embedded server is started"
            )
        return url

    @field_validator(
        "database_url",
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
    """The database."""

    model_config = ConfigDict(frozen=True)

    waiting_bytes: NonNegativeInt = Field(
        default=200_000_000, description="Uploads that are kept on disk while the database is away; 0: they are refused"
    )
    database_pool_size: PositiveInt = Field(default=8, description="Most connections of one process")
    database_timeout_seconds: PositiveFloat = Field(default=3, description="Longest wait for a connection")
    database_statement_seconds: PositiveFloat = Field(
        default=4, description="Longest statement that a request waits for; jobs and commands take their time"
    )


def four_a_core() -> int:
    """Return four a core, at least 8."""
    return max(8, 4 * (os.cpu_count() or 1))


class LoadLimits(BaseModel):
    """High load."""

    model_config = ConfigDict(frozen=True)

    max_searches: PositiveInt = Field(
        default_factory=four_a_core,
        description="Searches and answers prepared at the same time in one process; the others wait in their order",
    )
    load_queue_seconds: PositiveFloat = Field(
        default=3,
        description="Longest wait for that, and at most half of `RAG_PREPARATION_SECONDS`; who would wait longer is "
        "refused at once",
    )
    preparation_seconds: PositiveFloat = Field(
        default=4, description="Longest time from a question to the language model; what takes longer is left out"
    )


class StreamLimits(BaseModel):
    """Streamed answers."""

    model_config = ConfigDict(frozen=True)

    stream_heartbeat_seconds: PositiveFloat = Field(
        default=15, description="Pause between comments that keep proxies waiting"
    )
    stream_grace_seconds: NonNegativeFloat = Field(default=3, description="How long an answer goes on without a reader")
    stream_kept_seconds: NonNegativeFloat = Field(
        default=60, description="How long a whole answer is kept for a reader that comes back"
    )
    stream_stalled_seconds: PositiveFloat = Field(
        default=30, description="A reader that takes nothing for so long is dropped"
    )
    streams_per_owner: PositiveInt = Field(
        default=100, description="Most streams of one owner at the same time, in all processes together"
    )


class Observation(BaseModel):
    """Logs and warnings."""

    model_config = ConfigDict(frozen=True)

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        default="WARNING", description="What is logged, as JSON lines on standard error"
    )
    slow_retrieval_seconds: PositiveFloat = Field(
        default=2, description="A search that takes longer is warned of, once a minute"
    )
    slow_fulltext_seconds: PositiveFloat = Field(default=0.2, description="Full text that takes longer")
    slow_rerank_seconds: PositiveFloat = Field(default=1, description="Reranking that takes longer")
    slow_transform_seconds: PositiveFloat = Field(
        default=0.3, description="Understanding a question by rules, if it takes longer"
    )
    slow_expand_seconds: PositiveFloat = Field(default=0.1, description="Reading around the hits, if it takes longer")
    slow_graph_seconds: PositiveFloat = Field(default=0.5, description="Following causes or names, if it takes longer")
    slow_first_token_seconds: PositiveFloat = Field(default=2, description="An answer's first word that takes longer")
    log_salt: SecretStr | None = Field(
        default=None,
        description="What owners' marks in logs are made with, the same for all processes; unset: a file in "
        "`CAUSEWAY_HOME` holds it",
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
