"""Where chunks are kept and searched."""
