"""A compared thing in a question: how far it goes, and which other phrase is its counterpart."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphrag.query_transformation.grammar import Comparing, Grammar
from graphrag.query_transformation.phrases import Phrase, Word, find_phrases, make_phrase

Span = tuple[int, int]  # numbers of words
GENITIVE = frozenset("of de del d du des".split())
_THAT_OF = frozenset("el la los las that those celui celle ceux celles".split())  # «el de Estella», «celle d'Ussel»
MOST_THINGS = 4
MOST_WORDS = 8  # of a thing


@dataclass(frozen=True, slots=True)
class Comparison:
    words: list[Word]
    text: str
    grammar: Grammar

    @property
    def comparing(self) -> Comparing:
        return self.grammar.comparing

    def is_content(self, word: Word) -> bool:
        clauses = self.grammar.clauses
        empty = clauses.breaks | clauses.determiners | clauses.prepositions | self.comparing.words
        return word.flat not in empty or (word.is_name and word.flat not in self.comparing.words)


def content_of(span: Span, compared: Comparison) -> list[str]:
    return [word.flat for word in compared.words[slice(*span)] if compared.is_content(word)]


def are_things(things: Sequence[Span], compared: Comparison) -> bool:
    if not 2 <= len(things) <= MOST_THINGS or any(end - first > MOST_WORDS for first, end in things):
        return False
    if any(first < other_end and other < end for (first, end), (other, other_end) in pairwise(sorted(things))):
        return False
    said = [content_of(span, compared) for span in things]
    if not all(said) or len({" ".join(words) for words in said}) < len(said):
        return False
    return not any(set(words) <= compared.comparing.rest or words[0] in compared.comparing.rest for words in said)


def is_name(word: Word) -> bool:
    return word.is_name or word.flat == "s"  # of "Fenwick's"


def thing_after(first: int, compared: Comparison, *, limit: int | None = None) -> Span | None:
    """A noun phrase, with a preposition before it, if any; up to a verb or a preposition that opens something else."""
    words, clauses = compared.words, compared.grammar.clauses
    last = len(words) if limit is None else limit
    end, has_content = first, False
    while end < last:
        word = words[end]
        if end > first and word.is_apart:
            break
        is_empty = not word.is_name and (word.flat in clauses.prepositions or word.flat in clauses.breaks)
        if has_content and is_empty and word.flat not in GENITIVE and word.flat not in clauses.determiners:
            break
        if has_content and word.flat in compared.comparing.words:
            break
        if has_content and _is_second_phrase(end, compared):
            break
        has_content = has_content or compared.is_content(word)
        end += 1
    while end > first and not compared.is_content(words[end - 1]):
        end -= 1
    return (first, end) if end > first else None


def _is_second_phrase(number: int, compared: Comparison) -> bool:
    """A determiner after a noun, with no «of» between them, begins another phrase."""
    word, before = compared.words[number], compared.words[number - 1]
    clauses = compared.grammar.clauses
    is_plain = word.flat in clauses.determiners and word.flat not in GENITIVE and not word.is_name
    return is_plain and before.flat not in GENITIVE


def find_counterpart(right: Span, compared: Comparison, *, before: int, is_adjacent: bool = False) -> Span | None:
    """The phrase before the joint that is most like the one after it."""
    words = compared.words[:before]
    begins = _starts(right, compared)
    if is_adjacent and (found := _adjacent(right, begins, before, compared)):
        return found
    phrases = find_phrases(words, compared.text, compared.grammar)
    if words and words[0].is_name and compared.is_content(words[0]) and not any(phrase.is_bare for phrase in phrases):
        phrases.append(make_phrase(words, 0, 1, compared.text))  # «Ana vend-elle plus que Luc ?»
    if not phrases:
        return _adjacent(right, begins, before, compared)
    best = max(phrases, key=lambda phrase: (likeness(phrase, right, compared), -phrase.first))
    last = best.last
    while last > best.first + 1 and compared.comparing.grades.fullmatch(words[last - 1].flat):
        last -= 1
    return best.first, last


def _starts(span: Span, compared: Comparison) -> str:
    """How a phrase begins: p preposition, d determiner, n name, w any other word."""
    clauses, form = compared.grammar.clauses, ""
    for word in compared.words[slice(*span)]:
        if word.is_name:
            return form + "n"
        if word.flat in clauses.determiners:
            form += "d"
        elif word.flat in clauses.prepositions:
            form += "p"
        else:
            return form + "w"
    return form


def likeness(phrase: Phrase, right: Span, compared: Comparison) -> int:
    own, other = content_of((phrase.first, phrase.last), compared), content_of(right, compared)
    shares = bool(set(own) & set(other))
    is_elliptic = _after_that_of(right, compared) is not None and any(word.flat in GENITIVE for word in phrase.words)
    named = phrase.has_name or phrase.is_bare
    right_named = any(word.is_name for word in compared.words[slice(*right)])
    return (
        4 * shares
        + 3 * is_elliptic
        + 2 * (named and right_named)
        + (_starts((phrase.first, phrase.last), compared) == _starts(right, compared))
    )


def _adjacent(right: Span, begins: str, before: int, compared: Comparison) -> Span | None:
    """The thing that ends right before the joint, as far back as the other's form tells."""
    words, clauses = compared.words, compared.grammar.clauses
    first = before
    while first > 0:
        word = words[first - 1]
        is_name = word.is_name and first > 1
        if not is_name and word.flat in clauses.breaks | compared.comparing.words:
            break
        if first < before and words[first].is_apart:
            break
        first -= 1
    run = range(first, before)
    if not run:
        return None
    if _after_that_of(right, compared) is not None:
        binding = [n for n in run if words[n].flat in GENITIVE]
        starts = [n for n in run if words[n].flat in clauses.determiners and binding and n < binding[-1]]
        return (starts[-1], before) if starts else None
    if begins.startswith("n"):
        return _names_before(right, first, before, compared)
    content = content_of(right, compared)
    starts = [
        n for n in run if _starts((n, before), compared)[: max(1, len(begins) - 1)] == begins[: max(1, len(begins) - 1)]
    ]
    same_head = [n for n in starts if set(content_of((n, before), compared)) & set(content)]
    wanted = same_head or starts
    if begins.startswith("w"):
        size = right[1] - right[0]
        return (max(first, before - size), before)
    if not wanted:
        return None
    of_right = sum(words[n].flat in GENITIVE for n in range(*right))
    fitting = [n for n in wanted if sum(words[m].flat in GENITIVE for m in range(n + 1, before)) <= of_right]
    return ((fitting[0] if same_head and of_right else (fitting or wanted)[-1]) if fitting else wanted[-1], before)


def _names_before(right: Span, first: int, before: int, compared: Comparison) -> Span | None:
    """Names against names; «Marlin van vs Osprey van» takes the noun after them too."""
    words = compared.words
    nouns = [word.flat for word in words[slice(*right)] if not word.is_name]
    start = before
    while nouns and start > first and not words[start - 1].is_name and words[start - 1].flat in nouns:
        start -= 1
    names_end = start
    while start > first and (words[start - 1].is_name or words[start - 1].flat == "s"):
        start -= 1
    if start < names_end:
        return start, before
    tail = [n for n in range(first, before) if words[n].is_name]
    if tail:
        return tail[0], before
    return (before - 1, before) if before - 1 >= first else None


def _after_that_of(span: Span, compared: Comparison) -> int | None:
    """«el de Estella» → the number of «Estella»."""
    words = compared.words
    first, end = span
    if end - first < 2 or words[first].flat not in _THAT_OF | {"a", "con", "with", "to", "del", "al"}:
        return None
    at = first + 1 if words[first].flat in _THAT_OF else first + 2
    opens = words[at].flat in GENITIVE if at < end else False
    return at + 1 if opens and words[at - 1].flat in _THAT_OF and at + 1 < end else None


def without_common_noun(left: Span, right: Span, compared: Comparison) -> list[Span]:
    """«el clima de Ibraz y el de Monteluz»: the noun is that of both."""
    after = _after_that_of(right, compared)
    if after is None:
        return [left, right]
    of = [n for n in range(*left) if compared.words[n].flat in GENITIVE]
    return [(of[-1] + 1, left[1]), (after, right[1])] if of else []
