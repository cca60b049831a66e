"""What the documents say caused what, and who and what they name."""
