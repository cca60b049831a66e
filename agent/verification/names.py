"""Which words of a text are names, and when two are the same."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

from babel import Locale
from babel.dates import get_day_names, get_month_names

from graphrag.language import ANSWER_LANGUAGES, fold, stop_words

_TITLES = frozenset(
    "sr sra srta don dona d dr dra m mr mrs ms mme mlle me ing lic miss senor senora madame monsieur docteur doctor"
    " doctora"
    " maitre q t i ii iii iv id no nº pdf".split()
)  # fmt: skip
_EXONYMS = (
    "londres london", "paris", "lisboa lisbonne lisbon", "ginebra geneve geneva", "bruselas bruxelles brussels",
    "sevilla seville", "zaragoza saragosse saragossa", "barcelona barcelone", "marsella marseille marseilles",
    "burdeos bordeaux", "lyon", "tolosa toulouse", "viena vienne vienna", "roma rome", "milan milano", "turin torino",
    "florencia florence", "venecia venise venice", "napoles naples", "amberes anvers antwerp", "munich",
    "hamburgo hambourg hamburg", "colonia cologne", "berlin", "atenas athenes athens", "moscu moscou moscow",
    "varsovia varsovie warsaw", "praga prague", "copenhague copenhagen", "estocolmo stockholm", "edimburgo"
    " edimbourg edinburgh",
    "dublin", "bale basilea basel", "zurich", "berna berne bern", "rin rhin rhine", "danubio danube", "tamesis"
    " tamise thames",
    "valencia valence", "cordoba cordoue", "europa europe", "america amerique", "asia asie", "africa afrique",
    "antartida antarctique antarctica", "alpes alps", "pirineos pyrenees", "cataluna catalogne catalonia",
    "andalucia andalousie andalusia", "bretana bretagne brittany", "escocia ecosse scotland", "gales wales",
    "inglaterra angleterre england", "borgona bourgogne burgundy", "provenza provence", "la haya haye hague",
    "oporto porto", "tajo tage tagus tejo", "duero douro", "sena seine", "rodano rhone", "mosa meuse", "escalda escaut"
    " scheldt", "garona garonne", "cairo caire", "pekin beijing", "palermo palerme", "genova genes genoa",
    "padua padoue padova", "bolonia bologne bologna", "brujas bruges", "gante gand ghent", "lieja liege",
    "niza nice", "perpinan perpignan", "bayona bayonne", "lovaina louvain leuven", "cracovia cracovie krakow",
    "belgrado belgrade", "argel alger algiers", "tunez tunis", "tanger tangier", "habana havane havana",
    "canarias canaries canary", "baleares balearic", "galicia galice", "asturias asturies", "navarra navarre",
    "normandia normandie normandy", "gascuna gascogne gascony", "alsacia alsace", "cornualles cornouailles cornwall",
    "atlantico atlantique atlantic", "mediterraneo mediterranee mediterranean", "pacifico pacifique pacific",
)  # fmt: skip


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
    return len(folded) > 1 and folded not in _TITLES and folded not in _calendar() and folded not in _small_words()


@lru_cache(maxsize=1)
def _calendar() -> frozenset[str]:
    return frozenset(
        fold(name)
        for get in (get_month_names, get_day_names)
        for language in ANSWER_LANGUAGES
        for name in get("wide", locale=language).values()
    )


@lru_cache(maxsize=1)
def _small_words() -> frozenset[str]:
    return frozenset().union(*map(stop_words, ANSWER_LANGUAGES))


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
    for line in _EXONYMS:
        number += 1
        for name in line.split():
            found.setdefault(name, number)
    return found


def same_name(one: str, other: str) -> bool:
    """Of folded words: as they are, with an s behind, or in another of our languages."""
    if one == other or one.rstrip("s") == other.rstrip("s"):
        return True
    known = _translations()
    return one in known and known.get(one) == known.get(other)
