"""Things that a question compares."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from graphrag.linguistics.normalization import without_quotes
from graphrag.query_transformation.phrases import (
    Comparing,
    Phrase,
    QuestionGrammar,
    QuestionToken,
    beginning,
    find_phrases,
    make_phrase,
    read_words,
)

Span = tuple[int, int]  # numbers of words
GENITIVE = frozenset("of de del d du des".split())
_THAT_OF = frozenset("el la los las that those celui celle ceux celles".split())  # «el de Estella», «celle d'Ussel»
MOST_THINGS = 4
MOST_WORDS = 8  # of a thing


@dataclass(frozen=True, slots=True)
class ComparisonReader:
    words: list[QuestionToken]
    text: str
    grammar: QuestionGrammar

    @property
    def comparing(self) -> Comparing:
        return self.grammar.comparing

    def is_content(self, word: QuestionToken) -> bool:
        clauses = self.grammar.clauses
        empty = clauses.breaks | clauses.determiners | clauses.prepositions | self.comparing.words
        return word.flat not in empty or (word.is_name and word.flat not in self.comparing.words)


def content_of(span: Span, compared: ComparisonReader) -> list[str]:
    return [word.flat for word in compared.words[slice(*span)] if compared.is_content(word)]


def are_things(things: Sequence[Span], compared: ComparisonReader) -> bool:
    if not 2 <= len(things) <= MOST_THINGS or any(end - first > MOST_WORDS for first, end in things):
        return False
    if any(first < other_end and other < end for (first, end), (other, other_end) in pairwise(sorted(things))):
        return False
    said = [content_of(span, compared) for span in things]
    if not all(said) or len({" ".join(words) for words in said}) < len(said):
        return False
    return not any(set(words) <= compared.comparing.rest or words[0] in compared.comparing.rest for words in said)


def is_name(word: QuestionToken) -> bool:
    return word.is_name or word.flat == "s"  # of "Fenwick's"


def thing_after(first: int, compared: ComparisonReader, *, limit: int | None = None) -> Span | None:
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


def _is_second_phrase(number: int, compared: ComparisonReader) -> bool:
    """A determiner after a noun, with no «of» between them, begins another phrase."""
    word, before = compared.words[number], compared.words[number - 1]
    clauses = compared.grammar.clauses
    is_plain = word.flat in clauses.determiners and word.flat not in GENITIVE and not word.is_name
    return is_plain and before.flat not in GENITIVE


def find_counterpart(right: Span, compared: ComparisonReader, *, before: int, is_adjacent: bool = False) -> Span | None:
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


def _starts(span: Span, compared: ComparisonReader) -> str:
    """Return the pattern of a phrase's beginning: p preposition, d determiner, n name, w any other word."""
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


def likeness(phrase: Phrase, right: Span, compared: ComparisonReader) -> int:
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


def _adjacent(right: Span, begins: str, before: int, compared: ComparisonReader) -> Span | None:
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


def _names_before(right: Span, first: int, before: int, compared: ComparisonReader) -> Span | None:
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


def _after_that_of(span: Span, compared: ComparisonReader) -> int | None:
    """«el de Estella» → the number of «Estella»."""
    words = compared.words
    first, end = span
    if end - first < 2 or words[first].flat not in _THAT_OF | {"a", "con", "with", "to", "del", "al"}:
        return None
    at = first + 1 if words[first].flat in _THAT_OF else first + 2
    opens = words[at].flat in GENITIVE if at < end else False
    return at + 1 if opens and words[at - 1].flat in _THAT_OF and at + 1 < end else None


def without_common_noun(left: Span, right: Span, compared: ComparisonReader) -> list[Span]:
    """«el clima de Ibraz y el de Monteluz»: the noun is that of both."""
    after = _after_that_of(right, compared)
    if after is None:
        return [left, right]
    of = [n for n in range(*left) if compared.words[n].flat in GENITIVE]
    return [(of[-1] + 1, left[1]), (after, right[1])] if of else []


OR = frozenset({"or", "o", "u", "ou"})
AND = frozenset({"and", "y", "e", "et"})
BETWEEN = frozenset({"between", "entre"})
_PUT_BESIDE = frozenset("to with against and con a al y contra frente avec et".split())  # after «compare»
_APART_FROM = frozenset("from de del du d to".split())  # after «differ», «distingue»
_COMPARE = re.compile(r"(?:compar|contrast|confront)\w*$")
_DIFFER = re.compile(r"(?:differ[\w-]*|difier\w*|diferenci\w*|distingu[\w-]*|distinct|separates?|separe)$")


def find_things(compared: ComparisonReader) -> list[Span]:
    """None where two cannot be distinguished."""
    for find in (_than, _versus, _between, _list_at_the_end, _list_at_the_beginning, _put_beside, _differing, _joined):
        if (things := find(compared)) and are_things(things, compared):
            return things
    return []


def _than(compared: ComparisonReader) -> list[Span]:
    comparing = compared.comparing
    for number, word in enumerate(compared.words):
        if not comparing.than.fullmatch("que" if word.flat == "qu" else word.flat) or not _is_graded(number, compared):
            continue
        if any(after.flat in comparing.rest for after in compared.words[number + 1 : number + 2]):
            return []  # «than it was»
        right = thing_after(number + 1, compared)
        goes_beside = bool(right) and compared.words[number + 1].flat in compared.grammar.clauses.prepositions
        left = find_counterpart(right, compared, before=number, is_adjacent=goes_beside) if right else None
        if left and right:
            return without_common_noun(left, right, compared)
    return []


def _is_graded(number: int, compared: ComparisonReader) -> bool:
    """Return whether «más», "colder" or the like stands before the word."""
    before = compared.words[max(0, number - 8) : number]
    return any(
        word.flat in compared.comparing.words or compared.comparing.grades.fullmatch(word.flat) for word in before
    )


def _versus(compared: ComparisonReader) -> list[Span]:
    flat = " ".join(word.flat for word in compared.words)
    joints = list(compared.comparing.joints.finditer(flat + " "))
    if not joints:
        return []
    offsets = [0]
    for word in compared.words:
        offsets.append(offsets[-1] + len(word.flat) + 1)
    cuts = [
        (offsets.index(m.start()), offsets.index(next(o for o in offsets if o >= m.end())))
        for m in joints
        if m.start() in offsets
    ]
    return _between_cuts(cuts, compared)


def _between_cuts(cuts: Sequence[Span], compared: ComparisonReader) -> list[Span]:
    """The things on both sides of joints, as long as the shorter side is."""
    if not cuts:
        return []
    things: list[Span] = []
    for number, (_, after) in enumerate(cuts):
        limit = cuts[number + 1][0] if number + 1 < len(cuts) else len(compared.words)
        right = thing_after(after, compared, limit=limit)
        if not right:
            return []
        things.append(right)
    left = find_counterpart(things[0], compared, before=cuts[0][0], is_adjacent=True)
    if not left:
        return []
    if len(cuts) == 1:
        things[0] = _as_short_as(left, things[0], compared)
        return without_common_noun(left, things[0], compared)
    return [left, *things]


def _as_short_as(left: Span, right: Span, compared: ComparisonReader) -> Span:
    """«Copperline vs Hexagon insurance cover»: a bare name stands against a bare name."""
    words = compared.words
    if all(is_name(word) for word in words[slice(*left)]):
        end = right[0]
        while end < right[1] and is_name(words[end]):
            end += 1
        return (right[0], end) if end > right[0] else right
    return right


def _between(compared: ComparisonReader) -> list[Span]:
    for number, word in enumerate(compared.words):
        if word.flat in BETWEEN:
            return _listed(number + 1, len(compared.words), AND | OR, compared)
    return []


def _listed(first: int, last: int, joints: frozenset[str], compared: ComparisonReader) -> list[Span]:
    """«A, B and C» from the word `first` on."""
    words, things, start = compared.words, [], first
    number = first
    joined = False
    while number < last:
        word = words[number]
        if number > start and word.flat in joints and not word.is_name:
            things.append((start, number))
            start, joined = number + 1, True
            end = thing_after(start, compared, limit=last)
            if end and not any(w.flat in joints for w in words[end[1] : last]):
                things.append(end)
                break
        elif number > start and word.is_apart:
            if joined:
                break
            things.append((start, number))
            start = number
        number += 1
    return _plural_noun_shared(things, compared) if joined and len(things) > 1 else []


def _plural_noun_shared(things: Sequence[Span], compared: ComparisonReader) -> list[Span]:
    """«los motores Kaud 3, Kaud 5 y Kaud 7»: the noun is that of all."""
    words = compared.words
    (first, end), others = things[0], things[1:]
    if all(all(word.is_name for word in words[slice(*span)]) for span in others):
        while first < end and not words[first].is_name:
            first += 1
    if len(others) == 1 and first < end:
        return without_common_noun((first, end), others[0], compared)
    return [(first, end), *others]


def _list_at_the_end(compared: ComparisonReader) -> list[Span]:
    words = compared.words
    joint = next((n for n in range(len(words) - 1, 0, -1) if words[n].flat in OR and not words[n].is_name), None)
    if joint is None:
        return []
    first = joint
    while first > 0 and not (words[first].is_apart and _opens_list(first, joint, compared)):
        first -= 1
    return _listed(first, len(words), OR, compared) if first > 0 else []


def _opens_list(first: int, joint: int, compared: ComparisonReader) -> bool:
    """Return whether a stop stands before the whole list, not before its second thing."""
    words = compared.words
    gap = compared.text[words[first - 1].end : words[first].start]
    if ":" in gap or "?" in gap or "¿" in gap:
        return True
    earlier = [n for n in range(1, first) if words[n].is_apart]
    return not earlier or not _looks_like_thing((earlier[-1], first), compared)


def _looks_like_thing(span: Span, compared: ComparisonReader) -> bool:
    return all(
        compared.is_content(word) or word.flat in compared.grammar.clauses.determiners
        for word in compared.words[slice(*span)]
    )


def _list_at_the_beginning(compared: ComparisonReader) -> list[Span]:
    words = compared.words
    stop = next(
        (n for n in range(1, len(words)) if words[n].is_apart and compared.grammar.asking.opening.match(words[n].flat)),
        0,
    )
    return _listed(0, stop, OR | AND, compared) if stop else []


def _put_beside(compared: ComparisonReader) -> list[Span]:
    words = compared.words
    verb = next((n for n, word in enumerate(words) if _COMPARE.match(word.flat)), None)
    if verb is None:
        return []
    for number in range(verb + 1, len(words)):
        is_joint = words[number].flat in _PUT_BESIDE and not words[number].is_name and number + 1 < len(words)
        if is_joint and (found := _beside(number, compared)):
            return found
    for number in range(1, verb):  # "how do A and B compare on …"
        if words[number].flat in AND and (found := _beside(number, compared)):
            return found
    return []


def _beside(joint: int, compared: ComparisonReader) -> list[Span]:
    return _between_cuts([(joint, joint + 1)], compared)


def _differing(compared: ComparisonReader) -> list[Span]:
    words = compared.words
    verb = next((n for n, word in enumerate(words) if _DIFFER.match(word.flat)), None)
    if verb is None:
        return []
    found: list[tuple[int, list[Span]]] = []
    for number in range(verb + 1, len(words)):
        if words[number].flat not in _APART_FROM | AND or number + 1 >= len(words):
            continue
        right = thing_after(number if words[number].flat in ("del", "du") else number + 1, compared)
        left = (
            find_counterpart(right, compared, before=number, is_adjacent=words[number].flat in AND) if right else None
        )
        if left and right and are_things([left, right], compared):
            alike = likeness(make_phrase(words, *left, compared.text), right, compared)
            found.append((alike, without_common_noun(left, right, compared)))
    return max(found, key=lambda pair: pair[0])[1] if found else []


def _joined(compared: ComparisonReader) -> list[Span]:
    for number, word in enumerate(compared.words):
        found = _beside(number, compared) if number and word.flat in OR | AND and not word.is_name else []
        if are_things(found, compared) and (word.flat in OR or _are_named(found, compared)):
            return found
    return []


def _are_named(things: Sequence[Span], compared: ComparisonReader) -> bool:
    return all(any(word.is_name for word in compared.words[slice(*span)]) for span in things)


def things_apart(text: str, flat: str, grammar: QuestionGrammar) -> tuple[str, ...]:
    """Return, for each compared thing, the question without the others; empty if it doesn't name two things."""
    words = read_words(text, flat)
    start = beginning(without_quotes(flat), grammar.asking)
    if any(word.flat in BETWEEN | OR for word in words if word.start < start):  # «entre A y B, ¿cuál …?»
        start = 0
    compared = ComparisonReader([word for word in words if word.start >= start], text, grammar)
    things = find_things(compared)
    return _spelled(things, compared) if things else ()


def _spelled(things: Sequence[Span], compared: ComparisonReader) -> tuple[str, ...]:
    """Shared words in their order, one thing in the place of the first, words of comparing left out."""
    inside = {number for span in things for number in range(*span)}
    texts = []
    for thing in things:
        numbers: list[int] = []
        for number in range(len(compared.words)):
            if number == min(inside):
                numbers += range(*thing)
            if number not in inside and compared.words[number].flat not in compared.comparing.words:
                numbers.append(number)
        texts.append(_joined_text([compared.words[number] for number in numbers], compared))
    return tuple(texts)


def _joined_text(words: Sequence[QuestionToken], compared: ComparisonReader) -> str:
    """Join the words without the conjunctions and prepositions that removed things leave behind."""
    loose = OR | AND | BETWEEN
    kept = [word for word in words if word.flat not in loose or word.is_name]
    empty = (
        compared.grammar.clauses.breaks | compared.grammar.clauses.prepositions | compared.grammar.clauses.determiners
    )
    while kept and kept[-1].flat in empty and not kept[-1].is_name:
        kept.pop()
    while kept and not compared.is_content(kept[0]) and kept[0].flat not in compared.grammar.clauses.determiners:
        kept.pop(0)
    spelled = ""
    for word in kept:
        glue = "" if spelled.endswith(("'", "’")) else " "
        after = compared.text[word.end : word.end + 1]
        spelled += f"{glue}{word.text}{after if after in ('’', chr(39)) and word.end < len(compared.text) - 1 else ''}"
    return spelled.strip()
