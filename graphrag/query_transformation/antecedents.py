"""What the pronouns of a question's later part may speak of: the names and noun phrases of the parts before."""

from collections.abc import Sequence
from dataclasses import dataclass

from graphrag.query_transformation.flattening import flatten
from graphrag.query_transformation.grammar import Grammar
from graphrag.query_transformation.phrases import Phrase, Word, find_phrases, inner_phrase, is_weak, read_words, span_of

_ASKING_FOR_A_THING = frozenset("what which que quel quelle quels quelles cual".split())
MOST_WORDS_OF_A_QUESTION_PHRASE = 3  # «quel engrais», "what paper sizes"


@dataclass(frozen=True, slots=True)
class Antecedents:
    names: tuple[Phrase, ...] = ()  # without an article: people, mostly
    things: tuple[Phrase, ...] = ()
    asked: str = ""  # what the question word belongs to: «engrais» of «quel engrais»

    def person(self, gender: str = "") -> str:
        return _first(self.names, "") or _first(self.things, gender) or self.asked

    def thing(self, gender: str = "") -> str:
        """What it is that was asked about counts less than what was said of it, more than who was named."""
        return _first(self.things, gender) or self.asked or _first(self.names, "")

    def other_than(self, taken: str) -> str:
        """A name that is spoken of beside the thing."""
        return next((phrase.text for phrase in self.names if phrase.text != taken), "")


def _first(phrases: Sequence[Phrase], gender: str) -> str:
    agreeing = [phrase.text for phrase in phrases if not gender or phrase.gender in ("", gender)]
    return agreeing[0] if agreeing else phrases[0].text if phrases else ""


def find_antecedents(text: str, grammar: Grammar) -> Antecedents:
    """Of a part that is understood alone."""
    flat = flatten(text)
    words = read_words(text, flat)
    begin = words_of_opening(text, flat, words, grammar)
    asked = _asked(words, begin, text, grammar)
    phrases = find_phrases(words, text, grammar, begin=begin)
    names = tuple(phrase for phrase in phrases if phrase.is_bare)
    things: list[Phrase] = []
    for phrase in phrases:
        if phrase.is_bare:
            continue
        inner = inner_phrase(phrase, text, grammar)
        if inner is None or (inner.is_bare and grammar.language != "en"):
            things.append(phrase if inner is None or not is_weak(phrase, grammar) else inner)
        else:
            things += [inner, phrase] if is_weak(phrase, grammar) else [phrase, inner]
    return Antecedents(names, tuple(things), asked)


def words_of_opening(text: str, flat: str, words: Sequence[Word], grammar: Grammar) -> int:
    """How many words its question phrase has: 0 where it has none."""
    match = grammar.asking.opening.match(flat)
    return sum(word.start < match.end() for word in words) if match else 0


def _asked(words: Sequence[Word], begin: int, text: str, grammar: Grammar) -> str:
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
