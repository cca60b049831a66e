"""ASGI middleware: authentication, origins, rate limits, request bodies, observability."""
