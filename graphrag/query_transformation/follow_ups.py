"""Follow-up questions: what they leave out, taken from the conversation."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import content_words, fold, stop_words
from graphrag.linguistics.language import words as words_of
from graphrag.linguistics.normalization import flatten
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.query_transformation.decomposition import Antecedents, find_antecedents, words_of_opening
from graphrag.query_transformation.phrases import (
    Phrase,
    QuestionGrammar,
    QuestionToken,
    find_focus,
    find_named,
    find_phrases,
    read_words,
)


def understood_alone(part: str, before: str, grammar: QuestionGrammar) -> str:
    """The part with the names or noun phrases of the part before it, which is understood alone."""
    flat = flatten(part)
    if is_bare_question_word(part, grammar):
        return _with_its_question_word(part, before, grammar)
    found = find_antecedents(before, grammar)
    if not found.names and not found.things and not found.asked:
        return part
    return {"en": _english, "es": _spanish, "fr": _french}[grammar.language](part, flat, found, grammar)


def is_bare_question_word(part: str, grammar: QuestionGrammar) -> bool:
    """«¿y por qué?», "to whom": nothing but a question phrase."""
    flat = flatten(part)
    words = read_words(part, flat)
    return 0 < len(words) == words_of_opening(part, flat, words, grammar)


def _with_its_question_word(part: str, before: str, grammar: QuestionGrammar) -> str:
    """«¿Cuándo se firmó el acta?» + «¿dónde?» → «dónde se firmó el acta»."""
    flat = flatten(before)
    match = grammar.asking.opening.match(flat)
    if match is None:
        return f"{part} {before}"
    rest = before[match.end() :]
    if re.search(
        r"(?:what|which|que|quel(?:le)?s?|cual|how many|how much|cuant[oa]s?|combien de)$", match[0].lower().strip()
    ):
        words = read_words(rest, flatten(rest))
        is_noun = words and words[0].flat not in grammar.clauses.breaks | grammar.clauses.determiners
        rest = rest[words[0].end :] if is_noun and not words[0].is_name else rest
    return " ".join(f"{part} {rest}".split())


def _replace(text: str, match: re.Match[str], by: str) -> str:
    return " ".join(f"{text[: match.start()]} {by} {text[match.end() :]}".split())


_EN_PERSON = re.compile(r"\b(?:he|she|him|her)\b")
_EN_THING = re.compile(r"\b(?:they|them|it)\b|\b(?:that|this)$")
_EN_THERE = re.compile(r"(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )\bthere\b(?! (?:is|are|was|were|an?|any)\b)")
_EN_POSSESSIVE = re.compile(r"\b(his|her|its|their) (?=[a-z])(?!(?:a|the|to|for|in|on|at|and)\b)")


def _english(part: str, flat: str, found: Antecedents, grammar: QuestionGrammar) -> str:
    if match := _EN_POSSESSIVE.search(flat):
        owner = found.person() if match[1] in ("his", "her") else found.thing()
        return _replace(part, match, f"{owner}'" if owner.endswith("s") else f"{owner}'s")
    if match := _EN_THERE.search(flat):
        return _replace(part, match, f"at {found.thing()}")
    said, person = part, ""
    if match := _EN_PERSON.search(flat):
        person = found.person()
        said = _replace(part, match, person)
    if match := _EN_THING.search(flatten(said)):
        is_people = match[0] == "they" and not found.things
        said = _replace(said, match, found.person() if is_people else found.thing())
    return said


class FollowUpRules(Rules):
    es_after_preposition: Pattern
    es_clitic: Pattern
    fr_inverted: Pattern
    fr_elided: Pattern
    fr_clitic: Pattern
    goes_on: Pattern
    pronouns: dict[str, Pattern]
    pointing: Pattern
    empty_subject: Pattern
    clitic: Pattern
    that_of: Pattern
    of_something: Pattern


@lru_cache(maxsize=1)
def _rules() -> FollowUpRules:
    return read_rules(FollowUpRules, "graphrag.query_transformation", "follow_ups")


_ES_ENCLITIC = re.compile(r"\b([a-z]+[aei]r)(?:me|se|te|nos)?(lo|la|los|las)\b")
_ES_POSSESSIVE = re.compile(r"\b(su|sus) ([a-z]+)\b")
_ES_SUBJECT_OPENING = re.compile(r"(?:QUIEN(?:ES)?|quien(?:es)?)\b|(?:CUANT[OA]S|cuant[oa]s) [a-z]+ [a-z]+n\b")


def _spanish(part: str, flat: str, found: Antecedents, grammar: QuestionGrammar) -> str:
    words = read_words(part, flat)
    asked = words_of_opening(part, flat, words, grammar)
    low = flat.lower()
    said = part
    filled = ""
    position = words[asked - 1].end if asked else 0
    has_subject = bool(_ES_SUBJECT_OPENING.match(flat)) or _names_its_subject(part, words, max(asked, 1), grammar)
    if match := _ES_POSSESSIVE.search(low):
        noun = part[match.start(2) : match.end(2)]
        article = {
            "su": "la" if noun.endswith(("a", "ión", "dad")) else "el",
            "sus": "las" if noun.endswith("as") else "los",
        }[match[1]]
        return _replace(
            part, match, f"{article} {noun} de {found.person() if not found.things else found.thing()}"
        ).replace(" de el ", " del ")
    if match := _rules().es_after_preposition.search(low):
        filled = found.thing()
        said = _contracted(_replace(part, match, f"{part[match.start(1) : match.end(1)]} {filled}"))
        has_subject = has_subject and bool(_ES_SUBJECT_OPENING.match(flat))
    elif match := _clitic(low, position, words, asked, grammar):
        filled = found.thing({"lo": "m", "la": "f"}.get(match[2], ""))
        said = " ".join(f"{part[: match.start(1)]} {part[match.end(1) :]} {filled}".split())
        has_subject = bool(_ES_SUBJECT_OPENING.match(flat)) or _asks_for_subject(flat)
    elif match := _ES_ENCLITIC.search(low):
        filled = found.thing({"lo": "m", "la": "f"}.get(match[2], ""))
        said = _replace(part, match, f"{part[match.start(1) : match.end(1)]} {filled}")
        has_subject = True
    elif match := re.search(r"\b(?:alli|ahi|alla)\b", low):
        return _replace(part, match, f"en {found.thing()}")
    elif not has_subject and re.search(r"\b(?:le|les) [a-z]", low):
        return _contracted(f"{part} a {found.thing()}")
    if has_subject or _is_whole(low):
        return said
    subject = found.other_than(filled) if filled else _subject(found)
    return f"{said} {subject}" if subject and subject not in said else said


def _subject(found: Antecedents) -> str:
    return found.person() if found.names else found.thing()


def _asks_for_subject(flat: str) -> bool:
    return re.match(r"(?:QUE|CUAL|CUANT[OA]S) [a-z]+", flat) is not None


def _names_its_subject(part: str, words: Sequence[QuestionToken], begin: int, grammar: QuestionGrammar) -> bool:
    """Return whether a noun phrase names the subject.

    After a preposition it is no subject, but «se habló de la boda» needs none.
    """
    phrases = find_phrases(words, part, grammar.clauses, begin=begin)
    free = [phrase for phrase in phrases if words[phrase.first - 1].flat not in grammar.clauses.prepositions]
    return bool(free) or (bool(phrases) and any(word.flat == "se" for word in words))


def _clitic(
    low: str, position: int, words: Sequence[QuestionToken], asked: int, grammar: QuestionGrammar
) -> re.Match[str] | None:
    """«lo» and «la» right after the question phrase, or after its noun, are no articles where a verb follows."""
    match = _rules().es_clitic.match(low, position)
    noun = words[asked].flat if match and asked < len(words) else ""
    has_noun = noun not in ("", "se", "me", "nos", "te", "no", "ya", "tambien", "lo", "la", "los", "las")
    if has_noun and (noun in grammar.clauses.prepositions | grammar.clauses.breaks or not _takes_noun(low[:position])):
        return None
    return match


def _takes_noun(opening: str) -> bool:
    return re.search(r"\b(?:que|cuant[oa]s?)$", opening.strip()) is not None


def _is_whole(low: str) -> bool:
    """Weather, hours, and what somebody or something unnamed does."""
    return (
        re.search(
            r"\b(?:hay|hubo|habia|hora es|debo|debemos|tengo|tenemos|puedo|podemos|hago|hacemos|pagamos|pague"
            r"|hicimos)\b",
            low,
        )
        is not None
    )


def _contracted(text: str) -> str:
    return re.sub(r"\b(a|de) el\b", r"\1l", text)


_FR_IMPERSONAL = re.compile(r"\b(?:reste|restait|faut|fallait|manque|existe|s'agit|y a|y avait)-(?:t-)?il\b")
_FR_PRONOUN = re.compile(r"\b(il|elle|ils|elles)\b(?! y a)")
_FR_POSSESSIVE = re.compile(r"\b(son|sa|ses|leur|leurs) ([a-z]+)\b")


def _french(part: str, flat: str, found: Antecedents, grammar: QuestionGrammar) -> str:
    said, low = part, flat.lower()
    if match := _FR_POSSESSIVE.search(low):
        noun = part[match.start(2) : match.end(2)]
        article = {"son": "le", "sa": "la", "ses": "les", "leur": "le", "leurs": "les"}[match[1]]
        return re.sub(
            r"\bde le\b",
            "du",
            _replace(part, match, f"{article} {noun} de {found.thing() if found.things else found.person()}"),
        )
    object_ = ""
    if match := _rules().fr_elided.search(low) or _rules().fr_clitic.search(low):
        object_ = found.thing(_has_feminine(low) or "")
        if "la " in match[0]:
            object_ = found.thing("f")
        said = part[: match.start()] + part[match.end() :]
        low = flatten(said).lower()
    inverted = None if _FR_IMPERSONAL.search(low) else _rules().fr_inverted.search(low)
    if inverted and not _has_own_subject(said, low[: inverted.start()], grammar):
        subject = _french_subject(found, inverted[2], object_)
        verb = said[inverted.start(1) : inverted.end(1)]
        said = _replace(said, inverted, f"{subject} {verb}")
    elif (match := _FR_PRONOUN.search(low)) and not inverted and not _FR_IMPERSONAL.search(low):
        said = _replace(said, match, _french_subject(found, match[1], object_))
    elif match := re.search(r"\by (?=[a-z])(?!a\b|avait)", low):
        return f"{said[: match.start()]}{said[match.end() :]} à {found.thing()}"
    return f"{said} {object_}".strip()


def _french_subject(found: Antecedents, pronoun: str, taken: str) -> str:
    gender = "f" if pronoun.startswith("elle") else "m"
    if taken:
        return found.other_than(taken)
    return found.person() if found.names else found.thing(gender)


def _has_feminine(low: str) -> str | None:
    """The gender that a participle shows, if any."""
    match = re.search(
        r"\b(?:a|ont|avait|aura)(?:-t-\w+)? (?:\w+ment )?(\w+?)(ee|ees|ie|ies|ue|ues|te|tes|se|ses)\b", low
    )
    return "f" if match else None


def _has_own_subject(part: str, before: str, grammar: QuestionGrammar) -> bool:
    """«Quel engrais Colette utilise-t-elle»: the pronoun only repeats it."""
    words = read_words(part[: len(before)], flatten(part[: len(before)]))
    asked = words_of_opening(part, flatten(part), words, grammar)
    return bool(find_phrases(words, part, grammar.clauses, begin=asked))


Strategy = Literal["first message (raw query)", "standalone question (raw query)", "follow-up (contextualized topic)"]
FIRST: Final = "first message (raw query)"
STANDALONE: Final = "standalone question (raw query)"
FOLLOW_UP: Final = "follow-up (contextualized topic)"
MOST_EARLIER = 4  # questions; what was asked before them is no longer the topic
MOST_TOPIC_WORDS = 12
_EDGES = " ¿?¡!.,;:"


@dataclass(frozen=True, slots=True)
class Exchange:
    question: str
    cited: tuple[str, ...] = ()  # titles of what its answer cites


def is_follow_up(question: str, grammar: QuestionGrammar) -> bool:
    """Return whether the question refers back.

    It does by a pronoun that nothing before it in the question explains, or by leaving out its subject.
    """
    flat = flatten(question)
    low = _rules().empty_subject.sub(" ", flat.lower())
    bare = _bare(question, low)
    is_clitic = grammar.language != "en" and _rules().clitic.search(flatten(bare).lower())
    if _rules().pointing.search(low) or is_clitic or is_bare_question_word(bare, grammar):
        return True
    words = read_words(question, flat)
    phrases = find_phrases(words, question, grammar.clauses)
    named = find_named(question, grammar.language)
    if (pronoun := _rules().pronouns[grammar.language].search(low)) and not _is_explained(
        pronoun.start(), phrases, named, question
    ):
        return True
    asks = find_focus(flat, grammar.asking) is not None
    if _rules().goes_on.match(low) and not asks:
        return True
    if _rules().goes_on.match(low) and re.match(r"\W*(?:(?:and|but|also|ok|so) )?(?:what|how) about\b", low):
        return True
    is_empty = not phrases and not named and not any(word.is_name for word in words[1:])
    return asks and is_empty and _says_little(question, grammar)


def _plain(question: str) -> str:
    return question.strip(_EDGES)


def _bare(question: str, low: str) -> str:
    match = _rules().goes_on.match(low)
    return (question[match.end() :] if match else question).strip(_EDGES)


def _is_explained(position: int, phrases: Sequence[Phrase], names: Sequence[str], question: str) -> bool:
    return any(phrase.words[0].start < position for phrase in phrases) or any(
        question.find(name) < position for name in names
    )


def _says_little(question: str, grammar: QuestionGrammar) -> bool:
    """One word of meaning at most: «¿Cuánto costó?»."""
    empty = stop_words(grammar.language)
    return sum(fold(word) not in empty for word in words_of(question)) <= 1


def contextualize(question: str, earlier: Sequence[Exchange], grammar: QuestionGrammar) -> tuple[str, Strategy]:
    """Return the text to search for, and the strategy that made it.

    It is the question itself if that names its topic, else the question with the conversation's topic. A question that
    names another subject would only be led astray by the one before.
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


def topic_words(earlier: Sequence[Exchange], grammar: QuestionGrammar) -> list[str]:
    """Names, then the words that carry meaning, then the titles that were cited: the latest first, each once."""
    found: dict[str, str] = {}
    for exchange in reversed(earlier):
        said = [word for name in find_named(exchange.question, grammar.language) for word in words_of(name)]
        said += content_words(exchange.question, grammar.language)
        said += [word for title in exchange.cited for word in content_words(title, grammar.language)]
        for word in said:
            found.setdefault(fold(word), word)
    return list(found.values())[:MOST_TOPIC_WORDS]


def _told_with(question: str, before: str, grammar: QuestionGrammar) -> str:
    """The question with the names and the words of the one before that it leaves out."""
    flat = flatten(question)
    bare = _bare(question, flat.lower())
    asks = find_focus(flat, grammar.asking) is not None
    if asks and not re.match(r"\W*(?:(?:and|but|also|ok|so) )?(?:what|how) about\b", flat.lower()):
        return understood_alone(bare, before, grammar)
    if _rules().pronouns[grammar.language].search(flat.lower()) and not _rules().goes_on.match(flat.lower()):
        return understood_alone(bare, before, grammar)
    return _with_fragment(bare, before, grammar)


def _with_fragment(fragment: str, before: str, grammar: QuestionGrammar) -> str:
    """«¿y en 2024?», «et le contrat Opale ?»: the question before with this instead of what it takes the place of."""
    if any(each.period for each in read_dates(fragment, grammar.language)):
        kept = re.sub(
            r"(?i)\b(?:en|in|de|of|del|du|for|pour) (?:el |the )?(?:a[ñn]o )?(?:19|20)\d{2}\b|\b(?:19|20)\d{2}\b",
            " ",
            before,
        )
        return " ".join(f"{kept} {fragment}".split())
    if match := _rules().that_of.match(flatten(fragment).lower()):
        return _with_other_owner(fragment[match.end() :], before, grammar) or f"{before} {fragment}"
    words = read_words(fragment, flatten(fragment))
    wanted = {word.flat for word in words if not word.is_name and word.flat not in grammar.clauses.determiners}
    phrases = find_phrases(read_words(before, flatten(before)), before, grammar.clauses)
    alike = [phrase for phrase in phrases if wanted & {word.flat for word in phrase.words} - grammar.clauses.binding]
    if not alike and any(word.is_name for word in words):
        alike = [phrase for phrase in phrases if phrase.is_bare] or [phrase for phrase in phrases if phrase.has_name]
    if not alike or _rules().pointing.search(flatten(fragment)):
        return f"{before} {fragment}"
    start, end = alike[0].words[0].start, alike[0].words[-1].end
    return f"{before[:start]}{fragment}{before[end:]}"


def _with_other_owner(owner: str, before: str, grammar: QuestionGrammar) -> str:
    """«¿y el de Zamora?» after «¿qué dice el contrato de Lugo?»; empty where nothing was somebody's."""
    owners = list(_rules().of_something.finditer(before))
    match = next((owner for owner in owners if owner[1][0].isupper()), owners[-1] if owners else None)
    return f"{before[: match.start(1)]}{owner}{before[match.end(1) :]}" if match else ""
