"""What is sent to Typesense, and what is read of its answers."""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from uuid import UUID

from graphrag.index_models import Candidate, IndexEntry
from graphrag.models import Collection, Place

NAMED = 80  # ids in the address of one request: about 3,000 characters
Score = Callable[[Mapping[str, Any]], float]
CHUNKS = "document_chunks"
NEVER = 253_402_300_799  # the last second of the year 9999: what documents are sorted by, none may lack
FIELDS: list[dict[str, Any]] = [
    {"name": "chunk_id", "type": "string"},
    {"name": "user_id", "type": "string", "facet": True},
    {"name": "collection_id", "type": "string", "facet": True},
    {"name": "file_id", "type": "string", "facet": True},
    {"name": "kinds", "type": "string[]", "facet": True},
    {"name": "content", "type": "string"},
    {"name": "context", "type": "string"},
    # Indexed, the first chunk's page and cells would tell what all others' have to be.
    {"name": "metadata", "type": "object", "optional": True, "index": False},
    {"name": "document_expires_at", "type": "int64"},
]


def schema_of(name: str, model: str, dimensions: int) -> dict[str, Any]:
    vector = {"name": "embedding", "type": "float[]", "num_dim": dimensions, "vec_dist": "cosine", "optional": True}
    return {
        "name": name,
        "fields": [*FIELDS, vector],
        "default_sorting_field": "document_expires_at",
        "enable_nested_fields": True,
        "metadata": {"embedding_model": model},
    }


def collection_names(model: str) -> tuple[str, str]:
    """Where the model's chunks may be; the second, where the first one is another model's."""
    return CHUNKS, f"{CHUNKS}_{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def embedding_model(schema: Mapping[str, Any]) -> str | None:
    model = schema.get("metadata", {}).get("embedding_model")
    return model if isinstance(model, str) else None


def belonging_to(collection: Collection) -> str:
    return f"user_id:={_user(collection)} && collection_id:={collection.id}"


def to_document(collection: Collection, entry: IndexEntry) -> dict[str, Any]:
    chunk = entry.chunk
    expires_at = chunk.document.expires_at
    document = {
        "id": str(entry.id),
        "chunk_id": str(chunk.id),
        "user_id": _user(collection),
        "collection_id": str(collection.id),
        "file_id": str(chunk.document.id),
        "kinds": sorted(entry.kinds),
        "content": chunk.content,
        "context": chunk.context,
        "metadata": {
            "filename": chunk.document.filename,
            "language": chunk.document.language,
            "headings": chunk.context,
            "places": [_place(place) for place in chunk.places],
        },
        "document_expires_at": math.ceil(expires_at.timestamp()) if expires_at else NEVER,
    }
    return document if entry.vector is None else document | {"embedding": [float(number) for number in entry.vector]}


def _user(collection: Collection) -> str:
    """Hashed: Typesense's filters compare words and not characters, so Ana, ana and a.n.a would be one owner; and no
    name can break out of a filter.
    """
    return hashlib.sha256(collection.owner_id.encode(errors="surrogatepass")).hexdigest()


def _place(place: Place) -> dict[str, Any]:
    return {name: value for name, value in asdict(place).items() if name in ("page", "sheet", "cells") and value}


def read_candidates(answer: Any, score: Score) -> list[Candidate]:
    """Each search of one request may fail by itself. Raises TypesenseClientError, as the client does."""
    from typesense.exceptions import TypesenseClientError

    failed = next((result for result in answer["results"] if "error" in result), None)
    if failed:
        raise TypesenseClientError(failed.get("code"), failed["error"])
    hits = [hit for result in answer["results"] for hit in result["hits"]]
    return [
        Candidate(UUID(hit["document"]["id"]), UUID(hit["document"]["chunk_id"]), min(1.0, max(0.0, score(hit))))
        for hit in hits
    ]


def nearness(hit: Mapping[str, Any]) -> float:
    return 1.0 - float(hit["vector_distance"])


def read_causes(results: Any, count: int) -> list[str]:
    """Why each of so many chunks was refused; empty for one that was taken."""
    if len(results) != count:
        raise ValueError(f"{len(results)} results of {count} chunks")
    return ["" if result["success"] else str(result["error"]) for result in results]


def read_ids(exported: Any) -> set[UUID]:
    return {UUID(json.loads(line)["id"]) for line in exported.splitlines()}


def read_names(schemas: Any) -> list[str]:
    """Of the collections that are ours."""
    names = [schema["name"] for schema in schemas if embedding_model(schema)]
    return [name for name in names if re.fullmatch(rf"{CHUNKS}(_[0-9a-f]{{8}})?", name)]


def among(collection: Collection, field: str, ids: Sequence[UUID]) -> list[str]:
    """Filters for them all, none of which is too long for an address."""
    slices = [ids[start : start + NAMED] for start in range(0, len(ids), NAMED)]
    return [f"{belonging_to(collection)} && {field}:=[{listed(some)}]" for some in slices]


def listed(ids: Sequence[UUID]) -> str:
    return ",".join(map(str, ids))
