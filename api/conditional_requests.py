"""ETags, and requests that hold only for the version that they name: RFC 9110, section 13."""

import re
from hashlib import sha256
from typing import Annotated, Any

from fastapi import Header

from graphrag.errors import PreconditionFailed

_TAG = re.compile(r'(W/)?("[^"]*")')
_MOST_CHARS = 4_000

IfMatch = Annotated[
    str | None,
    Header(
        max_length=_MOST_CHARS,
        description="The ETag of the version that the request is for: 412 where it is no longer this one",
    ),
]
IfNoneMatch = Annotated[
    str | None, Header(max_length=_MOST_CHARS, description="ETags of versions that are known: 304 for one of these")
]
ETAGGED: dict[int | str, dict[str, Any]] = {
    200: {
        "headers": {
            "ETag": {
                "description": "Of this version, for If-None-Match and If-Match",
                "schema": {"type": "string"},
            }
        }
    },
    304: {"description": "It is the version that is known"},
}


def make_etag(*parts: str) -> str:
    """A strong one: the same for the same bytes alone."""
    return f'"{sha256(" ".join(parts).encode()).hexdigest()[:32]}"'


def is_known(etag: str, if_none_match: str | None) -> bool:
    """By weak comparison."""
    if if_none_match is None:
        return False
    return if_none_match.strip() == "*" or etag in {tag for _, tag in _TAG.findall(if_none_match)}


def check_match(etag: str, if_match: str | None) -> None:
    """By strong comparison. Raises PreconditionFailed."""
    if if_match is None or if_match.strip() == "*":
        return
    if etag not in {tag for weak, tag in _TAG.findall(if_match) if not weak}:
        raise PreconditionFailed("It is no longer the version that the request is for: read it again.", etag=etag)
