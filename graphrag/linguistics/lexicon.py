"""Lexicon of concepts: which words and phrases of Spanish, French and English mean the same.

`rules/concepts.tsv` has a concept a line: its name, part of speech (n, v, a, r), English, French and Spanish words,
hypernym, antonym, and the concept that stands for its word family ("deliver" for "delivery"). A word that ends in *
often means something else. Words are dictionary forms; other forms are found by their endings and by spaCy's lemma
tables, of which only what leads to a word of the lexicon is kept: whole, they would take 150 MB. `rules/opposites.txt`
has pairs of opposites with their sides, for directions; `rules/lexicon.yml` people and bodies that act.
"""

import gzip
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import product
from threading import Lock

import numpy as np
import spacy_lookups_data

from graphrag.linguistics.language import ANSWER_LANGUAGES, fold, stop_words
from graphrag.linguistics.rules import Pattern, Rules, WordSet, read_rules

AMBIGUOUS = 0.5  # weight of a word that often means something else
CACHED_WORDS = 50_000
BEGINNING = 2  # letters by which words are passed over that no form of a word can be
SHORT = 4  # letters of forms that may begin otherwise than their word: «voces»
_fold_uncached = fold.__wrapped__  # the forms of a whole table would fill its cache
_COLUMNS = ("en", "fr", "es")
_PLURALS = {  # ending → what replaces it in the singular
    "en": (("ies", "y"), ("es", ""), ("s", "")),
    "fr": (("aux", "al"), ("x", ""), ("s", "")),
    "es": (("ces", "z"), ("es", ""), ("s", "")),
}
_ENCLITIC = re.compile(r"^(\w{2,}[aei]r)(?:me|te|se|nos|l[aeo]s?){1,2}$")  # «cerrarla», of a Spanish infinitive
_FEMININES = {  # of adjectives and participles that the tables lack
    "en": (),
    "fr": (("ales", "al"), ("ale", "al"), ("elle", "el"), ("ive", "if"), ("euse", "eux"), ("ee", "e"), ("e", "")),
    "es": (("a", "o"), ("as", "o")),
}


@dataclass(frozen=True, slots=True)
class Concept:
    name: str
    part_of_speech: str
    words: Mapping[str, tuple[str, ...]]  # language → words and phrases, the usual one first
    ambiguous: frozenset[tuple[str, str]]  # (language, word)
    hypernym: str
    antonym: str
    family: str  # the concept that stands for its word family, itself if it is the only one


Meanings = Mapping[str, float]  # name of a family → 1, or AMBIGUOUS


def read_concepts() -> list[Concept]:
    text = files("graphrag.linguistics").joinpath("rules", "concepts.tsv").read_text(encoding="utf-8")
    return [_read_concept(line) for line in text.splitlines()]


_concepts = lru_cache(maxsize=1)(read_concepts)  # while the lexicon is read, which is of several parts


def _read_concept(line: str) -> Concept:
    name, part_of_speech, *columns, hypernym, antonym, family = line.split("\t")
    marked = {language: column.split("|") for language, column in zip(_COLUMNS, columns, strict=True)}
    return Concept(
        name,
        part_of_speech,
        {language: tuple(word.rstrip("*") for word in words) for language, words in marked.items()},
        frozenset((language, word[:-1]) for language, words in marked.items() for word in words if word.endswith("*")),
        hypernym,
        antonym,
        family or name,
    )


class _Vocabulary:
    """Words and phrases of one language by their folded dictionary forms, each with its concepts."""

    def __init__(self, concepts: Sequence[Concept], language: str) -> None:
        self._plurals, self._feminines = _PLURALS[language], _FEMININES[language]
        self.keys = lru_cache(maxsize=CACHED_WORDS)(self._find_keys)
        known = {word.partition(" ")[0].lower() for concept in concepts for word in concept.words[language]}
        lemmas = dict(_read_lemmas(language, known))
        self._lemmas = _LemmaTable(lemmas)
        self.beginnings: dict[str, set[str]] = {}  # of forms that begin otherwise than their lemma: «fue», of «ser»
        for form, lemma in ((form, lemma) for form, of_form in lemmas.items() for lemma in of_form):
            if form[:BEGINNING] != lemma[:BEGINNING]:
                self.beginnings.setdefault(lemma, set()).add(form[:BEGINNING])
        # Of names there are none: they are no words of the language.
        self.parts_of_speech = {
            each.name: each.part_of_speech
            for each in concepts
            if any(word[0].islower() for word in each.words[language])
        }
        self.words: dict[str, dict[str, float]] = {}
        # By their first two words: hundreds begin with «de».
        self._phrases: dict[tuple[str, str], dict[tuple[str, ...], dict[str, float]]] = {}
        for concept in concepts:
            for word in concept.words[language]:
                weight = AMBIGUOUS if (language, word) in concept.ambiguous else 1.0
                first, *others = split_folded(word)
                if others:
                    senses = self._phrases.setdefault((first, others[0]), {}).setdefault((first, *others), {})
                else:
                    senses = self.words.setdefault(first, {})
                senses[concept.name] = weight

    def _find_keys(self, folded: str) -> tuple[str, ...]:
        """Return the dictionary forms that a folded word may be a form of, itself first."""
        singulars = list(_replace_endings(folded, self._plurals))
        keys = [folded, *singulars, *self._lemmas.get(folded), *_ENCLITIC.findall(folded)]
        if not any(key in self.words for key in keys):
            keys += [key for number in (folded, *singulars) for key in _replace_endings(number, self._feminines)]
        return tuple(dict.fromkeys(keys))

    def find_senses(self, folded: str) -> dict[str, float]:
        """Return the concepts of a word, by name; the lemma of a form that is itself a word counts as ambiguous."""
        found: dict[str, float] = {}
        for key in self.keys(folded):
            known = self.words.get(key, {})
            most = AMBIGUOUS if found else 1.0
            found |= {name: min(weight, most) for name, weight in known.items() if name not in found}
        return found

    def find_phrase(self, folded: Sequence[str], start: int) -> tuple[Mapping[str, float], int] | None:
        """Return the concepts of the longest phrase that begins at `start`, and where it ends."""
        found: dict[str, float] = {}
        longest = 0
        pairs = product(self.keys(folded[start]), self.keys(folded[start + 1])) if start + 1 < len(folded) else ()
        for pair in pairs:
            for phrase, senses in self._phrases.get(pair, {}).items():
                if len(phrase) >= longest and self._are_forms(folded[start : start + len(phrase)], phrase):
                    found = {**(found if len(phrase) == longest else {}), **senses}
                    longest = len(phrase)
        return (found, start + longest) if found else None

    def _are_forms(self, folded: Sequence[str], phrase: Sequence[str]) -> bool:
        return len(folded) == len(phrase) and all(
            word == key or key in self.keys(word) for word, key in zip(folded, phrase, strict=True)
        )


def _replace_endings(word: str, endings: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (word[: -len(end)] + new for end, new in endings if word.endswith(end))


def split_folded(phrase: str) -> list[str]:
    """Return the folded words of a phrase, elided articles and hyphenated parts apart."""
    return fold(phrase).replace("’", "'").replace("'", " ").replace("-", " ").split()


_ENTRY = re.compile(rb'^ *"([^"\\\n]+)": (\[?)"([^\]\\\n]+?)"\]?,?$', re.MULTILINE)


def _read_lemmas(language: str, known: Set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield (folded form, folded lemmas) of spaCy's table where a lemma is known. Takes up to 0.5 s.

    The table is read entry by entry: as objects of Python it takes 100 MB that the process keeps.
    """
    with gzip.open(f"{getattr(spacy_lookups_data, language)['lemma_lookup']}.gz") as table:
        entries = _ENTRY.finditer(table.read())
    # Shared by all the forms of one.
    lemmas: dict[bytes, tuple[str, ...]] = {lemma.encode(): (fold(lemma),) for lemma in known}
    for entry in entries:
        form, opening, told = entry.groups()
        kept = lemmas.get(told)
        if kept is None and opening and b'"' in told:
            kept = tuple(lemmas[lemma][0] for lemma in told.split(b'", "') if lemma in lemmas)
        if kept:
            yield _fold_uncached(form.decode()), kept


class _LemmaTable:
    """Lemmas by form, found by the form's hash of 64 bits: as a dictionary of texts it takes ten times the memory."""

    def __init__(self, lemmas: Mapping[str, tuple[str, ...]]) -> None:
        numbers: dict[tuple[str, ...], int] = {}
        hashes = np.fromiter(map(hash, lemmas), np.int64, len(lemmas))
        told = np.fromiter((numbers.setdefault(each, len(numbers)) for each in lemmas.values()), np.int32, len(lemmas))
        order = np.argsort(hashes)
        # Views: to look one number up in them takes a tenth of the time that numpy takes.
        self._hashes, self._told = hashes[order].data, told[order].data
        self._lemmas = tuple(numbers)

    def get(self, form: str) -> tuple[str, ...]:
        wanted = hash(form)
        place = bisect_left(self._hashes, wanted)
        is_known = place < len(self._hashes) and self._hashes[place] == wanted
        return self._lemmas[self._told[place]] if is_known else ()


@lru_cache(maxsize=1)
def _family_of() -> dict[str, str]:
    """Return the family of each concept, by its name."""
    return {concept.name: concept.family for concept in _concepts()}


_reading = Lock()  # two threads would read it twice


@lru_cache(maxsize=len(ANSWER_LANGUAGES))
def _read_vocabulary(language: str) -> _Vocabulary:
    return _Vocabulary(_concepts(), language)


def _vocabulary(language: str) -> _Vocabulary:
    with _reading:
        return _read_vocabulary(language)


def load() -> None:
    """Read the lexicon of all languages, about a second, which the first question would wait for otherwise."""
    for language in ANSWER_LANGUAGES:
        _vocabulary(language)
    _family_of()
    _words_of_families()
    _concepts.cache_clear()


@lru_cache(maxsize=CACHED_WORDS)
def meanings(word: str, language: str) -> Meanings:
    """Return the word families that a word belongs to, by name; none in a language that is not ours."""
    if language not in ANSWER_LANGUAGES:
        return {}
    return _families(_vocabulary(language).find_senses(fold(word)))


def _families(senses: Mapping[str, float]) -> Meanings:
    found: dict[str, float] = {}
    for name, weight in senses.items():
        family = _family_of()[name]
        found[family] = max(weight, found.get(family, 0.0))
    return found


def find_beginnings(families: Iterable[str], language: str) -> frozenset[str]:
    """Return how the forms of more than SHORT letters of all the families' words begin, folded."""
    if language not in ANSWER_LANGUAGES:
        return frozenset()
    others = _vocabulary(language).beginnings
    words = {fold(word) for family in families for word in _words_of_families()[family][language]}
    return frozenset().union(*(others.get(word, ()) for word in words), (word[:BEGINNING] for word in words))


def find_meanings(words: Sequence[str], language: str) -> list[Meanings]:
    """Return the word families of each word of a text; each word of a phrase has those of the phrase."""
    if language not in ANSWER_LANGUAGES:
        return [{} for _ in words]
    vocabulary, folded = _vocabulary(language), [fold(word) for word in words]
    found: list[Meanings] = []
    while len(found) < len(folded):
        if phrase := vocabulary.find_phrase(folded, len(found)):
            senses, end = phrase
            found += [_families(senses)] * (end - len(found))
        else:
            found.append(meanings(folded[len(found)], language))
    return found


@lru_cache(maxsize=1)
def _words_of_families() -> dict[str, dict[str, list[str]]]:
    """Return family → language → its words, the usual ones first; after them those of its phrases."""
    found: dict[str, dict[str, dict[str, None]]] = {}
    for concept in _concepts():
        of_family = found.setdefault(concept.family, {language: {} for language in ANSWER_LANGUAGES})
        for language, written in concept.words.items():
            of_family[language] |= dict.fromkeys(written)
    return {
        family: {language: _single_words(written, language) for language, written in of_language.items()}
        for family, of_language in found.items()
    }


def _single_words(written: Iterable[str], language: str) -> list[str]:
    single = [word for word in written if word.isalpha()]
    parts = [part for word in written if not word.isalpha() for part in re.findall(r"[^\W\d]+", word)]
    return list(dict.fromkeys([*single, *(part for part in parts if fold(part) not in stop_words(language))]))


def find_synonyms(words: Sequence[str], language: str, into: str, *, most: int) -> list[list[str]]:
    """Return for each word of a text up to `most` others of the same meaning, in the language `into`, surest first."""
    found = []
    for word, known in zip(words, find_meanings(words, language), strict=True):
        families = sorted(known, key=lambda family: -known[family])
        alike = dict.fromkeys(each for family in families for each in _words_of_families()[family][into])
        found.append([each for each in alike if fold(each) != fold(word)][:most])
    return found


def share_meaning(one: Meanings, other: Meanings) -> float:
    """Return how surely two words mean the same, in [0, 1]."""
    return max((weight * other[name] for name, weight in one.items() if name in other), default=0.0)


@lru_cache(maxsize=CACHED_WORDS)
def parts_of_speech(word: str, language: str, *, inflected: bool = True) -> frozenset[str]:
    """Return what a word may be, of n, v, a and r; if not `inflected`, as a dictionary writes it.

    Words that are written with a capital do not count.
    """
    if language not in ANSWER_LANGUAGES:
        return frozenset()
    vocabulary, folded = _vocabulary(language), fold(word)
    senses = vocabulary.find_senses(folded) if inflected else vocabulary.words.get(folded, {})
    return frozenset(vocabulary.parts_of_speech[name] for name in senses if name in vocabulary.parts_of_speech)


_OPPOSITE_MOST_LONGER = 7  # letters
_OPPOSITE_SHORTEST = 3


@lru_cache(maxsize=1)
def _opposites() -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    """Whole words, and beginnings of words (those with a *); a line is a concept, a side and its words."""
    whole: dict[str, tuple[str, int]] = {}
    begun: dict[str, tuple[str, int]] = {}
    for line in (
        files("graphrag.linguistics").joinpath("rules", "opposites.txt").read_text(encoding="utf-8").splitlines()
    ):
        concept, side, *words = line.split()
        for word in words:
            (begun if word.endswith("*") else whole).setdefault(word.rstrip("*"), (concept, 1 if side == "+" else -1))
    return whole, begun


@lru_cache(maxsize=50_000)
def opposite_of(word: str) -> tuple[str, int] | None:
    """The pair that a word is of, and its side of it."""
    whole, begun = _opposites()
    folded = fold(word)
    if folded in whole:
        return whole[folded]
    for length in range(len(folded), _OPPOSITE_SHORTEST - 1, -1):
        if len(folded) - length <= _OPPOSITE_MOST_LONGER and (found := begun.get(folded[:length])):
            return found
    return None


class LexiconRules(Rules):
    people: WordSet
    bodies: WordSet
    things: WordSet  # that end as callings do
    callings: dict[str, Pattern]


@lru_cache(maxsize=1)
def _rules() -> LexiconRules:
    return read_rules(LexiconRules, "graphrag.linguistics", "lexicon")


def is_agent(word: str, language: str) -> bool:
    """Return whether a folded word denotes a person or a body that acts."""
    rules = _rules()
    if word in rules.things or word.removesuffix("s") in rules.things:
        return False
    singulars = {word, word.removesuffix("s"), word.removesuffix("es")}
    if singulars & rules.people or singulars & rules.bodies:
        return True
    calling = rules.callings.get(language)
    return calling is not None and calling.search(word) is not None
