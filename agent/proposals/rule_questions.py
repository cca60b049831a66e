"""Questions that rules make of a document."""

import re
from collections.abc import Iterator
from functools import lru_cache

from agent.proposals.questions import MadeQuestion, ReadDocument
from agent.proposals.wording import ask, ask_cause, has_verb, is_alone, lowered
from graphrag.causal_graph.extraction import extract_relations
from graphrag.extractive_answers.statements import Excerpt
from graphrag.extractive_answers.table_answers import SeenRow, SeenTable, tables
from graphrag.linguistics.dates import Period, ToldDate, find_told_dates, months, name, only_year, parse_period
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.names import FULL_NAME
from graphrag.linguistics.numbers import write_number
from graphrag.linguistics.rules import AnyCase, Pattern, Rules, read_rules
from graphrag.models.evaluation import Category
from graphrag.models.graph import CausalRelation, Polarity, RelationType
from graphrag.parsers.source_locations import rows_within

SURE = 0.7  # confidence in a relation: below it the wording may mean something else


def causal_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Ask for the causes of factual relations, as the causal graph reads them; the answer is the stated cause."""
    for relation in extract_relations(read.text, language=read.language):
        if relation.polarity is not Polarity.FACT or relation.confidence < SURE or not read.is_harmless(relation.quote):
            continue
        effect = read.read(relation.effect)
        question = ask("why", effect, read.language)
        if question is None and _is_predicate(read, relation):
            question = ask_cause(effect, read.language, triggered=relation.type is RelationType.TRIGGERS)
        if question:
            quote = read.text[relation.quote.start : relation.quote.end]
            yield MadeQuestion(question, read.read(relation.quote), quote, "causal", "cause")


def _is_predicate(read: ReadDocument, relation: CausalRelation) -> bool:
    """A verb or a colon stands between cause and effect: then they are noun phrases, whatever verbs we know."""
    first, last = sorted((relation.cause, relation.effect), key=lambda span: span.start)
    between = read.text[first.end : last.start]
    return ":" in between or has_verb(between, read.language)


MOST_WORDS = 9  # of what is paid for


class RuleQuestionRules(Rules):
    cost: dict[str, Pattern]
    asks_cost: dict[str, str]
    before: dict[str, AnyCase]
    range: dict[str, AnyCase]
    roles: dict[str, str]
    open: dict[str, str]
    asks_role: dict[str, str]
    infinitive: dict[str, Pattern]
    who_of: dict[str, tuple[str, ...]]
    when_of: dict[str, tuple[str, ...]]
    counted: dict[str, AnyCase]
    in_period: dict[str, str]


@lru_cache(maxsize=1)
def _rules() -> RuleQuestionRules:
    return read_rules(RuleQuestionRules, "agent.proposals", "rule_questions")


_OPENING = re.compile(r"(?:el|la|le|the|an?|un|una|une) |l['’]|[A-ZÁÉÍÓÚÑÀÂÇÈÊÎÔŒ]", re.IGNORECASE)
_PLURAL = re.compile(r"(?:los|las|les|des) ", re.IGNORECASE)


def cost_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    for span in read.sentences:
        sentence = read.read(span)
        told = _rules().cost[read.language].match(sentence)
        if told is None:
            continue
        what = lowered(told["what"].strip())
        is_one_thing = _OPENING.match(what) and not _PLURAL.match(what) and len(words(what)) <= MOST_WORDS
        if is_one_thing and is_alone(what, read.language):
            quote = read.text[span.start : span.end].strip()
            asks = _rules().asks_cost[read.language].format(what)
            yield MadeQuestion(asks, told["price"].strip(), quote, "factual", "cost")


def dated_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Dates without a year are those of the document's only year."""
    year = only_year(read.text[:1_000])
    for span in read.sentences:
        sentence = read.read(span)
        dates = find_told_dates(sentence, read.language, year=year)
        if len(dates) != 1 or dates[0].period.unit not in ("day", "month"):
            continue
        clause, last = _clause(sentence, dates[0], read.language)
        question = ask("when", clause, read.language) if clause else None
        if question and last in {*words(question), *words(question.lower())}:
            yield MadeQuestion(question, sentence, read.text[span.start : span.end].strip(), "temporal", "date")


def _clause(sentence: str, date: ToldDate, language: str) -> tuple[str, str]:
    """Return the sentence without a date that begins or ends it, and the preposition before the date; else ("", "").

    The words that the question leaves out must not be what was dated.
    """
    before, after = sentence[: date.start], sentence[date.end :]
    opening = _rules().before[language].search(before)
    if opening is None or _rules().range[language].search(before[: opening.start()]):
        return "", ""
    head = before[: opening.start()].strip(" ,")
    clause = head if head and (not after.strip(" .") or after.startswith(",")) else "" if head else after.strip(" ,.")
    found = words(clause)
    return (clause, found[-1] if head else found[0].lower()) if found else ("", "")


_OPENS = re.compile(r"(?:el|la|su|nuestr[oa]|le|son|sa|leur|notre|the|an?|his|her|its|our|their) |l['’]", re.IGNORECASE)
_PRAISE = re.compile(r"\b(?:muy|très|very)\b")  # no role: «una encargada muy querida»
_VOWEL = re.compile(r"[AEIOUÉÈÊÎÔ]", re.IGNORECASE)


def role_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    """Each person is asked for once, whatever else the document calls them."""
    asked: set[str] = set()
    for span in read.sentences:
        sentence = read.read(span)
        for match in _pattern(read.language).finditer(sentence):
            name = match["a"] or match["b"] or match["c"]
            role = match["x"] or match["y"] or match["z"]
            if name not in asked and not _PRAISE.search(role):
                asked.add(name)
                quote = read.text[span.start : span.end].strip()
                yield MadeQuestion(
                    _question(name, read.language),
                    _bare(role),
                    quote,
                    "factual",
                    "role",
                )


def _bare(role: str) -> str:
    opening = _OPENS.match(role.strip())
    return role.strip()[opening.end() :] if opening else role.strip()


def _pattern(language: str) -> re.Pattern[str]:
    role = rf"{_rules().open[language]}{_rules().roles[language]}\b[^,.;:()\d]{{0,50}}"
    return re.compile(
        rf"(?P<a>{FULL_NAME}), (?P<x>{role})(?=[,.;)])"
        rf"|(?P<b>{FULL_NAME}) \((?P<y>{role})\)"
        rf"|(?<![\w'’-])(?P<z>(?i:{_rules().open[language]}){_rules().roles[language]}\b[^,.;:()\d]{{0,40}}), "
        rf"(?P<c>{FULL_NAME})(?=[,.;)])"
    )


def _question(name: str, language: str) -> str:
    asks = (
        _rules().asks_role[language].replace("de {}", "d'{}")
        if language == "fr" and _VOWEL.match(name)
        else _rules().asks_role[language]
    )
    return asks.format(name)


MOST_OF_A_COLUMN = 1  # in one table: those of its other rows would read alike
_WHO = frozenset("responsable responsible who owner quien encargado".split())
_WHEN = frozenset("plazo when by deadline due echeance fecha delai".split())
_WHOLE = re.compile(r"\d{1,3}(?:[ .,\u202f\u00a0]\d{3})*|\d+")
_ROW_VOWEL = re.compile(r"[aeiouyhâàéèêîô]", re.IGNORECASE)
_UNIT = re.compile(r"\s*\((?P<unit>[€£$%]|\w{1,5})\)\s*$")
_TOTAL = re.compile(r"\W*(?:sub-?)?(?:total|suma|sum|somme|media|moyenne|average)", re.I)


def row_questions(read: ReadDocument) -> Iterator[MadeQuestion]:
    for table in _tables(read):
        for number in range(1, len(table.headers)):
            asked = (_ask(table, row, number, read.language) for row in table.rows if len(row.cells) > 1)
            yield from [question for question in asked if question][:MOST_OF_A_COLUMN]


def _tables(read: ReadDocument) -> Iterator[SeenTable]:
    markdown = Excerpt(0, "", read.text, read.language)
    sheets = (
        Excerpt(
            0,
            "",
            chunk.content,
            read.language,
            chunk.start_char,
            rows_within(chunk.locations, chunk.start_char),
            chunk.headers,
        )
        for chunk in read.chunks
        if chunk.headers
    )
    for excerpt in (markdown, *sheets):
        yield from tables(excerpt)


def _ask(table: SeenTable, row: SeenRow, number: int, language: str) -> MadeQuestion | None:
    label, value = row.cells.get(0, "").strip(), row.cells.get(number, "").strip()
    header = table.headers[number].strip()
    if not label or not value or not header or _TOTAL.match(label):
        return None
    question = _of_task(header, label, value, language) or _of_count(table, number, label, value, language)
    if question is None or len(words(label)) > 14:
        return None
    category: Category = "temporal" if fold(header) in _WHEN else "factual"
    return MadeQuestion(question, _written(value, language), row.text, category, "row")


def _written(value: str, language: str) -> str:
    """A spreadsheet's bare number as a person writes it."""
    return write_number(int(value), language) if value.isdecimal() and len(value) > 3 else value


def _of_task(header: str, label: str, value: str, language: str) -> str | None:
    """Ask about a plan's row: its label is the task."""
    asks = _rules().who_of if fold(header) in _WHO else _rules().when_of if fold(header) in _WHEN else None
    if asks is None or (asks is _rules().when_of and not _is_time(value)) or parse_period(label):
        return None
    to_do, named = asks[language]
    is_to_do = language in _rules().infinitive and _rules().infinitive[language].match(label)
    return to_do.format(label[0].lower() + label[1:].rstrip(".")) if is_to_do else named.format(label.rstrip("."))


def _of_count(table: SeenTable, number: int, label: str, value: str, language: str) -> str | None:
    """Ask how many, for a column that is named by what it counts: «Pedidos», "Packs"; or how much money."""
    unit = _UNIT.search(table.headers[number])
    counted = _UNIT.sub("", table.headers[number]).strip()
    if not _WHOLE.fullmatch(value) or not _rules().counted[language].fullmatch(counted):
        return None
    counted = counted.lower() if not counted.isupper() else counted
    period = _period(label, table)
    where = (
        (_rules().in_period[language].format(name(period, language)) if period.unit != "year" else "") if period else ""
    )
    if (period and not where) or (not period and re.fullmatch(r"[\d.,\s]+", label)):
        return None
    if unit:
        return _how_much(counted, where, language) if unit["unit"] in "€£$" and where else None
    return _how_many(counted, where, _named(table.headers[0], label, language), language)


def _period(label: str, table: SeenTable) -> Period | None:
    """A day that is the first of its month, as they all are in their column, means the month."""
    period = parse_period(label)
    if period is None or period.unit != "day":
        return period
    days = [parse_period(row.cells.get(0, "")) for row in table.rows]
    are_months = all(of.first_day.day == 1 for of in days if of and of.unit == "day" and of.first_day)
    return period.within("month") if are_months else None


def _named(header: str, label: str, language: str) -> str:
    """«al lote A-2517»: a code says nothing without what it is of."""
    is_code = len(label.split()) == 1 and any(map(str.isdigit, label))
    if language != "es":
        return lowered(label)
    if not (is_code and header.isalpha()):
        return f"a {lowered(label)}"
    return f"{'a la' if header.endswith(('a', 'ción', 'dad')) else 'al'} {header.lower()} {label}"


def _is_time(value: str) -> bool:
    return any(map(str.isdigit, value)) or any(fold(word) in months() for word in words(value))


def _how_many(counted: str, where: str, label: str, language: str) -> str:
    match language:
        case "es":
            many = "Cuántas" if counted.endswith("as") else "Cuántos"
            return f"¿{many} {counted} hubo {where}?" if where else f"¿{many} {counted} corresponden {label}?"
        case "fr":
            of = "d'" if _ROW_VOWEL.match(counted) else "de "
            return f"Combien {of}{counted} y a-t-il {f'eu {where}' if where else f'pour {label}'} ?"
    return f"How many {counted} were there {where}?" if where else f"How many {counted} are listed for {label}?"


def _how_much(counted: str, where: str, language: str) -> str:
    match language:
        case "es":
            return f"¿A cuánto ascendieron {'las' if counted.endswith('as') else 'los'} {counted} {where}?"
        case "fr":
            return f"Quel était le montant des {counted} {where} ?"
    return f"What did {counted} come to {where}?"
