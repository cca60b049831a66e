"""References: pronouns and left-out subjects of a question, replaced by the phrases that they stand for."""

import re
from collections.abc import Sequence
from functools import lru_cache

from graphrag.linguistics.lexicon import parts_of_speech
from graphrag.linguistics.normalization import flatten
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.query_transformation.decomposition import Antecedents, find_antecedents, words_of_opening
from graphrag.query_transformation.phrases import QuestionGrammar, QuestionToken, find_phrases, read_words


def understood_alone(part: str, before: str, grammar: QuestionGrammar) -> str:
    """The part with the names or noun phrases of the part before it, which is understood alone."""
    if is_bare_question_word(part, grammar):
        return with_its_question_word(part, before, grammar)
    if _is_complement(part, grammar.language):
        opening = grammar.asking.opening.match(flatten(before))
        return f"{part} {(before[opening.end() :] if opening else before).strip()}"
    return resolve_references(part, find_antecedents(before, grammar), grammar)


def resolve_references(part: str, found: Antecedents, grammar: QuestionGrammar) -> str:
    """Return the part with antecedents for its pronouns, or for the subject that it leaves out."""
    flat = flatten(part)
    if found == Antecedents():
        return part
    return {"en": _english, "es": _spanish, "fr": _french}[grammar.language](part, flat, found, grammar)


def is_bare_question_word(part: str, grammar: QuestionGrammar) -> bool:
    """«¿y por qué?», "to whom": nothing but a question phrase."""
    flat = flatten(part)
    words = read_words(part, flat)
    return 0 < len(words) == words_of_opening(part, flat, words, grammar)


_COMPLEMENT = re.compile(
    r"\W*(?:with|at|on|in|for|by|from|to|of|avec|a|pour|de|en|par|sur|dans|chez|con|por|para|desde|hasta) "
    r"(?:what|which|how many|how much|quel(?:le)?s?|combien de|que|cual|cuales|cuant[oa]s?) "
    r"(?P<noun>\w+)(?: (?:of|per|a|de|du|par|por|al) \w+)?\W*"
)


def _is_complement(part: str, language: str) -> bool:
    """Return whether a part adds a noun to the verb before it: «et avec quel budget ?», "and on what date"."""
    match = _COMPLEMENT.fullmatch(flatten(part).lower())
    return match is not None and "n" in parts_of_speech(match["noun"], language)


def with_its_question_word(part: str, before: str, grammar: QuestionGrammar) -> str:
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
        thing = found.person() if is_people else found.thing()
        said = said if person and thing == person else _replace(said, match, thing)
    return said


class ReferenceRules(Rules):
    es_after_preposition: Pattern
    es_clitic: Pattern
    fr_inverted: Pattern
    fr_elided: Pattern
    fr_clitic: Pattern
    fr_stressed: Pattern
    fr_that: Pattern


@lru_cache(maxsize=1)
def _rules() -> ReferenceRules:
    return read_rules(ReferenceRules, "graphrag.query_transformation", "references")


_ES_ENCLITIC = re.compile(r"\b([a-z]+[aei]r)(?:me|se|te|nos)?(lo|la|los|las)\b")
_ES_POSSESSIVE = re.compile(r"\b(su|sus) ([a-z]+(?: de [a-z]+)?)\b")
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
            "su": "la" if noun.split()[0].endswith(("a", "ión", "dad")) else "el",
            "sus": "las" if noun.split()[0].endswith("as") else "los",
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
    return found.person() if found.names or found.answered else found.thing()


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
_FR_POSSESSIVE = re.compile(r"\b(son|sa|ses|leur|leurs) ([a-z]+(?: d(?:e |')[a-z]+)?)\b")


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
    if match := _rules().fr_stressed.search(low):
        owner = found.thing() if match[1] in ("cela", "ca") else found.person()
        return f"{said[: match.start(1)]}{owner}{said[match.end(1) :]}"
    if match := _rules().fr_that.search(low):
        return _replace(said, match, found.thing())
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
    return found.person() if found.names or found.answered else found.thing(gender)


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
