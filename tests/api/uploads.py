"""Documents as tests send them over HTTP."""

import time
from typing import Any

import httpx

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


def ask(api: httpx.Client, collection: str, question: str) -> dict[str, Any]:
    return dict(api.post("/chat", json={"message": question, "collection": collection}).json())
