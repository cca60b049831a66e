"""What holds of every text, sensible or not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.causal_graph.extraction import extract_relations
from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.normalization import normalize

PIECES = st.sampled_from(
    [
        *"porque debido a por eso como causó provocó fue causado por la causa de no si podría que y".split(),
        *", . ; : ( ) — \n".split(" "),
        *"parce que à cause de donc a entraîné ce qui est dû à la raison pour laquelle c'est d'où ne pas".split(),
        *"because of so led to which caused by the reason for was as a result since not only if may".split(),
        *"el motor L'eau the pump İ ﬁ 2.000 C3 **bold** # - | «porque» 漢字 Ωmega".split(),
    ]
)
SENTENCES = st.lists(PIECES, max_size=25).map(" ".join)


@pytest.mark.parametrize("language", sorted(ANSWER_LANGUAGES))
@given(text=SENTENCES | st.text(max_size=120))
def test_relations_are_sound(language: str, text: str) -> None:
    """R7.1: spans in the text, cause and effect apart and in the quote; nothing raises."""
    for relation in extract_relations(text, language=language):
        cause, effect, quote = relation.cause, relation.effect, relation.quote
        assert 0 <= quote.start <= min(cause.start, effect.start)
        assert max(cause.end, effect.end) <= quote.end <= len(text)
        assert cause.end <= effect.start or effect.end <= cause.start
        assert text[cause.start : cause.end].strip() == text[cause.start : cause.end] != ""
        assert text[effect.start : effect.end].strip() == text[effect.start : effect.end] != ""
        assert 0 < relation.confidence <= 1


@given(st.text() | SENTENCES)
def test_a_normalized_text_is_as_long_as_its_text(text: str) -> None:
    """R7.1: so that offsets hold."""
    assert len(normalize(text)) == len(text)


@given(SENTENCES)
def test_same_text_same_relations(text: str) -> None:
    """R7.1: nothing is remembered from one text to the next."""
    found = extract_relations(text, language="es")
    extract_relations("La lluvia causó un atasco. Por eso llegué tarde.", language="es")
    assert extract_relations(text, language="es") == found
