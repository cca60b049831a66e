"""Distractors come from one seed, with words as common as in real passages, and never run out of new ones."""

import re
from itertools import islice

import pytest

from tests.benchmarks.corpus import BLOCK, WORDS, Passage, distractors
from tests.benchmarks.datasets import Dataset, load_demo


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return load_demo()


@pytest.fixture(scope="module")
def made(demo: Dataset) -> list[Passage]:
    return list(islice(distractors(demo.passages, [question.text for question in demo.questions]), 2_000))


def words(passage: Passage) -> list[str]:
    return re.findall(r"[^\W\d_]+", passage.text.lower())


def test_smaller_corpus_is_the_beginning_of_a_bigger_one(demo: Dataset) -> None:
    """R12 Sizes are compared on the same passages."""
    questions = [question.text for question in demo.questions]
    bigger = list(islice(distractors(demo.passages, questions), BLOCK + 10))
    assert bigger[:50] == list(islice(distractors(demo.passages, questions), 50))
    assert len({passage.document for passage in bigger}) == len({passage.text for passage in bigger}) == len(bigger)
    assert bigger[:50] != list(islice(distractors(demo.passages, questions, seed=2), 50))


def test_distractors_have_the_length_and_the_languages_of_passages(demo: Dataset, made: list[Passage]) -> None:
    """R12 Nothing but its words tells a distractor from a passage."""
    assert all(WORDS[0] <= len(passage.text.split()) <= WORDS[1] + 20 for passage in made)  # a date is 3 words
    for language in ("es", "fr", "en"):
        share = sum(passage.language == language for passage in demo.passages) / len(demo.passages)
        assert sum(passage.language == language for passage in made) / len(made) == pytest.approx(share, abs=0.05)


def test_common_words_of_the_base_are_as_common_in_distractors(demo: Dataset, made: list[Passage]) -> None:
    """R12 A search costs what its words' document frequencies make it cost."""
    spanish = [passage for passage in demo.passages if passage.language == "es"]
    distracting = [passage for passage in made if passage.language == "es"]
    documents: dict[str, set[str]] = {}
    for passage in spanish:
        for word in set(words(passage)):
            documents.setdefault(word, set()).add(passage.document)
    common = {word for word, names in documents.items() if len(names) >= 4}
    real = sum(len(common & set(words(passage))) for passage in spanish) / len(spanish)
    drawn = sum(len(common & set(words(passage))) for passage in distracting) / len(distracting)
    assert drawn == pytest.approx(real, rel=0.25), len(common)


def test_new_words_never_end(made: list[Passage]) -> None:
    """R12 Heaps' law: a full-text index meets new words however big it has become."""
    first = {word for passage in made[:1_000] for word in words(passage)}
    both = {word for passage in made for word in words(passage)}
    assert 1.3 < len(both) / len(first) < 1.9
