"""Phrases of a question, and the grammar of the three languages that finds them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphrag.linguistics.language import ANSWER_LANGUAGES
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordSet, read_rules
from graphrag.linguistics.sentences import ABBREVIATIONS
from graphrag.models import TransformedQuery
from graphrag.observability.request_context import note


class Asking(Rules):
    """Patterns of a question's beginning, all for flattened text."""

    opening: Pattern  # a question phrase: «para qué», "by when"
    sure: Pattern | None = None  # one that can't be anything else, wherever it stands
    verbs: AnyCase  # «dime», "can you find out": what asks without a question mark
    polite: AnyCase  # what may stand before all that
    relative: Pattern  # after a comma: it may go on with what was said
    last: AnyCase  # a question word at the end


class Intents(Rules):
    """`…` patterns are matched where the question begins to ask; those of `found` anywhere in it."""

    effects: AnyCase
    causes: AnyCase
    times: AnyCase  # question words that can ask for nothing else
    timely: AnyCase  # nouns of time
    compares: AnyCase
    found_comparing: AnyCase
    not_comparing: AnyCase  # blotted out first
    last_time: AnyCase


class Clauses(Rules):
    """Words that join parts, and words of a part that belong together."""

    joint: Pattern  # before a further question
    determiners: WordSet
    prepositions: WordSet
    binding: WordSet  # prepositions that make one phrase of two
    breaks: WordSet  # words that no noun phrase goes across
    weak_heads: WordSet  # «ruido», "price": of «the noise of the pump» one goes on to speak of the pump


class Comparing(Rules):
    """Wording of comparisons in a question."""

    joints: AnyCase  # between the things
    than: AnyCase
    grades: AnyCase  # «peor», "colder": adjectives that compare
    words: WordSet  # of comparing: no part of what is compared
    rest: WordSet  # «the others», «last year»: nothing to be searched for apart


class QuestionGrammar(Rules):
    language: str
    asking: Asking
    intents: Intents
    clauses: Clauses
    comparing: Comparing
    multi_hop: AnyCase


@lru_cache(maxsize=len(ANSWER_LANGUAGES))
def read_question_grammar(language: str) -> QuestionGrammar:
    """Return the grammar of Spanish, French or English."""
    return read_rules(QuestionGrammar, "graphrag.query_transformation", language)


def load_question_grammars() -> None:
    """Read the grammars from disk, about 0.2 s, which the first question would wait for otherwise."""
    for language in ANSWER_LANGUAGES:
        read_question_grammar(language)


def note_kinds(query: TransformedQuery) -> dict[str, Any]:
    """Log the kind of question, also in the request's last log line; return the fields."""
    kinds = {
        "language": query.language,
        "transformation": query.strategy,
        "intent": query.intent.value,
        "direction": query.direction,
        "parts": len(query.sub_queries),
        "multi_hop": query.is_multi_hop,
        "hyde": bool(query.hypothetical_answer),
    }
    note(**kinds)
    return kinds


MOST_COMMON_WORDS = 3  # in a row, of a noun phrase: «the annual budget report»
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)*(?:[-‑&/][^\W_]+)*")
_SEPARATES = re.compile(r"[,;:?¿!()—–…]|\.(?:\s|$)")
_VERBAL = re.compile(r"-(?:t-)?(?:il|elle|ils|elles|on|ce|je|tu|nous|vous|moi)$")
_SPANISH_PAST = re.compile(r"(?:ó|ió|aron|ieron|aba|aban|ía|ían|ará|erá|irá|aría)$")
_BIND_NAMES = frozenset("from con avec".split())  # «el contrato con Telmar»
_INVERTING = frozenset("do does did".split())
_STATIVE = frozenset("is are was were has have had".split())
_PARTICIPLE = re.compile(
    r"(?:\w{2,}ed|\w+(?:ght|wn|ung|ept|elt|ilt|ost)|sold|held|made|built|paid|sent|put|cut|set|done|written|given|taken|chosen|broken|stolen|hidden"
    r"|valid|due|open|located|available|closed|based|born|lost|found|called|ready|responsible|missing|late|had)$"
)
_SWALLOWED = {"del": "el", "al": "el", "du": "le", "au": "le", "des": "les", "aux": "les", "d": ""}


@dataclass(frozen=True, slots=True)
class QuestionToken:
    text: str
    flat: str
    start: int
    end: int
    is_apart: bool  # from the word before, by a stop or a comma

    @property
    def is_name(self) -> bool:
        return self.text[0].isupper() or self.text[0].isdigit()


@dataclass(frozen=True, slots=True)
class Phrase:
    """The words [first, last) of a question."""

    words: tuple[QuestionToken, ...]
    first: int
    last: int
    text: str
    is_bare: bool  # a name without an article
    gender: str = ""  # m, f, or unknown

    @property
    def has_name(self) -> bool:
        return any(word.is_name for word in self.words[1:] or self.words)


def read_words(text: str, flat: str) -> list[QuestionToken]:
    found: list[QuestionToken] = []
    end = 0
    for match in _WORD.finditer(text):
        is_apart = (
            bool(found)
            and found[-1].flat not in ABBREVIATIONS
            and _SEPARATES.search(text, end, match.start()) is not None
        )
        found.append(
            QuestionToken(match[0], flat[match.start() : match.end()].lower(), match.start(), match.end(), is_apart)
        )
        end = match.end()
    return found


def span_of(words: Sequence[QuestionToken], text: str) -> str:
    return text[words[0].start : words[-1].end] if words else ""


def find_phrases(
    words: Sequence[QuestionToken], text: str, grammar: QuestionGrammar, *, begin: int = 0
) -> list[Phrase]:
    """Return the phrases from the word number `begin` on, in order and without overlap."""
    found, number = [], begin
    while number < len(words):
        end = _end_of_phrase(words, number, grammar)
        if end > number:
            found.append(make_phrase(words, number, end, text))
        number = max(end, number + 1)
    return found


def make_phrase(words: Sequence[QuestionToken], first: int, last: int, text: str) -> Phrase:
    own = tuple(words[first:last])
    said = span_of(own, text)
    article = _SWALLOWED.get(own[0].flat)
    if article is not None and len(own) > 1:
        said = f"{article} {span_of(own[1:], text)}".strip()
    return Phrase(own, first, last, said, is_bare=own[0].is_name, gender=_gender(own[0].flat))


def inner_phrase(phrase: Phrase, text: str, grammar: QuestionGrammar) -> Phrase | None:
    """«la chaudière» of «le bruit de la chaudière»."""
    for number, word in enumerate(phrase.words[1:-1], start=1):
        if word.flat in grammar.clauses.binding:
            contracted = word.flat in _SWALLOWED and word.flat != "d"
            first = number if contracted else number + 1
            return make_phrase(phrase.words, first, len(phrase.words), text)
    return None


def is_weak(phrase: Phrase, grammar: QuestionGrammar) -> bool:
    """Return whether its head only classifies it: the last word before «of» in English, the first elsewhere."""
    nouns = [
        word.flat for word in phrase.words if word.flat not in grammar.clauses.determiners - grammar.clauses.binding
    ]
    cut = next((number for number, word in enumerate(nouns) if number and word in grammar.clauses.binding), len(nouns))
    head = nouns[cut - 1 if grammar.language == "en" else 0] if cut else ""
    return head in grammar.clauses.weak_heads


def _gender(article: str) -> str:
    if article in ("el", "los", "un", "unos", "al", "del", "le", "du", "au", "este", "ese"):
        return "m"
    return "f" if article in ("la", "las", "una", "unas", "une", "esta", "esa", "cette") else ""


def _end_of_phrase(words: Sequence[QuestionToken], first: int, grammar: QuestionGrammar) -> int:
    """`first` where no noun phrase begins there."""
    clauses, word = grammar.clauses, words[first]
    before = words[first - 1].flat if first and not word.is_apart else ""
    is_gerund = grammar.language == "en" and before in _INVERTING and word.flat.endswith("ing")
    if word.is_name and first:
        return _after_names(words, first, grammar)
    if word.flat not in clauses.determiners and not is_gerund:
        return first
    start = _past_determiners(words, first + 1, grammar)
    end = _after_nouns(words, start, grammar, is_before_verb=before in _INVERTING | _STATIVE)
    if end == start:
        return first
    return _without_verb(words, first, end, before, grammar)


def _after_names(words: Sequence[QuestionToken], first: int, grammar: QuestionGrammar) -> int:
    end = first + 1
    while end < len(words) and not words[end].is_apart:
        if words[end].is_name:
            end += 1
        elif words[end].flat in _NAME_JOINTS and end + 1 < len(words) and words[end + 1].is_name:
            end += 2
        else:
            break
    # "Acton Glassworks" ends here, "the Acton pump" did not begin here; «Solway grant proposal» goes on in English.
    return end


_NAME_JOINTS = frozenset("de del of la le du des d y".split()) - {"y"}


def _after_nouns(
    words: Sequence[QuestionToken], start: int, grammar: QuestionGrammar, *, is_before_verb: bool = False
) -> int:
    clauses, end, common = grammar.clauses, start, 0
    while end < len(words) and not words[end].is_apart:
        word = words[end]
        loosely = clauses.prepositions if is_before_verb else _BIND_NAMES
        binds = word.flat in clauses.binding or (
            word.flat in loosely and end > start and len(words) > end + 1 and words[end + 1].is_name
        )
        if binds and end > start and end + 1 < len(words) and not words[end + 1].is_apart:
            end = _past_determiners(words, end + 1, grammar)
            common = 0
            continue
        is_stop = word.flat in clauses.breaks or word.flat in clauses.prepositions or word.flat in clauses.determiners
        if (is_stop and not word.is_name) or _VERBAL.search(word.flat):
            break
        if not word.is_name:
            if common and grammar.language == "es" and _SPANISH_PAST.search(word.text):
                break
            common += 1
            if common > MOST_COMMON_WORDS:
                break
        end += 1
    while end > start and words[end - 1].flat in clauses.binding | clauses.determiners and not words[end - 1].is_name:
        end -= 1
    return end


def _past_determiners(words: Sequence[QuestionToken], start: int, grammar: QuestionGrammar) -> int:
    end = start
    while end < len(words) and words[end].flat in grammar.clauses.determiners and not words[end].is_name:
        end += 1
    return end


def _without_verb(words: Sequence[QuestionToken], first: int, end: int, before: str, grammar: QuestionGrammar) -> int:
    """English: in «did the fever start» the last word is no noun."""
    if grammar.language != "en" or end - first < 3:
        return end
    is_last_of_clause = end == len(words) or words[end].is_apart or not words[end].is_name
    if before in _INVERTING and is_last_of_clause and not words[end - 1].is_name:
        return end - 1
    if before in _STATIVE and _PARTICIPLE.search(words[end - 1].flat):
        return end - 1
    return end


def beginning(flat: str, asking: Asking) -> int:
    """Return the start of the asked part: its question word, else the end of polite phrases."""
    focus = find_focus(flat, asking)
    if focus is not None:
        return focus
    start = flat.find("¿") + 1
    while True:
        start += len(flat[start:]) - len(flat[start:].lstrip(" ¿¡-*.,"))
        match = asking.polite.match(flat, start)
        if match is None or not match[0]:
            return start
        start = match.end()


def find_focus(flat: str, asking: Asking) -> int | None:
    """Return the position of the first question word that asks.

    None means that only the order of words or a noun asks.
    """
    if (opened := flat.find("¿")) > 0 and _has_words_after(flat, opened):
        after = find_focus(flat[opened + 1 :], asking)
        if after is not None:
            return opened + 1 + after
    found = sorted({*_after_boundaries(flat, asking), *_after_verbs(flat, asking), *_sure(flat, asking)})
    return found[0] if found else None


def _has_words_after(flat: str, position: int) -> bool:
    return any(character.isalnum() for character in flat[position:])


def _after_boundaries(flat: str, asking: Asking) -> list[int]:
    """Return the question words after a stop, a comma, or at the very beginning.

    A possible relative clause counts only if nothing else asks.
    """
    found: list[int] = []
    doubtful: list[int] = []
    for boundary in re.finditer(rf"(?:^[^\w]*|[,:;.!?¿—–(] *){_JOINING}", flat):
        match = asking.opening.match(flat, boundary.end())
        if match is None:
            continue
        is_relative = boundary.start() > 0 and "," in boundary[0] and asking.relative.match(flat, boundary.end())
        (doubtful if is_relative else found).append(boundary.end())
    return found or doubtful[-1:]


def _after_verbs(flat: str, asking: Asking) -> list[int]:
    pattern = (
        rf"\b{asking.verbs.pattern}\b(?: (?:pas|plus|bien|me|us|to me|for me|about|a|exactly|please|por favor|sobre|de"
        r"|si|se|aussi|en|stp|svp|exactement)\b)*[,:]? *"
    )
    found = []
    for match in re.compile(pattern).finditer(flat):
        if asking.opening.match(flat, match.end()):
            found.append(match.end())
    return found


def _sure(flat: str, asking: Asking) -> list[int]:
    return [match.start() for match in asking.sure.finditer(flat)] if asking.sure else []


_JOINING = r"(?:(?:and|but|so|or|also|y|e|pero|entonces|et|mais|alors|donc|ou bien) )?"
