"""Wording of cause and effect in a language: its cues, and the words that bound the clauses around them."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum, auto
from functools import cached_property, lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.rules import Pattern, PatternIndex, Rules, WordSet, read_rules
from graphrag.models.graph import Polarity, RelationType

SURE, CLEAR, LIKELY, VAGUE = 0.95, 0.85, 0.7, 0.55  # confidence in a wording
_CONFIDENCES = {"sure": SURE, "clear": CLEAR, "likely": LIKELY, "vague": VAGUE}


class Form(StrEnum):
    """The order of cause and effect around the words that join them."""

    BECAUSE = auto()  # effect BECAUSE cause; BECAUSE cause, effect: two clauses
    BECAUSE_OF = auto()  # the same with a noun phrase as the cause
    GIVEN_THAT = auto()  # GIVEN_THAT cause, effect: «como», «al no», «ayant»; both are clauses
    SO = auto()  # cause SO effect
    THEREFORE = auto()  # cause. THEREFORE effect
    MIDWAY = auto()  # cause. Effect with MIDWAY in its midst: «ont donc été»
    OUTCOME = auto()  # cause. OUTCOME: effect
    REASON = auto()  # effect. REASON: cause
    VERB = auto()  # cause CAUSED effect
    PASSIVE = auto()  # effect WAS CAUSED BY cause
    ATTRIBUTES = auto()  # somebody ATTRIBUTES effect (joint) cause
    CAUSE_OF = auto()  # CAUSE OF effect (joint) cause
    RESULT_OF = auto()  # RESULT OF cause (joint) effect
    SO_THAT = auto()  # a clause with SO in it is the cause, (joint) effect


OPENERS = frozenset({Form.GIVEN_THAT, Form.OUTCOME, Form.REASON})  # only at the beginning of a clause
CONNECTIVES = frozenset({Form.BECAUSE, Form.BECAUSE_OF, Form.GIVEN_THAT, Form.SO, Form.THEREFORE})


_ANYTHING, _NOTHING = re.compile(""), re.compile("(?!)")
_WORD = re.compile(r"[\w-]+[^\w\s-]?|[^\w\s-]")  # or a mark that does not stand right after a word


class Cue(Rules):
    """Words that join a cause and an effect. Patterns are over lower-case text; they capture nothing."""

    pattern: str
    form: Form
    type: RelationType
    confidence: Annotated[float, BeforeValidator(_CONFIDENCES.__getitem__)]
    joint: Pattern = _NOTHING  # what stands between the two in ATTRIBUTES, CAUSE_OF, RESULT_OF and SO_THAT
    cause: Pattern = _ANYTHING  # must be found in the cause
    not_cause: Pattern = _NOTHING  # must not be found in it
    effect: Pattern = _ANYTHING
    not_effect: Pattern = _NOTHING


def _expand_phrases(entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return an entry for each cue; a file may list the phrases of several that are otherwise alike."""
    found: list[dict[str, Any]] = []
    for entry in entries:
        alike = dict(entry)
        phrases = alike.pop("phrases", None)
        found += [alike] if phrases is None else [{**alike, "pattern": _spaced(phrase)} for phrase in phrases]
    return found


def _spaced(phrase: str) -> str:
    return phrase.replace(" ", r"\s+")


Whole = Annotated[re.Pattern[str], BeforeValidator(lambda text: re.compile(rf"(?<!\w)(?:{text})(?!\w)"))]
Ending = Annotated[re.Pattern[str], BeforeValidator(lambda text: re.compile(rf"(?:{text})\s*$"))]


class CausalGrammar(Rules):
    """Patterns are over lower-case text with straight apostrophes; sets hold lower-case words."""

    cues: Annotated[tuple[Cue, ...], BeforeValidator(_expand_phrases)]
    word: Pattern  # a token
    finite: Pattern  # a finite verb, as far as its form tells, with the clitics before it
    auxiliaries: WordSet  # between a subject and its verb: they are no part of either
    weak_auxiliaries: WordSet  # such words only where an auxiliary stands before them
    adverb: Pattern  # may stand among auxiliaries
    hypothetical_words: WordSet  # among the auxiliaries, or beside a connective
    hypothetical_verb: Pattern  # forms of the cue's verb: future, conditional, subjunctive
    hypothetical_frame: Pattern  # before the subject: «existe el riesgo de que …»
    infinitive: Pattern
    modals: WordSet  # take the infinitive
    participle: Pattern  # past participle: active only after an auxiliary
    passive_auxiliaries: WordSet  # make a participle passive: «fue producido en»
    no_object: WordSet  # what follows a verb whose past form is its participle too, and is then no object: "made in"
    concessive: Whole  # an aside that begins so is a clause of its own, of which the connective in it speaks
    gerund: Pattern
    negations: WordSet
    negative_object: Whole  # an effect that says that there is none begins so
    reporting: Pattern  # «dice que»: the clause that is meant begins after it
    conjunctions: WordSet  # at the beginning of a clause: no part of it
    focus: WordSet  # between a clause and its connective: «sobre todo», "partly"
    copulas: WordSet
    coordination: Pattern  # «y», "and": may join two clauses
    phrase_end: Whole  # a noun phrase surely ends before it
    aside: Whole  # a part between commas that is no clause of its own begins so: «según …», «que …»
    relatives: WordSet  # the pronoun before a verb
    clause_relative: Ending  # «lo que», «ce qui»: stands for the clause before
    anaphors: WordSet  # a subject that stands for the sentence before
    pronouns: WordSet  # a cause or an effect that says nothing without the text before
    prepositions: WordSet  # at the beginning of a noun phrase: no part of it
    correction: Pattern  # after a cause that was denied: «sino»
    contrast_not: Pattern  # «y no a»: what follows is not the cause
    cleft: Ending  # «c'est» before a connective whose effect follows with «que»
    cleft_that: Pattern
    condition: Whole  # a clause that only supposes begins so
    bare_participle: Whole  # passive without an auxiliary: «un corte provocado por»
    exclusive: WordSet  # «no solo porque» denies nothing
    post_negation: Pattern  # after the verb: «n'entraîne pas»
    reflexive: WordSet  # «se»: a verb with it has no object
    complementizers: WordSet  # «que», "that"

    @cached_property
    def beside_connective(self) -> frozenset[str]:
        """Return the words between a clause and its connective."""
        return self.focus | self.copulas | self.negations | self.hypothetical_words

    def polarity_of(self, words: Sequence[str]) -> Polarity:
        if any(word in self.negations for word in words) and not any(word in self.exclusive for word in words):
            return Polarity.NEGATED
        is_hypothetical = any(
            word in self.hypothetical_words or self.hypothetical_verb.fullmatch(word) for word in words
        )
        return Polarity.HYPOTHETICAL if is_hypothetical else Polarity.FACT

    def find_cues(self, s: str, start: int, end: int) -> Iterator[tuple[Cue, re.Match[str]]]:
        """Yield the cues of a text with their matches, which do not overlap."""
        passed = start
        for word in _WORD.finditer(s, start, end):
            at = word.start()
            if at >= passed and (found := self.cue_at(s, at, end)):
                passed = max(found[1].end(), at + 1)
                yield found

    def cue_at(self, s: str, at: int, end: int) -> tuple[Cue, re.Match[str]] | None:
        """Return the first cue that matches right there; only those that may begin with the same letters are tried."""
        for number in self._index.candidates(s[at : at + PatternIndex.LETTERS]):
            if match := self._patterns[number].match(s, at, end):
                return self.cues[number], match
        return None

    @cached_property
    def _index(self) -> PatternIndex:
        return PatternIndex(cue.pattern for cue in self.cues)

    @cached_property
    def _patterns(self) -> tuple[re.Pattern[str], ...]:
        # A cue may end in «d'».
        return tuple(re.compile(rf"(?<![\w-])(?:{cue.pattern})(?:(?<!\w)|(?!\w))") for cue in self.cues)


@lru_cache(maxsize=len(ANSWER_LANGUAGES))
def read_causal_grammar(language: str) -> CausalGrammar:
    """Return the grammar of Spanish, French or English."""
    return read_rules(CausalGrammar, "graphrag.causal_graph", language)
