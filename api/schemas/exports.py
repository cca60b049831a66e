"""A conversation as a Markdown or Word file: questions, answers, their warnings and their sources with quotes."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

from babel.dates import format_datetime
from markdown_it.tree import SyntaxTreeNode

from api.schemas.conversations import ConversationWithMessages, MessageOut
from api.schemas.rendering import escape_markdown, make_markdown
from graphrag.errors import ExportUnavailable, install_command
from graphrag.linguistics.rules import read_texts

if TYPE_CHECKING:
    from docx.document import Document
    from docx.text.paragraph import Paragraph

WORDS = read_texts("api.schemas", "exports")
MARKDOWN = make_markdown("code")
UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0
EMPHASIS = {"strong": "bold", "em": "italic", "s": "strike"}  # of a run, by the kind of its Markdown
MAX_PROPERTY_CHARS = 255  # of a Word file
DEEPEST_LIST = 3  # that Word's own styles have


@dataclass(frozen=True, slots=True)
class _Section:
    """A message, its texts as they were said: nothing in them is markup but an answer's Markdown."""

    heading: str
    content: str
    is_answer: bool
    notes: Sequence[str]
    sources: Sequence[tuple[int, str]]  # the number, and the place with its quote and file


def to_markdown(conversation: ConversationWithMessages, language: str) -> str:
    title, moment, sections = _read(conversation, language)
    parts = [f"# {escape_markdown(title)}", moment]
    for section in sections:
        # An answer holds no HTML, and addresses of its documents alone: they are text here.
        said = section.content.replace("](", "]\\(") if section.is_answer else escape_markdown(section.content)
        parts += [f"## {section.heading}", said, *(f"*{escape_markdown(note)}*" for note in section.notes)]
        if section.sources:
            parts += [f"### {WORDS[language]['sources']}", _listed(section.sources)]
    return "\n\n".join(filter(None, parts)) + "\n"


def to_docx(conversation: ConversationWithMessages, language: str) -> bytes:
    """Return a Word file. Its text has no links, fields or other objects. Raises ExportUnavailable."""
    try:
        from docx import Document
        from docx.oxml.ns import qn
    except ImportError as exc:
        command = install_command("docx")
        raise ExportUnavailable(f"Word files need: {command}", command=command) from exc
    document = Document()
    for default in document.styles.element.xpath(".//w:lang"):
        default.set(qn("w:val"), language)
    title, moment, sections = _read(conversation, language)
    properties = document.core_properties
    properties.title, properties.language = _writable(title)[:MAX_PROPERTY_CHARS], language
    properties.author = properties.comments = ""  # the template's own
    document.add_heading(_writable(title), 0)
    document.add_paragraph(moment)
    for section in sections:
        document.add_heading(_writable(section.heading), 1)
        if section.is_answer:
            _add_blocks(document, SyntaxTreeNode(MARKDOWN.parse(section.content)).children)
        else:
            document.add_paragraph(_writable(section.content))
        for note in section.notes:
            document.add_paragraph().add_run(_writable(note)).italic = True
        if section.sources:
            document.add_heading(WORDS[language]["sources"], 2)
        for number, source in section.sources:
            document.add_paragraph(_writable(f"[{number}] {source}"))
    written = BytesIO()
    document.save(written)
    return written.getvalue()


def language_of(conversation: ConversationWithMessages) -> str | None:
    """Return the language of the last answer that has one."""
    languages = (message.details.get("language") for message in reversed(conversation.messages))
    return next((language for language in languages if language in WORDS), None)


def _read(conversation: ConversationWithMessages, language: str) -> tuple[str, str, list[_Section]]:
    """Return the title, when the conversation began, and its messages."""
    words = WORDS[language]
    title = _line(conversation.title) or words["untitled"]
    sections = [_read_message(message, words, language) for message in conversation.messages]
    return title, _time(conversation.created_at, language), sections


def _read_message(message: MessageOut, words: Mapping[str, str], language: str) -> _Section:
    details = message.details
    unsupported = details.get("unsupported_statements", ())
    notes = [
        *([words[message.status]] if message.status != "complete" else ()),
        *([words["erased"]] if details.get("erased") else ()),
        *map(_line, (*details.get("degraded_messages", ()), *details.get("warnings", ()))),
        *(words["unsupported"].format(statement=_line(statement)) for statement in unsupported),
    ]
    return _Section(
        f"{words[message.role]} · {_time(message.created_at, language)}",
        message.content,
        message.role == "assistant",
        notes,
        list(dict.fromkeys(_sources(details.get("citations", ())))),
    )


def _sources(citations: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str]]:
    """Yield the sources by their numbers, of several collections with their names; a statement alone is no citation."""
    are_several = len({citation.get("collection") for citation in citations if citation.get("sentence")}) > 1
    for citation in sorted(citations, key=lambda each: int(each["number"])):
        if sentence := citation.get("sentence"):
            place = [citation.get("collection") if are_several else None, citation["filename"]]
            yield citation["number"], f"{_line(sentence)} ({_line(', '.join(filter(None, place)))})"


def _listed(sources: Sequence[tuple[int, str]]) -> str:
    return "\n".join(f"- [{number}] {escape_markdown(source)}" for number, source in sources)


def _add_blocks(
    document: "Document", blocks: Sequence[SyntaxTreeNode], *, style: str = "Normal", depth: int = 0, number: str = ""
) -> None:
    """Add blocks of Markdown. `depth`: of the lists that they are in; `number`: of their list's item."""
    for block in blocks:
        match block.type:
            case "paragraph" | "heading":
                named = "Heading 3" if block.type == "heading" else style
                _add_runs(document.add_paragraph(number, style=named), block.children)
            case "blockquote":
                _add_blocks(document, block.children, style="Quote", depth=depth)
            case "bullet_list" | "ordered_list":
                kind = "List Bullet" if block.type == "bullet_list" else "List"
                named = f"{kind} {min(depth + 1, DEEPEST_LIST)}".removesuffix(" 1")
                for item in block.children:
                    of_item = f"{item.info}. " if item.info else ""
                    _add_blocks(document, item.children, style=named, depth=depth + 1, number=of_item)
            case "table":
                rows = [row for part in block.children for row in part.children]
                table = document.add_table(len(rows), len(rows[0].children), style="Table Grid")
                for shown, row in zip(table.rows, rows, strict=True):
                    for cell, of_cell in zip(shown.cells, row.children, strict=True):
                        _add_runs(cell.paragraphs[0], of_cell.children)
            case "fence":
                document.add_paragraph(_writable(block.content.rstrip("\n")), style="macro")
        number = ""


def _add_runs(paragraph: "Paragraph", parts: Sequence[SyntaxTreeNode], emphasis: Sequence[str] = ()) -> None:
    """Add inline Markdown; a link is its text and its address in brackets, a picture its description."""
    for part in parts:
        if not part.children:
            is_break = part.type in ("softbreak", "hardbreak")
            run = paragraph.add_run("\n" if is_break else _writable(part.content))
            for name in emphasis:
                setattr(run.font, name, True)
            continue
        _add_runs(paragraph, part.children, [*emphasis, *filter(None, [EMPHASIS.get(part.type)])])
        if part.type == "link" and (address := str(part.attrs["href"])) != part.children[0].content:
            paragraph.add_run(_writable(f" ({address})"))


def _writable(text: str) -> str:
    return UNWRITABLE.sub("�", text)


def _line(text: str) -> str:
    return " ".join(text.split())


def _time(moment: datetime, language: str) -> str:
    return format_datetime(moment, "long", locale=language)
