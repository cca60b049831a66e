"""Tasks beside the search for an answer: small talk, the catalogue, summaries, the last answer in another form."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from uuid import UUID

from babel.dates import format_date
from langchain_core.messages import AnyMessage

from agent.messages import say
from agent.output.outcomes import read_short_answer
from agent.verification.statements import Statement, find_statements
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import content_stems, fold, stem, words
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.linguistics.sentences import is_heading, plain, split_sentences
from graphrag.models import Chunk, Collection, Document, Passage
from graphrag.parsers.source_locations import overlapping
from graphrag.protocols import ChunkStore

CITED_PASSAGES = "cited_passages"  # the key in an answer's additional_kwargs: what another form of it is written from
FORMS = ("shorter", "longer", "list", "table")  # of an answer, that need no language model
MOST_LISTED = 20  # documents
NEAR_CHUNKS = 24  # on each side of a cited passage's best chunk: no passage is longer


class TaskRules(Rules):
    thanks: Pattern
    goodbye: Pattern
    greeting: Pattern
    document_types: dict[str, Pattern]  # ending of a file's name → how people call it
    languages: dict[str, Pattern]


@lru_cache(maxsize=1)
def _rules() -> TaskRules:
    return read_rules(TaskRules, "agent", "tasks")


def reply_to_small_talk(message: str, language: str) -> str:
    flat = fold(message)
    rules = _rules()
    kinds = {"thanks": rules.thanks, "goodbye": rules.goodbye, "greeting": rules.greeting}
    kind = next((kind for kind, pattern in kinds.items() if pattern.search(flat)), "other")
    return say(f"small_talk_{kind}", language)


def describe_catalogue(question: str, language: str, slot: str, collection: Collection, documents: list[Document]) -> str:
    """List the documents that the question asks for, the latest first. `slot`: list, count, latest, kinds."""
    if not documents:
        return say("empty_collection", language)
    asked = sorted(_asked_for(question, language, documents), key=lambda each: each.created_at, reverse=True)
    if not asked:
        return say("catalogue_none", language).format(count=len(documents), collection=collection.name)
    kinds = Counter(PurePath(each.filename).suffix.lstrip(".").lower() or each.media_type for each in asked)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    lead = say("catalogue_one" if len(asked) == 1 else "catalogue_many", language)
    shown = asked[: 5 if slot == "latest" else MOST_LISTED]
    lines = [lead.format(count=len(asked), collection=collection.name, kinds=told), *(_line(each, language) for each in shown)]
    if len(asked) > len(shown):
        lines.append(say("catalogue_more", language).format(count=len(asked) - len(shown)))
    return "\n".join(lines)


def _asked_for(question: str, language: str, documents: Sequence[Document]) -> list[Document]:
    """Return the documents of the types, languages and periods that the question names."""
    flat = fold(question)
    types = {kind for kind, pattern in _rules().document_types.items() if pattern.search(flat)}
    languages = {name for name, pattern in _rules().languages.items() if pattern.search(flat)}
    periods = [(each.first, each.last) for each in read_dates(question, language, year=date.today().year) if each.first]
    return [
        each
        for each in documents
        if (not types or PurePath(each.filename).suffix.lstrip(".").lower() in _endings(types))
        and (not languages or each.language in languages)
        and (not periods or any(first <= each.created_at.date() <= (last or first) for first, last in periods if first))
    ]


def _endings(types: Iterable[str]) -> set[str]:
    return {ending for each in types for ending in each.split("_")}


def _line(document: Document, language: str) -> str:
    day = format_date(document.created_at.date(), "d MMM y", locale=language)
    return f"- **{document.title or document.filename}** — {document.filename}, {day}"


def find_targets(target: str, language: str, documents: Sequence[Document]) -> list[Document]:
    """Return the documents whose title or file name the words of a summary's target name best; none where few do."""
    wanted = content_stems(target, language)
    shares = {
        each.id: len(wanted & _title_stems(each, language)) / len(wanted) if wanted else 0.0 for each in documents
    }
    best = max(shares.values(), default=0.0)
    return [each for each in documents if shares[each.id] == best] if best >= 0.5 else []


def _title_stems(document: Document, language: str) -> set[str]:
    text = f"{document.title} {PurePath(document.filename).stem}".replace("_", " ").replace("-", " ")
    languages = {language, document.language}
    return {stem(word, each) for word in words(text) for each in languages}


@dataclass(frozen=True, slots=True)
class CitedPassage:
    """A passage that an answer cites, as its message keeps it: enough to read it again."""

    number: int
    document_id: str
    chunk_index: int
    start_char: int
    end_char: int


def describe_cited(passages: Sequence[Passage], numbers: Iterable[int]) -> list[dict[str, int | str]]:
    """Return the cited passages as plain values, which a thread's checkpoint holds."""
    return [
        {
            "number": number,
            "document_id": str(passages[number - 1].document.id),
            "chunk_index": passages[number - 1].chunk_index,
            "start_char": passages[number - 1].start_char,
            "end_char": passages[number - 1].end_char,
        }
        for number in sorted(set(numbers))
    ]


def last_cited(messages: Sequence[AnyMessage]) -> tuple[str, list[CitedPassage]]:
    """Return the last answer that cites passages, and these; "" where there is none."""
    for message in reversed(messages):
        if message.type == "ai" and (kept := message.additional_kwargs.get(CITED_PASSAGES)):
            return message.text, [CitedPassage(**each) for each in kept]
    return "", []


async def read_cited(
    cited: Sequence[CitedPassage], *, store: ChunkStore, collection: Collection
) -> tuple[list[Passage], dict[int, int]]:
    """Read cited passages again; return them, and their new number by the old one. What is deleted is missing."""
    ids = [UUID(each.document_id) for each in cited]
    documents = {each.id: each for each in await store.find_documents(collection, ids=ids)}
    spans = [
        (UUID(each.document_id), max(0, each.chunk_index - NEAR_CHUNKS), each.chunk_index + NEAR_CHUNKS)
        for each in cited
        if UUID(each.document_id) in documents
    ]
    chunks = await store.read_chunks(collection, spans) if spans else {}
    passages: list[Passage] = []
    numbers: dict[int, int] = {}
    for each in cited:
        held = [
            chunk
            for chunk in chunks.get(UUID(each.document_id), [])
            if chunk.start_char < each.end_char and each.start_char < chunk.end_char
        ]
        if held:
            passages.append(make_passage(held, each.start_char, each.end_char))
            numbers[each.number] = len(passages)
    return passages, numbers


def make_passage(chunks: Sequence[Chunk], start: int, end: int) -> Passage:
    """Return the span [start, end) of a document as a passage; the chunks tile it, in order."""
    text = "".join(chunk.content for chunk in chunks)
    first = chunks[0].start_char
    start, end = max(start, first), min(end, chunks[-1].end_char)
    return Passage(
        chunks[0].document,
        chunks[0].index,
        start,
        end,
        text[start - first : end - first],
        ((start, end),),
        1.0,
        overlapping((location for chunk in chunks for location in chunk.locations), start, end),
        chunks[0].headers,
    )


_CELL = re.compile(r"(?P<header>[^:;|]{1,60}): (?P<value>[^;]+)")
_LABEL = re.compile(r"(?:- )?(?P<label>[^\n:]{1,70}?)\s?: (?P<said>.+)", re.DOTALL)


def rewrite(answer: str, form: str, passages: Sequence[Passage], numbers: Mapping[int, int], language: str) -> str:
    """Return an answer in another form: shorter, longer, list or table; its marks are renumbered.

    `numbers`: the new number of each old mark; a statement whose passages are gone is left out.
    """
    short = read_short_answer(answer)
    statements = [each for each in find_statements(answer) if each.states and set(each.numbers) & numbers.keys()]
    if not statements:
        return ""
    marks = ["".join(f"[{numbers[number]}]" for number in each.numbers if number in numbers) for each in statements]
    texts = [_bare(each.text) for each in statements]
    if form == "shorter":
        return f"**{short}** {marks[0]}" if short and short != texts[0] else f"{texts[0]} {marks[0]}"
    if form == "longer":
        told = [_with_neighbours(text, each, passages, numbers) for text, each in zip(texts, statements, strict=True)]
        return "\n\n".join(f"{text} {mark}" for text, mark in zip(dict.fromkeys(told), marks, strict=False))
    if form == "table":
        return _table(texts, marks, language)
    return "\n".join(f"- {text} {mark}" for text, mark in zip(texts, marks, strict=True))


def _bare(text: str) -> str:
    """Return a statement without the short answer in bold and the sign of an item before it."""
    return re.sub(r"^(?:[-*] |\d+[.)] )?(?:\*\*[^*\n]+\*\* — )?", "", text.strip()).replace("**", "")


def _with_neighbours(text: str, statement: Statement, passages: Sequence[Passage], numbers: Mapping[int, int]) -> str:
    """Return the sentence before a statement, the statement and the two sentences after it, as their passage has them."""
    passage = passages[numbers[next(number for number in statement.numbers if number in numbers)] - 1]
    spans = split_sentences(passage.content)
    wanted = " ".join(text.split()).rstrip(".…")
    for index, span in enumerate(spans):
        if wanted in " ".join(plain(passage.content[span.start : span.end]).split()):
            near = (plain(passage.content[each.start : each.end]) for each in spans[max(0, index - 1) : index + 3])
            return " ".join(each for each in near if each and not is_heading(each))
    return text


def _table(texts: Sequence[str], marks: Sequence[str], language: str) -> str:
    """Write rows of cells under their headers, labelled lines in two columns, other statements in one."""
    rows = [dict(_CELL.findall(text.rstrip("."))) for text in texts]
    if all(len(row) > 1 for row in rows):
        headers = list(dict.fromkeys(header.strip() for row in rows for header in row))
        cells = [[{key.strip(): value for key, value in row.items()}.get(header, "") for header in headers] for row in rows]
    elif len(texts) > 1 and all(_LABEL.fullmatch(text) for text in texts):
        headers = ["", say("table_statement", language)]
        cells = [list(match.groups()) for text in texts if (match := _LABEL.fullmatch(text))]
    else:
        headers, cells = [say("table_statement", language)], [[text] for text in texts]
    lines = [headers, ["---"] * len(headers), *([*row[:-1], f"{row[-1]} {mark}"] for row, mark in zip(cells, marks, strict=True))]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/').strip() for cell in line)} |" for line in lines)
