"""Where the words of a question stand in texts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.language import content_words, fold, stem, words
from graphrag.rerankers.bundled import Matches, find_words, read_question

FORMS = {
    "es": "avería averias averiado averiar horno Hornos HORNEAR de la paró parar parada año 2019 2.019 niño niña",
    "fr": "Œuvre œuvres oeuvre l' d' élève élèves chaudière chaudières arrêt arrêté arrêter Noël vingt 3,5 y yeux",
    "en": "lie lying die dying dyes tie tying skis ski skies sky gently gentle idly running ran runs of the H2 news",
    "de": "Straße Strasse Ofen Öfen Öl der Häuser Haus",
}


@st.composite
def questions(draw: st.DrawFn) -> tuple[str, str, list[str]]:
    """A language, a question, and texts of words that resemble its own."""
    language = draw(st.sampled_from(sorted(FORMS)))
    text = st.lists(st.sampled_from([*FORMS[language].split(), ". ", "Nada. "]), max_size=10).map(" ".join)
    return language, draw(text), draw(st.lists(text, max_size=4))


def find(query: str, text: str, *, title: str = "", language: str = "es") -> Matches:
    return find_words(read_question(query, language), [text], [title], [language])[0]


@given(questions())
def test_a_text_holds_each_word_of_the_question_that_has_a_form_in_it(case: tuple[str, str, list[str]]) -> None:
    """R5.1 What is left out for speed changes nothing."""
    language, query, found = case
    forms = {form: stem(word, language) for word in content_words(query, language) for form in both(word, language)}
    for text, match in zip(
        found, find_words(read_question(query, language), found, found, [language] * len(found)), strict=True
    ):
        expected = {forms[form] for word in words(text) for form in both(word, language) if form in forms}
        assert set().union(*(held.exact for held in match.sentences)) == expected


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("2.14", "Version v2.14.31 is out.", set()),
        ("error IE 684", "Error IE.684.656 came back.", {"error", "ie", "684"}),
        ("pedido 20417", "El pedido KLM_20417 salió.", {"ped", "20417"}),
        ("19", "Cuesta 2.019 euros.", set()),
    ],
)
def test_the_parts_of_a_code_count(query: str, text: str, found: set[str]) -> None:
    """R5.1 Those of a number do not."""
    assert set().union(*(held.exact for held in find(query, text).sentences)) == found


def both(word: str, language: str) -> tuple[str, str]:
    return fold(word), stem(word, language)


@given(questions())
def test_a_text_that_repeats_the_question_holds_all_its_pairs(case: tuple[str, str, list[str]]) -> None:
    """R5.1"""
    language, query, found = case
    question = read_question(query, language)
    texts = [f"{text} {query}" for text in found]
    for text, match in zip(texts, find_words(question, texts, found, [language] * len(found)), strict=True):
        assert match.pairs == question.pairs, text
        assert len(question.pairs) <= len(list(pairwise(words(query))))


def test_sentences_are_told_apart() -> None:
    """R5.1"""
    sentences = find("horno y gas", "El horno. Nada. El gas y el horno.").sentences
    assert [held.exact for held in sentences] == [{"horn"}, set(), {"gas", "horn"}]


@pytest.mark.parametrize(
    ("language", "query", "text", "related"),
    [
        ("fr", "Qui a construit le pont ?", "La construction du pont.", True),
        ("es", "¿Quién inventó la máquina?", "El inventor de la máquina.", True),
        ("en", "Who discovered radium?", "The discovery of radium.", True),
        ("en", "the international rules", "An interpretation of rules.", False),
        ("es", "el cantante", "La cantidad.", False),
        ("es", "la casa", "El casamiento.", False),
    ],
)
def test_words_of_one_family_are_alike(language: str, query: str, text: str, related: bool) -> None:
    """R5.1 No stemmer joins the verb and its noun."""
    match = find(query, text, language=language)
    [sentence] = match.sentences
    assert bool(sentence.alike) is related
    assert sentence.alike == match.passage.alike
    assert sentence.alike <= read_question(query, language).words - sentence.exact


@given(questions())
def test_a_word_that_a_text_holds_is_not_merely_alike(case: tuple[str, str, list[str]]) -> None:
    """R5.1"""
    language, query, found = case
    question = read_question(query, language)
    for match in find_words(question, found, found, [language] * len(found)):
        for held in (*match.sentences, match.passage):
            assert held.exact | held.alike <= question.words
            assert not held.exact & held.alike


def test_pairs_are_ordered() -> None:
    """R5.1"""
    assert find("parada de emergencia", "Una parada de emergencia.").pairs == {("par", "de"), ("de", "emergent")}
    assert find("parada emergencia", "Una emergencia, parada.").pairs == set()


@pytest.mark.parametrize(
    ("title", "share"),
    [
        ("Horno", 1.0),
        ("El horno", 1.0),
        ("Horno_H2", 0.5),
        ("Planta norte › Horno › Horno", 1 / 3),
        ("Gas", 0.0),
        ("", 0.0),
    ],
)
def test_the_title_counts_by_its_own_words(title: str, share: float) -> None:
    """R5.1"""
    match = find("los hornos", "Nada.", title=title)
    assert match.title_share == pytest.approx(share)
    assert match.passage.exact == ({"horn"} if share else set())


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("¿Qué dijo Marie Curie en 1911?", {"mari", "curi", "1911"}),
        ("Madrid tiene metro", set()),
        ("El metro de Madrid", {"madr"}),
        ("2019 en el horno H2", {"2019", "h2"}),
        ("¿Por Qué El horno?", set()),
    ],
)
def test_names_and_numbers(query: str, names: set[str]) -> None:
    """R5.1 A capital at the beginning, or of a function word, makes no name."""
    assert read_question(query, "es").names == names
