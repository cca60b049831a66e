"""The service's settings of how much it does at a time, and how long those who ask wait."""

import os

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt


class LoadLimits(BaseModel):
    max_searches: PositiveInt = Field(
        default_factory=lambda: max(8, 4 * (os.cpu_count() or 1)),
        description="Prepared at the same time, in one process; the others wait in their order",
    )
    load_queue_seconds: PositiveFloat = Field(
        default=3,
        description="Of waiting for that, or half of the time to prepare; who would wait longer is refused at once",
    )
    preparation_seconds: PositiveFloat = Field(
        default=4, description="Of an answer, from the request to the language model; what takes longer is left out"
    )
