"""Preparing a document twice as long takes about twice as long, whatever is repeated in it."""

import gc
import time
from collections.abc import Iterator

import pytest

from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.ingestion.preparation import prepare
from graphrag.ingestion.prepared import Preparation
from graphrag.ingestion.sources import SourceFile

MEASURABLE_SECONDS = 0.05  # of the processor: less is noise
SHORTEST, LONGEST = 20_000, 320_000  # bytes
MOST_RATIO = 2.5
ATTEMPTS = 4
UNITS = {
    "letters": "a",
    "capitals": "A",
    "words": "casa ",
    "one-letter words": "a ",
    "digits": "1",
    "numbers": "1.234,56 ",
    "numbers and commas": "1,",
    "percentages": "1% ",
    "brackets": "(",
    "pairs of brackets": "()",
    "open links": "[a](",
    "closed brackets": "a) ",
    "angles": "<",
    "tags": "<b>",
    "quotation marks": 'a "',
    "guillemets": "«",
    "apostrophes": "l'",
    "dots": ".",
    "initials": "A. ",
    "abbreviations": "Dr. ",
    "short forms": "e.g. ",
    "commas": "a, ",
    "colons": "Aa: b\n",
    "semicolons": "k: v; ",
    "questions": "¿a? ",
    "dashes": "a — ",
    "hyphens": "a-",
    "slashes": "a/",
    "addresses": "http://a.b/c ",
    "mail": "a@b.c ",
    "base64": "QWxhZGRpbjpvcGVuIHNlc2FtZQqUxJmRvbSBieXRlcyBhcmUgbm8gd29yZHMgYXQgYWxsLg\n",
    "headings": "# a\n",
    "sections": "## Uno\n\nNo hay nada.\n\n",
    "list": "- a\n",
    "numbered list": "1. a\n",
    "quotation": "> a\n",
    "table": "| a | b |\n",
    "dates": "2025-01-01 ",
    "written dates": "1 de enero de 2025 ",
    "months": "enero y ",
    "because": "because ",
    "porque": "porque ",
    "parce que": "parce que ",
    "leads to": "leads to ",
    "was caused by": "was caused by ",
    "debido a": "debido a ",
    "donc": "donc ",
    "Spanish without stops": "la máquina falló porque la válvula se rompió y ",
    "French without stops": "l'usine a fermé parce que la vanne a cassé et ",
    "English without stops": "the machine failed because the valve broke and ",
    "Spanish": "La máquina falló porque la válvula se rompió. ",
    "French": "L'usine a fermé à cause d'une panne. Donc rien n'est parti. ",
    "English": "The pump failed because the seal broke. It led to a fire. ",
    "reasons": "Reason: the seal broke. ",
    "names": "John Smith met Ana Perez in Paris. ",
    "names without stops": "John Smith and Ana Perez and ",
    "combining characters": "a\u0301",
    "only combining": "\u0301x",
    "joiners": "👩\u200d",
    "Chinese": "中",
    "Arabic": "ا",
    "line separators": "a\u2028",
}
FORMATS = {"txt": "{}", "md": "{}", "html": "<html><body><p>{}</p></body></html>"}
COUNT = BundledEmbeddings().count_tokens


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """Keep the garbage collector, which walks through all that the tests before have left, out of the measure."""
    gc.collect()
    gc.freeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def make(unit: str, size: int, suffix: str) -> bytes:
    """Return a file that holds at least a word."""
    return FORMATS[suffix].format(f"Hola.\n\n{unit * (size // len(unit.encode()))}").encode()


def prepared(data: bytes, suffix: str) -> Preparation:
    name = f"a.{suffix}"
    return prepare(SourceFile(name, name, data), IngestionConfig(), limits=ParsingLimits(), count_tokens=COUNT)


def seconds(data: bytes, suffix: str) -> float:
    started = time.process_time()
    prepared(data, suffix)
    return time.process_time() - started


def best_ratio(unit: str, size: int, suffix: str) -> float:
    """Return the time for twice the size against that for the size, each the best of three."""
    short, long = make(unit, size, suffix), make(unit, 2 * size, suffix)
    once = min(seconds(short, suffix) for _ in range(3))
    twice = min(seconds(long, suffix) for _ in range(3))
    return twice / once


@pytest.mark.timed
@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS.keys())
def test_time_grows_with_the_length(unit: str) -> None:
    """Security 9: no text takes longer than its length explains."""
    suffix = "md" if unit.startswith(("#", "-", "1. ", ">", "|", "[")) else "html" if unit.startswith("<") else "txt"
    size = SHORTEST
    while seconds(make(unit, size, suffix), suffix) < MEASURABLE_SECONDS and size < LONGEST:
        size *= 2
    ratios: list[float] = []
    while not ratios or (min(ratios) > MOST_RATIO and len(ratios) < ATTEMPTS):
        ratios.append(best_ratio(unit, size, suffix))
    assert min(ratios) <= MOST_RATIO, f"{size} bytes: {ratios}"


def test_a_quadratic_step_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measure itself: one comparison of all words with all is seen."""

    def compare(texts: list[str]) -> list[int]:
        words = " ".join(texts).split()[:: 20 if len(texts) < 3 else 1]
        assert sum(one == other for one in words for other in words) > 0
        return [len(text) // 3 for text in texts]

    monkeypatch.setattr(f"{__name__}.COUNT", compare)
    assert best_ratio("casa ", 5_000, "txt") > MOST_RATIO


@pytest.mark.parametrize("unit", ["porque la válvula se rompió y ", "because it broke and "])
def test_a_sentence_has_few_relations(unit: str) -> None:
    """R6.1: at most twenty in 2,000 characters, the longest that a sentence is."""
    found = prepared(make(unit, 60_000, "txt"), "txt")
    relations = [relation for graph in found.graph for relation in graph.relations]
    assert len(relations) <= 20 * (len(found.text) // 1_800 + 1)
    assert all(relation.quote.end - relation.quote.start <= 4_000 for relation in relations)


@pytest.mark.parametrize("suffix", ["txt", "md"])
def test_headings_alone_make_few_chunks(suffix: str) -> None:
    """R2.2: a heading without a text is no chunk of its own."""
    found = prepared(make("# a\n", 100_000, suffix), suffix)
    assert len(found.spans) < 400
