"""The service's settings of who may use it from where, how often, and with how much."""

import re
from typing import Annotated

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt, field_validator
from pydantic_settings import NoDecode

SITE = re.compile(r"https?://[^\s/?#@]+")


class AccessLimits(BaseModel):
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Names that a proxy has the service under, separated by commas; this machine's own are"
    )
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Sites whose pages may use the service, as https://HOST[:PORT], separated by commas; *: all, which "
        "needs authentication",
    )
    rate_per_minute: NonNegativeInt | None = Field(
        default=None, description="Requests of one owner; 0: no limit; None: 600 where it is known who asks"
    )
    answers_per_minute: NonNegativeInt | None = Field(
        default=None, description="Questions of one owner; 0: no limit; None: 60 where it is known who asks"
    )
    refusals_per_minute: NonNegativeInt = Field(
        default=30, description="Credentials from one address that do not hold; 0: no limit"
    )
    request_seconds: PositiveFloat = Field(default=60, description="Without a part of a body, or below 1 kB a second")
    max_request_bytes: PositiveInt = Field(default=100_000_000, description="Of one upload, all files together")
    max_json_bytes: PositiveInt = Field(default=5_000_000, description="Of every other request")
    max_files: PositiveInt = Field(default=100, description="Of one upload")
    max_owner_bytes: PositiveInt | None = Field(default=None, description="Of all files of an owner")
    max_collections: PositiveInt | None = Field(default=None, description="Of an owner")
    max_schedules: PositiveInt = Field(default=20, description="Of evaluations, of an owner")

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
