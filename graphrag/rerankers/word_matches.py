"""Where the words of a question stand in texts: in which sentence, side by side, in the title."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from graphrag.language import content_words, fold, stem, words
from graphrag.sentences import split_sentences

Pair = tuple[str, str]

FAMILY_LETTERS, FAMILY_SHARE = 5, 0.6  # of two stems' beginnings, and of the longer one, to be of one family


@dataclass(frozen=True, slots=True)
class Question:
    """Its words are keys: a content word's stem, a function word as it is written without accents."""

    forms: Mapping[str, str]  # folded or stemmed → key
    words: frozenset[str]  # those that carry meaning
    names: frozenset[str]  # those that are names or numbers
    pairs: frozenset[Pair]  # of neighbours, function words among them: «a la derecha»
    language: str


@dataclass(frozen=True, slots=True)
class Held:
    """Those of the question's content words that a stretch of text holds."""

    exact: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()  # not itself, but another word of its family: «construit», «construction»


@dataclass(frozen=True, slots=True)
class Matches:
    """What a text holds of the question."""

    sentences: tuple[Held, ...]
    passage: Held  # with its title
    pairs: frozenset[Pair]
    title_share: float  # how many of the title's own words are the question's


def read_question(text: str, language: str) -> Question:
    written = words(text)
    keys = {word: fold(word) for word in written} | {
        word: stem(word, language) for word in content_words(text, language)
    }
    wanted = {keys[word] for word in content_words(text, language)}
    # By stem, or as written without accents: a stemmer does not always see that «averia» is «avería».
    forms = {form: key for word, key in keys.items() for form in (fold(word), key)}
    names = {keys[word] for place, word in enumerate(written) if _is_name(word, begins=place == 0)} & wanted
    pairs = pairwise(keys[word] for word in written)
    return Question(forms, frozenset(wanted), frozenset(names), frozenset(pairs), language)


def _is_name(word: str, *, begins: bool) -> bool:
    """By its capital, which says nothing at the beginning, or a digit."""
    return (word[0].isupper() and not begins) or any(character.isdigit() for character in word)


def find_words(question: Question, texts: Sequence[str], titles: Sequence[str]) -> list[Matches]:
    """For each text under its title."""
    split = [[words(text[span.start : span.end]) for span in split_sentences(text)] for text in texts]
    # A file's name may join its words: Super_Bowl_50.
    titled = [content_words(title.replace("_", " "), question.language) for title in titles]
    same, alike = _recognise(set(chain(*chain(*split), *titled)), question)
    return [_match(*found, same, alike, question) for found in zip(split, titled, strict=True)]


def _recognise(vocabulary: Iterable[str], question: Question) -> tuple[dict[str, str], dict[str, str]]:
    """Of the words, those that are words of the question, and those that are like one; word → key."""
    # Stemming is slow: only what begins like one of the question's words is stemmed.
    beginnings = {form[:2] for form, key in question.forms.items() if key in question.words}
    beginnings |= {beginning.replace("i", "y") for beginning in beginnings}  # the stem of "dying" is "die"
    families: dict[str, list[str]] = {}
    for key in sorted(question.words):
        families.setdefault(key[:FAMILY_LETTERS], []).append(key)
    same: dict[str, str] = {}
    alike: dict[str, str] = {}
    for word in vocabulary:
        folded = fold(word)
        if folded in question.forms:
            same[word] = question.forms[folded]
        elif folded[:2] in beginnings:
            stemmed = stem(word, question.language)
            if stemmed in question.forms:
                same[word] = question.forms[stemmed]
            elif relative := _relative(stemmed, families):
                alike[word] = relative
    return same, alike


def _relative(stemmed: str, families: Mapping[str, Sequence[str]]) -> str | None:
    """The first key that shares a beginning long enough for one family."""
    for key in families.get(stemmed[:FAMILY_LETTERS], ()):
        beginning = math.ceil(FAMILY_SHARE * max(len(stemmed), len(key)))
        if stemmed[:beginning] == key[:beginning]:
            return key
    return None


def _match(
    sentences: Sequence[Sequence[str]],
    title: Sequence[str],
    same: Mapping[str, str],
    alike: Mapping[str, str],
    question: Question,
) -> Matches:
    keys = [list(map(same.get, sentence)) for sentence in sentences]
    named = {fold(word): same.get(word) for word in title}
    in_title = question.words.intersection(named.values())
    exact = [question.words.intersection(found) for found in keys]
    related = [frozenset(alike[word] for word in sentence if word in alike) for sentence in sentences]
    everywhere = in_title.union(*exact)
    return Matches(
        tuple(Held(one, other - one) for one, other in zip(exact, related, strict=True)),
        Held(everywhere, frozenset().union(*related) - everywhere),
        question.pairs.intersection(pairwise(chain(*keys))),
        sum(key in in_title for key in named.values()) / len(named) if named else 0.0,
    )
