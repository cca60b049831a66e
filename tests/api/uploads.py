"""Documents as tests send them over HTTP."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.conftest import Server
from tests.golden_library import TEXTS

REPORT = "# Informe\n\nEl horno H2 falló porque se rompió el retén de la puerta.\n"
WAIT_SECONDS = 60


def upload(api: httpx.Client, collection: str, name: str, data: bytes | str, **form: Any) -> dict[str, Any]:
    data = data.encode() if isinstance(data, str) else data
    answer = api.post("/documents", files=[("files", (name, data))], data={"collection": collection} | form)
    assert answer.status_code == 202, answer.text
    (document,) = answer.json()["documents"]
    return dict(document)


def finished(api: httpx.Client, document_id: str) -> dict[str, Any]:
    until = time.monotonic() + WAIT_SECONDS
    while (document := api.get(f"/documents/{document_id}").json())["status"] in ("uploaded", "processing"):
        assert time.monotonic() < until, document
        time.sleep(0.05)
    return dict(document)


@contextmanager
def shelf(server: Server, collection: str) -> Iterator[httpx.Client]:
    """A client of a server that others use, too, with the golden library's texts in a collection for a while."""
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=30, headers={"Accept-Language": "en"}) as client:
        for document in [upload(client, collection, name, text) for name, text in TEXTS.items()]:
            assert finished(client, document["id"])["status"] == "indexed"
        yield client
        client.delete(f"/collections/{collection}").raise_for_status()


def ask(api: httpx.Client, collection: str, question: str) -> dict[str, Any]:
    return dict(api.post("/chat", json={"message": question, "collection": collection}).json())
