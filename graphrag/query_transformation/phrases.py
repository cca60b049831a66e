"""Grammar of questions, from tables of patterns: noun phrases, what is asked for, names, intent."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.names import find_names
from graphrag.linguistics.normalization import QUOTED
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordSet, read_rules
from graphrag.linguistics.sentence_stops import abbreviation
from graphrag.models import Direction, Intent

Gender = Literal["", "m", "f"]
MOST_NAMES = 20


class Asking(Rules):
    """Patterns of a question's beginning, all for flattened text."""

    opening: Pattern  # a question phrase: «para qué», "by when"
    sure: Pattern | None = None  # one that can't be anything else, wherever it stands
    leads: AnyCase  # what a question phrase may follow: a stop, or «dime», "can you find out" without a question mark
    polite: AnyCase  # what may stand before all that
    relative: Pattern  # after a comma: it may go on with what was said


class Intents(Rules):
    """`…` patterns are matched where the question begins to ask; those of `found` anywhere in it."""

    effects: AnyCase
    causes: AnyCase
    times: AnyCase  # question words that can ask for nothing else
    timely: AnyCase  # nouns of time
    compares: AnyCase
    found_comparing: AnyCase
    not_comparing: AnyCase  # blotted out first
    last_time: AnyCase


class Clauses(Rules):
    """Words that join parts, and words of a part that belong together."""

    joint: Pattern  # before a further question
    determiners: WordSet
    prepositions: WordSet
    genitive: WordSet  # of them
    binding: WordSet  # prepositions that make one phrase of two
    binding_names: WordSet  # those that do so before a name alone: «el contrato con Telmar»
    breaks: WordSet  # words that no noun phrase goes across
    weak_heads: WordSet  # «ruido», "price": of «the noise of the pump» one goes on to speak of the pump
    head_is_last: bool = False  # of the nouns before «of»
    contracted: dict[str, str]  # articles that a preposition has swallowed: «del» → «el»
    masculine: WordSet = frozenset()  # articles and pronouns
    feminine: WordSet = frozenset()
    finite: Pattern | None = None  # endings of verbs, by which a phrase stops after its noun
    inverted: Pattern | None = None  # a verb with its pronoun, at which any phrase stops: «a-t-elle»
    inverting: WordSet = frozenset()  # after them a verb follows the subject: "did the fever start"
    stative: WordSet = frozenset()  # after them a participle may: "is the flat sold"
    participle: Pattern | None = None

    @cached_property
    def kinds(self) -> dict[str, frozenset[str]]:
        """Return the words of each kind; the first that holds a word counts."""
        return {
            "g": self.genitive & self.determiners,
            "d": self.determiners,
            "o": self.genitive,
            "k": self.binding,
            "f": self.binding_names,
            "p": self.prepositions,
            "b": self.breaks,
        }

    def gender(self, word: str) -> Gender:
        """Return the gender that an article or a pronoun shows."""
        return "m" if word in self.masculine else "f" if word in self.feminine else ""


class Joint(Rules):
    """A word or phrase between two compared things."""

    between: AnyCase
    after: AnyCase | None = None  # a cue that must stand somewhere before it
    between_names: bool = False  # only


class Comparing(Rules):
    """Wording of comparisons in a question."""

    joints: list[Joint]  # the surest first
    conjunctions: WordSet
    pronouns: WordSet = frozenset()  # «celui de»: determiners without a noun
    grades: AnyCase  # «peor», "colder": adjectives that compare
    words: WordSet  # of comparing: no part of what is compared
    rest: WordSet  # «the others», «last year»: nothing to be searched for apart


class QuestionGrammar(Rules):
    language: str
    asking: Asking
    intents: Intents
    clauses: Clauses
    comparing: Comparing
    multi_hop: AnyCase


@lru_cache(maxsize=len(ANSWER_LANGUAGES))
def read_question_grammar(language: str) -> QuestionGrammar:
    """Return the grammar of Spanish, French or English."""
    return read_rules(QuestionGrammar, "graphrag.query_transformation", language)


def load_question_grammars() -> None:
    """Read the grammars from disk, about 0.2 s, which the first question would wait for otherwise."""
    for language in ANSWER_LANGUAGES:
        read_question_grammar(language)


_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*(?:[-‑&/][^\W_]+)*")
_SEPARATES = re.compile(r"[,;:?¿!()—–…]|\.(?:\s|$)")
# Kinds of words: n name, d determiner, o «de», g «del», k another preposition that makes one phrase of two, f one that
# does before a name, p any other preposition, b what no phrase goes across, i verb with its pronoun, v verb by its
# ending, w any other word.
_NOUNS = "(?:n+(?:wn*){0,3}|[wv]n*(?:wn*){0,2})"
_PHRASE, _SUBJECT = (
    re.compile(f"[dgDG][dg]*{_NOUNS}(?:(?:[kog][dg]*|{before_name}(?=n)){_NOUNS})*") for before_name in ("f", "[fp]")
)
_NAMES = re.compile("[nN](?:[og]?n)*")


@dataclass(frozen=True, slots=True)
class QuestionToken:
    text: str
    flat: str
    start: int
    end: int
    is_apart: bool  # from the word before, by a stop or a comma

    @property
    def is_name(self) -> bool:
        return self.text[0].isupper() or self.text[0].isdigit()


@dataclass(frozen=True, slots=True)
class Phrase:
    words: tuple[QuestionToken, ...]
    first: int  # number of its first word in the question
    text: str
    is_bare: bool  # a name without an article
    gender: Gender = ""

    @property
    def has_name(self) -> bool:
        return any(word.is_name for word in self.words[1:] or self.words)


def find_named(question: str, language: str) -> tuple[str, ...]:
    """Return the titles in quotes, the names and the codes of a question, in their order."""
    quoted = {(match.start(), match.end()): match[0][1:-1].strip() for match in QUOTED.finditer(question)}
    found = [(start, title) for (start, _), title in quoted.items() if title]
    found += [
        (name.start, question[name.start : name.end])
        for name in find_names(question, language)
        if not any(start <= name.start < end for start, end in quoted)
    ]
    return tuple(dict.fromkeys(name for _, name in sorted(found)))[:MOST_NAMES]


def read_words(text: str, flat: str) -> list[QuestionToken]:
    found: list[QuestionToken] = []
    end = 0
    for match in _WORD.finditer(text):
        is_apart = (
            bool(found)
            and abbreviation(found[-1].flat) is None
            and _SEPARATES.search(text, end, match.start()) is not None
        )
        found.append(
            QuestionToken(match[0], flat[match.start() : match.end()].lower(), match.start(), match.end(), is_apart)
        )
        end = match.end()
    return found


def span_of(words: Sequence[QuestionToken], text: str) -> str:
    return text[words[0].start : words[-1].end] if words else ""


def word_kinds(words: Sequence[QuestionToken], clauses: Clauses) -> str:
    """Return a letter for each word, as explained above; a capital where a stop or a comma stands before it."""
    kinds = ""
    for number, word in enumerate(words):
        kind = next((kind for kind, of_kind in clauses.kinds.items() if word.flat in of_kind), "w")
        if clauses.inverted and clauses.inverted.search(word.flat):
            kind = "i"
        elif word.is_name and (number or kind == "w"):  # the first word is always written so
            kind = "n"
        elif number and word.flat.endswith("ing") and words[number - 1].flat in clauses.inverting:
            kind = "d"  # "did closing the branch": begins a phrase
        elif kind == "w" and clauses.finite and clauses.finite.search(word.text):
            kind = "v"
        kinds += kind.upper() if word.is_apart else kind
    return kinds


def find_phrases(words: Sequence[QuestionToken], text: str, clauses: Clauses, *, begin: int = 0) -> list[Phrase]:
    """Return the noun phrases from the word number `begin` on, in order and without overlap."""
    kinds = word_kinds(words, clauses)
    found, number = [], begin
    while number < len(words):
        end = _end_of_phrase(words, kinds, number, clauses)
        if end > number:
            found.append(make_phrase(words, number, end, text, clauses))
        number = max(end, number + 1)
    return found


def _end_of_phrase(words: Sequence[QuestionToken], kinds: str, first: int, clauses: Clauses) -> int:
    """Return where the noun phrase that begins with a word ends; `first` where none does."""
    if first and (names := _NAMES.match(kinds, first)):
        return names.end()
    before = words[first - 1].flat if first and kinds[first].islower() else ""
    inverts, states = before in clauses.inverting, before in clauses.stative
    phrase = (_SUBJECT if inverts or states else _PHRASE).match(kinds, first)
    if phrase is None:
        return first
    last = words[phrase.end() - 1]
    is_participle = states and clauses.participle and clauses.participle.fullmatch(last.flat)
    is_verb = (inverts and not last.is_name) or is_participle
    return phrase.end() - 1 if is_verb and phrase.end() - first > 2 else phrase.end()


def make_phrase(words: Sequence[QuestionToken], first: int, last: int, text: str, clauses: Clauses) -> Phrase:
    own = tuple(words[first:last])
    said = span_of(own, text)
    article = clauses.contracted.get(own[0].flat)
    if article is not None and len(own) > 1:
        said = f"{article} {span_of(own[1:], text)}".strip()
    return Phrase(own, first, said, is_bare=own[0].is_name, gender=clauses.gender(own[0].flat))


def inner_phrase(phrase: Phrase, text: str, clauses: Clauses) -> Phrase | None:
    """«la chaudière» of «le bruit de la chaudière»."""
    for number, word in enumerate(phrase.words[1:-1], start=1):
        if word.flat in clauses.binding:
            first = number if clauses.contracted.get(word.flat) else number + 1
            return make_phrase(phrase.words, first, len(phrase.words), text, clauses)
    return None


def is_weak(phrase: Phrase, clauses: Clauses) -> bool:
    """Return whether its head, a noun before «of», only classifies it."""
    nouns = [word.flat for word in phrase.words if word.flat not in clauses.determiners - clauses.binding]
    cut = next((number for number, word in enumerate(nouns) if number and word in clauses.binding), len(nouns))
    return bool(cut) and nouns[cut - 1 if clauses.head_is_last else 0] in clauses.weak_heads


def beginning(flat: str, asking: Asking) -> int:
    """Return the start of the asked part: its question word, else the end of polite phrases."""
    focus = find_focus(flat, asking)
    if focus is not None:
        return focus
    start = flat.find("¿") + 1
    while True:
        start += len(flat[start:]) - len(flat[start:].lstrip(" ¿¡-*.,"))
        match = asking.polite.match(flat, start)
        if match is None or not match[0]:
            return start
        start = match.end()


def find_focus(flat: str, asking: Asking) -> int | None:
    """Return the position of the first question word that asks.

    None means that only the order of words or a noun asks. A possible relative clause counts only if nothing else asks.
    """
    opened = flat.find("¿")
    focus = _find_focus(flat, opened, asking) if opened > 0 else None
    return focus if focus is not None else _find_focus(flat, 0, asking)


def _find_focus(flat: str, start: int, asking: Asking) -> int | None:
    found = [match.start() for match in asking.sure.finditer(flat, start)] if asking.sure else []
    doubtful = None
    for lead in asking.leads.finditer(flat, start):
        position = lead.end()
        if not asking.opening.match(flat, position):
            continue
        if lead[0].startswith(",") and asking.relative.match(flat, position):
            doubtful = position
        else:
            found.append(position)
    return min(found, default=doubtful)


def find_intent(flat: str, grammar: QuestionGrammar, *, end: int | None = None) -> tuple[Intent, Direction | None]:
    """Return the intent of flattened text without quotes; `end` is that of its first part.

    Nouns of causes, dates and comparisons count only if they are what is asked for.
    """
    intents = grammar.intents
    start = beginning(flat, grammar.asking)
    asked = flat[start : end if end and end > start else None]
    if intents.effects.match(asked):
        return Intent.CAUSAL, "effects"
    if intents.causes.match(asked) and not intents.compares.match(asked):
        return Intent.CAUSAL, "causes"
    if intents.times.match(asked):
        return Intent.TEMPORAL, None
    if _compares(flat[start:], grammar) or _compares(flat, grammar, anywhere_only=True):
        return Intent.COMPARATIVE, None
    asks_nothing_else = find_focus(flat, grammar.asking) is None
    if intents.timely.match(asked) or (asks_nothing_else and intents.last_time.search(asked)):
        return Intent.TEMPORAL, None
    return Intent.FACTUAL, None


def _compares(asked: str, grammar: QuestionGrammar, *, anywhere_only: bool = False) -> bool:
    plain = grammar.intents.not_comparing.sub(" ", asked)
    if not anywhere_only and grammar.intents.compares.match(plain):
        return True
    return grammar.intents.found_comparing.search(plain) is not None
