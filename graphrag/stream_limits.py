"""The service's settings of answers that are streamed."""

from pydantic import BaseModel, Field, NonNegativeFloat, PositiveFloat, PositiveInt


class StreamLimits(BaseModel):
    """Streamed answers."""

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
