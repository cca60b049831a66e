"""JSON, JSON Lines and XML: every leaf is in the text, lists of flat objects are tables."""

import json
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import PLAIN
from graphrag.parsers.parsing import parse
from tests.graphrag.parsers.laws import assert_lawful

WORDS = st.text(
    st.characters(categories=["Lu", "Ll", "Nd", "Po"], max_codepoint=0x24F), min_size=1, max_size=20
).filter(lambda text: any(map(str.isalnum, text)))
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | WORDS
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4))


def read(text: str, name: str = "a.json") -> ParsedText:
    parsed = parse(text.encode(), filename=name, limits=ParsingLimits())
    assert_lawful(parsed)
    return parsed


def leaves(value: Any) -> Iterator[str]:
    """Keys and values, as JSON writes them but for quotes."""
    if isinstance(value, dict):
        for key, each in value.items():
            inner = list(leaves(each))
            yield from [key, *inner] if set(inner) - {"null"} else inner
    elif isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield value if isinstance(value, str) else json.dumps(value)


@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=5).filter(lambda value: any(leaves(value))))
def test_every_leaf_is_in_the_text(value: dict[str, Any]) -> None:
    """R1.3: law: no key and no value is lost, whatever nests in what."""
    text = read(json.dumps(value)).text
    assert all(leaf in text for leaf in leaves(value) if leaf != "null")  # which tables leave out


@given(st.lists(st.fixed_dictionaries({"a": WORDS, "b": st.integers(-999, 999)}), min_size=2, max_size=20))
def test_objects_of_one_kind_are_a_table(rows: list[dict[str, Any]]) -> None:
    """R1.5: with the same rows, whether in a list or line by line."""
    for name, text in (("a.json", json.dumps(rows)), ("a.jsonl", "\n".join(map(json.dumps, rows)))):
        (table,) = read(text, name).tables
        assert table.headers == tuple(rows[0])
        assert [row.values for row in table.rows] == [tuple(row[key] for key in rows[0]) for row in rows]
        assert [row.number for row in table.rows] == [*range(2, len(rows) + 2)]


def test_objects_are_sections() -> None:
    """R1.3: leaves before what nests; deep ones by their path; numbers with the digits that they have."""
    value = (
        '{"lineas": [{"ref": "a", "d": {"k": 1.50}}, {"ref": "b"}], "n": 12345678901234567890, "cliente":'
        ' {"nombre": "Muñoz", "tel": [1, 2], "a": {"b": {"c": {"d": {"e": 1}}}}}}'
    )
    parsed = read(value)
    assert parsed.text == (
        "n: 12345678901234567890\n\nlineas\nref: a; d.k: 1.50\nref: b\n\ncliente\nnombre: Muñoz\ntel: 1, 2\n\n"
        "a\n\nb\n\nc\nd.e: 1"
    )
    assert [heading.level for heading in parsed.headings] == [1, 1, 2, 3, 4]


@pytest.mark.parametrize("text", ['// nota\n{"a": 1,}', '{"a": 1', "{'a': 'uno'}"])
def test_what_is_no_json_is_read_as_text(text: str) -> None:
    """R1.2: and says so."""
    parsed = read(text)
    assert (parsed.text, parsed.media_type) == (text, PLAIN)
    assert "not valid JSON" in parsed.warnings[0]


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "[" * 50_000 + "1" + "]" * 50_000), ("a.xml", "<a>" * 50_000 + "x" + "</a>" * 50_000)]
)
def test_deep_nests_are_refused(name: str, text: str) -> None:
    """Security 9"""
    with pytest.raises(UnreadableDocument) as caught:
        read(text, name)
    assert caught.value.details["reason"] == "damaged"


def test_xml_by_its_elements() -> None:
    """R1.3: attributes, tables of like elements, and text with elements in it as one."""
    parsed = read(
        '<?xml version="1.0"?><f:factura xmlns:f="urn:x" n="7"><linea><ref>a</ref><total moneda="EUR">3</total></linea>'
        "<linea><ref>b</ref><total>4</total></linea><nota>Ver <b id='1'>la</b> página.</nota></f:factura>",
        "a.xml",
    )
    assert (
        parsed.text == "factura\nn: 7\nnota: Ver la página.\n\nlinea\nref: a; total: 3 (moneda: EUR)\nref: b; total: 4"
    )
    assert [table.headers for table in parsed.tables] == [("ref", "total")]


def trees() -> st.SearchStrategy[Any]:
    return st.recursive(WORDS, lambda inner: st.lists(st.tuples(st.sampled_from("abc"), inner), min_size=1, max_size=4))


@given(trees())
def test_every_text_of_xml_is_in_the_text(tree: Any) -> None:
    """R1.3: law."""
    words: list[str] = []

    def fill(element: Element, value: Any) -> None:
        if isinstance(value, str):
            element.text = value
            words.append(value)
        else:
            for name, inner in value:
                fill(SubElement(element, name), inner)

    root = Element("raíz")
    fill(root, tree)
    text = read(tostring(root, encoding="unicode"), "a.xml").text
    assert all(" ".join(word.split()) in text for word in words)


@pytest.mark.parametrize("charset", ["utf-8", "iso-8859-1", "utf-16"])
def test_xml_in_its_charset(charset: str) -> None:
    """R1.3"""
    data = f'<?xml version="1.0" encoding="{charset}"?><a>Muñoz, señor</a>'.encode(charset)
    assert parse(data, filename="a.xml", limits=ParsingLimits()).text == "a: Muñoz, señor"


@pytest.mark.parametrize("charset", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    "entity", ['<!ENTITY e "bomba">', '<!ENTITY e SYSTEM "file:///etc/passwd">', '<!ENTITY % p SYSTEM "http://x/">']
)
def test_entities_are_refused(charset: str, entity: str) -> None:
    """Security 9: bombs and external files, in any charset."""
    data = f'<?xml version="1.0" encoding="{charset}"?><!DOCTYPE a [{entity}]><a>&e;</a>'.encode(charset)
    with pytest.raises(UnreadableDocument) as caught:
        parse(data, filename="a.xml", limits=ParsingLimits())
    assert "entities" in str(caught.value)
