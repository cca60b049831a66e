"""Check each statement of an answer against the passages, and word its citations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from uuid import UUID

from agent.verification.statements import Statement, find_statements, remove_unknown_marks
from agent.verification.support import Support, find_support
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.periods import name, period_of
from graphrag.linguistics.rules import Rules, read_rules
from graphrag.models import Passage, SourceLocation
from graphrag.parsers.source_locations import cite_location

MAX_LIKELY = 3  # passages that are looked at for a statement without a mark
_RANKS = {Support.SUPPORTED: 2, Support.PARTLY: 1, Support.UNSUPPORTED: 0}


@dataclass(frozen=True, slots=True)
class Citation:
    """One mark of the answer. `quote`, [start_char, end_char), is the passage's best sentence for the statement.

    `reasons`, where it is not supported: number, date, name, unit, negation, direction, role,
    quantifier, modality; overlap: too few words.
    """

    number: int
    document_id: UUID
    filename: str
    title: str
    chunk_index: int
    quote: str
    start_char: int
    end_char: int
    status: Support
    score: float
    statement: str
    reasons: tuple[str, ...] = ()
    implied: bool = False  # the answer has no mark there; this passage carries it
    first_line: int | None = None  # of the quote in the document's text, where it is known
    last_line: int | None = None
    location: SourceLocation | None = None  # of the quote in its file
    collection: str = ""  # its name


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """[start, end) of the answer."""

    text: str
    start: int
    end: int
    status: Support
    score: float
    reasons: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Verification:
    """`citations` are those of the marks, one each; those that are implied are with their statements alone."""

    answer: str  # without the marks that cite nothing
    citations: tuple[Citation, ...] = ()
    removed_marks: tuple[int, ...] = ()
    statements: tuple[CheckedStatement, ...] = ()

    @property
    def unsupported_statements(self) -> tuple[str, ...]:
        return tuple(each.text for each in self.statements if each.status is Support.UNSUPPORTED)


def verify(answer: str, passages: Sequence[Passage], *, today: date | None = None) -> Verification:
    """Checks every statement against the passages that it cites, numbered from 1 in their order."""
    clean, removed = remove_unknown_marks(answer, len(passages))
    found = [each for each in find_statements(clean) if each.states or each.numbers]
    checked = tuple(check_statement(statement, passages, today=today) for statement in found)
    citations = (citation for statement in checked for citation in statement.citations if not citation.implied)
    return Verification(clean, tuple(citations), tuple(removed), checked)


def check_statement(
    statement: Statement, passages: Sequence[Passage], *, today: date | None = None
) -> CheckedStatement:
    """Check a statement against its cited passages; one without a mark gets the passage that supports it, if any."""
    if statement.numbers:
        cited = tuple(cite(statement.text, number, passages[number - 1], today=today) for number in statement.numbers)
    else:
        cited = _implied(statement.text, passages, today)
    best = _best(cited)
    if best is None:
        return CheckedStatement(statement.text, statement.start, statement.end, Support.UNSUPPORTED, 0.0, ("overlap",))
    status, score, reasons = best.status, best.score, best.reasons
    if status is not Support.SUPPORTED and len(set(statement.numbers)) > 1:
        status, score, reasons = _carried_together(statement, passages, best, today)
    return CheckedStatement(statement.text, statement.start, statement.end, status, score, reasons, cited)


def _best(citations: Iterable[Citation]) -> Citation | None:
    return max(citations, key=lambda citation: (_RANKS[citation.status], citation.score), default=None)


def _implied(text: str, passages: Sequence[Passage], today: date | None) -> tuple[Citation, ...]:
    """The first that carries it, of those that share most words with it."""
    said = {fold(word) for word in words(text)}

    def shared(number: int) -> int:
        return len(said & {fold(word) for word in words(passages[number - 1].content)})

    for number in sorted(range(1, len(passages) + 1), key=shared, reverse=True)[:MAX_LIKELY]:
        found = cite(text, number, passages[number - 1], today=today)
        if found.status is Support.SUPPORTED:
            return (replace(found, implied=True),)
    return ()


def _carried_together(
    statement: Statement, passages: Sequence[Passage], best: Citation, today: date | None
) -> tuple[Support, float, tuple[str, ...]]:
    """A sentence may join what several passages say, each of them in part."""
    cited = [passages[number - 1] for number in dict.fromkeys(statement.numbers)]
    if len({passage.document.language for passage in cited}) > 1:
        return best.status, best.score, best.reasons
    joined = replace(
        cited[0],
        content="\n\n".join(passage.content for passage in cited),
        locations=(),
        headers=tuple(header for passage in cited for header in passage.headers),
    )
    found = find_support(statement.text, joined, today=today)
    return found.status, found.score, found.reasons


def cite(statement: str, number: int, passage: Passage, *, today: date | None = None) -> Citation:
    found = find_support(statement, passage, today=today)
    start, end = passage.start_char + found.span.start, passage.start_char + found.span.end
    first_line, last_line = _lines(passage, found.span.start, found.span.end)
    return Citation(
        number=number,
        document_id=passage.document.id,
        filename=passage.document.filename,
        title=passage.document.title,
        chunk_index=passage.chunk_index,
        quote=passage.content[found.span.start : found.span.end],
        start_char=start,
        end_char=end,
        status=found.status,
        score=found.score,
        statement=statement.rstrip(" .…"),
        reasons=found.reasons,
        first_line=first_line,
        last_line=last_line,
        location=cite_location(
            passage.locations, start, end, text=passage.content, text_start=passage.start_char, headers=passage.headers
        ),
        collection=passage.collection,
    )


def _lines(passage: Passage, start: int, end: int) -> tuple[int | None, int | None]:
    """Return the lines of a text that has lines of its own, and that the passage begins."""
    if passage.start_char or not passage.document.media_type.startswith("text/"):
        return None, None
    first = passage.content.count("\n", 0, start) + 1
    return first, first + passage.content.count("\n", start, end)


class CitationWording(Rules):
    words: dict[str, dict[str, str]]


@lru_cache(maxsize=1)
def _rules() -> CitationWording:
    return read_rules(CitationWording, "agent.verification", "checking")


def reference(citation: Citation) -> str:
    return f"[{citation.document_id}:{citation.chunk_index}]"


def sentence(citation: Citation, language: str) -> str:
    """Return a sentence with the citation's location, facts and quote, its white space as single spaces."""
    words = _rules().words[language]
    quote = " ".join(citation.quote.split())
    where, facts = _where(citation, words), _facts(citation, words, language)
    told = f" ({', '.join(facts)})" if facts else ""
    return f"{where}{told}: {quote}"


def _where(citation: Citation, words: dict[str, str]) -> str:
    location = citation.location
    if location and location.cells:
        return f"{words['cells' if ':' in location.cells else 'cell']} {location.cells}"
    if location and location.page:
        return f"{words['page']} {location.page}"
    if citation.first_line is not None and citation.last_line is not None:
        if citation.first_line == citation.last_line:
            return f"{words['line']} {citation.first_line}"
        return f"{words['lines']} {citation.first_line}-{citation.last_line}"
    return f"{words['document']} {citation.filename}"


def _facts(citation: Citation, words: dict[str, str], language: str) -> list[str]:
    location = citation.location
    where = _where(citation, words)
    found = [f"{words['sheet']} '{location.sheet}'"] if location and location.sheet else []
    if location and location.file and not location.cells:
        found.append(f"{words['file']} {location.file}")
    if not where.endswith(citation.filename):
        found.append(f"{words['file']} {citation.filename}")
    if location and location.is_recognized:
        found.append(words["recognized"])
    if location and location.temporal:
        found.append(f"{words['date']}: {name(period_of(location.temporal), language)}")
    return found
