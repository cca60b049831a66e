"""Causal relations that documents state, and the names that they mention."""
