"""What a collection may be called: whatever can be printed and stands as one step of a path."""

from graphrag.errors import InvalidCollectionName

MOST_CHARS = 200


def checked_name(name: str) -> str:
    """Raises InvalidCollectionName: a slash parts the steps of a path; dots alone lead elsewhere."""
    is_step = "/" not in name and "\\" not in name and name not in (".", "..")
    if not name.strip() or name != name.strip() or not name.isprintable() or not is_step or len(name) > MOST_CHARS:
        raise InvalidCollectionName(
            f"{name[:MOST_CHARS]!r} is no name for a collection: it takes up to {MOST_CHARS} characters that can be "
            "printed, none of them a slash, and no space at either end.",
            name=name[:MOST_CHARS].encode(errors="replace").decode(),
            limit=MOST_CHARS,
        )
    return name
