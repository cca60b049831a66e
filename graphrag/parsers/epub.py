"""EPUB books: their chapters' pages in reading order."""

import posixpath
import re
import zipfile
from io import BytesIO
from urllib.parse import unquote
from xml.etree import ElementTree

from graphrag.config.settings import ParsingLimits
from graphrag.errors import UnreadableDocument
from graphrag.models import ParsedText
from graphrag.parsers.detection import EPUB
from graphrag.parsers.html import parse_html
from graphrag.parsers.text import TextBuilder

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
# Fonts are obfuscated so, which encrypts no text. EPUB 3.3, 4.2.6.3.1, and Adobe's own.
_OBFUSCATIONS = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"})
_SELF_CLOSED = re.compile(rb"<(?!(?:br|hr|img|input|link|meta|col|wbr|image)\b)([a-zA-Z][\w:]*)([^<>]*)/>")


def parse_epub(data: bytes, *, limits: ParsingLimits) -> ParsedText:
    """Return the book's text; its headings keep their levels, since most chapters begin with one of the first.

    Raises UnreadableDocument: encrypted, too_large or empty; and whatever zipfile and ElementTree raise of a damaged
    file.
    """
    builder = TextBuilder(limits.characters)
    with zipfile.ZipFile(BytesIO(data)) as archive:
        _check_encryption(archive)
        root_file = ElementTree.fromstring(archive.read(_CONTAINER)).find(".//{*}rootfile")
        package_part = root_file.get("full-path", "") if root_file is not None else ""
        package = ElementTree.fromstring(archive.read(package_part))
        pages = {item.get("id"): unquote(item.get("href", "")) for item in package.iterfind("{*}manifest/{*}item")}
        names = set(archive.namelist())
        for reference in package.iterfind("{*}spine/{*}itemref"):
            page = pages.get(reference.get("idref"), "")
            part = posixpath.normpath(posixpath.join(posixpath.dirname(package_part), page))
            if part in names:
                builder.include(_parse_page(archive.read(part), limits), level=0)
    titles, authors = (
        [each.text or "" for each in package.iterfind(f"{{*}}metadata/{{*}}{name}")] for name in ("title", "creator")
    )
    return builder.parsed(EPUB, title=titles[0] if titles else "", authors=tuple(authors))


def _check_encryption(archive: zipfile.ZipFile) -> None:
    if _ENCRYPTION in archive.namelist():
        methods = ElementTree.fromstring(archive.read(_ENCRYPTION)).iterfind(".//{*}EncryptionMethod")
        if {method.get("Algorithm") for method in methods} - _OBFUSCATIONS:
            raise UnreadableDocument("the book is encrypted by its seller (DRM)", reason="encrypted")


def _parse_page(page: bytes, limits: ParsingLimits) -> ParsedText:
    """Parse a page of XHTML as HTML, to which «<title/>» would open an element that nothing closes."""
    try:
        return parse_html(_SELF_CLOSED.sub(rb"<\1\2></\1>", page), limits=limits)
    except UnreadableDocument as exc:
        if exc.details["reason"] != "empty":
            raise
        return ParsedText("", EPUB)
