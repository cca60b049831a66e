"""Questions that documents answer, proposed as golden cases."""
