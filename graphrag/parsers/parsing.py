"""The parser of each media type."""

from graphrag.models import ParsedText
from graphrag.parsers import detection
from graphrag.parsers.archive import check_archive
from graphrag.settings import ParsingLimits

ZIPPED = frozenset({detection.DOCX, detection.PPTX, detection.XLSX, detection.ODT})


def parse(data: bytes, *, filename: str, limits: ParsingLimits) -> ParsedText:
    """Raises UnreadableDocument. Not to be called where a hang or a crash would matter: isolation.py is for that."""
    media_type = detection.detect(data, filename=filename)
    if media_type in ZIPPED:
        check_archive(data, limits)
    match media_type:
        case detection.PDF:
            from graphrag.parsers.pdf import parse_pdf

            return parse_pdf(data, limits=limits)
        case detection.XLSX | detection.XLS:
            from graphrag.parsers.spreadsheet import parse_workbook

            return parse_workbook(data, media_type=media_type)
        case detection.CSV:
            from graphrag.parsers.spreadsheet import parse_csv

            return parse_csv(data)
        case detection.HTML:
            from graphrag.parsers.html import parse_html

            return parse_html(data)
        case detection.MARKDOWN | detection.PLAIN:
            from graphrag.parsers.plain import parse_text

            return parse_text(data, media_type=media_type)
    from graphrag.parsers.office import parse_office

    return parse_office(data, media_type=media_type)
