"""Compose an answer from the documents' own sentences."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from graphrag.extractive_answers.answerability import Outcome
from graphrag.extractive_answers.chain_wording import word_chain
from graphrag.extractive_answers.direct_answers import direct_answer, read_relative, say_difference
from graphrag.extractive_answers.extraction import extract_answer
from graphrag.extractive_answers.statements import (
    Chain,
    Excerpt,
    ExtractedStatement,
    finished,
    opened,
    points_back,
    without_marks,
)
from graphrag.extractive_answers.units import AnswerUnit, present_list
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import content_words, fold, labelled, words
from graphrag.linguistics.numbers import read_quantities
from graphrag.linguistics.sentences import is_heading, plain
from graphrag.models import Direction, Span

LONGEST_BEFORE = 200  # characters of a sentence that is added only to be pointed back to
MIN_NUMBERS = 2  # in common, from which sentences of two languages say the same


@dataclass(frozen=True, slots=True)
class _LocatedStatement:
    """A statement's position: its excerpt, the excerpt's sentences and its number among them."""

    excerpt: Excerpt
    sentences: tuple[Span, ...]
    index: int

    @property
    def start(self) -> int:
        return self.excerpt.start_char + self.sentences[self.index].start

    def before(self) -> ExtractedStatement | None:
        """The sentence before it, of the same paragraph."""
        if self.index == 0:
            return None
        span = self.sentences[self.index - 1]
        text = self.excerpt.text[span.start : span.end]
        if is_heading(text) or text.endswith("\n\n") or not plain(text).endswith((".", "!", "?", "…")):
            return None
        return ExtractedStatement(plain(text), self.excerpt.number, self.excerpt.language, 0.0)


def arrange(statements: Sequence[ExtractedStatement], excerpts: Sequence[Excerpt]) -> list[ExtractedStatement]:
    """Order the statements for reading: the best first, then by document; rows stay as they are.

    A statement that points back and stands alone gets the sentence before it, except the first, which answers at once.
    """
    kept = _told_once(statements)
    if all(statement.is_row for statement in kept):
        return kept
    by_number = {excerpt.number: excerpt for excerpt in excerpts}
    found = {statement: _find(statement, by_number.get(statement.number)) for statement in kept}
    ordered = list(_with_antecedents(_grouped(kept, found), found))
    return [replace(statement, text=opened(statement.text)) for statement in ordered]


def _grouped(
    statements: list[ExtractedStatement], found: dict[ExtractedStatement, _LocatedStatement | None]
) -> list[ExtractedStatement]:
    """Group the statements by document, each group in the document's order from its best statement on."""
    titles = {statement: place.excerpt.title if place else "" for statement, place in found.items()}
    ranked = list(dict.fromkeys(titles[statement] for statement in statements))
    first = {title: next(each for each in statements if titles[each] == title) for title in ranked}

    def key(statement: ExtractedStatement) -> tuple[int, bool, int]:
        place = found[statement]
        title = titles[statement]
        leads = statement is statements[0] or (statement is first[title] and place is None)
        return ranked.index(title), not leads, place.start if place else 0

    return sorted(statements, key=key)


def _with_antecedents(
    statements: list[ExtractedStatement], found: dict[ExtractedStatement, _LocatedStatement | None]
) -> Iterator[ExtractedStatement]:
    told: set[str] = set()
    texts = {statement.text for statement in statements}
    for number, statement in enumerate(statements):
        place = found[statement]
        before = place.before() if place and number and points_back(statement.text) else None
        if before and before.text not in told | texts and len(before.text) <= LONGEST_BEFORE:
            told.add(before.text)
            yield before
        yield statement


def _find(statement: ExtractedStatement, excerpt: Excerpt | None) -> _LocatedStatement | None:
    if excerpt is None:
        return None
    sentences = excerpt.sentences
    for index, span in enumerate(sentences):
        if finished(plain(excerpt.text[span.start : span.end])) == statement.text:
            return _LocatedStatement(excerpt, sentences, index)
    return None


def _told_once(statements: Sequence[ExtractedStatement]) -> list[ExtractedStatement]:
    kept: list[ExtractedStatement] = []
    for statement in statements:
        if statement not in kept and not any(_says_the_same(statement, other) for other in kept):
            kept.append(statement)
    return kept


def _says_the_same(one: ExtractedStatement, other: ExtractedStatement) -> bool:
    """The same numbers and dates, and a name in common, in two languages."""
    if one.language == other.language or one.is_row or other.is_row:
        return False
    figures = _figures(one)
    return len(figures) >= MIN_NUMBERS and figures == _figures(other) and bool(_names(one) & _names(other))


def _figures(statement: ExtractedStatement) -> set[object]:
    told = read_dates(statement.text, statement.language, year=2000)
    dates = {(each.first, each.last) for each in told if each.first}
    return {*(quantity.low for quantity in read_quantities(statement.text, statement.language)), *dates}


def _names(statement: ExtractedStatement) -> set[str]:
    return {fold(word) for word in words(statement.text)[1:] if word[:1].isupper()}


MAX_LABEL = 70  # characters
_QUESTION_MARKS = " \t\n¿?¡!.,;:"
_LINKING = re.compile(r"^(?:d['’]|(?:de|du|des|del|of|the|el|la|los|las|le|les) |l['’])+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    question: str
    language: str
    today: date
    parts: tuple[str, ...] = ()
    compares: bool = False  # its parts are the things that it sets against each other
    direction: Direction | None = None  # of a causal question


@dataclass(frozen=True, slots=True)
class OwnSentences:
    """Sentences of an answer that come from no document, in the question's language."""

    not_found: str
    lead: str  # opens an answer in another language
    no_part: str  # with {part}: which part of a question nothing answers
    no_chat_model: str  # the answer where there are no documents
    closest: str  # opens what is no answer


OWN_SENTENCES = {
    "es": OwnSentences(
        "No he encontrado información relevante en sus documentos sobre esta pregunta.",
        "Los documentos, en otro idioma, dicen:",
        "Sin respuesta segura en los documentos: {part}.",
        "Para conversar sin documentos hace falta un modelo de lenguaje: configure RAG_CHAT_MODEL, por ejemplo"
        " openai:gpt-5.",
        "Estos son los pasajes más cercanos:",
    ),
    "fr": OwnSentences(
        "Je n'ai pas trouvé d'information pertinente dans vos documents concernant cette question.",
        "Les documents, dans une autre langue, disent :",
        "Sans réponse sûre dans les documents : {part}.",
        "Pour discuter sans documents, il faut un modèle de langage : configurez RAG_CHAT_MODEL, par exemple"
        " openai:gpt-5.",
        "Voici les passages les plus proches :",
    ),
    "en": OwnSentences(
        "I found no relevant information in your documents about this question.",
        "The documents, in another language, say:",
        "No sure answer in the documents: {part}.",
        "Chatting without documents needs a language model: set RAG_CHAT_MODEL, for example openai:gpt-5.",
        "These passages come closest:",
    ),
}


@dataclass(frozen=True, slots=True)
class _Part:
    label: str
    statements: tuple[ExtractedStatement, ...]
    probability: float = 0.0  # that they answer
    is_merged: bool = False  # of parts that have the same answer


def compose_answer(
    asked: AnswerRequest, excerpts: Sequence[Excerpt], *, chains: Sequence[Chain] = (), own: OwnSentences
) -> str:
    if len(asked.parts) > 1:
        parts = _answer_parts(asked, excerpts, chains)
        is_lacking = asked.compares and not all(part.statements for part in parts)
        is_told_at_once = is_lacking and _answer(asked.question, asked, excerpts).outcome == "answered"
        if any(part.statements for part in parts) and not is_told_at_once:
            return _write_parts(parts, asked, excerpts, own)
    answer = _answer(asked.question, asked, excerpts, chains)
    if answer.outcome == "none":
        return own.not_found
    if answer.listed:
        return _write_list(answer.listed, asked, excerpts, own)
    if answer.outcome == "closest":
        lines = (f"- {_marked(statement, asked)}" for statement in answer.statements)
        return "\n".join([own.closest, *lines])
    return _write_one(answer, asked, excerpts, own)


@dataclass(frozen=True, slots=True)
class _Answer:
    statements: Sequence[ExtractedStatement]
    outcome: Outcome
    probability: float  # that they answer
    listed: tuple[AnswerUnit, ...] = ()  # to be told in place of the statements
    is_chain: bool = False  # its statements are


def _answer(
    question: str, asked: AnswerRequest, excerpts: Sequence[Excerpt], chains: Sequence[Chain] = (), thing: str = ""
) -> _Answer:
    """Return the statements that answer, in the order of the answer, or those that come closest, best first."""
    found = extract_answer(
        question, excerpts, language=asked.language, today=asked.today, thing=thing, direction=asked.direction
    )
    is_answered = found.outcome == "answered"
    chain = word_chain(
        chains,
        found.statements,
        excerpts,
        language=asked.language,
        direction=asked.direction,
        is_answered=is_answered,
    )
    if chain:
        return _Answer(chain, "answered", found.probability, is_chain=True)
    told = arrange(found.statements, excerpts) if is_answered else found.statements
    return _Answer(told, found.outcome if told else "none", found.probability, found.listed)


def _write_list(
    units: Sequence[AnswerUnit], asked: AnswerRequest, excerpts: Sequence[Excerpt], own: OwnSentences
) -> str:
    languages = {excerpt.number: excerpt.language for excerpt in excerpts}
    clean = [
        replace(
            unit,
            text=without_marks(unit.text),
            lead=without_marks(unit.lead),
            items=tuple(replace(item, text=without_marks(item.text)) for item in unit.items),
            cells=tuple((without_marks(header), without_marks(value)) for header, value in unit.cells),
        )
        for unit in units
    ]
    is_foreign = languages[units[0].number] != asked.language
    listed = present_list(asked.question, clean, language=asked.language)
    return f"{own.lead}\n\n{listed}" if is_foreign else listed


def _write_one(answer: _Answer, asked: AnswerRequest, excerpts: Sequence[Excerpt], own: OwnSentences) -> str:
    statements = answer.statements
    direct = _direct(asked.question, statements, answer.probability, asked, excerpts)
    is_foreign = statements[0].language != asked.language and not direct
    if len(statements) > 1 and all(statement.is_row for statement in statements):
        lines = [own.lead if is_foreign else "", *(f"- {_marked(statement, asked)}" for statement in statements)]
        return "\n".join(line for line in lines if line)
    opening = f"**{direct}** — " if direct else f"{own.lead} " if is_foreign else ""
    return opening + " ".join(_marked(statement, asked) for statement in statements)


def _direct(
    question: str,
    statements: Sequence[ExtractedStatement],
    probability: float,
    asked: AnswerRequest,
    excerpts: Sequence[Excerpt],
) -> str | None:
    found = {excerpt.number: excerpt for excerpt in excerpts}
    told = [(statement, found[statement.number]) for statement in statements]
    said = direct_answer(
        question,
        told,
        today=asked.today,
        language=asked.language,
        probability=probability,
        direction=asked.direction,
    )
    return said[:1].upper() + said[1:] if said else None


def _marked(statement: ExtractedStatement, asked: AnswerRequest) -> str:
    """A sentence in another language in quotation marks: it is not ours."""
    text = without_marks(statement.text)
    is_quote = statement.language != asked.language and not statement.is_row
    return f"{_quoted(text, asked.language) if is_quote else text} [{statement.number}]"


def _quoted(text: str, language: str) -> str:
    return f"« {text} »" if language == "fr" else f"“{text}”" if language == "en" else f"«{text}»"


def _answer_parts(asked: AnswerRequest, excerpts: Sequence[Excerpt], chains: Sequence[Chain]) -> list[_Part]:
    """Answer the question's parts in their order; chains belong to the first. Parts with the same answer are merged."""
    parts: list[_Part] = []
    for label, part in zip(_labels(asked), asked.parts, strict=True):
        answer = _answer(part, asked, excerpts, chains if not parts else (), label if asked.compares else "")
        best = answer.statements if answer.is_chain else answer.statements[:1]
        found = _Part(label, tuple(best) if answer.outcome == "answered" else (), answer.probability)
        if parts and _asks_of_before(part, found, parts[-1], asked, excerpts):
            found = replace(parts[-1], label=label)
        same = next((each for each in parts if found.statements and _texts(each) == _texts(found)), None)
        if same:
            parts[parts.index(same)] = replace(found, label=f"{same.label}; {label}", is_merged=True)
        else:
            parts.append(found)
    return parts


def _asks_of_before(part: str, found: _Part, before: _Part, asked: AnswerRequest, excerpts: Sequence[Excerpt]) -> bool:
    """Return whether the part asks about the answer to the part before: «… and how long until then?»."""
    if read_relative(part) is None or not before.statements:
        return False
    if found.statements and _direct(part, found.statements, found.probability, asked, excerpts):
        return False
    return _direct(part, before.statements, before.probability, asked, excerpts) is not None


def _texts(part: _Part) -> list[str]:
    return [statement.text for statement in part.statements]


def _write_parts(parts: list[_Part], asked: AnswerRequest, excerpts: Sequence[Excerpt], own: OwnSentences) -> str:
    """A line for each, and what two of them differ by."""
    lines = [_write_part(part, asked, excerpts, own) for part in parts]
    if len(lines) == 1:  # one sentence answers all of them
        return lines[0].removeprefix(f"- {_label(parts[0], asked)}")
    difference = _difference(parts, asked) if asked.compares else ""
    return "\n".join([*lines, *([difference] if difference else [])])


def _write_part(part: _Part, asked: AnswerRequest, excerpts: Sequence[Excerpt], own: OwnSentences) -> str:
    if not part.statements:
        return f"- {own.no_part.format(part=part.label)}"
    question = asked.question if asked.compares else part.label
    direct = None if part.is_merged else _direct(question, part.statements, part.probability, asked, excerpts)
    said = " ".join(_marked(statement, asked) for statement in part.statements)
    return f"- {_label(part, asked)}{f'**{direct}** — ' if direct else ''}{said}"


def _label(part: _Part, asked: AnswerRequest) -> str:
    return labelled(f"{part.label[:1].upper()}{part.label[1:]}", "", asked.language)


def _difference(parts: Sequence[_Part], asked: AnswerRequest) -> str:
    statements = [part.statements[0] for part in parts if len(part.statements) == 1]
    if len(statements) != len(parts):
        return ""
    said = say_difference(asked.question, [part.label for part in parts], statements, language=asked.language)
    marks = "".join(f"[{number}]" for number in dict.fromkeys(statement.number for statement in statements))
    return f"- {said}. {marks}" if said else ""


def _labels(asked: AnswerRequest) -> list[str]:
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
    """Return the texts without the words that they all begin or end with."""
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
    label = " ".join(without_marks(text).split())
    return label if len(label) <= MAX_LABEL else f"{label[:MAX_LABEL].rpartition(' ')[0] or label[:MAX_LABEL]}…"
