"""Markup of a model's text as it streams: no HTML, images or foreign links."""

import re
import unicodedata
from collections.abc import Collection, Iterable
from typing import Literal

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
HOST = re.compile(rf"(?:[^\s./:@?#]+\.)+(?:{_GENERIC}|{_COUNTRY})(?!_*[^\W_]|-)|//\S", re.IGNORECASE)
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
    """Remove the punctuation that follows an address in a sentence."""
    while token and (token[-1] in _ENDING or (token[-1] == ")" and token.count(")") > token.count("("))):
        token = token[:-1]
    return token


def is_letter(character: str) -> bool:
    """Return whether a page would take it for a part of an address: anything but spaces and punctuation."""
    return character not in ("", *"<>|") and not _SEPARATING.fullmatch(unicodedata.category(character))


def may_follow(character: str) -> bool:
    """Return whether an address that stands right after it begins there."""
    return character == "" or (not is_letter(character) and character not in "-_.@:/")


def is_dangerous(address: str) -> bool:
    return address.lower().startswith(_DANGEROUS)


_HTML = frozenset(
    """
    a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body
    br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em
    embed fieldset figcaption figure font footer form frame frameset g h1 h2 h3 h4 h5 h6 head header hgroup hr html
    i iframe image img input ins isindex kbd keygen label legend li link main map mark marquee math menu meta meter
    nav nobr noembed noframes noscript object ol optgroup option output p param path picture plaintext portal pre
    progress q rp rt ruby s samp script search section select slot small source span strike strong style sub summary
    sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul use var video wbr xmp xss
    """.split()
)
_BREAKING = frozenset("blockquote br dd div dt h1 h2 h3 h4 h5 h6 hr li ol p pre table td th tr ul".split())
_WITH_CODE = ("script", "style")  # what is between their tags is no text
_TAG = re.compile(r"</?([A-Za-z][\w:-]*)[^<>]*>")
_OPEN_TAG = re.compile(r"</?[A-Za-z][^<>]*")
_AUTOLINK = re.compile(r"<([A-Za-z](?:[A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]*@[^\s<>]+))>")  # else its @ is met later
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)
_TARGET = re.compile(r"\s*(?:<([^<>\n]*)>|(\S*))(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*")
_LIKE_TARGET = re.compile(r"[/:.#?@%]|^\s*(?:<|$)")  # [1](véase) has none
_MARK = re.compile(r"\d{1,3}(?:\s*[,;]\s*\d{1,3})*")
_CITED_IN_LINE = re.compile(r"[^\W\d_][^\[\]\n]*(?:\[[\d,; ]+\])+")  # at the end of what was written: no definition

_WORD = re.compile(r"[^\W_]+")
_REST = re.compile(r"[^\w<\[\]!(:./@]+")

MAX_MARKUP, MOST_TARGET, MOST_ADDRESS, MOST_CODE = 400, 1_000, 2_000, 20_000  # characters that are held back
GONE = "…"  # where an address was


class _Unfinished(Exception):
    """Markup that the following text decides."""


class MarkupFilter:
    """Takes a text in pieces and lets it through; however it is cut, the same comes out.

    `addresses` may stay. What is left holds no `<` before a letter, no `](` but in a link to one of them, and no
    definition `[x]:`, so that no renderer makes more of it than text.
    """

    def __init__(self, addresses: Collection[str]) -> None:
        self._addresses = addresses
        self._held = ""
        self._after_address: Literal["", "address", "stop"] = ""
        self._is_cut = False  # something went away after the last character that was let through
        self._makes_marks = False  # the last bracket: a number right after it would become a citation
        self.text = ""  # what was let through

    def feed(self, piece: str) -> str:
        self._held += piece
        return self._advance(final=False)

    def flush(self) -> str:
        return self._advance(final=True)

    def _advance(self, *, final: bool) -> str:
        before = len(self.text)
        while self._held:
            try:
                self._step(final)
            except _Unfinished:
                break
        return self.text[before:]

    def _step(self, final: bool) -> None:
        first = self._held[0]
        if first == "<":
            self._pass_tag(final)
        elif first == "[":
            self._pass_bracket(final)
        elif first == "!":
            self._pass_image(final)
        elif first == "(" and self.text.endswith("]"):
            target = self._target(0, final)
            self._drop(target[1]) if target else self._take(1)
        elif first in ".@:/":
            self._pass_joint(final)
        elif not self.text[-1:].isalnum() and self._begins_address(final):
            self._pass_address("", final)
        else:
            run = _WORD.match(self._held) or _REST.match(self._held)
            self._take(run.end() if run and not self._after_address else 1)

    def _take(self, count: int) -> None:
        """Lets the next characters through."""
        text, self._held = self._held[:count], self._held[count:]
        self._write(text)

    def _drop(self, count: int, instead: str = "") -> None:
        self._held = self._held[count:]
        self._is_cut = True
        self._write(instead)

    def _write(self, text: str) -> None:
        if not text:
            return
        if self._is_joined(text[0]):
            text = f" {text}"
        self._is_cut = False
        self.text += text

    def _is_joined(self, following: str) -> bool:
        """Return whether the two together would be more than text."""
        last = self.text[-1:]
        if self._after_address:
            return self._is_in_address(following)
        if last == "<":
            return (following.isascii() and following.isalpha()) or following in "/!?"
        if self._is_cut and last in (".", "@", "/") and following.isalnum():
            return True
        if last == "[":
            return self._makes_marks and following.isdigit()
        if last == "]" and following == ":":
            line = self.text[self.text.rfind("\n") + 1 :]
            return not any(match.end() == len(line) for match in _CITED_IN_LINE.finditer(line))
        return last == "]" and following == "("

    def _is_in_address(self, following: str) -> bool:
        """A page would take what stands right after an address into it, and a full stop with more after it."""
        ends, is_stop = following.isspace() or following == ")", following in ".,;!?"
        before, self._after_address = self._after_address, ""
        if following == "*" or (before == "address" and is_stop):  # bold that ends there
            self._after_address = "stop"
            return False
        return not ends

    def _pass_tag(self, final: bool) -> None:
        held = self._held
        if held in ("<", "</", "<!", "<!-") and not final:
            raise _Unfinished
        if len(_FENCE.findall(self.text)) % 2:  # code keeps its text
            self._take(1)
        elif held.startswith("<!--"):
            self._drop_until("-->", 2, final)
        elif link := _AUTOLINK.match(held):
            self._held = held[link.end() :]
            self._write_address(link[1], link[1])
        elif tag := _TAG.match(held):
            self._pass_element(tag, final)
        else:
            is_open = _OPEN_TAG.fullmatch(held) is not None and len(held) < MAX_MARKUP
            if is_open and not final:
                raise _Unfinished
            self._take(1)

    def _pass_element(self, tag: re.Match[str], final: bool) -> None:
        name = tag[1].lower()
        if name not in _HTML:
            self._take(1)
        elif name in _WITH_CODE and not tag[0].startswith("</"):
            self._drop_until(f"</{name}>", tag.end(), final, otherwise=tag.end())
        else:
            is_breaking = name in _BREAKING and bool(self.text) and not self.text[-1].isspace()
            self._drop(tag.end(), " " if is_breaking else "")

    def _drop_until(self, end: str, start: int, final: bool, *, otherwise: int = 0) -> None:
        """Drop an element with its content; if it has no end, only its tag."""
        found = self._held.lower().find(end, start, MOST_CODE)
        if found != -1:
            self._drop(found + len(end))
        elif not final and len(self._held) < MOST_CODE + len(end):
            raise _Unfinished
        elif otherwise:
            self._drop(otherwise)
        else:
            self._take(1)

    def _pass_image(self, final: bool) -> None:
        if len(self._held) == 1 and not final:
            raise _Unfinished
        if self._held[1:2] == "[":
            end = self._closing(1, "[]", MAX_MARKUP, final)
            if end and not _MARK.fullmatch(self._held[2:end]) and (target := self._target(end + 1, final)):
                self._drop(target[1])
                return
        self._take(1)

    def _pass_bracket(self, final: bool) -> None:
        end = self._closing(0, "[]", MAX_MARKUP, final)
        inner = self._held[1:end] if end else ""
        if end and _MARK.fullmatch(inner):  # shown at once; a target after it goes when it comes
            self._take(end + 1)
            return
        target = self._target(end + 1, final) if end else None
        if not end or not target:
            self._makes_marks = not end or any(character in inner for character in "<[!(")
            self._take(1)
        elif target[0].startswith(LINKED) and target[0] in self._addresses:
            label = MarkupFilter(self._addresses)
            text = label.feed(inner) + label.flush()
            before = " " if self.text[-1:] == "!" else ""
            inside = " " if _MARK.fullmatch(text) else ""
            self._drop(target[1], f"{before}[{inside}{text}]({target[0]})")
        else:
            self._drop(target[1])
            self._held = inner + self._held

    def _target(self, start: int, final: bool) -> tuple[str, int] | None:
        """Return the target of a link written as (…) here and its end; None if there is no link."""
        if start == len(self._held) and not final:
            raise _Unfinished
        end = self._closing(start, "()", MOST_TARGET, final) if self._held[start : start + 1] == "(" else None
        content = self._held[start + 1 : end] if end else ""
        match = _TARGET.fullmatch(content) if end and _LIKE_TARGET.search(content) else None
        return ((match[1] or match[2] or "").strip(), end + 1) if match and end else None

    def _closing(self, start: int, pair: str, most: int, final: bool) -> int | None:
        """Return the position of the closing bracket; None if it isn't within `most` characters and the paragraph."""
        depth = 0
        for index in range(start, min(len(self._held), start + most)):
            character = self._held[index]
            depth += (character == pair[0]) - (character == pair[1])
            if depth == 0:
                return index
            if character == "\n" and self._held[index - 1] == "\n":
                return None
        if len(self._held) < start + most and not final:
            raise _Unfinished
        return None

    def _begins_address(self, final: bool) -> bool:
        start = self._held[:12].lower()
        known = next((scheme for scheme in SCHEMES if start.startswith(scheme)), None)
        if known is None:
            if not final and any(scheme.startswith(start) for scheme in SCHEMES):
                raise _Unfinished
            return False
        if len(self._held) == len(known) and not final:
            raise _Unfinished
        return self._held[len(known) : len(known) + 1].strip() != ""

    def _pass_joint(self, final: bool) -> None:
        """Pass the characters that join words to an address: a dot, an @, two slashes."""
        if UNFINISHED_JOINT.fullmatch(self._held) and not final:
            raise _Unfinished
        joint = JOINT.match(self._held)
        before = self.text[-1:]
        is_second = joint is not None and joint[0] == "/" and before != "/"
        is_first = joint is not None and joint[0] in (".", "@") and not is_letter(before)
        if joint is None or is_second or is_first:
            self._take(1)
        else:
            self._pass_address(self._last_word(), final)

    def _pass_address(self, begun: str, final: bool) -> None:
        match = ADDRESS.match(self._held, 0, MOST_ADDRESS)
        token = match[0] if match else self._held[0]
        if len(token) == len(self._held) < MOST_ADDRESS and not final:
            raise _Unfinished
        address = trimmed(token) or token
        whole = opened(begun + address)
        if begun and whole not in self._addresses and not HOST.search(whole):
            self._take(1)
        elif self._held[0] == "." and whole not in self._addresses and COUNTRY_HOST.fullmatch(whole):
            self._drop(1, ". ")
        else:
            self._held = self._held[len(address) :]
            self._write_address(address, whole)

    def _write_address(self, address: str, whole: str) -> None:
        """`whole` is the address with what of it was let through before."""
        if whole in self._addresses and not is_dangerous(whole):
            self._write(address if address != whole or may_follow(self.text[-1:]) else f" {address}")
            self._after_address = "address"
        else:
            self._write(GONE)

    def _last_word(self) -> str:
        tail = self.text[-MOST_ADDRESS:]
        found = re.search(rf"{ADDRESS.pattern}\Z", tail)
        return found[0] if found else ""
