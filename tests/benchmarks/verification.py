"""What verification doubts of statements with one fact changed, and of true ones.

python -m tests.benchmarks.verification

The first two sets are what it was made with; the third was written apart, and looked at by nobody who worked on it.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.agent.verification.passages import is_doubted, read_pairs

SETS = ("pairs.jsonl", "pairs_2.jsonl", "pairs_unseen.jsonl")
KINDS = ("number", "date", "unit", "name", "negation", "direction", "role")


def doubted_by_kind(pairs: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Of each kind, of all corrupted ones and of the true ones, the share that is doubted."""
    asked: Counter[str] = Counter()
    doubted: Counter[str] = Counter()
    for pair in pairs:
        for group in (pair["label"], pair["kind"]):
            asked[group] += 1
            doubted[group] += is_doubted(pair)
    return {group: f"{doubted[group] / asked[group]:.2f}" for group in asked}


def main() -> None:
    table = Table("set", "corrupted", *KINDS, "true")
    for name in SETS:
        shares = doubted_by_kind(read_pairs(name))
        table.add_row(name, shares["corrupted"], *(shares[kind] for kind in KINDS), shares["true"])
    Console().print(table)


if __name__ == "__main__":
    main()
