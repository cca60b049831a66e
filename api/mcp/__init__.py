"""The Model Context Protocol server: read-only tools over the same services."""
