"""Schemas of chat models: what was found, tried and chosen."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from api.schemas.fields import Line
from graphrag.llm.model_choice import ModelConnection

MAX_ADDRESS_CHARS, MAX_NAME_CHARS, MAX_KEY_CHARS = 300, 200, 500


class ConnectionIn(BaseModel):
    """A model of an OpenAI-compatible server."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"address": "http://127.0.0.1:11434/v1", "model": "llama3.2"}]},
    )

    address: Annotated[Line, StringConstraints(min_length=1, max_length=MAX_ADDRESS_CHARS)] = Field(
        description="On this machine, of OpenAI, Gemini or Mistral, or one of `RAG_MODEL_SERVERS`"
    )
    model: Annotated[Line, StringConstraints(min_length=1, max_length=MAX_NAME_CHARS)]
    key: Annotated[str, StringConstraints(pattern=r"^[!-~]*$", max_length=MAX_KEY_CHARS)] | None = Field(
        default=None, description="Without one, the environment's, if the address is that of a vendor", repr=False
    )

    def connection(self) -> ModelConnection:
        return ModelConnection(self.address, self.model, self.key or None)


class ChosenModelOut(BaseModel):
    name: str = Field(description="As answers name it")
    address: str
    model: str
    has_key: bool

    @classmethod
    def of(cls, chosen: ModelConnection) -> "ChosenModelOut":
        return cls(name=chosen.name, address=chosen.address, model=chosen.model, has_key=chosen.key is not None)


class FoundServerOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    name: str
    address: str
    models: list[str]


class ChatModelsOut(BaseModel):
    in_use: str = Field(description="The model that is asked for answers first; extractive: none")
    chosen: ChosenModelOut | None = Field(description="null: what the settings say")
    found: list[FoundServerOut]


class ModelTrialOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)

    answer: str
    first_word_seconds: float
    seconds: float
