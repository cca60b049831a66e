"""The bundled reranker: word matches and a few more features, weighed by a learned model."""

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields
from itertools import chain, pairwise
from operator import attrgetter, mul

from graphrag.linguistics.language import content_words, fold, stem, words
from graphrag.linguistics.lexicon import BEGINNING, SHORT, find_beginnings, find_meanings, meanings
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Hit


def with_text(hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits whose chunk contains more than white space."""
    return [hit for hit in hits if hit.chunk.content.strip()]


def ranked(hits: Sequence[Hit], scores: Sequence[float], *, top_k: int) -> list[Hit]:
    """The best first, ties in the order they came; scores of earlier stages stay beside "rerank"."""
    order = sorted(zip(hits, scores, strict=True), key=lambda pair: -pair[1])
    return [Hit(hit.chunk, score, {**hit.scores, "rerank": score}) for hit, score in order[:top_k]]


Pair = tuple[str, str]

_CODE, _PARTS = re.compile(r"[^\W\d].*[.,_]|[.,_].*[^\W\d]"), re.compile(r"[^\W_]+")
FAMILY_LETTERS, FAMILY_SHARE = 5, 0.6  # of two stems' beginnings, and of the longer one, to be of one family


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """Its words are keys: a content word's stem, a function word as it is written without accents."""

    keys: Mapping[str, str]  # as written, in order → key
    forms: Mapping[str, str]  # folded or stemmed → key
    words: frozenset[str]  # those that carry meaning
    names: frozenset[str]  # those that are names or numbers
    pairs: frozenset[Pair]  # of neighbours, function words among them: «a la derecha»
    language: str


@dataclass(frozen=True, slots=True)
class MatchedWords:
    """The question's content words that a span of text contains."""

    exact: frozenset[str] = frozenset()
    alike: frozenset[str] = frozenset()  # not itself, but a word of its family or a synonym: «construit», «bâti»


@dataclass(frozen=True, slots=True)
class Matches:
    """The question's words that a text contains."""

    sentences: tuple[MatchedWords, ...]
    passage: MatchedWords  # with its title
    pairs: frozenset[Pair]
    title_share: float  # how many of the title's own words are the question's


def read_question(text: str, language: str) -> QuestionWords:
    written = words(text)
    keys = {word: fold(word) for word in written} | {
        word: stem(word, language) for word in content_words(text, language)
    }
    wanted = {keys[word] for word in content_words(text, language)}
    # By stem, or as written without accents: a stemmer does not always see that «averia» is «avería».
    forms = {form: key for word, key in keys.items() for form in (fold(word), key)}
    names = {keys[word] for place, word in enumerate(written) if _is_name(word, begins=place == 0)} & wanted
    pairs = pairwise(keys[word] for word in written)
    return QuestionWords(keys, forms, frozenset(wanted), frozenset(names), frozenset(pairs), language)


def _is_name(word: str, *, begins: bool) -> bool:
    """Return whether the word looks like a name: a digit, or a capital that doesn't begin the sentence."""
    return (word[0].isupper() and not begins) or any(character.isdigit() for character in word)


def find_words(
    question: QuestionWords, texts: Sequence[str], titles: Sequence[str], languages: Sequence[str]
) -> list[Matches]:
    """Return the question's words in each text and its title.

    A synonym is alike; in a text of another language a translation counts as the word itself.
    """
    split = [[_words_and_parts(text[span.start : span.end]) for span in split_sentences(text)] for text in texts]
    # A file's name may join its words: Super_Bowl_50.
    titled = [content_words(title.replace("_", " "), question.language) for title in titles]
    found: dict[int, Matches] = {}
    for language in dict.fromkeys(languages):
        places = [place for place, of_text in enumerate(languages) if of_text == language]
        vocabulary = _by_beginning(set(chain.from_iterable(chain(*split[place], titled[place]) for place in places)))
        same, alike = _recognise(vocabulary, question)
        synonyms = _translate(vocabulary, question, language, known=same.keys() | alike.keys())
        if language == question.language:
            alike |= synonyms
        else:
            same |= synonyms
        found |= {place: _match(split[place], titled[place], same, alike, question) for place in places}
    return [found[place] for place in range(len(texts))]


def _words_and_parts(text: str) -> list[str]:
    """Return the words, and behind a code with full stops or commas its parts: «v2.14.31»."""
    found = words(text)
    if all(map(str.isalnum, found)):
        return found
    return [part for word in found for part in (word, *(_PARTS.findall(word) if _CODE.search(word) else ()))]


def _by_beginning(vocabulary: Set[str]) -> dict[str, list[str]]:
    """Return the words by their first letters, folded, and the short ones under "", too."""
    written = defaultdict[str, list[str]](list)
    for word in vocabulary:
        written[word[:BEGINNING]].append(word)
    found: dict[str, list[str]] = {"": [word for word in vocabulary if len(word) <= SHORT]}
    for beginning, of_it in written.items():  # few: to fold each word takes longer than all that follows
        found.setdefault(fold(beginning)[:BEGINNING], []).extend(of_it)
    return found


def _recognise(
    vocabulary: Mapping[str, Sequence[str]], question: QuestionWords
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the words that equal a word of the question and those that resemble one, each as word → key."""
    # Stemming is slow: only what begins like one of the question's words is stemmed.
    stemmed_beginnings = {form[:BEGINNING] for form, key in question.forms.items() if key in question.words}
    stemmed_beginnings |= {each.replace("i", "y") for each in stemmed_beginnings}  # the stem of "dying" is "die"
    families: dict[str, list[str]] = {}
    for key in sorted(question.words):
        families.setdefault(key[:FAMILY_LETTERS], []).append(key)
    same: dict[str, str] = {}
    alike: dict[str, str] = {}
    for beginning in {form[:BEGINNING] for form in question.forms} | stemmed_beginnings:
        for word in vocabulary.get(beginning, ()):
            if found := question.forms.get(fold(word)):
                same[word] = found
            elif beginning in stemmed_beginnings:
                stemmed = stem(word, question.language)
                if stemmed in question.forms:
                    same[word] = question.forms[stemmed]
                elif relative := _relative(stemmed, families):
                    alike[word] = relative
    return same, alike


def _translate(
    vocabulary: Mapping[str, Sequence[str]], question: QuestionWords, language: str, *, known: Set[str]
) -> dict[str, str]:
    """Return the words of a language, but for the known ones, that mean a word of the question, each as word → key."""
    asked: dict[str, list[tuple[float, str]]] = {}
    for key, families in zip(
        question.keys.values(), find_meanings(list(question.keys), question.language), strict=True
    ):
        for family, certainty in families.items() if key in question.words else ():
            asked.setdefault(family, []).append((certainty, key))
    found = {}
    for beginning in ("", *find_beginnings(asked, language)) if asked else ():
        for word in vocabulary.get(beginning, ()):
            of_word = meanings(word, language)
            if asked.keys().isdisjoint(of_word) or word in known:
                continue
            shared = [(own * other, key) for family, own in of_word.items() for other, key in asked.get(family, ())]
            found[word] = max(shared)[1]
    return found


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
    question: QuestionWords,
) -> Matches:
    keys = [list(map(same.get, sentence)) for sentence in sentences]
    named = {fold(word): same.get(word) for word in title}
    in_title = question.words.intersection(named.values())
    exact = [question.words.intersection(found) for found in keys]
    related = [question.words.intersection(map(alike.get, sentence)) for sentence in sentences]
    everywhere = in_title.union(*exact)
    return Matches(
        tuple(MatchedWords(one, other - one) for one, other in zip(exact, related, strict=True)),
        MatchedWords(everywhere, frozenset().union(*related) - everywhere),
        question.pairs.intersection(pairwise(chain(*keys))),
        sum(key in in_title for key in named.values()) / len(named) if named else 0.0,
    )


FEW_TEXTS = 50  # among fewer, one absent word would outweigh all that are there
NAME_WEIGHT = 1.6  # a name or a number says more of what is asked than its rarity among the candidates does
ALIKE = 0.5  # what another word of the same family counts


@dataclass(frozen=True, slots=True)
class Features:
    """The features of a hit among others, each in [0, 1]; words are weighted by their rarity."""

    retrieval: float  # where the score stands between the last and the best
    sentence: float  # the question's words that the best sentence holds
    passage: float  # those that the chunk or its title holds
    adjacent: float  # neighbours in the question that are neighbours in the chunk
    title: float  # the words of title and headings that the question names


_values = attrgetter(*(field.name for field in fields(Features)))
# By listwise logistic regression on five development sets in three languages, then rounded; with a set left out of it,
# its own result stays above its input order.
WEIGHTS = Features(retrieval=0.2, sentence=0.2, passage=0.3, adjacent=0.2, title=0.1)


ACROSS = (
    0.9  # of the score: a translation may mean something else, so an equal match in the question's language is surer
)


class BundledReranker:
    async def rerank(self, query: str, hits: Sequence[Hit], *, language: str, top_k: int) -> list[Hit]:
        found = with_text(hits)
        features = describe(query, found, language=language)
        scores = [
            combine(each) * (ACROSS if hit.chunk.document.language != language else 1.0)
            for hit, each in zip(found, features, strict=True)
        ]
        return ranked(found, scores, top_k=top_k)


def combine(features: Features) -> float:
    """Return the weighted sum of the features, in [0, 1]: 1 if everything matches."""
    return min(1.0, math.fsum(map(mul, _values(WEIGHTS), _values(features))))


def describe(query: str, hits: Sequence[Hit], *, language: str) -> list[Features]:
    question = read_question(query, language)
    chunks = [hit.chunk for hit in hits]
    languages = [chunk.document.language for chunk in chunks]
    matches = find_words(question, [chunk.content for chunk in chunks], [chunk.context for chunk in chunks], languages)
    weights = _weigh(question, [set().union(*(found.exact for found in match.sentences)) for match in matches])
    standing = _standing([hit.score for hit in hits])
    return [_features(place, match, question, weights) for place, match in zip(standing, matches, strict=True)]


def _standing(scores: Sequence[float]) -> list[float]:
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (most - least) if most > least else 1.0 for score in scores]


def cover_sentences(question: QuestionWords, text: str, language: str) -> list[float]:
    """Return the share of the question that each sentence of a text contains, in [0, 1]; rare words count for more."""
    [matches] = find_words(question, [text], [""], [language])
    weights = _weigh(question, [set(matched.exact) for matched in matches.sentences])
    return [_coverage(matched, weights) for matched in matches.sentences]


def _weigh(question: QuestionWords, texts: Sequence[set[str]]) -> dict[str, float]:
    """The share of each word in what the question asks for, by the words that each text has; they sum to 1."""
    rare = rarity(set(question.words), texts)
    weights = {word: weight * (NAME_WEIGHT if word in question.names else 1) for word, weight in rare.items()}
    total = math.fsum(weights.values())
    return {word: weight / total for word, weight in weights.items()}


def _features(retrieval: float, match: Matches, question: QuestionWords, weights: Mapping[str, float]) -> Features:
    sentence = max((_coverage(matched, weights) for matched in match.sentences), default=0.0)
    passage = _coverage(match.passage, weights)
    adjacent = len(match.pairs) / len(question.pairs) if question.pairs else passage
    return Features(retrieval, sentence, passage, adjacent, match.title_share)


def _coverage(matched: MatchedWords, weights: Mapping[str, float]) -> float:
    # fsum: a set has no order, and equal texts must have equal scores.
    exact = math.fsum(weights[word] for word in matched.exact)
    return exact + ALIKE * math.fsum(weights[word] for word in matched.alike)


def rarity(words: set[str], texts: Sequence[set[str]]) -> Mapping[str, float]:
    """BM25's idf of each word among the texts; a word that none of them holds is the rarest."""
    counts = {word: sum(word in text for text in texts) for word in words}
    total = max(len(texts), FEW_TEXTS)
    return {word: math.log(1 + (total - n + 0.5) / (n + 0.5)) for word, n in counts.items()}
