"""Caches shared by processes, and the prefixes of their keys.

Whoever erases a deleted document's words forgets the keys with these prefixes, so they stand below their users.
"""

RELATIONS_PREFIX = "relations:"  # causal relations that a model found; the file's key follows
SITUATIONS_PREFIX = "situation:"  # contexts that a model wrote for chunks; the file's key follows
REFINEMENTS_PREFIX = "refinement:"  # question refinements by a model; a hash follows
