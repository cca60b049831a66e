"""Stores that keep and search chunks: PostgreSQL, and indexes of other servers beside it."""
