"""Evaluation of searches and answers: datasets, metrics, judges, runs."""
