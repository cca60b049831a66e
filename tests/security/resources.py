"""A collection with something of every kind that the API has ids for."""

import time
from typing import Any
from uuid import uuid4

import httpx

from tests.api.streams import read_events
from tests.conftest import Server

MARK = "Zurrapandilla"  # a word that stands in these documents, names and questions, and nowhere else
WAIT_SECONDS = 60


def make_resources(server: Server, key: str) -> dict[str, Any]:
    """By the names that paths, queries and bodies have for them."""
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"{server.url}/api/v1", headers=headers, timeout=60) as api:
        name = f"{MARK}-{uuid4().hex[:8]}"
        text = f"La {MARK} perdió el tren de las nueve porque la barrera del paso a nivel estaba bajada."
        files = [("files", (f"{MARK}.txt", text.encode()))]
        (uploaded,) = made(api.post("/documents", files=files, data={"collection": name}))["documents"]
        wait_for(api, f"/documents/{uploaded['id']}", "indexed")
        with api.stream(
            "POST", "/chat/stream", json={"message": f"¿Qué perdió la {MARK}?", "collection": name}
        ) as said:
            stream_id = said.headers["x-stream-id"]
            done = list(read_events(said.iter_lines()))[-1].data
        assert MARK in done["answer"]
        golden = {
            "collection": name,
            "query": f"¿Qué perdió la {MARK}?",
            "relevant_document_ids": [uploaded["id"]],
            "category": "factual",
        }
        case = made(api.post("/golden-cases", json=golden))
        (proposal,) = made(api.post("/golden-cases/proposals", json={"collection": name}))["proposals"]
        version = made(api.post("/golden-cases/versions", json={"collection": name}))
        run = made(api.post("/evaluations", json={"collection": name}))
        wait_for(api, f"/evaluations/{run['id']}", "done")
        yearly = {"collection": name, "name": MARK, "cron": "0 3 1 1 *"}
        schedule = made(api.post("/evaluations/schedules", json=yearly))
    return {
        "name": name,
        "collection": name,
        "model": name,
        "document_id": uploaded["id"],
        "ids": [uploaded["id"]],
        "page": 1,
        "relevant_document_ids": [uploaded["id"]],
        "conversation_id": done["conversation_id"],
        "message_id": done["message_id"],
        "parent_id": done["message_id"],
        "citation": 1,
        "stream_id": stream_id,
        "case_id": case["id"],
        "proposal_id": proposal["id"],
        "number": version["number"],
        "version": version["number"],
        "evaluation_id": run["id"],
        "schedule_id": schedule["id"],
        "baseline": run["id"],
        "candidate": run["id"],
    }


def made(response: httpx.Response) -> dict[str, Any]:
    assert response.is_success, response.text
    return dict(response.json())


def wait_for(api: httpx.Client, path: str, status: str) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while (now := made(api.get(path))["status"]) != status:
        assert now not in ("error", "failed"), now
        assert time.monotonic() < until, now
        time.sleep(0.05)
