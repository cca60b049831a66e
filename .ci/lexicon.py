"""Check the lexicon of concepts: its columns, a word for every language, references, and marks of ambiguous words.

python .ci/lexicon.py: exit code 1 with the faults. A word that two concepts of one part of speech share must be marked
in both with a *: it means more than one thing.
"""

import sys
from collections import Counter, defaultdict
from pathlib import Path

from graphrag.linguistics.language import fold

FILE = Path(__file__).parents[1] / "graphrag" / "linguistics" / "rules" / "concepts.tsv"
LANGUAGES = ("en", "fr", "es")
LEAST_CONCEPTS = 6_000


def find_faults(lines: list[str]) -> list[str]:
    rows = [line.split("\t") for line in lines]
    faults = [f"{row[0]}: {len(row)} columns, not 8" for row in rows if len(row) != 8]
    if faults:
        return faults
    names = Counter(row[0] for row in rows)
    faults += [f"{name}: more than one" for name, count in names.items() if count > 1]
    if len(names) < LEAST_CONCEPTS:
        faults.append(f"only {len(names)} concepts")
    shared: dict[tuple[str, str, str], list[tuple[str, bool]]] = defaultdict(list)
    for name, part_of_speech, *columns, hypernym, antonym, family in rows:
        if part_of_speech not in "nvar" or len(part_of_speech) != 1:
            faults.append(f"{name}: unknown part of speech {part_of_speech!r}")
        for reference in filter(None, (hypernym, antonym, family)):
            if reference not in names:
                faults.append(f"{name}: there is no concept {reference!r}")
        for language, column in zip(LANGUAGES, columns, strict=True):
            words = column.split("|")
            if not all(word.strip("* ") == word.rstrip("*") and word.strip("* ") for word in words):
                faults.append(f"{name}: an empty word or a space at its end in {language}")
            if len({fold(word.rstrip("*")) for word in words}) < len(words):
                faults.append(f"{name}: a word twice in {language}")
            for word in words:
                key = (language, part_of_speech, fold(word.rstrip("*")))
                shared[key].append((name, word.endswith("*")))
    for (language, _, word), places in shared.items():
        if len(places) > 1:
            faults += [f"{name}: {word!r} ({language}) lacks its mark" for name, is_marked in places if not is_marked]
    return faults


def main() -> None:
    faults = find_faults(FILE.read_text(encoding="utf-8").splitlines())
    for fault in faults[:50]:
        print(fault)
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
