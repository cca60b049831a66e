"""Stores in PostgreSQL, with their SQL."""
