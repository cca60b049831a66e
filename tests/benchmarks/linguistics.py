"""Measure the readers of sentences, numbers, dates, names and negation on texts by somebody who had not seen the code.

python -m tests.benchmarks.linguistics [READER…] [--part kept] [--errors 10] [--lexicon FOLDER…]

Half of each set is for tuning (`tune`), half is kept aside (`kept`): the figures of the second count. Texts that
were added later are all for tuning. With --lexicon, the share of the content words of datasets in BEIR's format, names
and codes aside, that the lexicon of concepts knows.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from agent.evaluation.retrieval_run import read_dataset
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import detect, fold, stop_words, words
from graphrag.linguistics.lexicon import find_meanings
from graphrag.linguistics.names import find_names
from graphrag.linguistics.negation import read_polarity
from graphrag.linguistics.numbers import WHOLE, read_quantities
from graphrag.linguistics.sentences import split_sentences

GOLD = Path(__file__).parents[1] / "golden" / "linguistics"
LANGUAGES = ("es", "fr", "en")
TIME_UNITS = frozenset("min h day week month year".split())
Part = Literal["tune", "kept"]
Item = Mapping[str, Any]


def read_gold(name: str, part: Part) -> list[Item]:
    """Return the texts of a part: those that name one, of the others every second of a language, the first to tune."""
    places: Counter[str] = Counter()
    found = []
    for line in (GOLD / f"{name}.jsonl").read_text("utf-8").splitlines():
        item = json.loads(line)
        own = item.get("part") or ("tune", "kept")[places[item["lang"]] % 2]
        if own == part:
            found.append(item)
        places[item["lang"]] += "part" not in item
    return found


def same(wanted: Sequence[Any], found: Sequence[Any]) -> tuple[int, int]:
    """Return how many are in both, and in either; as often as they are there."""
    one, other = Counter(wanted), Counter(found)
    return sum((one & other).values()), sum((one | other).values())


def score_sentences(item: Item) -> tuple[int, int]:
    text = item["text"]
    return same(item["units"], [text[span.start : span.end].strip() for span in split_sentences(text)])


def score_dates(item: Item) -> tuple[int, int]:
    text, language = item["text"], item["lang"]
    read = read_dates(text, language, reference=date.fromisoformat(item["reference"]))
    told = [each for each in read if each.first and each.last]
    found = [(str(each.first), str(each.last)) for each in told]
    wanted = [(each["start"], each["end"]) for each in item["dates"]]
    durations = [
        (each.low, each.unit)
        for each in read_quantities(text, language)
        if each.unit in TIME_UNITS and not any(one.start < each.end and each.start < one.end for one in told)
    ]
    return same([*wanted, *((each["value"], each["unit"]) for each in item["durations"])], [*found, *durations])


_UNITS = {
    "€": "EUR",
    "$": "USD",
    "£": "GBP",
    "°": "°C",
    WHOLE: "",
    "point": "",
    "quarter": "",
}  # as the gold set has them


def score_numbers(item: Item) -> tuple[int, int]:
    wanted = [
        (number.get("low", number.get("value")), number.get("high", number.get("value")), number["unit"],
         number.get("ordinal", False))
        for number in item["numbers"]
    ]  # fmt: skip
    found = [
        (quantity.low, quantity.high, _UNITS.get(quantity.unit, quantity.unit), quantity.is_ordinal)
        for quantity in read_quantities(item["text"], item["lang"])
    ]
    return same(*([(round(low, 4), round(high, 4), *rest) for low, high, *rest in each] for each in (wanted, found)))


def score_negation(item: Item) -> tuple[int, int]:
    """Return how many predicates are read as marked (negated and affirmed ones as certain), and their number."""
    text = item["text"]
    read = {word.start: word for word in read_polarity(text, item["lang"])}
    right = total = 0
    for polarity in ("negated", "affirmed", "uncertain"):
        for predicate in item[polarity]:
            start = re.search(rf"(?<!\w){re.escape(predicate)}(?!\w)", text).start()  # type: ignore[union-attr]
            found = "uncertain" if read[start].modality else "negated" if read[start].is_negated else "affirmed"
            right, total = right + (found == polarity), total + 1
    return right, total


def score_names(item: Item) -> tuple[int, int]:
    found = [(item["text"][name.start : name.end], name.kind) for name in find_names(item["text"], item["lang"])]
    return same([(name["text"], name["type"]) for name in item["names"]], found)


READERS: dict[str, Callable[[Item], tuple[int, int]]] = {
    "sentences": score_sentences,
    "numbers": score_numbers,
    "dates": score_dates,
    "negation": score_negation,
    "names": score_names,
}


def measure(name: str, part: Part) -> Iterator[tuple[str, float, float, list[Item]]]:
    """Yield each language, its share of right ones among all wanted or found, that of faultless texts, and the rest."""
    items = read_gold(name, part)
    for language in LANGUAGES:
        scored = [(item, READERS[name](item)) for item in items if item["lang"] == language]
        right, total = (sum(score[place] for _, score in scored) for place in (0, 1))
        wrong = [item for item, (shared, of_all) in scored if shared != of_all]
        yield language, right / max(total, 1), 1 - len(wrong) / max(len(scored), 1), wrong


def measure_coverage(folder: Path) -> tuple[str, int, float]:
    """Return the language, the number of content words and the share that the lexicon knows."""
    dataset = read_dataset(folder)
    texts = [*(document.text for document in dataset.documents), *(query.text for query in dataset.queries)]
    language = detect(" ".join(texts[:20]))
    known = counted = 0
    for text in texts:
        written = words(text)
        for place, (word, found) in enumerate(zip(written, find_meanings(written, language), strict=True)):
            is_name = word[0].isupper() and place > 0 and not found
            if not is_name and len(word) > 1 and word.isalpha() and fold(word) not in stop_words(language):
                counted += 1
                known += bool(found)
    return language, counted, known / counted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("readers", nargs="*", default=list(READERS))
    parser.add_argument("--part", choices=("tune", "kept"), default="kept")
    parser.add_argument("--errors", type=int, default=0)
    parser.add_argument("--lexicon", nargs="+", type=Path, default=[], metavar="FOLDER")
    options = parser.parse_args()
    for folder in options.lexicon:
        language, counted, share = measure_coverage(folder)
        print(f"{folder.name} ({language}): {share:.3f} of {counted} content words are in the lexicon")
    table = Table("reader", "language", "right", "texts without an error")
    for name in options.readers or READERS:
        for language, share, texts, wrong in measure(name, options.part):
            table.add_row(name, language, f"{share:.3f}", f"{texts:.3f}")
            for item in wrong[: options.errors]:
                print(json.dumps(item, ensure_ascii=False))
    Console().print(table)


if __name__ == "__main__":
    main()
