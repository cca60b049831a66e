"""Decompose a question into parts that can be searched for one by one."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.normalization import flatten
from graphrag.query_transformation.phrases import (
    Phrase,
    QuestionGrammar,
    QuestionToken,
    beginning,
    find_phrases,
    inner_phrase,
    is_weak,
    read_question_grammar,
    read_words,
    span_of,
)

_EDGES = " \t\n¿?¡!,;:.…-–—"
_LEADING = re.compile(r"(?:(?:and|also|but|y|e|et|ademas|tambien|aussi|puis|pero|mais|then|plus)\b[ ,]*)+")
_RELATIVE = re.compile(r"(?:who|whom|which|where|when|qui|que|ou|OU|cuando|donde|quien|como|quand)\b")
_ALWAYS_ASKS = re.compile(
    r"(?:(?:at|in|by|for|from|to) )?(?:what|why|how)\b|(?:[a-z']+ ?)?(?:quel|combien|comment|pourquoi|quand|OU)"
    r"|(?:[a-z]+ )?[A-Z]"
)
_REQUEST = re.compile(r"(?:can|could|would|will) you\b|(?:puedes|podrias|puede) |(?:peux|pouvez|pourrais|pourriez)-")
_WORD = re.compile(r"\w")


def find_parts(question: str, flat: str, grammar: QuestionGrammar) -> list[tuple[int, int]]:
    """Return the spans of the question's parts, the first from its question word; one if it has no parts.

    `flat` is the flattened question without quotes.
    """
    is_careless = flat.islower() and question.isascii()  # without accents «que» may be «qué»
    start = beginning(flat, grammar.asking)
    cuts = [cut for cut in _cuts(flat, start, grammar, is_careless) if _WORD.search(flat, start, cut[0])]
    edges = [start, *(end for _, end in cuts)]
    ends = [*(begin for begin, _ in cuts), len(flat)]
    spans = [_trimmed(flat, *span) for span in zip(edges, ends, strict=True)]
    return [span for span in spans if span[0] < span[1]]


def _cuts(flat: str, start: int, grammar: QuestionGrammar, is_careless: bool) -> Iterator[tuple[int, int]]:
    last_mark = flat.rfind("?")
    for match in _joints(grammar.language).finditer(flat, start):
        joint = match[0].strip()
        if match.start() < start or not _WORD.search(flat, match.end()):
            continue
        if joint.startswith("?"):
            if match.end() <= last_mark or grammar.asking.opening.match(flat, match.end()):
                yield match.span()
        elif joint == ";":
            if _asks(flat[match.end() :].lstrip(), grammar):
                yield match.span()
        elif _parts_here(flat, start, match, grammar, is_careless):
            yield match.span()


def _asks(rest: str, grammar: QuestionGrammar) -> bool:
    rest = _LEADING.sub("", rest, count=1)
    if grammar.asking.opening.match(rest):
        return True
    return (
        grammar.language == "en"
        and re.match(r"(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would|should)\b", rest) is not None
    )


def _parts_here(flat: str, start: int, match: re.Match[str], grammar: QuestionGrammar, is_careless: bool) -> bool:
    """Return whether a conjunction or a comma stands before a question rather than before a clause."""
    rest = flat[match.end() :]
    asks = grammar.asking.opening.match(rest)
    if _REQUEST.match(rest):
        return False
    if asks is None:
        return True  # the joint says it itself: «and tell me», «et a-t-il»
    if grammar.language == "es":
        return _parts_in_spanish(flat, match, asks[0], is_careless)
    if re.match(r"(?:que\b|qu'|ce qu)(?!(?: ?(?:s'|l')?\w+-(?:t-)?(?:il|elle|on|ils|elles|vous|nous)\b))", rest):
        return False
    if _ALWAYS_ASKS.match(asks[0]):
        return _has_word(match[0]) or _has_predicate(rest)
    word = asks[0].split()[-1]
    if _has_word(match[0]):  # "the man who called and who left"
        return not _is_used_as_relative(flat[start : match.start()], word)
    return re.search(rf"\b(?:and|et)\b[^?]*?(?:{grammar.asking.opening.pattern})", rest) is not None


def _parts_in_spanish(flat: str, match: re.Match[str], opening: str, is_careless: bool) -> bool:
    if any(character.isupper() for character in opening):
        return True
    if not is_careless or not _has_word(match[0]):
        return False
    return opening.strip() != "que" or " que " not in flat[: match.start()].partition(" ")[2]


def _has_word(joint: str) -> bool:
    return _WORD.search(joint) is not None


def _has_predicate(rest: str) -> bool:
    return len(rest.split()) > 1


def _is_used_as_relative(before: str, word: str) -> bool:
    return re.search(rf"\w (?:\w+ )?{word}\b", before[1:]) is not None and _RELATIVE.match(word) is not None


def _trimmed(flat: str, start: int, end: int) -> tuple[int, int]:
    while start < end and flat[start] in _EDGES:
        start += 1
    while end > start and flat[end - 1] in _EDGES:
        end -= 1
    if (leading := _LEADING.match(flat, start, end)) and leading.end() < end:
        start = leading.end()
    return start, end


@lru_cache(maxsize=len(ANSWER_LANGUAGES))
def _joints(language: str) -> re.Pattern[str]:
    grammar = read_question_grammar(language)
    return re.compile(grammar.clauses.joint.pattern.replace("OPENING", grammar.asking.opening.pattern))


_ASKING_FOR_A_THING = frozenset("what which que quel quelle quels quelles cual".split())
MOST_WORDS_OF_A_QUESTION_PHRASE = 3  # «quel engrais», "what paper sizes"


@dataclass(frozen=True, slots=True)
class Antecedents:
    names: tuple[Phrase, ...] = ()  # without an article: people, mostly
    things: tuple[Phrase, ...] = ()
    asked: str = ""  # what the question word belongs to: «engrais» of «quel engrais»
    answered: str = ""  # the name that an answer gave to who asked for it

    def person(self, gender: str = "") -> str:
        return self.answered or _first(self.names, "") or _first(self.things, gender) or self.asked

    def thing(self, gender: str = "") -> str:
        """Return the thing asked about: it counts less than what was said of it, more than who was named."""
        return _first(self.things, gender) or self.asked or _first(self.names, "") or self.answered

    def other_than(self, taken: str) -> str:
        """A name that is spoken of beside the thing."""
        named = [self.answered, *(phrase.text for phrase in self.names)]
        return next((name for name in named if name not in ("", taken)), "")


def _first(phrases: Sequence[Phrase], gender: str) -> str:
    agreeing = [phrase.text for phrase in phrases if not gender or phrase.gender in ("", gender)]
    return agreeing[0] if agreeing else phrases[0].text if phrases else ""


def find_antecedents(text: str, grammar: QuestionGrammar) -> Antecedents:
    """Find the antecedents in a part that is understood alone."""
    flat = flatten(text)
    words = read_words(text, flat)
    begin = words_of_opening(text, flat, words, grammar)
    asked = _asked(words, begin, text, grammar)
    phrases = find_phrases(words, text, grammar.clauses, begin=begin)
    names = tuple(phrase for phrase in phrases if phrase.is_bare)
    things: list[Phrase] = []
    for phrase in phrases:
        if phrase.is_bare:
            continue
        inner = inner_phrase(phrase, text, grammar.clauses)
        if inner is None or (inner.is_bare and grammar.language != "en"):
            things.append(phrase if inner is None or not is_weak(phrase, grammar.clauses) else inner)
        else:
            things += [inner, phrase] if is_weak(phrase, grammar.clauses) else [phrase, inner]
    return Antecedents(names, tuple(things), asked)


def words_of_opening(text: str, flat: str, words: Sequence[QuestionToken], grammar: QuestionGrammar) -> int:
    """Return the number of words in its question phrase: 0 where it has none."""
    match = grammar.asking.opening.match(flat)
    return sum(word.start < match.end() for word in words) if match else 0


def _asked(words: Sequence[QuestionToken], begin: int, text: str, grammar: QuestionGrammar) -> str:
    """The noun of «quel engrais», "which hotel", "what paper sizes": one word, but for what an auxiliary follows."""
    clauses = grammar.clauses
    end = begin
    while end < len(words) and end - begin < MOST_WORDS_OF_A_QUESTION_PHRASE:
        word = words[end]
        if (
            word.flat in clauses.breaks
            or word.flat in clauses.determiners
            or word.flat in clauses.prepositions
            or word.is_name
        ):
            break
        end += 1
    asks_for_one = begin > 0 and words[begin - 1].flat in _ASKING_FOR_A_THING
    if not asks_for_one:
        return ""
    if end == len(words) or words[end].flat not in clauses.breaks:
        end = min(end, begin + 1)
    if end > begin and words[end - 1].flat in clauses.weak_heads:
        return ""
    noun = span_of(words[begin:end], text)
    return f"the {noun}" if noun and grammar.language == "en" else noun
