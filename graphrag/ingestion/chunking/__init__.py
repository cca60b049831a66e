"""Chunking strategies."""
