"""Authentication of requests, the same for HTTP, MCP and the command line."""
