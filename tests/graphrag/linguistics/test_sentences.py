"""Sentences in Spanish, French and English, in prose and in Markdown."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from graphrag.linguistics.sentences import is_heading, plain, split_sentences

PIECES = [
    *["Hola.", "¿Qué pasó?", "¡No!", "El Sr. Gil", "12.000", "p. ej.", "« Oui. »", "M. Roy", "e.g.", "…", "3,5", "A."],
    *["# Título", "- uno", "| a | b |", "|---|---|", "> cita", "1. uno", "***", "===", "```", "Fecha: hoy"],
    *["日本語。", "Привет.", "مرحبا؟", "👩‍🔧", "e\u0301", "\u00a0", " ", "\n", "\n\n", "\t", "x" * 70],
]
texts = st.one_of(st.text(max_size=200), st.lists(st.sampled_from(PIECES), max_size=30).map("".join))


def sentences(text: str) -> list[str]:
    return [text[span.start : span.end].strip() for span in split_sentences(text)]


@settings(deadline=None, max_examples=300)
@given(texts)
@example("")
@example(" \n ")
@example("\n\nHola. \n\n")
def test_sentences_tile_the_text(text: str) -> None:
    """R2.6: nothing is lost, nothing comes twice, and no sentence is blank unless the text is."""
    spans = split_sentences(text)
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(before.end == after.start for before, after in pairwise(spans))
    assert all(span.start < span.end for span in spans)
    if text.strip():
        assert all(text[span.start : span.end].strip() for span in spans)


def test_an_empty_text_has_no_sentences() -> None:
    assert split_sentences("") == ()


ONE_SENTENCE = [
    "El Sr. López y la Sra. Gil llegaron tarde.",
    "Lo firmó la Dra. Ana Ruiz, del Dpto. de Compras.",
    "La Dña. Pilar del acta es la misma.",
    "Se usan materiales buenos, p. ej. Cobre y estaño.",
    "Véase la pág. 12 del anexo.",
    "Es el núm. 5 de la lista.",
    "Vive en EE. UU. desde 2010.",
    "Pesa 12.000 kg y mide 3,5 m de largo.",
    "M. Dupont et Mme. Roy sont d'accord.",
    "MM. Dupont et Roy sont d'accord.",
    "La règle est là (art. 5 du code, cf. Annexe 2).",
    "Dr. Smith met Mr. Jones vs. Mrs. Brown.",
    "Use a solvent, e.g. Acetone, to clean it.",
    "No. 5 is broken.",
    "See p. 4 and fig. 2 for details.",
    "It costs £6,400.50 in all.",
    "J. R. R. Tolkien wrote it.",
    "Version 2.0.1 is out.",
    "The file notes.txt is at www.example.com now.",
    "Esperó… y se fue.",
    "He waited... and left.",
    "« Oui ! » dit-il en partant.",
    "¿Vienes? —preguntó Ana.",
    '"Stop!" he said.',
    "¡Ojo! y no lo toques.",
]


@pytest.mark.parametrize("text", ONE_SENTENCE)
def test_a_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    """R2.6"""
    assert sentences(text) == [text]
    assert sentences(f"{text} Y otra cosa.")[0] == text


MANY_SENTENCES = [
    ["¿Qué pasó?", "¡Se rompió!", "Nada más."],
    ["Llegó el Sr. Gil.", "Se fue el Sr. Ruiz."],
    ["Dijo que no.", "Luego salió."],
    ["He told me.", "Then he left."],
    ["Il sait où elle est.", "Puis il part."],
    ["Le tuyau mesure 5 m.", "Il est neuf."],
    ["Cerró a las 5 p. m.", "Después se fue."],
    ["Pesa 12.000.", "Mide 3,5."],
    ["Vino el 3.", "Se fue el 4."],
    ["It costs £6,400.50.", "Pay now."],
    ["Il a dit « Bonjour. »", "Puis il est parti."],
    ["Elle dit « Non\u00a0!\u00a0»", "Puis elle part."],
    ["Dijo «basta».", "Luego salió."],
    ["Dijo «¡basta!»", "Luego salió."],
    ['He said "stop."', "Then he left."],
    ["He said “stop.”", "Then he left."],
    ["It failed (twice.)", "Then it worked."],
    ["Wait…", "He left."],
    ["Really?!", "Yes."],
    ["El fallo fue grave.", "12 personas esperaban."],
    ["Le four est froid.", "« Tant pis », dit-il."],
    ["Fue así.", "—Vale —dijo ella."],
    ["炉が止まった。", "「なぜ？」", "原因はガスだ。"],  # without white space
    ["توقف الفرن.", "لماذا؟", "نقص الغاز."],
    ["भट्ठी रुक गई।", "गैस नहीं थी।"],
]


@pytest.mark.parametrize("expected", MANY_SENTENCES, ids=" ".join)
def test_sentences_end_at_their_stop(expected: list[str]) -> None:
    """R2.6"""
    assert sentences(" ".join(expected)) == expected


def test_white_space_belongs_to_the_sentence_before() -> None:
    text = "Uno.  Dos.\n\nTres."
    assert [text[span.start : span.end] for span in split_sentences(text)] == ["Uno.  ", "Dos.\n\n", "Tres."]


def test_every_block_of_markdown_is_its_own() -> None:
    text = (
        "# Horno H2\nSe paró.\n## Causa\nFaltó gas\n\n- la válvula\n- el sensor\n* la junta\n1. Cerrar\n2. Avisar\n\n"
        "| Día | Gas |\n|---|---|\n| lunes | 6,0 |\n\n> Nota al pie\n***\nFin"
    )
    assert sentences(text) == [
        *["# Horno H2", "Se paró.", "## Causa", "Faltó gas", "- la válvula", "- el sensor", "* la junta"],
        *["1. Cerrar", "2. Avisar", "| Día | Gas |", "|---|---|", "| lunes | 6,0 |", "> Nota al pie", "***", "Fin"],
    ]


def test_lines_with_a_name_are_their_own() -> None:
    assert sentences("Fecha: 3 de mayo\nLugar: Huesca\nAsistentes: Ana y Luis\n") == [
        *["Fecha: 3 de mayo", "Lugar: Huesca", "Asistentes: Ana y Luis"]
    ]
    assert sentences("from: ana\nto: luis\n") == ["from: ana", "to: luis"]


def test_a_title_above_prose_is_its_own() -> None:
    assert sentences("Acta de la reunión\nSe aprobó el presupuesto.") == [
        *["Acta de la reunión", "Se aprobó el presupuesto."]
    ]


WRAPPED = [
    "El horno se paró porque la presión del gas era demasiado baja para\nmantener la llama encendida.",
    "El horno se paró porque la presión del gas era demasiado baja y\nManuel tuvo que encenderlo a mano.",
    "Le four s'est arrêté parce que la pression du gaz était trop basse,\nce que personne n'avait vu.",
    "- The oven stopped because the pressure of the gas was much too low\n  for the burner to keep its flame.",
    "The plant keeps three ovens in service at all times, and each has\none purpose: to bake.",
]


@pytest.mark.parametrize("text", WRAPPED)
def test_a_line_break_inside_a_sentence_is_no_end(text: str) -> None:
    """R2.6"""
    assert sentences(text) == [text]
    assert sentences(f"{text} Fin.") == [text, "Fin."]


def test_a_blank_line_ends_a_sentence() -> None:
    assert sentences("sin punto\n\ny otra cosa") == ["sin punto", "y otra cosa"]


@pytest.mark.parametrize(
    ("marked", "read"),
    [
        ("## Horno **H2**\n", "Horno H2"),
        ("- uno `dos` *tres* __cuatro__", "uno dos tres cuatro"),
        ("***Nota***", "Nota"),
        ("*Se paró.* Luego siguió.", "Se paró. Luego siguió."),
        ("*¿Qué?*", "¿Qué?"),
        ("> - una cita", "una cita"),
        ("3. Ningún cliente se quejó.", "Ningún cliente se quejó."),
        ("2) *fuite* du joint", "fuite du joint"),
        ("## 2. Horno H2", "2. Horno H2"),
        ("3.500 cajas se perdieron.", "3.500 cajas se perdieron."),
        ("2. 4 de noviembre", "2. 4 de noviembre"),
        ("| lunes | 6,0 bar |\n", "lunes · 6,0 bar"),
        ("una frase\npartida   en dos", "una frase partida en dos"),
        ("Horno H2\n========\n", "Horno H2"),
        ("el campo snake_case_name y 2 * 3 * 4", "el campo snake_case_name y 2 * 3 * 4"),
        ("Pagó -5 € (3,5 %).", "Pagó -5 € (3,5 %)."),
    ],
)
def test_plain_is_the_sentence_as_it_is_read(marked: str, read: str) -> None:
    assert plain(marked) == read


@settings(deadline=None, max_examples=200)
@given(texts)
def test_plain_is_one_line(text: str) -> None:
    assert "\n" not in plain(text)
    assert plain(text) == plain(text).strip()


@pytest.mark.parametrize("text", ["# Horno", "  ### Horno\n\n", "#", "Horno\n=====\n\n", "Horno\n---\n"])
def test_headings(text: str) -> None:
    assert is_heading(text)


@pytest.mark.parametrize(
    "text", ["Horno", "#1 es la seguridad.", "####### siete", "- # x", "", "| a |\n", "a -- b", "---"]
)
def test_what_is_no_heading(text: str) -> None:
    assert not is_heading(text)
