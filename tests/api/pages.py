"""Lists as tests read them over HTTP, to their last page."""

from typing import Any

import httpx


def read_pages(client: httpx.Client, path: str, name: str, **query: Any) -> list[list[dict[str, Any]]]:
    """The entries under that name, page by page."""
    found: list[list[dict[str, Any]]] = []
    cursor = None
    while not found or cursor:
        response = client.get(path, params=query | ({"cursor": cursor} if cursor else {}))
        assert response.status_code == 200, response.text
        found.append(response.json()[name])
        cursor = response.json()["next_cursor"]
    return found
