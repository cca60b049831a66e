"""What verification doubts of statements with one fact changed, and of true ones.

python -m tests.benchmarks.verification [PAIRS]

The first two sets are what it was made with; the third was written apart, and looked at by nobody who worked on it.
PAIRS is a file of such pairs with the labels supported, contradicted and not_stated.
"""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.agent.verification.passages import is_doubted, read_pairs

SETS = ("pairs.jsonl", "pairs_2.jsonl", "pairs_unseen.jsonl")
KINDS = ("number", "date", "unit", "name", "negation", "direction", "role")


def doubted_by_kind(pairs: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Of each label and kind, the share that is doubted."""
    asked: Counter[str] = Counter()
    doubted: Counter[str] = Counter()
    for pair in pairs:
        for group in (pair["label"], pair["kind"]):
            asked[group] += 1
            doubted[group] += is_doubted(pair)
    return {group: doubted[group] / asked[group] for group in asked}


def read_file(path: Path) -> list[dict[str, Any]]:
    """Read pairs of PAIRS as those of a set; a kind of a true statement is told apart from that of a false one."""
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [
        {
            **row,
            "passage_language": row["lang"],
            "label": "true" if row["label"] == "supported" else "corrupted",
            "kind": f"{'true' if row['label'] == 'supported' else 'corrupted'}, {row['kind']}",
        }
        for row in rows
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, nargs="?")
    given = parser.parse_args().pairs
    if given:
        table = Table("label, kind", "doubted")
        for group, share in sorted(doubted_by_kind(read_file(given)).items()):
            table.add_row(group, f"{share:.2f}")
    else:
        table = Table("set", "corrupted", *KINDS, "true")
        for name in SETS:
            shares = doubted_by_kind(read_pairs(name))
            table.add_row(name, *(f"{shares[group]:.2f}" for group in ("corrupted", *KINDS, "true")))
    Console().print(table)


if __name__ == "__main__":
    main()
