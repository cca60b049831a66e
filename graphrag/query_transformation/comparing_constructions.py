"""The constructions that set things against each other: «más que», versus, between, lists, to compare, to differ."""

import re
from collections.abc import Sequence

from graphrag.query_transformation.compared_things import (
    Comparison,
    Span,
    are_things,
    find_counterpart,
    is_name,
    likeness,
    thing_after,
    without_common_noun,
)
from graphrag.query_transformation.phrases import make_phrase

OR = frozenset({"or", "o", "u", "ou"})
AND = frozenset({"and", "y", "e", "et"})
BETWEEN = frozenset({"between", "entre"})
_PUT_BESIDE = frozenset("to with against and con a al y contra frente avec et".split())  # after «compare»
_APART_FROM = frozenset("from de del du d to".split())  # after «differ», «distingue»
_COMPARE = re.compile(r"(?:compar|contrast|confront)\w*$")
_DIFFER = re.compile(r"(?:differ[\w-]*|difier\w*|diferenci\w*|distingu[\w-]*|distinct|separates?|separe)$")


def find_things(compared: Comparison) -> list[Span]:
    """None where two cannot be told apart."""
    for find in (_than, _versus, _between, _list_at_the_end, _list_at_the_beginning, _put_beside, _differing, _joined):
        if (things := find(compared)) and are_things(things, compared):
            return things
    return []


def _than(compared: Comparison) -> list[Span]:
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


def _is_graded(number: int, compared: Comparison) -> bool:
    """Whether «más», "colder" or the like stands before the word."""
    before = compared.words[max(0, number - 8) : number]
    return any(
        word.flat in compared.comparing.words or compared.comparing.grades.fullmatch(word.flat) for word in before
    )


def _versus(compared: Comparison) -> list[Span]:
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


def _between_cuts(cuts: Sequence[Span], compared: Comparison) -> list[Span]:
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


def _as_short_as(left: Span, right: Span, compared: Comparison) -> Span:
    """«Copperline vs Hexagon insurance cover»: a bare name stands against a bare name."""
    words = compared.words
    if all(is_name(word) for word in words[slice(*left)]):
        end = right[0]
        while end < right[1] and is_name(words[end]):
            end += 1
        return (right[0], end) if end > right[0] else right
    return right


def _between(compared: Comparison) -> list[Span]:
    for number, word in enumerate(compared.words):
        if word.flat in BETWEEN:
            return _listed(number + 1, len(compared.words), AND | OR, compared)
    return []


def _listed(first: int, last: int, joints: frozenset[str], compared: Comparison) -> list[Span]:
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


def _plural_noun_shared(things: Sequence[Span], compared: Comparison) -> list[Span]:
    """«los motores Kaud 3, Kaud 5 y Kaud 7»: the noun is that of all."""
    words = compared.words
    (first, end), others = things[0], things[1:]
    if all(all(word.is_name for word in words[slice(*span)]) for span in others):
        while first < end and not words[first].is_name:
            first += 1
    if len(others) == 1 and first < end:
        return without_common_noun((first, end), others[0], compared)
    return [(first, end), *others]


def _list_at_the_end(compared: Comparison) -> list[Span]:
    words = compared.words
    joint = next((n for n in range(len(words) - 1, 0, -1) if words[n].flat in OR and not words[n].is_name), None)
    if joint is None:
        return []
    first = joint
    while first > 0 and not (words[first].is_apart and _opens_list(first, joint, compared)):
        first -= 1
    return _listed(first, len(words), OR, compared) if first > 0 else []


def _opens_list(first: int, joint: int, compared: Comparison) -> bool:
    """Whether a stop stands before the whole list, not before its second thing."""
    words = compared.words
    gap = compared.text[words[first - 1].end : words[first].start]
    if ":" in gap or "?" in gap or "¿" in gap:
        return True
    earlier = [n for n in range(1, first) if words[n].is_apart]
    return not earlier or not _looks_like_thing((earlier[-1], first), compared)


def _looks_like_thing(span: Span, compared: Comparison) -> bool:
    return all(
        compared.is_content(word) or word.flat in compared.grammar.clauses.determiners
        for word in compared.words[slice(*span)]
    )


def _list_at_the_beginning(compared: Comparison) -> list[Span]:
    words = compared.words
    stop = next(
        (n for n in range(1, len(words)) if words[n].is_apart and compared.grammar.asking.opening.match(words[n].flat)),
        0,
    )
    return _listed(0, stop, OR | AND, compared) if stop else []


def _put_beside(compared: Comparison) -> list[Span]:
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


def _beside(joint: int, compared: Comparison) -> list[Span]:
    return _between_cuts([(joint, joint + 1)], compared)


def _differing(compared: Comparison) -> list[Span]:
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


def _joined(compared: Comparison) -> list[Span]:
    for number, word in enumerate(compared.words):
        found = _beside(number, compared) if number and word.flat in OR | AND and not word.is_name else []
        if are_things(found, compared) and (word.flat in OR or _are_named(found, compared)):
            return found
    return []


def _are_named(things: Sequence[Span], compared: Comparison) -> bool:
    return all(any(word.is_name for word in compared.words[slice(*span)]) for span in things)
