"""What is true of every parsed text, whatever its file was."""

from itertools import pairwise

from graphrag.models import ParsedText
from graphrag.parsers.detection import ASCIIDOC, EML, INI, MARKDOWN, ORG, TEX, ZIP
from graphrag.parsers.spreadsheet import written
from graphrag.parsers.text import clean

MARKED = {ORG, ASCIIDOC, TEX, INI, EML, ZIP}  # their headings have marks before them, or their files' may
MARKS = 40  # characters, at most


def assert_lawful(parsed: ParsedText) -> None:
    text = parsed.text
    assert clean(text) == text
    assert any(character.isalnum() for character in text)
    for heading in parsed.headings:
        assert heading.start_char == 0 or text[heading.start_char - 1] == "\n"
        assert heading.text == " ".join(heading.text.split()) != ""
        line = " ".join(text[heading.start_char : heading.start_char + len(heading.text) + MARKS].split())
        if parsed.media_type == MARKDOWN:  # which may hide anything among its marks
            continue
        if parsed.media_type in MARKED:
            assert heading.text in line
        else:
            assert line.startswith(heading.text)
    assert [heading.start_char for heading in parsed.headings] == sorted(h.start_char for h in parsed.headings)
    for place in parsed.locations:
        stretch = text[place.start_char : place.end_char]
        assert stretch == stretch.strip() != ""
        assert (place.page is None) is bool(place.cells)
    assert all(before.end_char < after.start_char for before, after in pairwise(parsed.locations))
    for table in parsed.tables:
        for row in table.rows:
            line = text[row.start_char : row.end_char]
            assert all(" ".join(written(value).split()) in line for value in row.values if value is not None)
    assert all(len(author.split()) and "\n" not in author for author in parsed.authors)
