"""The service's settings of what a chat model may be asked for to propose golden cases."""

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat


class ProposalLimits(BaseModel):
    proposal_calls: NonNegativeInt = Field(default=20, description="Of the chat model, one request or command; 0: none")
    proposal_seconds: PositiveFloat = Field(default=60, description="Of the chat model, one request; then by rules")
