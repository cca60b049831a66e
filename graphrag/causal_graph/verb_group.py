"""The words between a subject and its verb, and what they say: that it was so, was not, or may be."""

import re
from dataclasses import dataclass

from graphrag.causal_graph.clauses import tokens
from graphrag.causal_graph.grammar import Grammar, pattern
from graphrag.graph_models import Polarity

_WINDOW = 90  # characters: no group is longer


@dataclass(frozen=True, slots=True)
class VerbGroup:
    start: int  # of the first auxiliary, or of the verb itself
    words: tuple[str, ...]  # those before the verb


def verb_group(g: Grammar, s: str, lo: int, verb_start: int) -> VerbGroup:
    """Read from the verb to the left."""
    found = tokens(g, s, max(lo, verb_start - _WINDOW), verb_start)
    first, limit = len(found), verb_start
    while first and _belongs(g, found[first - 1].group()) and not s[found[first - 1].end() : limit].strip():
        first -= 1
        limit = found[first].start()
    while first < len(found) and found[first].group() in g.weak_auxiliaries:
        first += 1
    words = tuple(token.group() for token in found[first:])
    return VerbGroup(found[first].start() if first < len(found) else verb_start, words)


def _belongs(g: Grammar, word: str) -> bool:
    return (
        word in g.auxiliaries
        or word in g.weak_auxiliaries
        or word in g.negations
        or word in g.hypothetical_words
        or re.fullmatch(g.adverb, word) is not None
    )


def verb_polarity(g: Grammar, s: str, *, lo: int, group: VerbGroup, verb: str) -> Polarity:
    if any(word in g.negations or word in g.without for word in (*group.words, *verb.split())):
        return Polarity.NEGATED
    if any(word in g.hypothetical_words for word in group.words):
        return Polarity.HYPOTHETICAL
    forms = (*(word for word in group.words if word in g.auxiliaries), verb.split()[0])
    if any(re.fullmatch(g.hypothetical_verb, form) for form in forms):
        return Polarity.HYPOTHETICAL
    if pattern(g.hypothetical_frame).search(s, lo, group.start):
        return Polarity.HYPOTHETICAL
    return Polarity.FACT


def is_supposed(g: Grammar, s: str, lo: int, hi: int) -> bool:
    """Whether the sentence asks or supposes."""
    return (
        s[lo:hi].rstrip("\"'»”) \n*").endswith("?")
        or pattern(rf"[\W_]*(?:{g.condition})(?!\w)").match(s, lo, hi) is not None
    )


def beside_connective(g: Grammar, s: str, lo: int, start: int) -> Polarity:
    """What the words right before a connective say: «no porque», "perhaps because"."""
    words = []
    limit = start
    for token in reversed(tokens(g, s, max(lo, start - _WINDOW), start)):
        word = token.group()
        known = word in g.focus | g.copulas | g.negations | g.hypothetical_words
        if not known or s[token.end() : limit].strip(" ,"):
            break
        words.append(word)
        limit = token.start()
    if any(word in g.negations for word in words) and not any(word in g.exclusive for word in words):
        return Polarity.NEGATED
    if any(word in g.hypothetical_words for word in words):
        return Polarity.HYPOTHETICAL
    return Polarity.FACT
