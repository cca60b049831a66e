"""Where the words of a question stand in texts: in which sentence, side by side, in the title."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from graphrag.language import content_words, fold, stem, words
from graphrag.sentences import split_sentences

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Question:
    """Its words are keys: a content word's stem, a function word as it is written without accents."""

    forms: Mapping[str, str]  # folded or stemmed → key
    words: frozenset[str]  # those that carry meaning
    names: frozenset[str]  # those that are names or numbers
    pairs: frozenset[Pair]  # of neighbours, function words among them: «a la derecha»
    language: str


@dataclass(frozen=True, slots=True)
class Matches:
    """What a text holds of the question."""

    sentences: tuple[frozenset[str], ...]  # of each, the words that carry meaning
    pairs: frozenset[Pair]
    title: frozenset[str]
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
    known = _recognise(set(chain(*chain(*split), *titled)), question)
    return [_match(sentences, title, known, question) for sentences, title in zip(split, titled, strict=True)]


def _recognise(vocabulary: Iterable[str], question: Question) -> dict[str, str]:
    """The key of each word that is one of the question's."""
    # Stemming is slow: only what begins like one of the question's words is stemmed.
    beginnings = {_beginning(form) for form, key in question.forms.items() if key in question.words}
    known: dict[str, str] = {}
    for word in vocabulary:
        folded = fold(word)
        key = question.forms.get(folded)
        if key is None and _beginning(folded) in beginnings:
            key = question.forms.get(stem(word, question.language))
        if key is not None:
            known[word] = key
    return known


def _beginning(folded: str) -> str:
    return folded[:2].replace("y", "i")  # the stem of "dying" is "die"


def _match(
    sentences: Sequence[Sequence[str]], title: Sequence[str], known: Mapping[str, str], question: Question
) -> Matches:
    keys = [[known.get(word, "") for word in sentence] for sentence in sentences]
    named = {fold(word): known.get(word, "") for word in title}
    in_title = question.words.intersection(named.values())
    return Matches(
        tuple(question.words.intersection(sentence) for sentence in keys),
        question.pairs.intersection(pairwise(chain(*keys))),
        in_title,
        sum(key in in_title for key in named.values()) / len(named) if named else 0.0,
    )
