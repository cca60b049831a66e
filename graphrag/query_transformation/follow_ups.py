"""Follow-up questions: what they leave out, taken from the conversation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final, Literal

from graphrag.linguistics import language as languages
from graphrag.linguistics.language import ANSWER_LANGUAGES, fold, stem, stop_words
from graphrag.linguistics.language import words as words_of
from graphrag.linguistics.normalization import flatten
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.query_transformation.decomposition import Antecedents, find_antecedents, words_of_opening
from graphrag.query_transformation.dependence import depends_on_conversation
from graphrag.query_transformation.phrases import (
    Phrase,
    QuestionGrammar,
    find_focus,
    find_named,
    find_phrases,
    read_question_grammar,
    read_words,
)
from graphrag.query_transformation.references import (
    is_bare_question_word,
    resolve_references,
    with_its_question_word,
)
from graphrag.query_transformation.slots import is_fragment, replace_slot

Strategy = Literal["first message (raw query)", "standalone question (raw query)", "follow-up (contextualized topic)"]
FIRST: Final = "first message (raw query)"
STANDALONE: Final = "standalone question (raw query)"
FOLLOW_UP: Final = "follow-up (contextualized topic)"
MOST_EARLIER = 4  # questions; what was asked before them is no longer the topic
MOST_TOPIC_WORDS = 20
MOST_QUESTION_CHARS = 1_000  # of an earlier question
MOST_ANSWER_CHARS = 600  # of an answer: it begins with what was asked for
MOST_ENTITY_WORDS = 6
FEW_WORDS = 3  # too few to tell a language by their letters
_EDGES = " ¿?¡!.,;:"
_BOLD = re.compile(r"\*\*(.+?)\*\*")
_MARKS = re.compile(r"\*\*|\[\d+\]")
_ITEM = re.compile(r"(?m)^\s*(?:[-•*]|\d+[.)])\s+(.+)$")
_JOINTS = re.compile(r",? (?:and|y|e|et|&) |, ")
_SENTENCE = re.compile(r"(?<=[^\W\d])[.!?](?:\s|$)")


class FollowUpRules(Rules):
    goes_on: Pattern
    pronouns: dict[str, Pattern]
    pointing: Pattern
    empty_subject: Pattern
    clitic: Pattern
    ordinals: dict[int, Pattern]
    other: Pattern
    all_items: Pattern
    event: dict[str, Pattern]
    identity: Pattern
    asks_who: Pattern
    asks_which: Pattern
    small_talk: Pattern


@lru_cache(maxsize=1)
def _rules() -> FollowUpRules:
    return read_rules(FollowUpRules, "graphrag.query_transformation", "follow_ups")


@dataclass(frozen=True, slots=True)
class Exchange:
    question: str
    cited: tuple[str, ...] = ()  # titles of what its answer cites
    answer: str = ""  # its text; empty where nothing was found


@dataclass(frozen=True)
class _Topic:
    """The question before, which stands alone, and its answer: a follow-up may speak of both."""

    question: str
    grammar: QuestionGrammar
    answer: str
    cited: tuple[str, ...]

    @cached_property
    def antecedents(self) -> Antecedents:
        """Return those of the question, with the name that its answer gave."""
        found = find_antecedents(self.question, self.grammar)
        names = tuple(name for name in found.names if re.search(r"[^\W\d_]", name.text))
        answered = self.named if self.asks_who or not names else ""
        found = replace(found, things=(*self._answered_things(found), *found.things))
        return replace(found, names=names, answered=answered, asked=found.asked and (self.named or found.asked))

    def _answered_things(self, found: Antecedents) -> Sequence[Phrase]:
        """«el motor» for «¿Qué se cambió en el taller?»: what was asked for where the question names only a place."""
        words = read_words(self.question, flatten(self.question))
        first = found.things[0].first if found.things else 0
        is_place = 0 < first <= len(words) and words[first - 1].flat in self.grammar.clauses.prepositions
        if found.asked or not is_place or not _rules().asks_which.match(flatten(self.question).lower()):
            return ()
        sentence = _first_sentence(self.answer)
        phrases = find_phrases(read_words(sentence, flatten(sentence)), sentence, self.grammar.clauses)
        short = len(sentence.split()) <= MOST_ENTITY_WORDS
        return [replace(each, text=each.text[0].lower() + each.text[1:]) for each in phrases[:1] if short]

    @cached_property
    def asks_who(self) -> bool:
        return _rules().asks_who.match(flatten(self.question).lower()) is not None

    @cached_property
    def named(self) -> str:
        """Return the answer's short form if that is a name, else the first name in its first sentence."""
        if self.items or not (self.asks_who or _rules().asks_which.match(flatten(self.question).lower())):
            return ""
        short = _BOLD.search(self.answer)
        if short and len(short[1].split()) <= MOST_ENTITY_WORDS and short[1][0].isupper():
            return short[1].strip(_EDGES)
        known = {fold(word) for word in words_of(self.question)}
        sentence = _first_sentence(self.answer)
        names = find_named(sentence, self.grammar.language)
        named = next((name for name in names if not name[0].isdigit() and fold(name) not in known), "")
        words = read_words(sentence, flatten(sentence))
        phrases = find_phrases(words, sentence, self.grammar.clauses) if named else []
        whole = next((phrase for phrase in phrases if named in phrase.text and not phrase.is_bare), None)
        if whole is None or len(whole.words) > MOST_ENTITY_WORDS:
            return named
        return whole.text[0].lower() + whole.text[1:]

    @cached_property
    def items(self) -> tuple[str, ...]:
        """Return what the answer counts: the items of its list, or of its first sentence."""
        listed = [_MARKS.sub("", match[1]).strip(_EDGES) for match in _ITEM.finditer(self.answer)]
        if len(listed) > 1:
            return tuple(listed)
        parts = [part.strip(_EDGES) for part in _JOINTS.split(_first_sentence(self.answer))]
        has_names = all(re.search(r"[A-ZÀ-Þ]", part) for part in parts)
        return tuple(map(_from_name, parts[:1])) + tuple(parts[1:]) if len(parts) > 1 and has_names else ()

    @property
    def rest(self) -> str:
        """Return the question without the words that ask, with what its answer cites if it names nothing itself."""
        flat = flatten(self.question)
        words = read_words(self.question, flat)
        first = words_of_opening(self.question, flat, words, self.grammar)
        clauses = self.grammar.clauses
        empty = ((clauses.breaks | clauses.inverting) - clauses.determiners) | {
            "much",
            "many",
            "long",
            "often",
            "d",
            "de",
        }
        while first < len(words) - 1 and words[first].flat in empty:
            first += 1
        rest = words[first : first + MOST_TOPIC_WORDS]
        said = self.question[rest[0].start : rest[-1].end] if rest else self.question
        named = self.antecedents.names or self.antecedents.things
        return said if named or not self.cited else f"{said}, {self.cited[0]}"


def _first_sentence(answer: str) -> str:
    return _SENTENCE.split(_MARKS.sub("", answer).strip(), maxsplit=1)[0]


def _from_name(text: str) -> str:
    """«Oviedo» of «Ganó el de plata en Oviedo»: what comes before the name may be the verb of all."""
    match = re.search(r"(?<!^)\b[A-ZÀ-Þ].*$", text)
    return (
        match[0] if (match and text.split()[0].islower()) or (match and len(text.split()) > MOST_ENTITY_WORDS) else text
    )


def find_cues(question: str, grammar: QuestionGrammar) -> frozenset[str]:
    """Return what shows in a question that it may depend on the conversation."""
    low, bare = flatten(question).lower(), _bare(question)
    asks = find_focus(flatten(bare), grammar.asking) is not None
    cues = {
        "reference": _shows_reference(question, grammar),
        "goes on": _joined(question),
        "points": _points(low) or _rules().all_items.search(low),
        "asks": asks,
        "fragment": not asks and is_fragment(bare, grammar),
        "event": _rules().event[grammar.language].fullmatch(flatten(bare).lower()),
    }
    return frozenset(cue for cue, is_found in cues.items() if is_found)


def _joined(question: str) -> re.Match[str] | None:
    """Match what joins a question to the one before: «y», "what about"; «où» does not."""
    return _rules().goes_on.match(re.sub(r"\bOU\b", "où", flatten(question)).lower())


def _points(low: str) -> bool:
    """Return whether «el segundo», "the other one" and the like stand for something that was said."""
    rules = _rules()
    return any(pattern.search(low) for pattern in (rules.pointing, rules.other, *rules.ordinals.values()))


def _shows_reference(question: str, grammar: QuestionGrammar) -> bool:
    """Return whether the question's wording refers back.

    It does by a pronoun that nothing before it in the question explains, or by leaving out its subject.
    """
    flat = flatten(question)
    low = _rules().empty_subject.sub(" ", flat.lower())
    bare = _bare(question)
    is_clitic = grammar.language != "en" and _rules().clitic.search(flatten(bare).lower())
    if _points(low) or is_clitic or is_bare_question_word(bare, grammar):
        return True
    words = read_words(question, flat)
    phrases = find_phrases(words, question, grammar.clauses)
    named = find_named(question, grammar.language)
    if (pronoun := _rules().pronouns[grammar.language].search(low)) and not _is_explained(
        pronoun.start(), phrases, named, question
    ):
        return True
    asks = find_focus(flat, grammar.asking) is not None
    if _joined(question) and not asks:
        return True
    if _joined(question) and re.match(r"\W*(?:(?:and|but|also|ok|so) )?(?:what|how) about\b", low):
        return True
    is_empty = not phrases and not named and not any(word.is_name for word in words[1:])
    return asks and is_empty and _says_little(question, grammar)


def _plain(question: str) -> str:
    return question.strip(_EDGES)


def _bare(question: str) -> str:
    """Return the question without what joins it to the one before: «y», "what about"."""
    match = _joined(question)
    return (question[match.end() :] if match else question).strip(_EDGES)


def _is_explained(position: int, phrases: Sequence[Phrase], names: Sequence[str], question: str) -> bool:
    return any(phrase.words[0].start < position for phrase in phrases) or any(
        question.find(name) < position for name in names
    )


def _says_little(question: str, grammar: QuestionGrammar) -> bool:
    """One word of meaning at most: «¿Cuánto costó?»."""
    empty = stop_words(grammar.language)
    return sum(fold(word) not in empty for word in words_of(question)) <= 1


def is_small_talk(text: str) -> bool:
    return _rules().small_talk.fullmatch(flatten(text[:MOST_ANSWER_CHARS]).lower()) is not None


def contextualize(question: str, earlier: Sequence[Exchange], grammar: QuestionGrammar) -> tuple[str, Strategy]:
    """Return the text to search for, and the strategy that made it.

    It is the question itself if that names its topic, else the question with the conversation's topic. A question that
    names another subject would only be led astray by the one before.
    """
    if not earlier:
        return question, FIRST
    recent = [
        replace(exchange, question=exchange.question[:MOST_QUESTION_CHARS], answer=exchange.answer[:MOST_ANSWER_CHARS])
        for exchange in earlier[-MOST_EARLIER:]
        if not is_small_talk(exchange.question)
    ]
    if not recent or is_small_talk(question):
        return question, STANDALONE
    last = recent[-1]
    said = f"{last.question} {last.answer}"
    if not depends_on_conversation(question, said, grammar, find_cues(question, grammar)):
        return question, STANDALONE
    own = read_question_grammar(find_language(last.question, recent[:-1]))
    before = _plain(contextualize(last.question, recent[:-1], own)[0])
    topic = _Topic(before, own, last.answer, last.cited)
    return _told_with(question, topic, grammar), FOLLOW_UP


def find_language(question: str, earlier: Sequence[Exchange] = ()) -> str:
    """Detect the language; of few words, the one that alone has them as its own, else that of the conversation."""
    found = languages.words(question)
    if len(found) > FEW_WORDS or not earlier:
        return languages.detect_question(question)
    owners = [
        language for language in ANSWER_LANGUAGES if any(fold(word) in languages.stop_words(language) for word in found)
    ]
    return owners[0] if len(owners) == 1 else find_language(earlier[-1].question, earlier[:-1])


def _told_with(question: str, topic: _Topic, grammar: QuestionGrammar) -> str:
    """Return the question with what it leaves out."""
    bare = _bare(question)
    bare, is_item = _with_item(bare, topic)
    low = flatten(bare).lower()
    if is_item or _points(low):
        told = resolve_references(bare, topic.antecedents, grammar)
        return told if _speaks_of(told, bare, topic) else f"{told} ({topic.rest})"
    if match := _rules().event[grammar.language].fullmatch(low):
        asks = next(name for name, text in match.groupdict().items() if text)
        return _asked_of_all(bare[match.start(asks) : match.end(asks)], topic)
    if is_bare_question_word(bare, grammar):
        return _asked_of_all(bare, topic)
    if _rules().identity.fullmatch(low):
        return f"{bare} {topic.named or topic.antecedents.person()}"
    if find_focus(flatten(bare), grammar.asking) is None and is_fragment(bare, grammar):
        return replace_slot(bare, topic.question, topic.grammar)
    told = resolve_references(_with_details(bare, topic), topic.antecedents, grammar)
    if topic.items and _rules().all_items.search(low):
        return f"{told} ({', '.join(topic.items)})"
    return told if _speaks_of(told, bare, topic) else f"{told} ({topic.rest})"


def _with_details(text: str, topic: _Topic) -> str:
    """«la huelga» with what the answer says right after it: «la huelga en el puerto de Valencia»."""
    language, clauses = topic.grammar.language, topic.grammar.clauses
    answer = _first_sentence(topic.answer)
    said = read_words(answer, flatten(answer))
    stems = [stem(word.text, language) for word in said]
    for word in reversed(read_words(text, flatten(text))):
        if word.flat in stop_words(language) or stem(word.text, language) not in stems:
            continue
        after = stems.index(stem(word.text, language)) + 1
        links = clauses.prepositions | clauses.contracted.keys()
        if after < len(said) and not said[after].is_apart and said[after].flat in links:
            apart = (number for number in range(after, len(said)) if said[number].is_apart)
            end = min(next(apart, len(said)), after + MOST_ENTITY_WORDS)
            return f"{text[: word.end]} {answer[said[after].start : said[end - 1].end]}{text[word.end :]}"
        return text
    return text


def _asked_of_all(asks: str, topic: _Topic) -> str:
    """«¿desde cuándo?» after «¿Quién dirige la planta?»: «desde cuándo Teresa Abadía dirige la planta»."""
    if topic.asks_who and topic.named:
        return f"{asks} {topic.named} {with_its_question_word('', topic.question, topic.grammar)}"
    told = with_its_question_word(asks, topic.question, topic.grammar)
    asked = topic.antecedents.asked
    if not asked or asked in told:
        return told
    return f"{told} ({topic.named or asked})"


def _with_item(text: str, topic: _Topic) -> tuple[str, bool]:
    """Return the text with the thing that «el segundo» or «the other» points at, and whether one was found."""
    low = flatten(text).lower()
    for number, pattern in _rules().ordinals.items():
        match = pattern.search(low)
        if match and len(topic.items) > max(number, 1):
            return f"{text[: match.start()]}{topic.items[number]}{text[match.end() :]}", True
    if match := _rules().other.search(low):
        others = [item for item in topic.items if item not in topic.question]
        if len(others) == 1:
            return f"{text[: match.start()]}{others[0]}{text[match.end() :]}", True
    return text, False


def _speaks_of(told: str, bare: str, topic: _Topic) -> bool:
    """Return whether a text, which was made from the bare question, holds words of the topic that this lacked."""
    added = {fold(word) for word in words_of(told)} - {fold(word) for word in words_of(bare)}
    empty = stop_words(topic.grammar.language)
    return any(len(word) > 1 and word not in empty for word in added)
