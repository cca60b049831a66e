"""Names of people, organisations and things, and codes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache
from typing import Protocol

from babel import Locale
from babel.dates import get_day_names, get_month_names

from graphrag.linguistics.language import ANSWER_LANGUAGES, all_stop_words, fold
from graphrag.linguistics.rules import Rules, WordList, WordSet, read_rules
from graphrag.models import Chunk
from graphrag.models.graph import TITLE_WEIGHT, Mention

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
    """Return a name without case, accents, articles and possessives: «L'Épicerie Valadour» → "epicerie valadour"."""
    words = [_POSSESSIVE.sub("", fold(_ELISION.sub("", word, count=1))) for word in name.split()]
    words = [word.strip('.,;:!?()[]"«»“”*_') for word in words]
    while words and words[0] in all_stop_words():
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
    """Return the names that each chunk of one document mentions, its title and headings included."""
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
    """Drop the first word if only the sentence's beginning gave it its capital."""
    first, _, rest = run.partition(" ")
    word = fold(_ELISION.sub("", first, count=1))
    return _JOIN.sub("", f" {rest}", count=1).lstrip() if word in common_words or word in all_stop_words() else run


def _is_date(key: str) -> bool:
    return all(word in _calendar() or not any(map(str.isalpha, word)) for word in key.split())


@lru_cache(maxsize=1)
def _calendar() -> frozenset[str]:
    names = [
        get(width, locale=language)
        for get in (get_month_names, get_day_names)
        for width in ("wide", "abbreviated")
        for language in ANSWER_LANGUAGES
    ]
    return frozenset(fold(name).rstrip(".") for by_number in names for name in by_number.values())


class NameRules(Rules):
    titles: WordSet
    exonyms: list[WordList]


@lru_cache(maxsize=1)
def _rules() -> NameRules:
    return read_rules(NameRules, "graphrag.linguistics", "names")


class _Written(Protocol):
    @property
    def folded(self) -> str: ...
    @property
    def written(self) -> str: ...
    @property
    def sentence(self) -> int: ...


def name_places(words: Sequence[_Written]) -> Iterator[int]:
    """Capitalised words, and codes; at the beginning of a sentence only where the next is one, or it comes again."""
    begins = [place == 0 or words[place - 1].sentence != word.sentence for place, word in enumerate(words)]
    within = {word.folded for word, first in zip(words, begins, strict=True) if word.written[0].isupper() and not first}
    for place, word in enumerate(words):
        if not word.written[0].isupper() or not _may_name(word.folded):
            continue
        is_followed = place + 1 < len(words) and not begins[place + 1] and words[place + 1].written[0].isupper()
        is_code = word.written.isupper() and len(word.written) > 1
        if not begins[place] or is_followed or is_code or word.folded in within:
            yield place


def _may_name(folded: str) -> bool:
    return (
        len(folded) > 1
        and folded not in _rules().titles
        and folded not in _month_and_day_names()
        and folded not in all_stop_words()
    )


@lru_cache(maxsize=1)
def _month_and_day_names() -> frozenset[str]:
    return frozenset(
        fold(name)
        for get in (get_month_names, get_day_names)
        for language in ANSWER_LANGUAGES
        for name in get("wide", locale=language).values()
    )


@lru_cache(maxsize=1)
def _translations() -> dict[str, int]:
    """Words of places and languages, each with the number of what it names."""
    found: dict[str, int] = {}
    number = 0
    locales = [Locale(language) for language in ANSWER_LANGUAGES]
    for kind in ("territories", "languages"):
        for key in getattr(locales[0], kind):
            names = [fold(getattr(locale, kind).get(key, "")) for locale in locales]
            number += 1
            for name in names:
                if name and " " not in name:
                    found.setdefault(name, number)
    for alike in _rules().exonyms:
        number += 1
        for name in alike:
            found.setdefault(name, number)
    return found


def same_name(one: str, other: str) -> bool:
    """Return whether two folded words are one name: equal, with an s behind, or in another of our languages."""
    if one == other or one.rstrip("s") == other.rstrip("s"):
        return True
    known = _translations()
    return one in known and known.get(one) == known.get(other)


_CAPITAL_LETTERS = "A-ZÁÀÂÄÇÉÈÊËÍÎÏÑÓÔÖÚÜ"
FULL_NAME = (
    rf"[{_CAPITAL_LETTERS}][\w’'-]+(?: (?:de |del |de la |la |le |van |von )?[{_CAPITAL_LETTERS}][\w’'-]+){{1,2}}"
)
NAME = re.compile(FULL_NAME)
