"""Who and what a text names: runs of capitalised words and codes, by one key everywhere."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Protocol

from babel.dates import get_day_names, get_month_names

from graphrag.graph_models import TITLE_WEIGHT, Mention
from graphrag.language import ANSWER_LANGUAGES, fold, stop_words
from graphrag.models import Chunk

NAME_WEIGHT = 1.0
HEADING_WEIGHT = 0.5  # of a name in the title, in a heading or in a table's header, which many chunks share
SURNAME_WEIGHT = 0.2  # of a name's last word: «Salcedo» is Rubén Salcedo, and may be another
_CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪĮİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽ"
_WORD = rf"(?:[{_CAPITAL}]|\d+[.-]?(?=[{_CAPITAL}]))[\w’']*(?:[-.&][\w’']+)*"
_JOINS = r"(?:of|the|and|for|de|del|la|las|los|el|y|e|du|des|le|les|et|von|van|der|den|da|di|d['’]|l['’]|&)"
_RUN = re.compile(
    rf"(?<![\w’'])(?:[dDlL]['’])?{_WORD}(?:[ \u00a0]+(?:{_JOINS}[ \u00a0]*){{0,2}}(?:{_WORD}|\d[\w.-]*))*"
)
_JOIN = re.compile(rf"[ \u00a0]+(?:{_JOINS}[ \u00a0]*)+")
_ELISION = re.compile(r"(?:[cdjlmnst]|qu)['’]", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…\n])[\s\"'«»“”‘’(\[*_#>|•¿¡–—-]*$")
_LOWER_CASE = re.compile(r"(?<![\w’'])[a-zß-öø-ÿœ][\w]*")
_BRACKETS = re.compile(r"\s*\([^)]*\)\s*$")
_BEFORE = 12  # characters that are looked back at for the beginning of a sentence
_LONGEST = 80  # characters of a key: what is longer is no name


class NameRecognizer(Protocol):
    """A trained model that finds names, also those that no capital letter shows."""

    async def find_names(self, texts: Sequence[str], *, language: str) -> list[tuple[str, ...]]:
        """One entry a text, as it writes them; none in a language that it does not know."""
        ...


def name_key(name: str) -> str:
    """Without case, accents, leading articles and possessives: «L'Épicerie Valadour» → "epicerie valadour"."""
    words = [_POSSESSIVE.sub("", fold(_ELISION.sub("", word, count=1))) for word in name.split()]
    words = [word.strip('.,;:!?()[]"«»“”*_') for word in words]
    while words and words[0] in _empty_words():
        words = words[1:]
    key = " ".join(filter(None, words))
    return key if 1 < len(key) <= _LONGEST and not _is_date(key) else ""


def names_in(text: str, *, common_words: Set[str] = frozenset()) -> dict[str, float]:
    """Keys of the names, each with the weight of its surest form.

    `common_words`: folded words that the document writes in lower case, too: at the beginning of a sentence they name
    nothing.
    """
    weights: dict[str, float] = {}
    for match in _RUN.finditer(text):
        run = match.group()
        if _SENTENCE_START.search(text[max(0, match.start() - _BEFORE) : match.start()]):
            run = _without_first(run, common_words)
        for key, weight in _forms(run):
            weights[key] = max(weights.get(key, 0.0), weight)
    return weights


def title_keys(title: str) -> list[str]:
    """The title, and it without what tells it from others: «Brother (song)» → «Brother», «Rochester, New York»."""
    bare = _BRACKETS.sub("", title)
    return list(dict.fromkeys(filter(None, map(name_key, (title.replace(",", ""), bare, bare.partition(",")[0])))))


def mentions(chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
    """What each chunk of one document names, its title and headings included."""
    if not chunks:
        return []
    title = chunks[0].document.title
    common = {fold(word) for chunk in chunks for word in _LOWER_CASE.findall(chunk.content)}
    titles = dict.fromkeys(title_keys(title), TITLE_WEIGHT)
    return [tuple(_mentions(chunk, titles, common)) for chunk in chunks]


def _mentions(chunk: Chunk, titles: Mapping[str, float], common: Set[str]) -> Iterator[Mention]:
    above = names_in(chunk.context, common_words=common)
    headers = filter(None, map(name_key, chunk.headers))
    weights = dict.fromkeys([*above, *headers], HEADING_WEIGHT)
    for key, weight in names_in(chunk.content, common_words=common).items():
        weights[key] = max(weights.get(key, 0.0), weight)
    return (Mention(key, weight) for key, weight in {**weights, **titles}.items())


def _forms(run: str) -> Iterable[tuple[str, float]]:
    """The whole, its parts between small words («Bank of Spain» → «Bank», «Spain»), and each part's last word."""
    parts = _JOIN.split(run)
    for name in (run, *parts):
        if key := name_key(name):
            yield key, NAME_WEIGHT
            first, _, last = key.rpartition(" ")
            if first and name in parts and not last.isdigit():
                yield last, SURNAME_WEIGHT


def _without_first(run: str, common_words: Set[str]) -> str:
    """Without the word that has its capital from the sentence's beginning."""
    first, _, rest = run.partition(" ")
    word = fold(_ELISION.sub("", first, count=1))
    return _JOIN.sub("", f" {rest}", count=1).lstrip() if word in common_words or word in _empty_words() else run


def _is_date(key: str) -> bool:
    return all(word in _calendar() or not any(map(str.isalpha, word)) for word in key.split())


@lru_cache(maxsize=1)
def _empty_words() -> frozenset[str]:
    return frozenset().union(*map(stop_words, ANSWER_LANGUAGES))


@lru_cache(maxsize=1)
def _calendar() -> frozenset[str]:
    names = [
        get(width, locale=language)
        for get in (get_month_names, get_day_names)
        for width in ("wide", "abbreviated")
        for language in ANSWER_LANGUAGES
    ]
    return frozenset(fold(name).rstrip(".") for by_number in names for name in by_number.values())
