"""Answers in the documents' own words: which sentences answer, and how they read together."""
