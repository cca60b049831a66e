"""In which order statements read well: the best first, its document on, what points back after what it points to."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from graphrag.extractive_answers.extraction import Excerpt, Statement, finished
from graphrag.extractive_answers.quantities import find_quantities
from graphrag.extractive_answers.told_dates import find_told_dates
from graphrag.language import fold, words
from graphrag.models import Span
from graphrag.places import split_rows
from graphrag.sentences import is_heading, plain

LONGEST_BEFORE = 200  # characters of a sentence that is added only to be pointed back to
# The first words of a sentence that is not understood without the one before it.
_POINTS_BACK = re.compile(
    r"(?:est[oae]|es[oae]|ell[oa]s?|aquell[oa]s?|est[oa]s|es[oa]s|por (?:est|es|ell|lo tanto|tanto)\w*"
    r"|a pesar de (?:est|ell)\w+|sin embargo"
    r"|no obstante|ademas|tambien|asi|en cambio|por el contrario|entonces|despues|luego|de ahi|a causa de (?:est|es)\w*"
    r"|cela|ceci|ca|c'est|c'etait|ce (?:fut|n'est|sera)|celui-ci|celle-ci|ceux-ci|celles-ci|il|elle|ils|elles|eux"
    r"|cependant|toutefois|neanmoins|pourtant"
    r"|de plus|en outre|en revanche|par consequent|ainsi|ensuite|puis|alors|de ce fait|d'ou|pour cette raison"
    r"|a la suite de c\w+"
    r"|this|that|these|those|it|they|he|she|its|their|his|her|however|nevertheless|therefore"
    r"|as a (?:result|consequence)|moreover"
    r"|furthermore|besides|instead|hence|thus|then|afterwards|for (?:this|that) reason|because of (?:this|that)"
    r"|so)\b(?!-)"
)
MIN_NUMBERS = 2  # in common, from which sentences of two languages say the same


@dataclass(frozen=True, slots=True)
class _Found:
    """Where a statement stands: its excerpt's sentences, and which of them it is."""

    excerpt: Excerpt
    sentences: tuple[Span, ...]
    index: int

    @property
    def start(self) -> int:
        return self.excerpt.start_char + self.sentences[self.index].start

    def before(self) -> Statement | None:
        """The sentence before it, of the same paragraph."""
        if self.index == 0:
            return None
        span = self.sentences[self.index - 1]
        text = self.excerpt.text[span.start : span.end]
        if is_heading(text) or text.endswith("\n\n") or not plain(text).endswith((".", "!", "?", "…")):
            return None
        return Statement(plain(text), self.excerpt.number, self.excerpt.language, 0.0)


def arrange(statements: Sequence[Statement], excerpts: Sequence[Excerpt]) -> list[Statement]:
    """The first stays first; rows stay as they are. What points back and stands alone gets the sentence before it, but
    for the first: what answers is said at once."""
    kept = _told_once(statements)
    if all(statement.is_row for statement in kept):
        return kept
    by_number = {excerpt.number: excerpt for excerpt in excerpts}
    found = {statement: _find(statement, by_number.get(statement.number)) for statement in kept}
    ordered = list(_with_antecedents(_grouped(kept, found), found))
    return [replace(statement, text=opened(statement.text)) for statement in ordered]


def _grouped(statements: list[Statement], found: dict[Statement, _Found | None]) -> list[Statement]:
    """Those of a document together, as it goes on after the best of them."""
    titles = {statement: place.excerpt.title if place else "" for statement, place in found.items()}
    ranked = list(dict.fromkeys(titles[statement] for statement in statements))
    first = {title: next(each for each in statements if titles[each] == title) for title in ranked}

    def key(statement: Statement) -> tuple[int, bool, int]:
        place = found[statement]
        title = titles[statement]
        leads = statement is statements[0] or (statement is first[title] and place is None)
        return ranked.index(title), not leads, place.start if place else 0

    return sorted(statements, key=key)


def _with_antecedents(statements: list[Statement], found: dict[Statement, _Found | None]) -> Iterator[Statement]:
    told: set[str] = set()
    texts = {statement.text for statement in statements}
    for number, statement in enumerate(statements):
        place = found[statement]
        before = place.before() if place and number and points_back(statement.text) else None
        if before and before.text not in told | texts and len(before.text) <= LONGEST_BEFORE:
            told.add(before.text)
            yield before
        yield statement


def points_back(text: str) -> bool:
    return _POINTS_BACK.match(fold(text).replace("’", "'")) is not None


def opened(text: str) -> str:
    """As a sentence begins: an item of a list may not."""
    first = text.split(maxsplit=1)[0] if text else ""
    return text[:1].upper() + text[1:] if first.islower() and first.isalpha() else text


def _find(statement: Statement, excerpt: Excerpt | None) -> _Found | None:
    if excerpt is None:
        return None
    sentences = split_rows(excerpt.text, excerpt.places, start=excerpt.start_char)
    for index, span in enumerate(sentences):
        if finished(plain(excerpt.text[span.start : span.end])) == statement.text:
            return _Found(excerpt, sentences, index)
    return None


def _told_once(statements: Sequence[Statement]) -> list[Statement]:
    kept: list[Statement] = []
    for statement in statements:
        if statement not in kept and not any(_says_the_same(statement, other) for other in kept):
            kept.append(statement)
    return kept


def _says_the_same(one: Statement, other: Statement) -> bool:
    """The same numbers and dates, and a name in common, in two languages."""
    if one.language == other.language or one.is_row or other.is_row:
        return False
    figures = _figures(one)
    return len(figures) >= MIN_NUMBERS and figures == _figures(other) and bool(_names(one) & _names(other))


def _figures(statement: Statement) -> set[object]:
    dates = {told.period for told in find_told_dates(statement.text, statement.language, year=2000)}
    return {*(quantity.value for quantity in find_quantities(statement.text, statement.language)), *dates}


def _names(statement: Statement) -> set[str]:
    return {fold(word) for word in words(statement.text)[1:] if word[:1].isupper()}
