"""The service's settings of where its database, its files and its cache are."""

import os
from pathlib import Path

from platformdirs import user_data_path
from pydantic import BaseModel, Field, PositiveFloat, SecretStr, field_validator


def default_home() -> Path:
    """your data folder; /var/lib/causeway for root"""
    # The embedded server runs as another user when we are root, who must be able to enter every parent folder.
    return Path("/var/lib/causeway") if os.name == "posix" and os.geteuid() == 0 else user_data_path("causeway")


class StorageConfig(BaseModel):
    """Where things are."""

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
