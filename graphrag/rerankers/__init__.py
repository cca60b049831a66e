"""Rerankers of the retrieved candidates."""
