"""What the tools of the MCP server give, beside what a search gives."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import BaseModel, Field

from api.pagination import Page
from api.schemas import DEGRADED, CitationOut, PathOut


class AnswerOut(BaseModel):
    answer: str = Field(description="Its marks, as [1], are the numbers of the citations")
    found: bool = Field(description="false: the documents hold no answer")
    citations: list[CitationOut] = Field(description="Each checked against the documents; a wrong one has its status")
    unsupported_statements: list[str] = Field(description="Of the answer, that the documents do not say")
    paths: list[PathOut] = Field(description="Causal chains that the documents state, the best first")
    reliability: float = Field(description="Passages used / passages at hand")
    language: Literal["es", "fr", "en"]
    degraded_messages: list[str]
    warnings: list[str]


class ListedDocument(BaseModel):
    document_id: UUID
    filename: str
    title: str
    language: str
    media_type: str
    tags: list[str]
    created_at: datetime


class DocumentsOut(Page):
    documents: list[ListedDocument] = Field(description="The oldest first")


class PathsOut(BaseModel):
    paths: list[PathOut] = Field(description="The best first, each link with the sentence that states it")
    language: Literal["es", "fr", "en"]
    degraded: list[str] = Field(description=DEGRADED)
