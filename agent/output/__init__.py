"""The answer on its way out: events, sanitised markup, citations, files."""
