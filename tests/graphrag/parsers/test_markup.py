"""Headings of formats with marks, subtitles, and text under any name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.parsers.markup import join_cues
from graphrag.parsers.parsing import parse
from tests.graphrag.parsers.laws import assert_lawful


@pytest.mark.parametrize(
    ("name", "text", "headings"),
    [
        (
            "a.rst",
            "====\nGuía\n====\n\nUso\n---\n\nTexto.\n\nNotas\n-----\n\n-----\n\nFin",
            [(1, "Guía"), (2, "Uso"), (2, "Notas")],
        ),
        ("a.org", "* Guía\n** DONE Uso\n*\n*negrita* no\n", [(1, "Guía"), (2, "Uso")]),
        ("a.adoc", "= Guía\n\n== Uso\n\n====\nbloque\n====\n", [(1, "Guía"), (2, "Uso")]),
        ("a.tex", "\\chapter{Guía}\n\\section[x]{Uso}\n% \\section{no}\n", [(2, "Guía"), (3, "Uso")]),
        ("a.toml", "a = [1]\n[servidor]\n[[regla]] # x\nb = 2\n", [(1, "servidor"), (1, "regla")]),
    ],
)
def test_headings_by_their_marks(name: str, text: str, headings: list[tuple[int, str]]) -> None:
    """R1.3: the text stays as written."""
    parsed = parse(text.encode(), filename=name, limits=ParsingLimits())
    assert_lawful(parsed)
    assert [(heading.level, heading.text) for heading in parsed.headings] == headings
    assert parsed.text == text.strip()


@pytest.mark.parametrize("name", ["a.py", "a.yaml", "a.log", "a.vcf", "LEEME", "a.b.c"])
@pytest.mark.parametrize("charset", ["utf-8", "cp1252", "utf-16", "utf-32"])
def test_any_text_by_its_content(name: str, charset: str) -> None:
    """R1.1: under any name and in any charset that is known."""
    text = "clave: el señor Muñoz llegó mañana\n    otra: línea"
    assert parse(text.encode(charset), filename=name, limits=ParsingLimits()).text == text


SRT = (
    "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>Hola a</i>\r\ntodos.\r\n\r\n2\r\n00:00:03,000 --> 00:00:04,000\r\n"
    "¿Qué tal?\r\n\r\n3\r\n01:02:03,500 --> 01:02:04,000\r\nFin {\\an8}\r\n"
)
VTT = "WEBVTT\n\nNOTE de prueba\n\nuno\n00:01.000 --> 00:02.000 align:start\n<v.alto Ana>Hola a todos.\n"


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("a.srt", SRT, "[00:00:01] Hola a todos. ¿Qué tal?\n\n[01:02:03] Fin"),
        ("a.vtt", VTT, "[00:00:01] Ana: Hola a todos."),
    ],
)
def test_subtitles_are_paragraphs(name: str, text: str, read: str) -> None:
    """R1.3: with their times, without marks; a pause begins a new one."""
    assert parse(text.encode(), filename=name, limits=ParsingLimits()).text == read


@given(st.lists(st.text("abcdefgñé .", min_size=1, max_size=40).map(str.strip).filter(bool), min_size=1, max_size=20))
def test_no_word_of_subtitles_is_lost(cues: list[str]) -> None:
    """R1.3: law."""
    blocks = [f"{n}\n00:00:{n:02},000 --> 00:00:{n:02},900\n{cue}" for n, cue in enumerate(cues)]
    assert join_cues("\n\n".join(blocks)).split()[1:] == " ".join(cues).split()
