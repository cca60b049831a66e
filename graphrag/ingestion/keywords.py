"""What a document is about, in its own phrases: runs of words that carry meaning and the small words that join them,
ranked by how often they stand on their own (C-value: Frantzi, Ananiadou and Mima 2000)."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import stopwordsiso
from babel import Locale

from graphrag import language as languages
from graphrag.models import ParsedText

MOST = 10
READ_CHARS = 2_500  # what a text is about is said at its beginning
HEADING_WEIGHT = 2.0  # of what a heading or the title holds
LENGTH_WEIGHTS = (0.0, 0.7, 1.6, 1.9, 2.0)  # by a phrase's words, the small ones not counted
WEIGHTS_OF_SINGLE = (0.0, 0.3, 1.0, 0.7, 0.4)  # the same, where it stands but once: a long one is then a clause
MOST_WORDS = len(LENGTH_WEIGHTS) - 1
MOST_LINKS = 2  # between two words
WORD_CHARS = range(3, 31)
LINKS = {
    "ca": "de d del dels la les el els l",
    "de": "der des von",
    "en": "of the",
    "es": "de del la las los el en",
    "fr": "de d du des la le les l à au aux en",
    "it": "di del della dei delle d la l",
    "pt": "de do da dos das",
}
_NOISE = re.compile(r"(?:https?://|www\.)\S+|</?[a-zA-Z][^<>]{0,200}>|&\w{2,8};")
_WORD = re.compile(r"[^\W_]+(?:[-‐·][^\W_]+)*")
_GAPS = frozenset([" ", "'", "’", "\u00a0"])  # between the words of a phrase


Key = tuple[str, ...]  # of a phrase: its words, without case, accents and plural


class Phrase(NamedTuple):
    key: Key
    text: str


def keywords(parsed: ParsedText, language: str) -> tuple[str, ...]:
    """At most ten, best first. None is a number alone, and none holds another."""
    return different(phrases(parsed, language))


def phrases(parsed: ParsedText, language: str) -> Iterator[Phrase]:
    """All that could be keywords, best first."""
    text = _NOISE.sub(" . ", parsed.text[:READ_CHARS])
    found: dict[Key, list[tuple[int, int]]] = defaultdict(list)  # the places of each phrase
    for keys, starts, ends in _runs(text, language):
        for first in range(len(keys)):
            for last in range(first, min(first + MOST_WORDS, len(keys))):
                found[keys[first : last + 1]].append((starts[first], ends[last]))
    headed = _headed(parsed)
    vague = _vague(language)
    weights = {
        key: weight * (HEADING_WEIGHT if headed.issuperset(key) else 1)
        for key, weight in _weighted(found)
        if not vague.issuperset(key)
    }
    for key in sorted(weights, key=lambda key: -weights[key]):
        yield Phrase(key, _best_written([text[start:end] for start, end in found[key]]))


def different(ranked: Iterable[Phrase]) -> tuple[str, ...]:
    """The first ten, without those that share half of their words with one before."""
    chosen: list[Phrase] = []
    for phrase in ranked:
        key = {*phrase.key}
        if not any(2 * len(key & {*other}) >= min(len(key), len(other)) for other, _ in chosen):
            chosen.append(phrase)
        if len(chosen) == MOST:
            break
    return tuple(text for _, text in chosen)


def _weighted(found: Mapping[Key, Sequence[tuple[int, int]]]) -> Iterator[tuple[Key, float]]:
    within: dict[Key, int] = {}  # how often each stands in the commonest phrase that is a word longer
    for key, places in found.items():
        if len(key) > 1:
            for shorter in (key[1:], key[:-1]):
                within[shorter] = max(within.get(shorter, 0), len(places))
    for key, places in found.items():
        alone = len(places) - within.get(key, 0)
        if alone > 0:
            weights = LENGTH_WEIGHTS if len(places) > 1 else WEIGHTS_OF_SINGLE
            yield key, alone * weights[len(key)]


def _runs(text: str, language: str) -> Iterator[tuple[Key, list[int], list[int]]]:
    """Words that carry meaning, one after the other or with link words between them: keys, starts and ends."""
    links = _links(language)
    keys: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    skipped, end = 0, 0
    for match in _WORD.finditer(text):
        word = match.group()
        start, is_next = match.start(), text[end : match.start()] in _GAPS
        end = match.end()
        key = _meaning(word, language)
        if word[0].isdigit() and not (keys and is_next and not skipped and _is_code(text[starts[-1] : ends[-1]])):
            key = ""
        skipped = 0 if key else skipped + 1
        if keys and (not is_next or skipped > MOST_LINKS or not (key or word.lower() in links)):
            yield tuple(keys), starts, ends
            keys, starts, ends = [], [], []
        if key:
            keys.append(key)
            starts.append(start)
            ends.append(end)
    if keys:
        yield tuple(keys), starts, ends


def _is_code(word: str) -> bool:
    """What a number may follow: «ISO 9001»."""
    return len(word) > 1 and word.isupper()


@lru_cache(maxsize=languages.CACHED_WORDS)
def _meaning(word: str, language: str) -> str:
    """Its key; nothing where it has none."""
    key = _key(word)
    if word[0].isdigit() or (word.isupper() and any(map(str.isdigit, word))):  # «H2»
        return key
    is_stop = not {key, languages.fold(word)}.isdisjoint(_stops(language))
    return key if len(word) in WORD_CHARS and not is_stop else ""


def _key(word: str) -> str:
    folded = languages.fold(word)
    return folded.removesuffix("s") if len(folded) > 3 else folded


def _headed(parsed: ParsedText) -> set[str]:
    texts = [parsed.title, *(heading.text for heading in parsed.headings[:200])]
    return {_key(word) for text in texts for word in _WORD.findall(text)}


def _best_written(texts: Sequence[str]) -> str:
    """As it mostly is, in lower case where that is as usual: a sentence's first word has a capital."""
    written = Counter(texts)
    best = max(written, key=lambda text: (written[text], text.islower(), text))
    lower = best[0].lower() + best[1:]
    return " ".join((lower if written[lower] else best).split())


@lru_cache(maxsize=16)
def _links(language: str) -> frozenset[str]:
    return frozenset(LINKS.get(language, "").split())


@lru_cache(maxsize=16)
def _stops(language: str) -> frozenset[str]:
    """Folded: what is in no keyword. Of the languages that we answer in, where the language is not known."""
    if language not in languages.STEMMERS:
        return frozenset().union(*map(_stops, languages.ANSWER_LANGUAGES))
    locale = Locale(language)
    names = [name for kind in (locale.months, locale.days) for name in kind["format"]["wide"].values()]
    return frozenset(map(languages.fold, names)) | languages.stop_words(language)


@lru_cache(maxsize=16)
def _vague(language: str) -> frozenset[str]:
    """Keys of what is a keyword only next to other words: of the published stop words many are in terms («línea»)."""
    known = [name for name in (language, *languages.ANSWER_LANGUAGES) if stopwordsiso.has_lang(name)]
    published = stopwordsiso.stopwords(known if language not in languages.STEMMERS else language)
    return frozenset(map(_key, published))
