"""How good retrieval is, in numbers: datasets, metrics, runs."""
