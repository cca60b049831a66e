"""The service's settings of how long the database is waited for."""

from pydantic import BaseModel, Field, NonNegativeInt, PositiveFloat, PositiveInt


class DatabaseLimits(BaseModel):
    """The database."""

    waiting_bytes: NonNegativeInt = Field(
        default=200_000_000, description="Uploads that are kept on disk while the database is away; 0: they are refused"
    )
    database_pool_size: PositiveInt = Field(default=8, description="Most connections of one process")
    database_timeout_seconds: PositiveFloat = Field(default=3, description="Longest wait for a connection")
    database_statement_seconds: PositiveFloat = Field(
        default=4, description="Longest statement that a request waits for; jobs and commands take their time"
    )
