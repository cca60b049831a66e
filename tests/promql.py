"""What a PromQL expression asks for: its metrics, each with the labels that it is filtered or grouped by."""

import re
from collections.abc import Iterator

_SELECTOR = re.compile(r"\b([a-zA-Z_:][\w:]*)\s*(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"')
_GROUPING = re.compile(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)")
_WORDS = re.compile(
    r"^(?:sum|max|min|avg|count|rate|increase|histogram_quantile|min_over_time|max_over_time|by|label_values)$"
)


def selectors(expression: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Each metric with its matchers, as label → value that is asked for; "" for another comparison than equality."""
    bare = re.sub(r"\[[^\]]*\]", "", _GROUPING.sub("", expression))
    for name, matchers in _SELECTOR.findall(bare):
        if not _WORDS.match(name):
            yield name, {label: value if sign == "=" else "" for label, sign, value in _MATCHER.findall(matchers)}


def grouping(expression: str) -> set[str]:
    return {label.strip() for labels in _GROUPING.findall(expression) for label in labels.split(",")}
