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
