"""Sentences a second from which causal relations are extracted, on one core.

python -m tests.benchmarks.extraction --seconds 5
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from graphrag.causal_graph.extraction import extract_relations
from graphrag.config.settings import ParsingLimits
from graphrag.ingestion.enrichment import detect_language
from graphrag.ingestion.tables.computed_tables import with_computed
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.sentences import split_sentences
from graphrag.parsers.parsing import parse

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "notebooks" / "demo"
SENTENCES = ROOT / "tests" / "graphrag" / "causal_graph" / "sentences"


@dataclass(frozen=True)
class Text:
    name: str
    language: str
    text: str


@dataclass(frozen=True)
class Speed:
    sentences: int
    relations: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.sentences / self.seconds


def read_demo() -> list[Text]:
    """The demo documents as they are indexed: few of their sentences say what caused what."""
    texts = []
    for path in sorted(DEMO.iterdir()):
        parsed = parse(path.read_bytes(), filename=path.name, limits=ParsingLimits())
        language = detect_language(parsed)
        texts.append(Text(path.name, language, with_computed(parsed, language=language).text))
    return texts


def read_marked_sentences() -> list[Text]:
    """Sentences that nearly all say what caused what, as a document a language."""
    texts = []
    for path in sorted(SENTENCES.glob("*.development.jsonl")):
        lines = path.read_text(encoding="utf-8").splitlines()
        texts.append(Text(path.name, path.name[:2], "\n\n".join(json.loads(line)["text"] for line in lines)))
    return texts


def measure(texts: Sequence[Text], *, seconds: float) -> Speed:
    """Whole rounds over the texts, for at least so long. Each round's texts are new ones, so that nothing remembers
    their sentences.
    """
    for language in ANSWER_LANGUAGES:
        extract_relations("A, porque B. A car B. A because B.", language=language)  # compiles its patterns
    sentences = relations = rounds = 0
    spent = 0.0
    while spent < seconds:
        rounds += 1
        for text in texts:
            fresh = f"{text.text}\n\n{rounds}\n"
            started = time.perf_counter()
            relations += len(extract_relations(fresh, language=text.language))
            spent += time.perf_counter() - started
            sentences += len(split_sentences(fresh))
    return Speed(sentences, relations, spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    for name, texts in (("demo documents", read_demo()), ("marked sentences", read_marked_sentences())):
        speed = measure(texts, seconds=arguments.seconds)
        share = speed.relations / speed.sentences
        print(f"{name}: {speed.per_second:,.0f} sentences/s, {share:.2f} relations a sentence")


if __name__ == "__main__":
    main()
