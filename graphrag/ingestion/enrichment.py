"""What a document is: its title, its authors, its language, its keywords (keywords.py)."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import PurePath

from graphrag import language
from graphrag.ingestion.cleaning import clean
from graphrag.ingestion.division import has_rows
from graphrag.ingestion.header_language import header_language
from graphrag.ingestion.keywords import keywords
from graphrag.ingestion.sources import Source, SourceFile, SourceText, document_id
from graphrag.models import Collection, Document, ParsedText
from graphrag.sentences import plain
from graphrag.settings import IngestionConfig

TITLE_CHARS = 120
AUTHOR_CHARS = 100
MOST_AUTHORS = 20
BYLINE_CHARS = 3_000  # of the text's beginning, where the authors are named
_FRONT_MATTER = re.compile(r"---\n(?=[\w-]+:)((?:.*\n)*?)---(?:\n|$)")
_FRONT_TITLE = re.compile(r"(?mi)^(?:title|título|titulo|titre):[ \t]*(\S.*)$")
_NAMED_AUTHORS = re.compile(
    r"(?mi)^[ \t>*_#|-]*(?:aut(?:or|eur|rice|hor)(?:[aes]{1,2}|\([aes]{1,2}\)|/[aes]{1,2})?|written by"
    r"|(?:escrito|redactado|elaborado) por|(?:écrit|rédigé) par)[ \t*_|]*[:：][ \t*_|]*(\S.*|(?:\n[ \t]*- .+)+)"
)
_BETWEEN_NAMES = re.compile(r"\s*(?:[;/\n]|\s(?:y|e|et|and|&)\s)\s*")
_COMMA = re.compile(r"\s*,\s*")
_CREDENTIAL = re.compile(r"\s*(?:<[^>]*>|\([^)]*@[^)]*\)|\S+@\S+)")
# Names that programs give: to the file that they make, and to whoever sits before them.
_NO_TITLE = re.compile(
    r"(?i)(?:untitled|sin t[ií]tulo|sans titre|unbenannt|new document|nuevo documento|nouveau document)[\W\d]*"
    r"|(?:document|documento|dokument|doc|book|libro|classeur|presentation|presentación|présentation|slide|page|layout)"
    r"[\W\d]*|(?:powerpoint presentation|presentación de powerpoint|présentation powerpoint)|microsoft \w+ - .*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|odt|rtf|qxd|html?|txt|tmp)|title|título|titre"
)
_NO_AUTHOR = re.compile(
    r"(?i)(?:admin(?:istrat(?:or|eur))?|administrador|user|usuario|utilisateur|owner|propietario|default|unknown"
    r"|anonymous|desconocido|inconnu|author|autor|auteur|none|null|n/?a|root|pc|hp|dell|lenovo|acer|asus|windows user"
    r"|usuario de windows|utilisateur windows|microsoft office user|microsoft|apache poi|openpyxl"
    r"|python-docx|python-pptx|steve canny|xlsxwriter|libreoffice|word|excel)[\W\d]*"
)


def describe(source: Source, parsed: ParsedText, *, collection: Collection, config: IngestionConfig) -> Document:
    now = datetime.now(UTC)
    filename = source.filename if isinstance(source, SourceFile) else source.source
    own_language, own_title = (source.language, source.title) if isinstance(source, SourceText) else (None, None)
    language = own_language or detect_language(parsed)
    lives = timedelta(hours=config.time_to_live_hours) if config.time_to_live_hours else None
    return Document(
        id=document_id(collection.id, source.source),
        collection_id=collection.id,
        source=source.source,
        filename=filename,
        media_type=parsed.media_type,
        content_hash=source.content_hash,
        language=language,
        title=title(parsed, filename=filename) if own_title is None else " ".join(clean(own_title).split()),
        created_at=source.created_at or now,
        source_type=source.source_type,
        tags=source.tags,
        expires_at=source.expires_at or (now + lives if lives else None),
        byte_count=source.byte_count,
        authors=authors(parsed),
        keywords=keywords(parsed, language),
        warnings=parsed.warnings,
        metadata=source.metadata,
    )


def title(parsed: ParsedText, *, filename: str) -> str:
    """That the file gives itself; else its first heading of the highest rank; else a first line that reads like one;
    else the file's name."""
    stem = PurePath(filename).stem
    if own := _own_title(parsed, stem):
        return own
    if parsed.headings:
        return min(parsed.headings, key=lambda heading: (heading.level, heading.start_char)).text[:TITLE_CHARS]
    first, _, rest = parsed.text.partition("\n")
    line = plain(first)
    is_name = len(line) <= TITLE_CHARS and any(character.isalnum() for character in line)
    if is_name and ":" not in line and not line.endswith(".") and rest.strip():
        return line
    return _spaced(stem)


def _own_title(parsed: ParsedText, stem: str) -> str:
    """Nothing where it is one that a program made up, or the name of the file."""
    named = _FRONT_TITLE.search(_front_matter(parsed.text))
    for given in (parsed.title, named.group(1) if named else ""):
        written = " ".join(given.strip(" \t'\"").split())
        is_name = language.fold(_spaced(written)) == language.fold(_spaced(stem))
        if any(map(str.isalpha, written)) and not is_name and not _NO_TITLE.fullmatch(written):
            return written[:TITLE_CHARS].rstrip()
    return ""


def _spaced(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def authors(parsed: ParsedText) -> tuple[str, ...]:
    """Those that the file names itself; else those of its front matter, or of a line «Autor: …» at its beginning."""
    if own := _people(parsed.authors):
        return own
    if has_rows(parsed):  # whose authors are those of books
        return ()
    named = _NAMED_AUTHORS.search(parsed.text[:BYLINE_CHARS])
    return _people(_split_names(named.group(1))) if named else ()


def _split_names(line: str) -> Iterator[str]:
    for part in _BETWEEN_NAMES.split(line.strip().strip("[]|")):
        names = _COMMA.split(part)
        # «Gil, Ana» is one person, «Ana Gil, Eva Sanz» are two.
        yield from names if all(len(name.split()) > 1 for name in names) else [part]


def _people(names: Iterable[str]) -> tuple[str, ...]:
    written = (" ".join(_CREDENTIAL.sub("", name).strip(" \t*_\"'.,|-").split()) for name in names)
    known = (name for name in written if any(map(str.isalpha, name)) and not _NO_AUTHOR.fullmatch(name))
    return tuple(dict.fromkeys(name for name in known if len(name) <= AUTHOR_CHARS))[:MOST_AUTHORS]


def _front_matter(text: str) -> str:
    found = _FRONT_MATTER.match(text)
    return found.group(1) if found else ""


def detect_language(parsed: ParsedText) -> str:
    return header_language(parsed.tables) or language.detect(parsed.text)
