"""Distractors: paragraphs that no one wrote, made to cost a full-text search what real ones do.

A collection of 300,000 real paragraphs can't be shipped, and copies of a few would make every word common. So the base
passages (those that the questions are about) are read as a bigram model of their language, and paragraphs of 80–120
words are drawn from it:

- Words: half of them follow the word before as they do in the base, the others are drawn by their frequency there. So
  the questions' words return in the distractors with their Zipf-like document frequencies.
- New words: a word that stands in only one or two documents of the base is its topic's, not the language's. Absolute
  discounting (Ney, Essen & Kneser 1994) says how much of its probability belongs to words that the base never saw: so
  often it is replaced by a word made of halves of two others, with its punctuation and its capital.
- The new words have no last one: their ranks are drawn from a Zipf–Mandelbrot law, so that the number of distinct words
  grows with the corpus as in real text (Heaps' law). The first ranks are the words that only the questions hold.
- A paragraph has a topic: half of its new words are a few that return in it, none of which a question holds.
- Numbers keep their form and get new digits; some dates and amounts are sown besides.

Measured on XQuAD (es) and PIAF (fr), where passages about other topics are the real thing to compare with: a content
word of a question is in 1.8 % and 1.1 % of those, in 1.8 % and 1.3 % of the distractors; by BM25 .38 % and .29 % of the
distractors come before the right passage (.48 % and .31 % of the real ones), by the bundled vectors 6.2 % and 5.1 %
(7.3 % and 7.1 %). Five million words have 226,000 and 245,000 distinct ones.

Everything is drawn from one seed, block by block: the first n distractors are the same whatever comes after them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from graphrag.ingestion.chunking import CONTEXT_SEPARATOR
from graphrag.linguistics.language import detect_question

BLOCK = 5_000
WORDS = (80, 120)
FOLLOWS = 0.5  # the share of words that follow the one before
TOPIC_WORDS = 6
TOPICAL = 0.5  # the share of a paragraph's new words that are among its topic's
SOWN = 0.006  # of the words: amounts and dates
TAIL = (
    0.8  # of the Zipf–Mandelbrot law: p(rank) ~ (rank + shift)^-(1 + TAIL), so distinct words ~ draws^(1 / (1 + TAIL))
)
LAST_RANK = 100_000_000
STRIDE = 1_000_003  # a prime: neighbours in rank are no neighbours in the alphabet

_TOKEN = re.compile(r"^(\W*)(.*?)(\W*)$", re.DOTALL)
_DIGIT = re.compile(r"\d")
_SYLLABLES = np.array(["", *(f"{onset}{vowel}" for onset in "bcdfglmnprstv" for vowel in "aeiou")], dtype=object)
_MONTHS = {
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre".split(),
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split(),
    "en": "January February March April May June July August September October November December".split(),
}

Ints = npt.NDArray[np.int64]
Strings = npt.NDArray[np.object_]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as every system gets it; the passages of a document follow each other."""

    document: str
    title: str  # and the headings over it
    text: str
    language: str

    @property
    def content(self) -> str:
        return f"{self.title}\n{self.text}"


def distractors(base: Sequence[Passage], questions: Sequence[str], *, seed: int = 1) -> Iterator[Passage]:
    """Without end. Each is a document of its own; the languages come as often as in the base."""
    counts = Counter(passage.language for passage in base)
    languages = sorted(counts)
    spoken = [detect_question(question) for question in questions]
    writers = [
        _Writer(
            [passage for passage in base if passage.language == language],
            [question for question, its in zip(questions, spoken, strict=True) if its == language],
            language,
        )
        for language in languages
    ]
    shares = np.array([counts[language] for language in languages]) / len(base)
    block = 0
    while True:
        rng = np.random.default_rng([seed, block])
        which = rng.choice(len(writers), size=BLOCK, p=shares)
        written = [writer.write(int((which == number).sum()), rng) for number, writer in enumerate(writers)]
        for place, number in enumerate(which.tolist()):
            title, text = next(written[number])
            yield Passage(f"distractor-{block * BLOCK + place}", title, text, languages[number])
        block += 1


class _Writer:
    """A bigram model of one language's passages, with room for words that they don't hold."""

    def __init__(self, passages: Sequence[Passage], questions: Sequence[str], language: str) -> None:
        texts = [list(_tokens(passage.text)) for passage in passages]
        tokens = [token for text in texts for token in text]
        words, self._word = np.unique([core.lower() for _, core, _ in tokens], return_inverse=True)
        self._lead, self._core, self._trail = (np.array(part, dtype=object) for part in zip(*tokens, strict=True))
        self._token = np.asarray(self._lead + self._core + self._trail, dtype=object)
        self._capital = np.array([core[:1].isupper() for core in self._core])
        self._number = np.array([bool(_DIGIT.search(core)) for core in self._core])
        self._places = np.argsort(self._word, kind="stable")  # of each word, one word after the other
        self._count = np.bincount(self._word, minlength=len(words))
        self._first = np.concatenate([[0], np.cumsum(self._count)[:-1]])
        self._new = _discount(self._word, np.repeat(_units(passages), [len(text) for text in texts]))
        self._shift = max(
            1.0, 2 * TAIL * float(self._new[self._word].sum())
        )  # the first is half as common as one seen once
        self._months = _MONTHS.get(language, _MONTHS["en"])
        self._heads, self._tails = _halves(words.tolist())
        self._asked = _only_asked(questions, set(words.tolist()))

    def write(self, count: int, rng: np.random.Generator) -> Iterator[tuple[str, str]]:
        """Titles and texts."""
        lengths = rng.integers(WORDS[0], WORDS[1] + 1, size=count).tolist()
        text = self._surface(self._walk(count, rng), rng)
        names = self._invent(self._ranks((count, 2), rng))
        for row, name, length in zip(text, names, lengths, strict=True):
            line = " ".join(row[:length].tolist()).rstrip(" ,;:.-–—(«\"'")
            yield " ".join(name.tolist()).title(), f"{line[:1].upper()}{line[1:]}."

    def _walk(self, count: int, rng: np.random.Generator) -> Ints:
        """Places in the base: of each word of each paragraph."""
        length = WORDS[1]
        jumps = rng.integers(len(self._word), size=(count, length))
        follows = rng.random((count, length)) < FOLLOWS
        which = rng.random((count, length))
        places = np.empty((count, length), dtype=np.int64)
        place = jumps[:, 0]
        for step in range(length):
            word = self._word[place]
            same = self._places[self._first[word] + (which[:, step] * self._count[word]).astype(np.int64)]
            place = np.where(follows[:, step], (same + 1) % len(self._word), jumps[:, step])
            places[:, step] = place
        return places

    def _surface(self, places: Ints, rng: np.random.Generator) -> Strings:
        """The tokens of those places, but for new words and numbers."""
        tokens = self._token[places]
        is_number = self._number[places]
        is_new = (rng.random(places.shape) < self._new[self._word[places]]) & ~is_number
        words = self._invent(self._new_ranks(np.nonzero(is_new)[0], len(places), rng)).tolist()
        capitals = self._capital[places[is_new]].tolist()
        named = [word.capitalize() if capital else word for word, capital in zip(words, capitals, strict=True)]
        tokens[is_new] = self._dressed(named, places[is_new])
        digits = rng.integers(10**9, size=int(is_number.sum())).tolist()
        cores = self._core[places[is_number]].tolist()
        redialled = [_redial(core, new) for core, new in zip(cores, digits, strict=True)]
        tokens[is_number] = self._dressed(redialled, places[is_number])
        sown = rng.random(places.shape) < SOWN
        tokens[sown] = [self._sow(number) for number in rng.integers(10**9, size=int(sown.sum())).tolist()]
        return tokens

    def _dressed(self, cores: Sequence[str], places: Ints) -> Strings:
        """With the punctuation of what they stand for."""
        return np.asarray(self._lead[places] + np.array(cores, dtype=object) + self._trail[places], dtype=object)

    def _new_ranks(self, paragraphs: Ints, count: int, rng: np.random.Generator) -> Ints:
        """One for each new word, which is given by the paragraph that it is in."""
        topics = len(self._asked) + self._ranks((count, TOPIC_WORDS), rng)
        topical = topics[paragraphs, rng.integers(TOPIC_WORDS, size=paragraphs.shape)]
        return np.where(rng.random(paragraphs.shape) < TOPICAL, topical, self._ranks(paragraphs.shape, rng))

    def _ranks(self, shape: tuple[int, ...], rng: np.random.Generator) -> Ints:
        ranks = ((1 - rng.random(shape)) ** (-1 / TAIL) - 1) * self._shift
        return np.minimum(ranks, LAST_RANK - 1).astype(np.int64)

    def _invent(self, ranks: Ints) -> Strings:
        """The word of each rank: syllables, and an ending of the language; the rarer the longer."""
        known, back = np.unique(ranks, return_inverse=True)
        heads, tails = len(self._heads), len(self._tails)
        mixed = known * STRIDE % (heads * tails)
        words = (
            self._heads[mixed % heads]
            + _SYLLABLES[known // (heads * tails) % len(_SYLLABLES)]
            + self._tails[mixed // heads]
        )
        asked = known < len(self._asked)
        words[asked] = self._asked[known[asked]]
        return np.asarray(words[back].reshape(ranks.shape), dtype=object)

    def _sow(self, number: int) -> str:
        day, month, year = number % 28 + 1, self._months[number // 28 % 12], 1990 + number // 400 % 37
        return (f"{day} {month} {year}", f"{year}", f"{number % 9_000 / 10:.1f}", f"{number % 90_000}")[number % 4]


def _tokens(text: str) -> Iterator[tuple[str, str, str]]:
    """Words and numbers, each between the marks before and behind it; marks that stand alone are left out."""
    for token in text.split():
        if (match := _TOKEN.match(token)) and match[2]:
            yield match[1], match[2], match[3]


def _units(passages: Sequence[Passage]) -> list[int]:
    """What a word must stand in twice to be the language's and not one topic's: passages of one title are one."""
    numbers: dict[str, int] = {}
    titles = [passage.title.partition(CONTEXT_SEPARATOR)[0] or passage.document for passage in passages]
    return [numbers.setdefault(title, len(numbers)) for title in titles]


def _discount(words: Ints, units: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Of each word, the share of its probability that belongs to words never seen: D/df with D = n1/(n1 + 2·n2)."""
    pairs = np.unique(np.stack([words, units]), axis=1)
    frequency = np.bincount(pairs[0], minlength=int(words.max()) + 1)
    once, twice = int((frequency == 1).sum()), int((frequency == 2).sum())
    return once / max(1, once + 2 * twice) / np.maximum(frequency, 1)


def _halves(words: Sequence[str]) -> tuple[Strings, Strings]:
    long = [word for word in words if len(word) > 5 and word.isalpha()] or ["palabra"]
    heads = sorted({word[: (len(word) + 1) // 2] for word in long})
    tails = sorted({word[(len(word) + 1) // 2 :] for word in long})
    return np.array(heads, dtype=object), np.array(tails, dtype=object)


def _only_asked(questions: Sequence[str], known: set[str]) -> Strings:
    words = {word for question in questions for word in re.findall(r"[^\W\d_]{4,}", question.lower())}
    return np.array(sorted(words - known), dtype=object)


def _redial(number: str, new: int) -> str:
    """The same form, other digits; a year stays one."""
    if len(number) == 4 and number.isdigit() and number[0] in "12":
        return str(1400 + new % 630)
    digits = iter(f"{new:09}" * (1 + len(number) // 9))
    return _DIGIT.sub(lambda _: next(digits), number)
