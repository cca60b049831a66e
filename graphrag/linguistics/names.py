"""Names, codes, e-mail and web addresses, paths: one reader of texts, and the keys of the names for the graph.

The reader is our own: spaCy's blank tokenizers cut "N'Guessan" and "/etc/hosts", and rulers of their tokens found .70
(es), .57 (fr) and .61 (en) of what the benchmark of linguistics asks for, in as much time.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Literal, NamedTuple, Protocol, cast

from babel import Locale
from babel.dates import get_day_names, get_month_names

from graphrag.linguistics.language import ANSWER_LANGUAGES, all_stop_words, fold, stop_words
from graphrag.linguistics.lexicon import parts_of_speech
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordList, WordSet, read_rules
from graphrag.linguistics.sentence_stops import Abbreviation, abbreviation
from graphrag.models import Chunk
from graphrag.models.graph import TITLE_WEIGHT, Mention

Kind = Literal["name", "code", "email", "url", "path"]

NAME_WEIGHT = 1.0
HEADING_WEIGHT = 0.5  # of a name in the title, in a heading or in a table's header, which many chunks share
SURNAME_WEIGHT = 0.2  # of a name's last word: «Salcedo» is Rubén Salcedo, and may be another
CACHED_WORDS = 50_000
_LONGEST = 80  # characters of a key: what is longer is no name
_LONGEST_CODE = 40
_LONGEST_RUN = 40  # words
_NEAR = 100  # characters that are looked at around a run
_CAPITAL = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĘĚĞĢĪĮİĶĹĻĽŁŃŅŇŌŐŒŔŘŚŞŠŢŤŪŮŰŲŹŻŽ"
_PLAIN = (("’", "'"), ("´", "'"), ("ʼ", "'"), ("\u00a0", " "), ("\u202f", " "), ("‑", "-"))
_MARK = re.compile(r"(?:[\d@/\\~]|\.\w)\S*")  # of what is not only words
_BEGINNING = re.compile(
    r"(?:^|[.!?:…|\n])[\s\"'«»“”‘(\[\]*_#>|•¿¡–—-]*$|[¿¡]$"
    r"|(?:^|\n)[ #*-]*(?:\d+(?:\.\d+)*|[ivxIVX]+|[a-zA-Z]|\[[ x]\])[.)]?\s+$"
)
_SHORT_FORM = re.compile(r"([\w.]+)\.\s*$")
_WITHIN = (Abbreviation.TITLE, Abbreviation.BEFORE_NAME)  # whose stops end no sentence
_ELISION = re.compile(r"\b(?:[cdjlmnst]|qu)['’]", re.IGNORECASE)
_POSSESSIVE = re.compile(r"['’]s?$")
_PARTICLE = re.compile(r"(\w+)\.? +(d'|(?:de la|du|des|de|van der|van den|van|von|da|di) )$")
_FOLLOWING = re.compile(r" (\w+)")
_ALONE = re.compile(r"\s*(?:[,;|)(\n–-]|$)")
_BRAND = re.compile(r"\d|^(?!(?:Mc|Mac|De|Di|Le|La|Van)[A-ZÀ-Þ])[^-']*[^\W\d_][A-ZÀ-Þ](?!\.)")
_AMOUNT = re.compile(r"[+€$£]\n|\d[ ,.']\n|\n[ ,.']\d|\n ?[€$£%]")  # around a number, which the line break stands for
_NAME_BEFORE = re.compile(rf"[{_CAPITAL}]\w+ $")
_ENDS_IN_YEAR = re.compile(r"(?:19|20)\d\ds?$")
_MODEL = re.compile(r"[A-Z]{1,2}\d{1,3}[a-z]?")
_LOWER_CASE = re.compile(r"(?<![\w’'])[a-zß-öø-ÿœ][\w]*")
_BRACKETS = re.compile(r"\s*\([^)]*\)\s*$")
_ROMAN = re.compile(r"(?=[XVI])X{0,3}(?:IX|IV|V?I{0,3})(?:e|er|ème|th)?")


class NameRules(Rules):
    """Shapes, and words without case and accents."""

    email: Pattern
    url: Pattern
    path: Pattern
    code: Pattern
    spaced_code: Pattern
    digits_code: Pattern
    numbered: AnyCase
    not_code: Pattern
    number: str
    legal_form: Pattern
    common_endings: Pattern
    prefixes: Pattern
    enclitics: Pattern
    determiners: dict[str, WordSet]
    infinitive: dict[str, Pattern]
    after_infinitive: WordSet
    tail: Pattern
    adjective: Pattern
    joints: str
    conjunctions: WordSet
    loose_joints: WordSet
    apart: Pattern
    articles: WordSet
    auxiliaries: dict[str, WordSet]
    titles: WordSet
    bearers: WordSet
    abbreviations: WordSet
    no_names: WordSet
    acronyms: WordSet
    names_with_digits: WordSet
    labels: WordSet
    demonyms: WordSet
    institutions: WordSet
    ministries: WordSet
    partners: WordSet
    whole: WordSet
    openers: WordSet
    given_names: WordSet
    exonyms: list[WordList]


@lru_cache(maxsize=1)
def _rules() -> NameRules:
    return read_rules(NameRules, "graphrag.linguistics", "names")


class _Shapes(NamedTuple):
    tokens: re.Pattern[str]  # with marks
    codes: re.Pattern[str]  # with spaces
    runs: re.Pattern[str]  # of words with a capital
    joints: re.Pattern[str]


@lru_cache(maxsize=1)
def _shapes() -> _Shapes:
    rules = _rules()
    kinds = "|".join(f"(?P<{kind}>{getattr(rules, kind).pattern})" for kind in ("email", "url", "path", "code"))
    short = "|".join(sorted((word for word in rules.titles | rules.abbreviations if len(word) < 6), key=len)[::-1])
    word = (
        rf"(?:(?=[{_CAPITAL}])(?:(?i:{short})\.[ªº]?(?= )|(?:[{_CAPITAL}]\.)+(?!\w))|"
        rf"(?:(?:a[ldnrsz]|el|ul)-(?=[{_CAPITAL}])|[a-zß-öø-ÿ]{{1,3}}(?=[{_CAPITAL}])|\d{{1,2}}[.-]?(?=[{_CAPITAL}]))?"
        rf"[{_CAPITAL}][\w'ªº]*(?:(?:[-&]|\.(?=[a-z]{{2,4}}\b|[{_CAPITAL}]+\b))[\w']+)*\+?)"
    )
    joint = rf"(?:(?:{rules.joints})(?: +|(?<=')))"
    further = rf",? +{joint}{{0,2}}(?:[dl]')?(?:{word}|{rules.number})"
    return _Shapes(
        re.compile(rf"(?<![\w@./\\~+%:-])(?:{kinds})"),
        re.compile(rf"(?=[A-Z\d])(?<![\w.])(?:{rules.spaced_code.pattern})"),
        re.compile(rf"(?<![\w'])(?:[dDlL]')?{word}(?:{further}){{0,{_LONGEST_RUN}}}"),
        re.compile(rf" +{joint}+"),
    )


@dataclass(frozen=True, slots=True, order=True)
class Name:
    start: int
    end: int
    kind: Kind


def _plain(text: str) -> str:
    for mark, plain in _PLAIN:  # faster than str.translate
        text = text.replace(mark, plain)
    return text


def find_names(text: str, language: str = "") -> tuple[Name, ...]:
    """Return the names, codes, addresses and paths of a text, in order and without overlap."""
    plain = _plain(text)
    marked = list(_find_marked(plain))
    return tuple(sorted([*marked, *_NameReader(_blank(plain, marked), language).read()]))


def _find_marked(text: str) -> Iterator[Name]:
    """Yield what characters tell: codes, addresses, paths."""
    shapes = _shapes()
    codes = [Name(*match.span(), "code") for match in shapes.codes.finditer(text)][::-1]
    end = last = 0
    for mark in _MARK.finditer(text):
        at = mark.start()
        start = max(last, text.rfind(" ", last, at) + 1, text.rfind("\n", last, at) + 1, text.rfind("\t", last, at) + 1)
        last = mark.end()
        while codes and codes[-1].start < last:
            if (code := codes.pop()).start >= end:
                yield code
                end = code.end
        if end <= start:
            found = [(start + first, start + after, kind) for first, after, kind in _marked_parts(text[start:last])]
        else:  # a code with spaces goes on in the word
            found = [(*match.span(), cast(Kind, match.lastgroup)) for match in shapes.tokens.finditer(text, end, last)]
        for first, after, kind in found:
            if kind != "code" or _is_code(text[first:after], text[max(0, first - 20) : first], text[after : after + 2]):
                yield Name(first, after, kind)
                end = after


@lru_cache(maxsize=CACHED_WORDS)
def _marked_parts(word: str) -> tuple[tuple[int, int, Kind], ...]:
    """Return the places of what may be codes, addresses and paths in what stands between spaces."""
    return tuple((*match.span(), cast(Kind, match.lastgroup)) for match in _shapes().tokens.finditer(word))


def _is_code(token: str, before: str, after: str) -> bool:
    shape = _code_shape(token)
    if shape == "number":
        word = before.rstrip(" :#").rpartition(" ")[2]
        return _is_before_code(word) and not _AMOUNT.search(f"{before}\n{after}")
    if shape == "digits":
        return not _AMOUNT.search(f"{before}\n{after}")
    return shape == "code" or (shape == "model" and not _NAME_BEFORE.search(before))  # «Citroën C3» is a name


@lru_cache(maxsize=CACHED_WORDS)
def _is_before_code(word: str) -> bool:
    """Return whether a number after a word is a code: «pedido», «n.º»."""
    return _rules().numbered.search(word) is not None


@lru_cache(maxsize=CACHED_WORDS)
def _code_shape(token: str) -> Literal["number", "digits", "model", "code"] | None:
    """Return what the characters tell: a number is a code after certain words, digits unless they are an amount."""
    rules = _rules()
    if len(token) > _LONGEST_CODE or not any(map(str.isdigit, token)):
        return None
    if not any(map(str.isalpha, token)):
        if rules.digits_code.fullmatch(token) and not rules.not_code.fullmatch(token):
            return "digits"
        return "number" if len(token) > 4 and token.replace(".", "").isdigit() else None
    if fold(token) in rules.names_with_digits or rules.not_code.fullmatch(token):
        return None
    if any(map(str.isupper, token)):
        return "model" if _MODEL.fullmatch(token) else "code"
    has_digits = sum(map(str.isdigit, token)) > 2 and not token.isalnum() and not _ENDS_IN_YEAR.search(token)
    return "code" if has_digits else None


@lru_cache(maxsize=CACHED_WORDS)
def _is_common(word: str, language: str) -> bool:
    """Return whether a word in one of its forms is a word of the language, be it a name, too."""
    rules, key = _rules(), fold(word)
    if key in stop_words(language) or key in rules.openers or parts_of_speech(word, language):
        return True
    if rules.common_endings.search(key) and key not in _rules().given_names:
        return True
    if (prefix := rules.prefixes.match(key)) and {"v", "a"} & parts_of_speech(key[prefix.end() :], language):
        return True
    if language == "es" and (enclitic := rules.enclitics.search(key)) and enclitic.start() > 2:
        return _is_common(key[: enclitic.start()], language)
    first, _, rest = word.partition("-")
    return rest.islower() and _is_common(first, language)


@lru_cache(maxsize=len(ANSWER_LANGUAGES) + 1)
def _calendar(language: str) -> frozenset[str]:
    """Return the folded names of months and days; of all languages that we answer in if it is none of them."""
    names = [
        get(width, locale=known)
        for get in (get_month_names, get_day_names)
        for width in ("wide", "abbreviated")
        for known in ([language] if language in ANSWER_LANGUAGES else ANSWER_LANGUAGES)
    ]
    return frozenset(fold(name).rstrip(".") for by_number in names for name in by_number.values())


@lru_cache(maxsize=1)
def _territories() -> frozenset[str]:
    names = (fold(name) for language in ANSWER_LANGUAGES for name in Locale(language).territories.values())
    return frozenset(name for name in names if name.isalpha())


def _begins(text: str, start: int) -> bool:
    """Return whether a sentence begins there, or a line, an entry, a quotation."""
    before = text[max(0, start - 16) : start]
    if not _BEGINNING.search(before) or (start > 16 and not before.strip()):
        return False
    short = _SHORT_FORM.search(before)
    return not short or "\n" in before[-2:] or abbreviation(short[1]) not in _WITHIN


def _blank(text: str, names: Sequence[Name]) -> str:
    """Replace the letters of names, so that nothing is read there."""
    if not names:
        return text
    letters = list(text)
    for name in names:
        letters[name.start : name.end] = "\0" * (name.end - name.start)
    return "".join(letters)


class _RunWord(NamedTuple):
    """A word of a run, without its possessive, with the small words before it, and its `key`: folded."""

    start: int
    end: int
    text: str
    key: str
    joint: str = ""


class _NameReader:
    """Reads the names of a text without marks: runs of words with a capital, and small words between."""

    def __init__(self, text: str, language: str) -> None:
        is_known = language in ANSWER_LANGUAGES
        self._text = text
        self._languages = (language,) if is_known else ANSWER_LANGUAGES
        self._stops = stop_words(language) if is_known else all_stop_words()
        self._calendar = _calendar(language if is_known else "")
        self._rules = _rules()

    def read(self) -> Iterator[Name]:
        end = 0
        for run in _shapes().runs.finditer(self._text):
            for words in self._parts(self._words(run)):
                name = self._name(words)
                if name and name.start >= end:  # else it belongs to the name before: «, S. L.»
                    yield name
                    end = name.end

    def _words(self, run: re.Match[str]) -> list[_RunWord]:
        found: list[_RunWord] = []
        joint: list[str] = []
        for token in re.finditer(r"[^ ]+", run.group()):
            written, start = token.group(), run.start() + token.start()
            if written[:2] in ("d'", "l'"):
                joint += [written[:2]] * bool(found)
                written, start = written[2:], start + 2
            bare = written.rstrip(",")
            if found and not any(map(str.isupper, bare)) and not bare[0].isdigit():
                joint.append(fold(bare))
                continue
            if fold(bare) not in self._rules.whole:
                bare = _POSSESSIVE.sub("", bare)
            if bare:
                found.append(_RunWord(start, start + len(bare), bare, fold(bare.rstrip(".")), " ".join(joint)))
            joint = [","] if written[-1] == "," else []
        return found

    def _parts(self, words: list[_RunWord]) -> Iterator[list[_RunWord]]:
        """Yield the words of each name of a run."""
        if not words:
            return
        line = self._line(words)
        is_loud = self._is_loud(words, line)
        if is_loud or ("en" in self._languages and self._is_heading(line)):
            words = self._standing_out(list(_with_joints(words)) if is_loud else words, is_loud=is_loud)
        elif _begins(self._text, words[0].start) or (len(words) == 1 and self._is_quoted(words[0].start)):
            words = self._without_opener(words)
        part: list[_RunWord] = []
        for place, word in enumerate(words):
            if part and not (word.text and self._joins(part, words[place:])):
                yield part
                part = []
            part += [word] * bool(word.text)
        if part:
            yield part

    # Words

    def _kinds(self, word: str) -> frozenset[str]:
        return frozenset().union(*(parts_of_speech(word, language) for language in self._languages))

    def _is_common(self, word: str) -> bool:
        return any(_is_common(word, language) for language in self._languages)

    def _is_noun(self, key: str) -> bool:
        """Return whether a dictionary has it as a noun or an adjective."""
        return any({"n", "a"} & parts_of_speech(key, known, inflected=False) for known in self._languages)

    def _is_quoted(self, start: int) -> bool:
        return self._text[max(0, start - 2) : start].rstrip()[-1:] in tuple('«“"')

    def _following(self, end: int) -> str:
        match = _FOLLOWING.match(self._text, end)
        return match[1] if match else ""

    # Capitals that say little

    def _line(self, words: Sequence[_RunWord]) -> str:
        """Return the words' line, if it is short."""
        start, end = words[0].start, words[-1].end
        head, tail = self._text[max(0, start - _NEAR) : start], self._text[end : end + _NEAR]
        if ("\n" not in head and start > _NEAR) or ("\n" not in tail and end + _NEAR < len(self._text)):
            return ""
        return (head.rpartition("\n")[2] + self._text[start:end] + tail.partition("\n")[0]).strip(" #*_\t")

    def _is_loud(self, words: Sequence[_RunWord], line: str) -> bool:
        return (
            (len(words) > 3 or (len(words) > 1 and line.isupper()))
            and all(word.text.isupper() or word.text.isdigit() for word in words)
            and any(len(word.text) > 3 and self._is_common(word.text.lower()) for word in words)
        )

    def _is_heading(self, line: str) -> bool:
        """Return whether a line has the capitals of an English heading."""
        found = re.findall(r"[^\W\d_]{2,}(?:['-][^\W\d_]+)*", line)
        high = [word for word in found if word[0].isupper()]
        if len(high) < 2 or re.search(r"[.!,;]$|: |, ", line) or any(len(w) > 4 for w in found if w[0].islower()):
            return False
        common = [word for word in high if self._is_common(word)]
        return (len(found) > 2 or len(common) > 1) and any(
            fold(word) not in self._rules.institutions for word in common
        )

    def _standing_out(self, words: Sequence[_RunWord], *, is_loud: bool) -> list[_RunWord]:
        """Blank the words that name nothing in a line where all have capitals."""
        rules = self._rules
        kept = [self._stands_out(word, is_loud=is_loud) for word in words]
        for place, (word, next_) in enumerate(pairwise(words)):
            opening = rules.institutions if next_.joint else rules.institutions | _rules().given_names
            kept[place] |= kept[place + 1] and word.key in opening
            kept[place + 1] |= kept[place] and _ROMAN.fullmatch(next_.text) is not None
        return [word if is_kept else word._replace(text="") for word, is_kept in zip(words, kept, strict=True)]

    def _stands_out(self, word: _RunWord, *, is_loud: bool) -> bool:
        key, rules = word.key, self._rules
        if (is_loud and key in rules.acronyms - self._stops) or (key in _territories() and not self._is_noun(key)):
            return True
        is_name = key in _rules().given_names and key not in self._stops and not self._is_noun(key)
        is_other = any(key in others for others in (rules.titles, rules.no_names, rules.demonyms, self._calendar))
        is_word = len(key) > 1 and word.text[0].isalpha()
        return is_word and not is_other and (is_name or not self._is_common(word.text.lower()))

    def _without_opener(self, words: list[_RunWord]) -> list[_RunWord]:
        """Drop the first word if only the sentence's beginning gave it its capital."""
        first, *rest = words
        text, key, rules = first.text, first.key, self._rules
        second = rest[0] if rest else None
        follows = second if second and not second.joint else None
        if text[1:] == ".":  # an initial, or what numbers a heading
            return words if second and (second.key not in self._stops or second.text[1:] == ".") else rest
        if key in rules.whole or (second and (_pair(first, second) in rules.whole or second.joint == "&")):
            return words
        if second and second.joint in rules.conjunctions and key not in self._stops and self._joins([first], rest):
            return words
        if elided := self._elided(first):
            return [elided, *rest] if elided.text else rest
        is_acronym = text.isupper() and len(key) > 1 and (key in rules.acronyms or not self._is_common(text.lower()))
        if is_acronym or key in rules.titles:
            return words
        is_common = self._is_common(text)
        if is_common and follows and any(map(str.isdigit, follows.text)):
            return words if key in _rules().given_names else rest
        if key in _rules().given_names:
            is_open = follows or (second and second.text[0].isalpha() and key not in self._stops)
            is_name = (not is_common and key not in self._calendar) or (key not in self._stops and is_open)
            return words if is_name or (not follows and self._is_before_verb(first)) else rest
        if key in self._stops or key in self._calendar or (key in rules.demonyms and not follows):
            return rest
        if not is_common:
            return rest if not second and self._is_order(first) else words
        if follows:
            return words if self._opens_name(first, follows) else rest
        if second:
            is_pair = second.joint in rules.conjunctions and not self._is_common(second.text)  # «Boca y River»
            return words if key in rules.institutions or (is_pair and self._kinds(text) == {"n"}) else rest
        return words if self._is_subject(first) else rest

    def _elided(self, word: _RunWord) -> _RunWord | None:
        """Return the word without its article, and without any text if it has no other capital; None if it has none."""
        elision = _ELISION.match(word.text)
        if elision and word.text[0] in "LJQCST" and "fr" in self._languages:
            bare = word.text[elision.end() :]
            return _RunWord(
                word.start + elision.end(), word.end, bare if any(map(str.isupper, bare)) else "", fold(bare)
            )
        before, mark, _ = word.text.partition("'")
        is_short = mark and (len(before) > 1 or before == "I") and self._is_common(before)
        return word._replace(text="") if is_short else None  # "Don't"

    def _opens_name(self, word: _RunWord, follows: _RunWord) -> bool:
        """Return whether a common word is a part of the name behind it: «Grupo Bimbo», but «Visita Lugo»."""
        rules, kinds, key = self._rules, self._kinds(word.text), word.key
        if key in rules.openers or follows.key in rules.titles:
            return False
        if "v" in kinds and (not self._is_noun(key) or word.text[-1] in "óéí"):
            return False
        return key in rules.institutions or (bool(kinds & {"n", "a"}) and follows.key not in rules.given_names)

    def _is_order(self, word: _RunWord) -> bool:
        """Return whether an unknown word before an object is a verb: «Renombra el archivo», «Vider le bac»."""
        rules = self._rules
        following = self._following(word.end)
        if following in rules.after_infinitive and self._is_infinitive(word.key):
            return True
        return any(following in rules.determiners[known] for known in self._languages)

    def _is_infinitive(self, key: str) -> bool:
        return any(self._rules.infinitive[known].search(key) for known in self._languages)

    def _is_before_verb(self, word: _RunWord) -> bool:
        """Return whether what may be a name or a common word is a subject, or stands alone."""
        following = self._following(word.end)
        if not following:
            return _ALONE.match(self._text[word.end : word.end + 2]) is not None
        if self._languages == ("en",):
            is_past = "v" in self._kinds(following) and "v" not in parts_of_speech(following, "en", inflected=False)
            return (
                following in self._rules.auxiliaries["en"] or is_past or re.search(r"ed$|[^s]s$", following) is not None
            )
        return following[0].islower() and following not in ("de", "del", "du", "des", "par", "por", "d")

    def _is_subject(self, word: _RunWord) -> bool:
        """Return whether a common word without an article is before a verb: «Telefónica nombra», « Free propose »."""
        following, kinds, rules = self._following(word.end), self._kinds(word.text), self._rules
        if "en" in self._languages or not following or word.key in rules.openers or "r" in kinds:
            return False
        if following in rules.auxiliaries[self._languages[0]]:
            return not self._is_infinitive(word.key)
        if word.key in rules.institutions and (end := self._tail(word.end)) > word.end:  # «Médecins du monde ouvre»
            following = self._following(end)
            return following == "et" or self._is_verb(following)
        return self._is_verb(following) and "v" not in kinds and word.key[-1] != "s"

    def _is_verb(self, word: str) -> bool:
        """Return whether a word looks like a verb in the third person."""
        if fold(word) in self._stops or not re.search("(?:a|e|ó|ía|ait)$", word):
            return False
        return fold(word) in self._rules.openers or ("v" in (kinds := self._kinds(word)) and "a" not in kinds)

    # Where a name ends

    def _joins(self, part: Sequence[_RunWord], rest: Sequence[_RunWord]) -> bool:
        """Return whether the name goes on with the first of the rest."""
        rules, head, last, word = self._rules, part[0], part[-1], rest[0]
        if self._text[last.end] == "'":  # "King's College", but "Boeing's Calhoun"
            return not word.joint and word.key in rules.institutions
        if not word.joint:
            is_initial = last.text[-1] == "." and last.key not in rules.abbreviations
            return not ((is_initial and word.key in self._stops) or (len(rest) == 1 and word.key in rules.articles))
        if _pair(last, word) in rules.whole or word.joint == "&":
            return True
        first, *more = word.joint.split()
        is_class = any(each.key in rules.institutions for each in part)
        if first == ",":
            later = [each.joint for each in rest[1:4] if self._is_common(each.text)]
            is_list = self._is_common(word.text) and not rules.conjunctions.isdisjoint(" ".join(later).split())
            return is_list and head.key in rules.ministries and len(part) > 1
        if first in rules.conjunctions:
            return self._coordinates(part, rest, more)
        if word.text[0].isdigit() or (first in rules.loose_joints and not is_class):
            return False
        if word.joint in ("de", "del", "du", "des", "d'", "al", "of"):
            if _BRAND.search(last.text) and head.key not in rules.institutions and not _ROMAN.fullmatch(last.text):
                return False  # «iPad de Jules», «ONU de Guterres»
            return is_class or word.key not in rules.given_names or head.key in rules.given_names
        return True

    def _coordinates(self, part: Sequence[_RunWord], rest: Sequence[_RunWord], more: Sequence[str]) -> bool:
        """Return whether «and» is within a name: «Facultad de Filosofía y Letras», "Food and Drug Administration"."""
        rules, head, word = self._rules, part[0], rest[0]
        if word.key in rules.partners or (more and word.key in rules.institutions):
            return word.key in rules.partners
        if head.key in rules.institutions and any(each.joint for each in part):
            return self._is_common(word.text) or (bool(more) and more[0][0] == "d")
        ahead = [word, *takewhile(lambda each: not each.joint, rest[1:])]
        if len(ahead) > 1:
            return ahead[-1].key in rules.institutions and all(self._is_common(each.text) for each in (*part, word))
        is_surname = head.key in rules.given_names and word.key not in rules.given_names and len(part) > 1
        following = self._following(word.end)  # «Francisco de Goya y Lucientes pintó»
        return is_surname and word.joint == "y" and "v" in self._kinds(following) and following[-1] not in "ns"

    def _tail(self, end: int) -> int:
        """Return the end of a name with one capital only: «Force ouvrière», «La casa de los espíritus»."""
        position = start = end
        while match := self._rules.tail.match(self._text, position):
            small, word = match.groups()
            if word[0].isupper():
                return match.end() if small[:1] in ("d", "à") else end
            kinds = self._kinds(word)
            is_adjective = "a" in kinds or ("n" in kinds and position == start) or self._rules.adjective.search(word)
            if (
                fold(word) in self._stops
                or ("v" in kinds and not (small and "n" in kinds))
                or not (small or is_adjective)
            ):
                return end
            position = end = match.end()
        return end

    def _name(self, words: list[_RunWord]) -> Name | None:
        """Return the name without the titles and times around it."""
        rules, start = self._rules, words[0].start
        while words and self._is_outside(words):
            is_borne = len(words) > 1 and words[1].joint and words[0].key in rules.bearers
            start = words[0].end + 1 if is_borne else words[1].start if len(words) > 1 else 0
            words = words[1:]
        while len(words) > 1 and "en" in self._languages and words[-1].key in self._calendar and not words[-1].joint:
            words = words[:-1]
        if not words or (len(words) == 2 and words[1].text[0].isdigit() and words[0].key in rules.labels):
            return None
        end = words[-1].end
        particle = _PARTICLE.search(self._text[max(0, start - 24) : start])
        if particle and fold(particle[1]) in rules.bearers and not self._is_common(words[0].text):
            start -= len(particle[2])
        if len(words) == 1:
            kind, end = self._read_single(words[0])
            if kind != "name" or end > words[0].end:
                return Name(start, end, kind) if kind else None
        if form := rules.legal_form.match(self._text, end):
            return Name(start, form.end(), "name")
        if self._languages == ("fr",):
            if words[-1].key in rules.institutions:
                end = self._tail(end)
            elif len(words) == 1 and self._is_class(words[0]):
                for _ in range(2):  # «la Guerre civile américaine»
                    if self._is_adjective(following := self._following(end)):
                        end += 1 + len(following)
        return Name(start, end, "name")

    def _is_class(self, word: _RunWord) -> bool:
        """Return whether a noun has a capital although no sentence begins with it."""
        is_noun = word.text[1:].islower() and word.key not in _rules().given_names and self._is_noun(word.key)
        return is_noun and not _begins(self._text, word.start)

    def _is_adjective(self, word: str) -> bool:
        kinds = self._kinds(word)
        is_ending = self._rules.adjective.search(word) is not None
        return word.islower() and fold(word) not in self._stops and "v" not in kinds and ("a" in kinds or is_ending)

    def _is_outside(self, words: Sequence[_RunWord]) -> bool:
        """Return whether the first word is a title, a time, a nationality before the name, or a number."""
        first, second, rules = words[0], words[1] if len(words) > 1 else None, self._rules
        if second and (_pair(first, second) in rules.whole or (second.joint and first.key in rules.ministries)):
            return False
        if second and self._text[first.end] == "'":  # "King's College"
            return False
        if first.key in self._calendar:
            if "en" not in self._languages:
                return not second and _begins(self._text, first.start)
            return not second or not self._is_common(second.text)
        if first.key in rules.titles and not (first.text.isupper() and first.text[1:].isalpha()):
            is_initial = second and first.text[1:] == second.text[1:] == "."
            return not (is_initial or (second and second.joint[:2] == "of" and self._is_common(second.text)))
        if first.key in rules.demonyms:
            return not second or second.key in rules.given_names or second.key in rules.titles
        return not any(map(str.isalpha, first.text))

    def _read_single(self, word: _RunWord) -> tuple[Kind | None, int]:
        """Return the kind of a lonely word, if it names anything, and the name's end."""
        text, key, rules = word.text, word.key, self._rules
        if key in rules.names_with_digits:
            return "name", word.end
        is_other = key in rules.no_names or _ROMAN.fullmatch(text) or rules.not_code.fullmatch(text)
        if is_other or len(key) < 2 or self._text[word.end : word.end + 1] == "$":
            return None, word.end
        if _MODEL.fullmatch(text):
            return "code", word.end
        if key not in self._stops or text.isupper() or key in _rules().given_names:
            return "name", word.end
        is_within = "en" not in self._languages and not _begins(self._text, word.start)
        if is_within and key in rules.articles:
            end = self._tail(word.end)  # «leyó La casa de los espíritus»
            return "name" if end > word.end else None, end
        is_name = is_within and len(key) > 3 and self._text[word.start - 2 : word.start] != ". "
        return "name" if is_name else None, word.end


def _pair(first: _RunWord, second: _RunWord) -> str:
    return " ".join(filter(None, (first.key, second.joint, second.key)))


@lru_cache(maxsize=1)
def _small_words() -> frozenset[str]:
    return frozenset(re.findall(r"[a-z]{2,}|\b[yei]\b", _rules().joints))


def _with_joints(words: Iterable[_RunWord]) -> Iterator[_RunWord]:
    """Take the small words among words in capitals as joints, and cut elided ones off."""
    joint: list[str] = []
    for word in words:
        if word.key in _small_words():
            joint.append(word.key)
            continue
        cut = 2 if re.match(r"[DLJCSNQ]'\w", word.text) else 0
        text = word.text[cut:]
        yield _RunWord(word.start + cut, word.end, text, fold(text), " ".join(filter(None, [word.joint, *joint])))
        joint = []


class NameRecognizer(Protocol):
    """A trained model that finds names, also those that no capital letter shows."""

    async def find_names(self, texts: Sequence[str], *, language: str) -> list[tuple[str, ...]]:
        """One entry a text, as it writes them; none in a language that it does not know."""
        ...


def name_key(name: str) -> str:
    """Return a name without case, accents, articles and possessives: «L'Épicerie Valadour» → "epicerie valadour"."""
    words = [_POSSESSIVE.sub("", _without_elision(word)) for word in name.split()]
    words = [word.strip('.,;:!?()[]"«»“”*_') for word in words]
    while words and words[0] in all_stop_words():
        words = words[1:]
    key = " ".join(filter(None, words))
    return key if 1 < len(key) <= _LONGEST and not _is_date(key) else ""


def _is_date(key: str) -> bool:
    return all(word in _calendar("") or not any(map(str.isalpha, word)) for word in key.split())


def names_in(text: str, *, common_words: Set[str] = frozenset()) -> dict[str, float]:
    """Return the keys of all that a text may name, for the graph, each with the weight of its surest form.

    Every run of words with a capital counts as a whole, and so do its parts: a word too many is rare or leads nowhere,
    whereas a name that is cut short in one passage no longer meets itself in another.
    """
    weights: dict[str, float] = {}
    plain = _plain(text)
    marked = list(_find_marked(plain))
    addresses = [each for each in marked if each.kind != "code"]
    keys = (name_key(text[each.start : each.end]) for each in marked if each.kind == "code")
    codes = [(key, NAME_WEIGHT) for key in keys if key]
    for key, weight in [*codes, *_find_forms(_blank(plain, addresses), common_words)]:
        weights[key] = max(weights.get(key, 0.0), weight)
    return weights


def _find_forms(text: str, common_words: Set[str]) -> Iterator[tuple[str, float]]:
    """Yield the keys of runs, without a first word that only begins a sentence."""
    stops, joints = all_stop_words(), _shapes().joints
    read: set[str] = set()
    for run in _shapes().runs.finditer(text):
        written = run.group()
        if written in read:
            continue
        first, _, rest = written.partition(" ")
        word = _without_elision(first)
        if not (word in common_words or word in stops):
            read.add(written)
        elif _begins(text, run.start()):
            written = joints.sub("", f" {rest}", count=1).lstrip()
        yield from _forms(written)


@lru_cache(maxsize=CACHED_WORDS)
def _without_elision(word: str) -> str:
    """«L'Épicerie» → "epicerie"."""
    return fold(_ELISION.sub("", word, count=1))


@lru_cache(maxsize=CACHED_WORDS)
def _forms(run: str) -> tuple[tuple[str, float], ...]:
    """Return the whole, its parts between small words («Bank of Spain» → «Bank», «Spain»), and their last words."""
    found: list[tuple[str, float]] = []
    for name in _rules().apart.split(run):
        parts = _shapes().joints.split(name.strip())
        for written in dict.fromkeys((name, *parts)):
            if key := name_key(written):
                found.append((key, NAME_WEIGHT))
                first, _, last = key.rpartition(" ")
                if first and written in parts and not last.isdigit():
                    found.append((last, SURNAME_WEIGHT))
    return tuple(found)


def title_keys(title: str) -> list[str]:
    """The title, and it without what tells it from others: «Brother (song)» → «Brother», «Rochester, New York»."""
    bare = _BRACKETS.sub("", title)
    return list(dict.fromkeys(filter(None, map(name_key, (title.replace(",", ""), bare, bare.partition(",")[0])))))


def mentions(chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
    """Return the names that each chunk of one document mentions, its title and headings included."""
    if not chunks:
        return []
    common = {fold(word) for word in {word for chunk in chunks for word in _LOWER_CASE.findall(chunk.content)}}
    titles = dict.fromkeys(title_keys(chunks[0].document.title), TITLE_WEIGHT)
    above: dict[tuple[str, tuple[str, ...]], dict[str, float]] = {}  # by what is over a chunk, which many share
    for chunk in chunks:
        over = chunk.context, chunk.headers
        if over not in above:
            keys = (*names_in(chunk.context, common_words=common), *filter(None, map(name_key, chunk.headers)))
            above[over] = dict.fromkeys(keys, HEADING_WEIGHT)
    return [tuple(_mentions(chunk.content, above[chunk.context, chunk.headers], titles, common)) for chunk in chunks]


def _mentions(
    content: str, above: Mapping[str, float], titles: Mapping[str, float], common: Set[str]
) -> Iterator[Mention]:
    weights = dict(above)
    for key, weight in names_in(content, common_words=common).items():
        weights[key] = max(weights.get(key, 0.0), weight)
    return (Mention(key, weight) for key, weight in {**weights, **titles}.items())


class _Written(Protocol):
    @property
    def written(self) -> str: ...
    @property
    def start(self) -> int: ...


def name_places(text: str, language: str, words: Sequence[_Written]) -> Iterator[int]:
    """Yield the places of the capitalised words of names and codes among a text's words."""
    names = [name for name in find_names(text, language) if name.kind in ("name", "code")]
    starts = [name.start for name in names]
    for place, word in enumerate(words):
        at = bisect_right(starts, word.start) - 1
        if at >= 0 and word.start < names[at].end and word.written[0].isupper() and len(word.written) > 1:
            yield place


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
