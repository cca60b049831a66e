"""How good searches and answers are, in numbers: datasets, metrics, judges, runs."""
