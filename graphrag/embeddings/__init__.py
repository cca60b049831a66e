"""Embedding models by name."""
