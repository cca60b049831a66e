"""The service's settings of what a chat model may be asked for to propose golden cases."""

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat


class ProposalLimits(BaseModel):
    """Proposed golden cases."""

    proposal_calls: NonNegativeInt = Field(
        default=20, description="Most calls of the chat model that one request or command makes; 0: none"
    )
    proposal_seconds: PositiveFloat = Field(
        default=60, description="Longest time for the chat model in one request; then rules propose"
    )
