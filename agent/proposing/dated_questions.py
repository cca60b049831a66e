"""Questions for when something was or will be, of sentences that tell one date."""

import re
from collections.abc import Iterator

from agent.proposing.questions import MadeQuestion, ReadDocument
from agent.proposing.wording import ask
from graphrag.extractive_answers.told_dates import ToldDate, find_told_dates, only_year
from graphrag.language import words

# What stands around a date that is the time of the whole clause; «desde el», "until" say something else.
_BEFORE = {
    "es": re.compile(
        r"(?:^|(?<=\s))(?:el (?:día |lunes |martes |miércoles |jueves |viernes |sábado |domingo )?|en )$", re.I
    ),
    "fr": re.compile(r"(?:^|(?<=\s))(?:le (?:lundi |mardi |mercredi |jeudi |vendredi |samedi |dimanche )?|en )$", re.I),
    "en": re.compile(r"(?:^|(?<=\s))(?:on (?:\w+day,? )?|in )$", re.I),
}
_RANGE = {
    "es": re.compile(r"\b(?:desde|hasta|antes|después|partir|entre|del?|para|dese|a|mismo)\s*$", re.I),
    "fr": re.compile(r"\b(?:depuis|jusqu'à|jusqu'au|avant|après|partir|dès|entre|du|au|que|pour)\s*$", re.I),
    "en": re.compile(r"\b(?:since|until|till|before|after|from|by|between|to|as|due)\s*$", re.I),
}


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
    """The sentence without its date, where that opens or ends it, and the word that the date belongs to: what the
    question leaves out must not be what was dated. Else ("", "").
    """
    before, after = sentence[: date.start], sentence[date.end :]
    opening = _BEFORE[language].search(before)
    if opening is None or _RANGE[language].search(before[: opening.start()]):
        return "", ""
    head = before[: opening.start()].strip(" ,")
    clause = head if head and (not after.strip(" .") or after.startswith(",")) else "" if head else after.strip(" ,.")
    found = words(clause)
    return (clause, found[-1] if head else found[0].lower()) if found else ("", "")
