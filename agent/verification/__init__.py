"""Verification of an answer's statements against the passages that they cite."""
