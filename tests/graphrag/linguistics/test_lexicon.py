"""The lexicon of concepts, through words as people write them."""

import gzip
import json

import pytest
import spacy_lookups_data
from hypothesis import given
from hypothesis import strategies as st

from graphrag.linguistics.language import fold
from graphrag.linguistics.lexicon import (
    BEGINNING,
    SHORT,
    find_beginnings,
    find_meanings,
    find_synonyms,
    meanings,
    read_concepts,
    share_meaning,
)

LANGUAGES = ("es", "fr", "en")


@pytest.mark.parametrize(
    ("words", "language", "other", "other_language"),
    [
        ("entregas", "es", "deliveries", "en"),
        ("livraisons", "fr", "delivery", "en"),
        ("vendió", "es", "sold", "en"),
        ("facturas", "es", "invoices", "en"),
        ("proveedores", "es", "fournisseur", "fr"),
        ("almacén", "es", "warehouses", "en"),
        ("ALMACEN", "es", "entrepôts", "fr"),
        ("children", "en", "niños", "es"),
        ("delivered", "en", "livraison", "fr"),
    ],
)
def test_words_of_two_languages_share_a_meaning(words: str, language: str, other: str, other_language: str) -> None:
    """R5.1, R8.3 Inflected, without accents, in capitals, or of another part of speech."""
    assert share_meaning(meanings(words, language), meanings(other, other_language)) > 0


@pytest.mark.parametrize(
    ("word", "language", "other", "other_language"),
    [("invierno", "es", "invoice", "en"), ("maison", "fr", "mason", "en"), ("rueda", "es", "rude", "en")],
)
def test_words_that_only_look_alike_share_none(word: str, language: str, other: str, other_language: str) -> None:
    """R5.1"""
    assert meanings(word, language)
    assert share_meaning(meanings(word, language), meanings(other, other_language)) == 0


def test_a_phrase_is_one_meaning() -> None:
    """R5.1 «poids lourd» is a lorry, in the plural, too."""
    found = find_meanings("trois poids lourds en retard".split(), "fr")
    assert share_meaning(found[1], meanings("lorry", "en")) > 0
    assert found[1] == found[2]
    assert share_meaning(meanings("poids", "fr"), meanings("lorry", "en")) == 0


def test_synonyms_are_told_for_each_word() -> None:
    """R5.1 In the same language or another; never the word itself."""
    (_, of_delivery) = find_synonyms(["late", "delivery"], "en", "fr", most=4)
    assert "livraison" in of_delivery
    assert len(of_delivery) <= 4
    (of_boutique,) = find_synonyms(["boutique"], "fr", "fr", most=4)
    assert "magasin" in of_boutique
    assert "boutique" not in of_boutique
    assert find_synonyms(["xyzzy"], "en", "es", most=4) == [[]]


def test_an_ambiguous_word_weighs_less() -> None:
    """R5.1"""
    assert max(meanings("bank", "en").values()) < 1
    assert max(meanings("proveedor", "es").values()) == 1


def test_a_language_without_words_has_no_meanings() -> None:
    """R5.1"""
    assert meanings("Lieferung", "de") == {}
    assert find_meanings(["Die", "Lieferung"], "de") == [{}, {}]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_of_the_lexicon_finds_its_concept(language: str) -> None:
    """R5.1"""
    for concept in read_concepts()[::5]:
        for word in concept.words[language]:
            written = word.replace("'", " ").replace("-", " ").split()
            assert concept.family in find_meanings(written, language)[0], (word, concept.name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_begins_as_its_families_say(language: str) -> None:
    """R5.1 «fue», of «ser», is not passed over; the forms are those of spaCy's table, one in seven."""
    with gzip.open(f"{getattr(spacy_lookups_data, language)['lemma_lookup']}.gz") as table:
        forms = list(json.load(table))[::7]
    known = {form: found for form in forms if len(fold(form)) > SHORT and (found := meanings(form, language))}
    assert len(known) > 1_000
    for form, families in known.items():
        for family in families:
            assert fold(form)[:BEGINNING] in find_beginnings([family], language), (form, family)


@given(st.lists(st.text(min_size=1, max_size=12), max_size=8), st.sampled_from(LANGUAGES))
def test_any_words_have_meanings_in_their_order(words: list[str], language: str) -> None:
    """R5.1"""
    found = find_meanings(words, language)
    assert len(found) == len(words)
    assert all(0 < weight <= 1 for each in found for weight in each.values())
