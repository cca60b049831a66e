"""How an answer of the documents' own sentences reads: their order, its parts side by side, what is computed of them;
each statement with the mark of its excerpt."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date

from graphrag.extractive_answers.chain_wording import ToldChain, WordedChain, word_chain
from graphrag.extractive_answers.compared_values import say_difference
from graphrag.extractive_answers.direct_answers import direct_answer
from graphrag.extractive_answers.extraction import Excerpt, Statement, extract_answer
from graphrag.extractive_answers.relative_times import read_relative
from graphrag.extractive_answers.seen_tables import markdown_rows
from graphrag.extractive_answers.statement_order import arrange
from graphrag.extractive_answers.table_answers import answer_from_table
from graphrag.language import content_words, labelled, words
from graphrag.table_dates import asks_what_is_late

MAX_LABEL = 70  # characters
_QUESTION_MARKS = " \t\n¿?¡!.,;:"
_LINKING = re.compile(r"^(?:d['’]|(?:de|du|des|del|of|the|el|la|los|las|le|les) |l['’])+", re.IGNORECASE)
_MARK = re.compile(r"\[([\d\s,;]*)\]")


@dataclass(frozen=True, slots=True)
class Asked:
    question: str
    language: str
    today: date
    parts: tuple[str, ...] = ()
    compares: bool = False  # its parts are the things that it sets against each other


@dataclass(frozen=True, slots=True)
class OwnSentences:
    """In the question's language."""

    not_found: str
    lead: str  # opens an answer in another language
    no_part: str  # with {part}: which part of a question nothing answers


@dataclass(frozen=True, slots=True)
class _Part:
    label: str
    statements: tuple[Statement, ...]


def compose_answer(
    asked: Asked, excerpts: Sequence[Excerpt], *, chains: Sequence[ToldChain] = (), own: OwnSentences
) -> str:
    if len(asked.parts) > 1:
        parts = _answer_parts(asked, excerpts, chains)
        if any(part.statements for part in parts):
            return _write_parts(parts, asked, excerpts, own)
    chain = _answer(asked.question, asked, excerpts, chains)
    if not (chain.told or chain.beside):
        return own.not_found
    return _write_one(chain, asked, excerpts, own)


def _answer(question: str, asked: Asked, excerpts: Sequence[Excerpt], chains: Sequence[ToldChain] = ()) -> WordedChain:
    """What answers, in the order in which it is said."""
    computed = None if asks_what_is_late(question) else answer_from_table(question, excerpts, language=asked.language)
    if computed:
        return WordedChain((), (computed,))
    statements = extract_answer(question, excerpts, language=asked.language, today=asked.today)
    chain = word_chain(chains, _as_shown(statements, excerpts), excerpts, language=asked.language)
    return WordedChain(chain.told, tuple(arrange(chain.beside, excerpts)))


def _as_shown(statements: Sequence[Statement], excerpts: Sequence[Excerpt]) -> list[Statement]:
    """The rows of Markdown tables with their headers; a line of headers alone states nothing."""
    rows = {excerpt.number: markdown_rows(excerpt.text) for excerpt in excerpts}
    shown = []
    for statement in statements:
        text = rows.get(statement.number, {}).get(statement.text.removesuffix("."), statement.text)
        if text:
            is_read = text == statement.text
            shown.append(statement if is_read else replace(statement, text=f"{text}.", is_row=True))
    return shown


def _write_one(chain: WordedChain, asked: Asked, excerpts: Sequence[Excerpt], own: OwnSentences) -> str:
    statements = [*chain.told, *chain.beside]
    direct = None if chain.told else _direct(asked.question, statements, asked, excerpts)
    is_foreign = statements[0].language != asked.language and not direct
    if len(statements) > 1 and all(statement.is_row for statement in statements):
        lines = [own.lead if is_foreign else "", *(f"- {_marked(statement, asked)}" for statement in statements)]
        return "\n".join(line for line in lines if line)
    opening = f"{own.lead} " if is_foreign else f"{direct} — " if direct else ""
    return opening + " ".join(_marked(statement, asked) for statement in statements)


def _direct(question: str, statements: Sequence[Statement], asked: Asked, excerpts: Sequence[Excerpt]) -> str | None:
    found = {excerpt.number: excerpt for excerpt in excerpts}
    told = [(statement, found[statement.number]) for statement in statements]
    said = direct_answer(question, told, today=asked.today, language=asked.language)
    return said[:1].upper() + said[1:] if said else None


def _marked(statement: Statement, asked: Asked) -> str:
    """A sentence in another language in quotation marks: it is not ours."""
    text = _without_marks(statement.text)
    is_quote = statement.language != asked.language and not statement.is_row
    return f"{_quoted(text, asked.language) if is_quote else text} [{statement.number}]"


def _without_marks(text: str) -> str:
    """«[3]» in a document or a question would be read as a mark of ours."""
    return _MARK.sub(r"(\1)", text)


def _quoted(text: str, language: str) -> str:
    return f"« {text} »" if language == "fr" else f"“{text}”" if language == "en" else f"«{text}»"


def _answer_parts(asked: Asked, excerpts: Sequence[Excerpt], chains: Sequence[ToldChain]) -> list[_Part]:
    """In their order; chains are of the first. Parts with the same answer are one."""
    parts: list[_Part] = []
    for label, part in zip(_labels(asked), asked.parts, strict=True):
        chain = _answer(part, asked, excerpts, chains if not parts else ())
        found = chain.told or chain.beside[:1]
        if parts and _asks_of_before(part, found, parts[-1].statements, asked, excerpts):
            found = parts[-1].statements
        same = next((each for each in parts if found and _texts(each.statements) == _texts(found)), None)
        if same:
            parts[parts.index(same)] = _Part(f"{same.label}; {label}", found)
        else:
            parts.append(_Part(label, found))
    return parts


def _asks_of_before(
    part: str,
    found: Sequence[Statement],
    before: Sequence[Statement],
    asked: Asked,
    excerpts: Sequence[Excerpt],
) -> bool:
    """«… and how long until then?»: the date is in the answer to the part before."""
    if read_relative(part) is None or not before or (found and _direct(part, found, asked, excerpts)):
        return False
    return _direct(part, before, asked, excerpts) is not None


def _texts(statements: Sequence[Statement]) -> list[str]:
    return [statement.text for statement in statements]


def _write_parts(parts: list[_Part], asked: Asked, excerpts: Sequence[Excerpt], own: OwnSentences) -> str:
    """A line for each, and what two of them differ by."""
    lines = [_write_part(part, asked, excerpts, own) for part in parts]
    if len(lines) == 1:  # one sentence answers all of them
        return lines[0].removeprefix(f"- {_label(parts[0], asked)}")
    difference = _difference(parts, asked) if asked.compares else ""
    return "\n".join([*lines, *([difference] if difference else [])])


def _write_part(part: _Part, asked: Asked, excerpts: Sequence[Excerpt], own: OwnSentences) -> str:
    if not part.statements:
        return f"- {own.no_part.format(part=part.label)}"
    question = asked.question if asked.compares else part.label
    direct = _direct(question, part.statements, asked, excerpts)
    said = " ".join(_marked(statement, asked) for statement in part.statements)
    return f"- {_label(part, asked)}{f'{direct} — ' if direct else ''}{said}"


def _label(part: _Part, asked: Asked) -> str:
    return labelled(f"{part.label[:1].upper()}{part.label[1:]}", "", asked.language)


def _difference(parts: Sequence[_Part], asked: Asked) -> str:
    statements = [part.statements[0] for part in parts if len(part.statements) == 1]
    if len(statements) != len(parts):
        return ""
    said = say_difference(asked.question, [part.label for part in parts], statements, language=asked.language)
    marks = "".join(f"[{number}]" for number in dict.fromkeys(statement.number for statement in statements))
    return f"- {said}. {marks}" if said else ""


def _labels(asked: Asked) -> list[str]:
    """Short: of compared things what tells them apart, of other parts their own words in the question."""
    texts = [part.strip(_QUESTION_MARKS) for part in asked.parts]
    found = (
        [_LINKING.sub("", label) for label in _apart(texts)]
        if asked.compares
        else [_own_words(text, asked.question) for text in texts]
    )
    return [
        _short(label if set(words(label)) & set(content_words(text, asked.language)) else text)
        for label, text in zip(found, texts, strict=True)
    ]


def _apart(texts: Sequence[str]) -> list[str]:
    """Without the words that they all begin or end with."""
    split = [text.split() for text in texts]
    first, last = _shared(split), _shared([each[::-1] for each in split])
    kept = [each[first : len(each) - last] if first + last < len(each) else each for each in split]
    return [" ".join(each) for each in kept]


def _shared(texts: Sequence[Sequence[str]]) -> int:
    count = 0
    for each in zip(*texts, strict=False):
        if len(set(each)) > 1:
            break
        count += 1
    return count


def _own_words(part: str, question: str) -> str:
    """A part that was told in full for the search, as the person wrote it."""
    spoken = words(part)
    for count in range(len(spoken), 1, -1):
        run = r"\W+".join(map(re.escape, spoken[:count]))
        match = re.search(rf"\b{run}\b(?=\s*(?:[?;,.]|$))", question, re.IGNORECASE)
        if match:
            return match[0]
    return part


def _short(text: str) -> str:
    label = " ".join(_without_marks(text).split())
    return label if len(label) <= MAX_LABEL else f"{label[:MAX_LABEL].rpartition(' ')[0] or label[:MAX_LABEL]}…"
