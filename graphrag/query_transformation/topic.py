"""What a conversation is about, and a follow-up question told so that it is understood without it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from graphrag.language import content_words, fold, stop_words
from graphrag.language import words as words_of
from graphrag.query_transformation.flattening import flatten
from graphrag.query_transformation.focus import find_focus
from graphrag.query_transformation.grammar import Grammar
from graphrag.query_transformation.names import find_dates, find_names
from graphrag.query_transformation.phrases import Phrase, find_phrases, read_words
from graphrag.query_transformation.reference import is_bare_question_word, understood_alone

Strategy = Literal["first message (raw query)", "standalone question (raw query)", "follow-up (contextualized topic)"]
FIRST: Final = "first message (raw query)"
STANDALONE: Final = "standalone question (raw query)"
FOLLOW_UP: Final = "follow-up (contextualized topic)"
MOST_EARLIER = 4  # questions; what was asked before them is no longer the topic
MOST_TOPIC_WORDS = 12
_EDGES = " ¿?¡!.,;:"

_GOES_ON = re.compile(
    r"\W*(?:(?:and|but|also|ok|so) )?(?:what|how) about\b|\W*(?:and|but|y|e|pero|et|mais|or|o|ou)\b|\W*(?:que (?:hay|pasa|tal) (?:de|con)|qu'en est-il d[eu']|quid d[eu'])"
)
_PRONOUNS = {
    "en": re.compile(
        r"\b(?:he|she|it|they|him|her|them|his|its|their|hers|theirs|there)\b(?! (?:is|are|was|were) (?:an?|any|some|no)\b)|\b(?:this|that|those|these)\b(?= (?:is|are|was|were|has|have|did|does|mean|cost|happen|work)\b|\W*$)"
    ),
    "es": re.compile(
        r"\b(?:ella|ellos|ellas|ello|eso|esto|esa|ese|aquello|su|sus|alli|ahi)\b|\b(?:por|con|de|para|a|en|sobre) el\b(?=\W*$)"
    ),
    "fr": re.compile(
        r"(?:^|[\s'-])(?:il|elle|ils|elles|lui|eux|celui-ci|celle-ci|cela|ca|son|sa|ses|leurs?|celui-la|celle-la|la-bas)\b(?! y a)"
    ),
}
_POINTING = re.compile(
    r"\bthe (?:first|second|third|last|latter|former|other|previous|next|same)(?: ones?| two)?\W*$|\b(?:that|this|the other|which) one\b"
    r"|\b(?:el|la|los|las) (?:primer[oa]?|segund[oa]|tercer[oa]?|ultim[oa]|otr[oa]|mism[oa]|anterior|siguiente)s?\W*$"
    r"|\b(?:le|la|les|l')\s?(?:premiere?|premier|second|seconde|deuxieme|troisieme|derniere?|autre|meme|precedente?|suivante?)s?\W*$|\bce(?:tte)? dernier(?:e)?\b"
)
_EMPTY_SUBJECT = re.compile(
    r"\bis it (?:true|possible|ok|okay|necessary|normal|legal|allowed|safe to|worth|better|cheaper|correct)\b|\bwhat time is it\b|\bthat\b(?= \w+ (?:is|are|was|were|has|have|did))"
    r"|\b(?:est-il|il est|est-ce qu'il est) (?:vrai|possible|necessaire|normal|permis|exact)\b|\bil (?:y a|faut|pleut)\b|\bfaut-il\b|\by a-t-il\b"
)
_CLITIC = re.compile(
    r"^(?:(?:a|de|con|por|para|en|desde|hasta) )?(?:quien(?:es)?|cuando|como|donde|por que|cuanto|cual)\b(?: se)? (?:lo|la|los|las|le|les) [a-z]+|^qui (?:l'|la |le |les )[a-z]+|\b(?:l'|la |le |les )[a-z]+-(?:t-)?(?:on|il|elle)\b"
)


_THAT_OF = re.compile(
    r"(?:el|la|los|las|that|those|the one|celui|celle|ceux|celles) (?:de (?:la |los |las |el )?|del |of (?:the )?|for (?:the )?|du |des |de la |d')"
)
_OF_SOMETHING = re.compile(
    r"\b(?:de la |de los |de las |de l'|de |del |of the |of |for the |du |des |d')(\w[\w-]*(?: [A-Z0-9][\w-]*)*)"
)


@dataclass(frozen=True, slots=True)
class Exchange:
    question: str
    cited: tuple[str, ...] = ()  # titles of what its answer cites


def is_follow_up(question: str, grammar: Grammar) -> bool:
    """Whether it takes up what was said before: by a pronoun that nothing before it in the question explains, or by
    leaving out what it is about.
    """
    flat = flatten(question)
    low = _EMPTY_SUBJECT.sub(" ", flat.lower())
    bare = _bare(question, low)
    is_clitic = grammar.language != "en" and _CLITIC.search(flatten(bare).lower())
    if _POINTING.search(low) or is_clitic or is_bare_question_word(bare, grammar):
        return True
    words = read_words(question, flat)
    phrases = find_phrases(words, question, grammar)
    named = find_names(question, grammar)
    if (pronoun := _PRONOUNS[grammar.language].search(low)) and not _is_explained(
        pronoun.start(), phrases, named, question
    ):
        return True
    asks = find_focus(flat, grammar.asking) is not None
    if _GOES_ON.match(low) and not asks:
        return True
    if _GOES_ON.match(low) and re.match(r"\W*(?:(?:and|but|also|ok|so) )?(?:what|how) about\b", low):
        return True
    is_empty = not phrases and not named and not any(word.is_name for word in words[1:])
    return asks and is_empty and _says_little(question, grammar)


def _plain(question: str) -> str:
    return question.strip(_EDGES)


def _bare(question: str, low: str) -> str:
    match = _GOES_ON.match(low)
    return (question[match.end() :] if match else question).strip(_EDGES)


def _is_explained(position: int, phrases: Sequence[Phrase], names: Sequence[str], question: str) -> bool:
    return any(phrase.words[0].start < position for phrase in phrases) or any(
        question.find(name) < position for name in names
    )


def _says_little(question: str, grammar: Grammar) -> bool:
    """One word of meaning at most: «¿Cuánto costó?»."""
    empty = stop_words(grammar.language)
    return sum(fold(word) not in empty for word in words_of(question)) <= 1


def contextualize(question: str, earlier: Sequence[Exchange], grammar: Grammar) -> tuple[str, Strategy]:
    """What is searched for, and why: the question itself where it says what it is about, else with the conversation's
    topic. A question that names another subject would only be led astray by the one before.
    """
    if not earlier:
        return question, FIRST
    recent = earlier[-MOST_EARLIER:]
    if not is_follow_up(question, grammar):
        return question, STANDALONE
    before = _plain(contextualize(recent[-1].question, recent[:-1], grammar)[0])
    told = _told_with(question, before, grammar)
    if fold(told) == fold(_bare(question, flatten(question).lower())) or told == question:
        topic = topic_words([*recent[:-1], Exchange(before, recent[-1].cited)], grammar)
        told = f"{question.strip()} {' '.join(topic)}"
    return told, FOLLOW_UP


def topic_words(earlier: Sequence[Exchange], grammar: Grammar) -> list[str]:
    """Names, then the words that carry meaning, then the titles that were cited: the latest first, each once."""
    found: dict[str, str] = {}
    for exchange in reversed(earlier):
        said = [word for name in find_names(exchange.question, grammar) for word in words_of(name)]
        said += content_words(exchange.question, grammar.language)
        said += [word for title in exchange.cited for word in content_words(title, grammar.language)]
        for word in said:
            found.setdefault(fold(word), word)
    return list(found.values())[:MOST_TOPIC_WORDS]


def _told_with(question: str, before: str, grammar: Grammar) -> str:
    """The question with the names and the words of the one before that it leaves out."""
    flat = flatten(question)
    bare = _bare(question, flat.lower())
    asks = find_focus(flat, grammar.asking) is not None
    if asks and not re.match(r"\W*(?:(?:and|but|also|ok|so) )?(?:what|how) about\b", flat.lower()):
        return understood_alone(bare, before, grammar)
    if _PRONOUNS[grammar.language].search(flat.lower()) and not _GOES_ON.match(flat.lower()):
        return understood_alone(bare, before, grammar)
    return _with_fragment(bare, before, grammar)


def _with_fragment(fragment: str, before: str, grammar: Grammar) -> str:
    """«¿y en 2024?», «et le contrat Opale ?»: the question before with this instead of what it takes the place of."""
    if find_dates(fragment, grammar.language) or _is_period(fragment):
        kept = re.sub(
            r"(?i)\b(?:en|in|de|of|del|du|for|pour) (?:el |the )?(?:a[ñn]o )?(?:19|20)\d{2}\b|\b(?:19|20)\d{2}\b",
            " ",
            before,
        )
        return " ".join(f"{kept} {fragment}".split())
    if match := _THAT_OF.match(flatten(fragment).lower()):
        return _with_other_owner(fragment[match.end() :], before, grammar) or f"{before} {fragment}"
    words = read_words(fragment, flatten(fragment))
    wanted = {word.flat for word in words if not word.is_name and word.flat not in grammar.clauses.determiners}
    phrases = find_phrases(read_words(before, flatten(before)), before, grammar)
    alike = [phrase for phrase in phrases if wanted & {word.flat for word in phrase.words} - grammar.clauses.binding]
    if not alike and any(word.is_name for word in words):
        alike = [phrase for phrase in phrases if phrase.is_bare] or [phrase for phrase in phrases if phrase.has_name]
    if not alike or _POINTING.search(flatten(fragment)):
        return f"{before} {fragment}"
    start, end = alike[0].words[0].start, alike[0].words[-1].end
    return f"{before[:start]}{fragment}{before[end:]}"


def _with_other_owner(owner: str, before: str, grammar: Grammar) -> str:
    """«¿y el de Zamora?» after «¿qué dice el contrato de Lugo?»; empty where nothing was somebody's."""
    owners = list(_OF_SOMETHING.finditer(before))
    match = next((owner for owner in owners if owner[1][0].isupper()), owners[-1] if owners else None)
    return f"{before[: match.start(1)]}{owner}{before[match.end(1) :]}" if match else ""


def _is_period(fragment: str) -> bool:
    return re.search(r"\b(?:19|20)\d{2}\b", fragment) is not None
