"""A text as it is compared: its words with their sentences and clauses, and the facts among them."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphrag.linguistics.dates import Moment, read_dates
from graphrag.linguistics.language import fold, stem, stop_words
from graphrag.linguistics.lexicon import opposite_of
from graphrag.linguistics.names import name_places
from graphrag.linguistics.negation import is_negative, read_polarity
from graphrag.linguistics.numbers import Quantity, number_rules, read_quantities
from graphrag.linguistics.rules import Rules, WordSet, read_rules
from graphrag.linguistics.sentences import split_sentences

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_CLAUSE_END = re.compile(r"[,;()«»“”—–|]")


class ReadingRules(Rules):
    conjunctions: dict[str, WordSet]
    pronouns: dict[str, WordSet]


@lru_cache(maxsize=1)
def _rules() -> ReadingRules:
    return read_rules(ReadingRules, "agent.verification", "reading")


_HEADER = re.compile(r"(?:^|[;\n])\s*[^;:\n]{1,40}?\s?:(?=\s)")  # «Fecha: » of a row
_OTHER_WORDS = frozenset({("fr", "sur"), ("fr", "est"), ("es", "este")})  # «on», "is", "this": no directions there
_SAME = frozenset("meme mismo misma same".split())  # «le même jour» is no rate
_MEANS = frozenset({"average", "media", "moyenne", "promedio", "zero", "cero", "normal"})
_DEGREES = {"mas": 1, "plus": 1, "more": 1, "menos": -1, "moins": -1, "less": -1}
_BOUNDS = frozenset("over under above below sobre sous".split())  # of a number; else they say where
MAX_LABELS = 3  # from so many on, a line is a row of a table


@dataclass(frozen=True, slots=True)
class ComparedWord:
    form: str  # its stem
    folded: str
    written: str
    start: int
    end: int
    sentence: int
    clause: int
    says: bool  # no function word
    denies: bool = False
    denied_by: int | None = None  # the place of the word that denies it


@dataclass(frozen=True, slots=True)
class Sign:
    """A word of a pair of opposites, with its side; a negation turns it."""

    concept: str
    side: int
    place: int  # of its word
    negated: bool


@dataclass(frozen=True, slots=True)
class ComparedText:
    text: str
    language: str
    words: tuple[ComparedWord, ...]
    quantities: tuple[Quantity, ...]
    moments: tuple[Moment, ...]
    names: tuple[int, ...]  # places of the words that name
    signs: tuple[Sign, ...]
    rates: tuple[int, ...]  # places of units of time that count nothing themselves: «par mois»
    openers: tuple[int, ...]  # capitalised words that begin a sentence, which may be names
    is_table: bool  # rows of «Header: value»
    resuming: frozenset[int]  # sentences that speak of something from before, by a pronoun

    @property
    def denies(self) -> bool:
        return any(word.denies or is_negative(word.folded) for word in self.words)

    @property
    def denying_sentences(self) -> frozenset[int]:
        return frozenset(word.sentence for word in self.words if word.denies or is_negative(word.folded))

    def place(self, start: int) -> int:
        """Return the index of the word that begins there, or the last before it."""
        return max(0, bisect_right([word.start for word in self.words], start) - 1)


@lru_cache(maxsize=512)
def read(text: str, language: str) -> ComparedText:
    moments = tuple(moment for each in read_dates(text, language) for moment in each.moments)
    taken = [(moment.start, moment.end) for moment in moments]
    words = tuple(_words(text, language))
    counting = (quantity for found in read_quantities(text, language) for quantity in found.ends or (found,))
    quantities: list[Quantity] = []
    for quantity in (*counting, *map(_naming_number, filter(lambda word: word.folded[0].isdecimal(), words))):
        covered = (*taken, *((other.start, other.end) for other in quantities))
        if not quantity.is_ordinal and not any(start < quantity.end and quantity.start < end for start, end in covered):
            quantities.append(quantity)
    quantities.sort(key=lambda quantity: quantity.start)
    headers = [match.span() for match in _HEADER.finditer(text)]
    is_table = len(headers) >= MAX_LABELS
    names = tuple(
        place
        for place in name_places(text, language, words)
        if not (is_table and any(start <= words[place].start < end for start, end in headers))
    )
    signs = tuple(_signs(words, language))
    counted = [(quantity.start, quantity.end) for quantity in quantities]
    rates = tuple(
        place
        for place, word in enumerate(words)
        if word.folded in number_rules().days
        and len(word.folded) > 1
        and not (place and words[place - 1].folded in _SAME)
        and not any(start <= word.start < end for start, end in counted + taken)
    )
    openers = tuple(
        place
        for place, word in enumerate(words)
        if (place == 0 or words[place - 1].sentence != word.sentence) and word.written[0].isupper() and word.says
    )
    resuming = frozenset(word.sentence for word in words if word.folded in _rules().pronouns.get(language, ()))
    return ComparedText(
        text, language, words, tuple(quantities), moments, names, signs, rates, openers, is_table, resuming
    )


def _naming_number(word: ComparedWord) -> Quantity:
    """Return the number of a page or a code, which has to be the same and counts nothing."""
    value = float("".join(filter(str.isdecimal, word.folded)))
    return Quantity(value, value, start=word.start, end=word.end)


def _words(text: str, language: str) -> Iterator[ComparedWord]:
    ends = [span.end for span in split_sentences(text)]
    matches = list(_WORD.finditer(text))
    folded = [fold(match.group()) for match in matches]
    polarities = read_polarity(text, language)
    clause, before, previous = 0, 0, 0
    empty = stop_words(language)
    conjunctions = _rules().conjunctions.get(language, frozenset())
    for place, match in enumerate(matches):
        sentence = bisect_right(ends, match.start())
        if _CLAUSE_END.search(text, before, match.start()) or folded[place] in conjunctions or sentence != previous:
            clause += 1
        previous = sentence
        before = match.end()
        word, polarity = folded[place], polarities[place]
        is_supposed = polarity.modality == "condition"  # «si no paga»: it denies nothing that is said elsewhere
        says = word not in empty and not (len(word) == 1 and word.isalpha() and match.group().islower())
        yield ComparedWord(
            stem(match.group(), language), word, match.group(), match.start(), match.end(), sentence, clause, says,
            polarity.is_cue and not is_supposed, None if is_supposed else polarity.denied_by,
        )  # fmt: skip


def _signs(words: Sequence[ComparedWord], language: str) -> Iterator[Sign]:
    for place, word in enumerate(words):
        found = opposite_of(word.folded)
        is_short = word.folded == "won" and words[place + 1 : place + 2] and words[place + 1].folded == "t"
        if found is None or is_short or (language, word.folded) in _OTHER_WORDS:
            continue
        is_bound = word.folded in _BOUNDS and not any(
            next_.folded[0].isdigit() or next_.folded in _MEANS for next_ in words[place + 1 : place + 4]
        )
        after = words[place + 1].folded if place + 1 < len(words) else ""
        if not is_bound and not (word.folded in _DEGREES and opposite_of(after)):  # «menos caro» is one
            concept, side = found
            side *= _DEGREES.get(words[place - 1].folded, 1) if place else 1
            is_negated = word.denied_by is not None
            yield Sign(concept, -side if is_negated else side, place, is_negated)
