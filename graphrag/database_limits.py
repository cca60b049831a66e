"""The service's settings of how long the database is waited for."""

from pydantic import BaseModel, Field, PositiveFloat, PositiveInt


class DatabaseLimits(BaseModel):
    database_pool_size: PositiveInt = 8
    database_timeout_seconds: PositiveFloat = Field(default=3, description="For a connection")
    database_statement_seconds: PositiveFloat = Field(
        default=4, description="Of one statement that a request waits for; jobs and commands take their time"
    )
