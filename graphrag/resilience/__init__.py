"""Circuit breakers, retries, deadlines, concurrency limits, load shedding and cancellation."""
