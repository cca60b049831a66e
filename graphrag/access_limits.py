"""The service's settings of who may use it from where, how often, and with how much."""

import re
from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator
from pydantic_settings import NoDecode

SITE = re.compile(r"https?://[^\s/?#@]+")


class AccessLimits(BaseModel):
    """From where, how often, and how much."""

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
