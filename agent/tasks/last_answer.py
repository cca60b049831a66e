"""The last answer in another form: shorter, with what stands around it, as a list or as a table.

An answer's message keeps which passages it cites; they are read again, so that every citation of the new form is
checked against the documents as they are now.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from langchain_core.messages import AnyMessage

from agent.messages import say
from agent.output.outcomes import read_short_answer
from agent.verification.statements import Statement, find_statements
from graphrag.extractive_answers.statements import without_marks
from graphrag.linguistics.sentences import is_heading, plain, split_sentences
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Chunk, Collection, Passage
from graphrag.parsers.source_locations import overlapping
from graphrag.protocols import ChunkStore, read_from_each

CITED_PASSAGES = "cited_passages"  # the key in an answer's additional_kwargs: what another form of it is written from
COMPUTED = "computed"  # the key in the additional_kwargs of an answer that has a table
FORMS = ("shorter", "longer", "list", "table")  # of an answer, that need no language model
NEAR_CHUNKS = 24  # on each side of a cited passage's best chunk: no passage is longer


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


def has_table(messages: Sequence[AnyMessage]) -> bool:
    """Return whether one of the answers was computed from a table."""
    return any(message.additional_kwargs.get(COMPUTED) for message in messages)


async def read_cited(
    cited: Sequence[CitedPassage], *, store: ChunkStore, collections: Sequence[Collection]
) -> tuple[list[Passage], dict[int, int]]:
    """Read cited passages again; return them, and their new number by the old one. What is deleted is missing."""
    ids = [UUID(each.document_id) for each in cited]
    known = {each.id for collection in collections for each in await store.find_documents(collection, ids=ids)}
    spans = [
        (UUID(each.document_id), max(0, each.chunk_index - NEAR_CHUNKS), each.chunk_index + NEAR_CHUNKS)
        for each in cited
        if UUID(each.document_id) in known
    ]
    chunks = await read_from_each(collections, lambda each: store.read_chunks(each, spans)) if spans else {}
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
    """Return a statement with the sentence before it and the two after it, as its passage has them."""
    passage = passages[numbers[next(number for number in statement.numbers if number in numbers)] - 1]
    orders = find_instructions(passage.content)
    spans = [
        span
        for span in split_sentences(passage.content)
        if not any(order.start < span.end and span.start < order.end for order in orders)
    ]
    wanted = " ".join(text.split()).rstrip(".…")
    for index, span in enumerate(spans):
        if wanted in " ".join(plain(passage.content[span.start : span.end]).split()):
            near = (plain(passage.content[each.start : each.end]) for each in spans[max(0, index - 1) : index + 3])
            return without_marks(" ".join(each for each in near if each and not is_heading(each)))
    return text


def _table(texts: Sequence[str], marks: Sequence[str], language: str) -> str:
    """Write rows of cells under their headers, labelled lines in two columns, other statements in one."""
    rows = [dict(_CELL.findall(text.rstrip("."))) for text in texts]
    if all(len(row) > 1 for row in rows):
        headers = list(dict.fromkeys(header.strip() for row in rows for header in row))
        cells = [
            [{key.strip(): value for key, value in row.items()}.get(header, "") for header in headers] for row in rows
        ]
    elif len(texts) > 1 and all(_LABEL.fullmatch(text) for text in texts):
        headers = ["", say("table_statement", language)]
        cells = [list(match.groups()) for text in texts if (match := _LABEL.fullmatch(text))]
    else:
        headers, cells = [say("table_statement", language)], [[text] for text in texts]
    lines = [
        headers,
        ["---"] * len(headers),
        *([*row[:-1], f"{row[-1]} {mark}"] for row, mark in zip(cells, marks, strict=True)),
    ]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/').strip() for cell in line)} |" for line in lines)
