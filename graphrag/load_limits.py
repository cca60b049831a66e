"""The service's settings of how much it does at a time, and how long those who ask wait."""

import os

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt


def four_a_core() -> int:
    """four a core, at least 8"""
    return max(8, 4 * (os.cpu_count() or 1))


class LoadLimits(BaseModel):
    """High load."""

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
