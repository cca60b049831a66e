"""Addresses in a text: of the web, of mail, or words that a page would take for one."""

import re
import unicodedata
from collections.abc import Iterable

ADDRESS = re.compile(r"[^\s<>\"«»“”\[\]{}|\\^`]+")
SCHEMES = (
    "http://", "https://", "ftp://", "ftps://", "ws://", "wss://", "file://", "www.", "mailto:", "javascript:",
    "vbscript:", "data:",
)  # fmt: skip
LINKED = ("http://", "https://", "mailto:")  # what a written link may lead to
_DANGEROUS = ("javascript:", "vbscript:", "data:", "file:")
JOINT = re.compile(r"[.@](?=\w)|:?//(?=\S)|/(?=\S)")
UNFINISHED_JOINT = re.compile(r"[.@/]|:/{0,2}|//")
# Only these ends make a host of «word.word» for a page that looks for links by itself.
_GENERIC = (
    "aero|app|asia|biz|click|cloud|club|com|coop|dev|edu|gov|icu|info|link|live|mobi|mov|museum|name|net|online|org|page"
    "|pro|shop|site|space|store|tech|top|vip|web|website|xxx|xyz|zip|рф|xn--[a-z0-9-]+"
)
_COUNTRY = (
    "a[cdefgilmnoqrstuwxz]|b[abdefghijmnorstvwyz]|c[acdfghiklmnoruvwxyz]|d[ejkmoz]|e[cegrstu]|f[ijkmor]"
    "|g[abdefghilmnpqrstuwy]|h[kmnrtu]|i[delmnoqrst]|j[emop]|k[eghimnprwyz]|l[abcikrstuvy]|m[acdeghklmnopqrstuvwxyz]"
    "|n[acefgilopruz]|om|p[aefghklmnrstwy]|qa|r[eosuw]|s[abcdeghijklmnortuvxyz]|t[cdfghjklmnortvwz]|u[agksyz]"
    "|v[aceginu]|w[fs]|y[et]|z[amw]"
)
HOST = re.compile(rf"(?:[^\s./:@?#]+\.)+(?:{_GENERIC}|{_COUNTRY})(?![\w-])|//\S", re.IGNORECASE)
COUNTRY_HOST = re.compile(rf"(?:[^\s./:@?#]+\.)+(?:{_COUNTRY})", re.IGNORECASE)  # README.md, «fin.La» as well
_SEPARATING = re.compile(r"[ZP].|Cc")
_OPENING, _ENDING = "(*_'‘", ".,;:!?*_~'’"


def find_addresses(texts: Iterable[str]) -> frozenset[str]:
    """Every word that could be one, as it is written."""
    tokens = (match[0] for text in texts for match in ADDRESS.finditer(text))
    return frozenset(trimmed(opened(token)) for token in tokens if any(c in token for c in ".@:/"))


def opened(token: str) -> str:
    return token.lstrip(_OPENING)


def trimmed(token: str) -> str:
    """Without the punctuation that follows an address in a sentence."""
    while token and (token[-1] in _ENDING or (token[-1] == ")" and token.count(")") > token.count("("))):
        token = token[:-1]
    return token


def is_letter(character: str) -> bool:
    """Whether a page would take it for a part of an address: anything but spaces and punctuation."""
    return character not in ("", *"<>|") and not _SEPARATING.fullmatch(unicodedata.category(character))


def may_follow(character: str) -> bool:
    """Whether an address that stands right after it begins there."""
    return character == "" or (not is_letter(character) and character not in "-_.@:/")


def is_dangerous(address: str) -> bool:
    return address.lower().startswith(_DANGEROUS)
