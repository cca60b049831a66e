"""Which language a text is in, and which of its words carry meaning."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from graphrag.linguistics import language as module
from graphrag.linguistics.language import (
    STEMMERS,
    UNKNOWN,
    content_words,
    detect,
    detect_question,
    fold,
    is_foreign,
    stem,
    words,
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder that the model is unpacked into."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    module._identifier.cache_clear()
    yield tmp_path / "causeway"
    module._identifier.cache_clear()


@pytest.fixture(scope="module")
def original() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(sorted(STEMMERS))
    return identifier


@given(st.text(max_size=60) | st.lists(st.sampled_from("el four the não perquè und è porque".split())).map(" ".join))
def test_the_unpacked_model_ranks_as_the_packed_one(original: LanguageIdentifier, text: str) -> None:
    """R1.3"""
    assert module._identifier().rank(text) == original.rank(text)


def test_the_model_is_unpacked_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.3: by one of those who want it at the same time; nothing else is left."""
    with ThreadPoolExecutor() as threads:
        assert (
            len(set(threads.map(lambda _: module._identifier.__wrapped__().rank("Le four s'est arrêté.")[0], "abc")))
            == 1
        )
    assert len(list(cache.iterdir())) == 1
    monkeypatch.setattr(module, "_unpacked", None)
    assert detect("Le four s'est arrêté parce qu'il manquait du gaz.") == "fr"


@pytest.mark.parametrize("name", ["next.npy", "priors.npy"])
def test_a_damaged_model_is_not_used(cache: Path, name: str) -> None:
    """R11.1: neither a file that was cut off nor one that is gone keeps anybody from detecting languages."""
    detect("hola")
    module._identifier.cache_clear()
    (damaged,) = cache.glob(f"*/{name}")
    damaged.write_bytes(damaged.read_bytes()[:-8])
    assert detect("Le four s'est arrêté parce qu'il manquait du gaz.") == "fr"
    module._identifier.cache_clear()
    damaged.unlink()
    assert detect("Le four s'est arrêté parce qu'il manquait du gaz.") == "fr"


def test_a_cache_that_cannot_be_written_is_done_without(cache: Path) -> None:
    """R11.1"""
    cache.write_text("a file")
    assert detect("Le four s'est arrêté parce qu'il manquait du gaz.") == "fr"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("El horno se paró porque faltaba gas en la línea.", "es"),
        ("Le four s'est arrêté parce qu'il manquait du gaz.", "fr"),
        ("The oven stopped because the line had run out of gas.", "en"),
        ("O forno parou porque não havia gás na linha.", "pt"),
        ("ACTA DE LA REUNION", "es"),  # Catalan and Portuguese are as likely by their letters
        ("horno parado", "es"),
        ("mise a jour du plan", "fr"),
        ("certificat d'equip", "ca"),
        ("Хлебозавод остановил печь ночью. " * 20, UNKNOWN),
        ("توقف الفرن بسبب نقص الغاز. " * 20, UNKNOWN),
        ("https://example.org/the/end/of/it", UNKNOWN),
        ("", UNKNOWN),
        ("12 34 — 56", UNKNOWN),
    ],
)
def test_a_documents_language(text: str, language: str) -> None:
    """R1.3"""
    assert detect(text) == language


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("¿Por qué se paró el horno?", "es"),
        ("¿Y el precio?", "es"),
        ("por que se paro el horno", "es"),
        ("donde esta ana", "es"),
        ("Pourquoi le four s'est-il arrêté ?", "fr"),
        ("Et le prix ?", "fr"),
        ("pourquoi le four s'est arrete", "fr"),
        ("ou est le four", "fr"),
        ("Why did the oven stop?", "en"),
        ("And the price?", "en"),
        ("who signed", "en"),
    ],
)
def test_a_questions_language(question: str, language: str) -> None:
    """R6.2: also short ones, and those typed without accents."""
    assert detect_question(question) == language
    assert detect_question(question, default="xx") == language


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Welche Lieferungen sind verspätet?", True),
        ("Perché è stato richiamato il lotto A-2517?", True),
        ("Quem participou da reunião do comitê em janeiro?", True),
        ("Почему была отозвана партия?", True),
        ("なぜロットは回収されましたか?", True),
        ("Danke schön!", False),
        ("How are Ergänzungsschulen funded?", False),
        ("¿Qué vendió Weizenbäckerei Müller en Köln?", False),
        ("Qui est Albertazzo II ?", False),
        ("HEINKEL HD 23 WAS A TYPE OF PLANE HELD ON WHICH CRAFT?", False),
        ("2024 2025 12 34", False),
        ("lot A-2517 Harrowmere Valadour", False),
        ("", False),
    ],
)
def test_a_question_in_another_language(question: str, expected: bool) -> None:
    """R6.2 What is surely in none of the three is answered in English; names and a few words make no language."""
    assert is_foreign(question) is expected
    assert not expected or detect_question(question) == "en"


@pytest.mark.parametrize("question", ["", "?", "¿…?", "123", " \n", "3,5 + 2 = ?"])
def test_a_question_without_letters_is_in_the_default_language(question: str) -> None:
    assert detect_question(question) == "es"
    assert detect_question(question, default="fr") == "fr"


@given(st.text(max_size=60))
def test_any_question_has_a_language_that_we_answer_in(question: str) -> None:
    """R6.2"""
    assert detect_question(question) in {"es", "fr", "en"}


@pytest.mark.parametrize(
    ("word", "folded"),
    [("Acción", "accion"), ("ÑANDÚ", "nandu"), ("Où", "ou"), ("Œuvre", "oeuvre"), ("plain", "plain"), ("3,5", "3,5")],
)
def test_folding(word: str, folded: str) -> None:
    assert fold(word) == folded


@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(word: str) -> None:
    assert fold(fold(word)) == fold(word)


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("es", ["horno", "hornos", "Hornos"]),
        ("es", ["reparación", "reparaciones", "REPARACIÓN", "reparacion"]),
        ("es", ["avería", "averías"]),
        ("fr", ["machine", "machines"]),
        ("fr", ["fermé", "fermée", "fermés"]),
        ("en", ["oven", "ovens", "Ovens"]),
        ("en", ["stop", "stopped", "stopping"]),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, forms: list[str]) -> None:
    assert len({stem(form, language) for form in forms}) == 1


def test_different_words_have_different_stems() -> None:
    assert len({stem(word, "es") for word in ("horno", "hora", "gas", "gasto")}) == 4


def test_a_language_without_a_stemmer_only_folds() -> None:
    assert stem("Hornos", "und") == "hornos"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hay 12.000 kg, 3,5 l y £6,400.50.", ["Hay", "12.000", "kg", "3,5", "l", "y", "6,400.50"]),
        ("Fin. 5 días", ["Fin", "5", "días"]),
        ("el horno H2", ["el", "horno", "H2"]),
        ("1.234.567,89", ["1.234.567,89"]),
        ("… — ¿?", []),
    ],
)
def test_numbers_stay_whole(text: str, found: list[str]) -> None:
    assert words(text) == found


@pytest.mark.parametrize(
    ("text", "language", "kept"),
    [
        ("¿Por qué se paró el horno H2 en marzo?", "es", ["paró", "horno", "H2", "marzo"]),
        ("¿Cuántos kilos de 12.000 se perdieron?", "es", ["kilos", "12.000", "perdieron"]),
        ("por que se paro el horno", "es", ["paro", "horno"]),
        ("¿Cuál fue el motivo de la avería?", "es", ["avería"]),
        ("Pourquoi a-t-il fermé l'entrepôt ?", "fr", ["fermé", "entrepôt"]),
        ("Qu'est-ce qu'on a mis dans l’huile d'olive ?", "fr", ["mis", "huile", "olive"]),
        ("Combien de fours y a-t-il ?", "fr", ["fours"]),
        ("How many ovens were there?", "en", ["ovens"]),
        ("What was the reason for the recall?", "en", ["recall"]),
        ("el horno", "und", ["el", "horno"]),
        ("l'entrepôt", "und", ["entrepôt"]),
    ],
)
def test_words_that_only_ask_or_join_are_dropped(text: str, language: str, kept: list[str]) -> None:
    """R6.2"""
    assert content_words(text, language) == kept


@pytest.mark.parametrize(
    ("text", "language", "all_words"),
    [
        ("¿Quién es?", "es", ["Quién", "es"]),
        ("Qui est-ce ?", "fr", ["Qui", "est", "ce"]),
        ("What is it?", "en", ["What", "is", "it"]),
        ("", "en", []),
    ],
)
def test_all_words_stay_where_none_would_be_left(text: str, language: str, all_words: list[str]) -> None:
    assert content_words(text, language) == all_words


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("Why did the oven stop?", ["oven", "stop"]),
        ("Who reported the fire?", ["reported", "fire"]),
        ("What was the order number?", ["order", "number"]),
    ],
)
def test_words_with_a_meaning_of_their_own_are_kept(question: str, kept: list[str]) -> None:
    """R6.2"""
    assert content_words(question, "en") == kept
