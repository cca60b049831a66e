"""Query transformation: intent, parts, names and follow-ups of a question; by rules, refined by a model."""
