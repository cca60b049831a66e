"""Readers on gold texts by somebody who had not seen the code: the half that is kept aside."""

import pytest

from tests.benchmarks.linguistics import measure

SENTENCES = {"es": 0.96, "fr": 0.97, "en": 0.97}


@pytest.mark.parametrize(
    ("language", "right"), [(language, right) for language, right, *_ in measure("sentences", "kept")]
)
def test_sentences_of_texts_kept_aside(language: str, right: float) -> None:
    """R2.6: sentences, headings, list items and table rows are told apart as a reader does."""
    assert right >= SENTENCES[language]


NEGATION = {"es": 0.96, "fr": 0.95, "en": 0.93}


@pytest.mark.parametrize(
    ("language", "right"), [(language, right) for language, right, *_ in measure("negation", "kept")]
)
def test_negation_of_texts_kept_aside(language: str, right: float) -> None:
    """R8.4: predicates that are denied, affirmed or only possible are read as a reader marks them."""
    assert right >= NEGATION[language]
