"""The sentences in which a table's computed numbers are said, in Spanish, French and English."""

from collections.abc import Sequence
from dataclasses import dataclass

from babel.numbers import format_decimal

from graphrag.linguistics.cell_values import Number
from graphrag.linguistics.dates import Period, Unit, against, breaking_spaces, name, percent, spoken, trend
from graphrag.models import TemporalContext

MOST_DECIMALS = 6
_HUGE = 1e15
SENTENCES = {
    "es": {
        "heading": "{sheet}: cifras calculadas",
        "column": "columna {letters}",
        "all_rows": "todas las filas",
        "range": " ({first} – {last})",
        "total": "Total de {column}{range}: {value}, suma de {count} valores.",
        "minimum": "Mínimo de {column}: {value}{of}.",
        "maximum": "Máximo de {column}: {value}{of}.",
        "mean": "Media de {column}{range}: {value}, de {count} valores.",
        "period": "{column}, {period}: {value}.",
        "mean_of_period": "{column}, media de {period}: {value}.",
        "change": "{column}, {period}: {value}, {percent} {against} ({before}: {previous}): {verb} {difference}.",
        "same": "{column}, {period}: {value}, igual que en {before}.",
        "up": "sube",
        "down": "baja",
    },
    "fr": {
        "heading": "{sheet} : chiffres calculés",
        "column": "colonne {letters}",
        "all_rows": "toutes les lignes",
        "range": " ({first} – {last})",
        "total": "Total de {column}{range} : {value}, somme de {count} valeurs.",
        "minimum": "Minimum de {column} : {value}{of}.",
        "maximum": "Maximum de {column} : {value}{of}.",
        "mean": "Moyenne de {column}{range} : {value}, sur {count} valeurs.",
        "period": "{column}, {period} : {value}.",
        "mean_of_period": "{column}, moyenne de {period} : {value}.",
        "change": "{column}, {period} : {value}, {percent} {against} ({before} : {previous}) : {verb} {difference}.",
        "same": "{column}, {period} : {value}, comme en {before}.",
        "up": "augmente de",
        "down": "baisse de",
    },
    "en": {
        "heading": "{sheet}: computed figures",
        "column": "column {letters}",
        "all_rows": "all rows",
        "range": " ({first} – {last})",
        "total": "Total {column}{range}: {value}, the sum of {count} values.",
        "minimum": "Minimum {column}: {value}{of}.",
        "maximum": "Maximum {column}: {value}{of}.",
        "mean": "Average {column}{range}: {value}, of {count} values.",
        "period": "{column}, {period}: {value}.",
        "mean_of_period": "{column}, average of {period}: {value}.",
        "change": "{column}, {period}: {value}, {percent} {against} ({before}: {previous}): {verb} by {difference}.",
        "same": "{column}, {period}: {value}, the same as in {before}.",
        "up": "up",
        "down": "down",
    },
}


@dataclass(frozen=True, slots=True)
class ComputedLine:
    text: str
    cells: str  # that it was computed from
    temporal: TemporalContext | None = None


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of a language, with a column's numbers as people of that language write them."""

    language: str
    decimals: int = 0
    unit: str = ""

    def say(self, key: str, **words: str) -> str:
        sentence = SENTENCES[spoken(self.language)][key].format(**words)
        return sentence[:1].upper() + sentence[1:]

    def number(self, value: Number, *, decimals: int | None = None) -> str:
        return written(value, self.language, decimals=self.decimals if decimals is None else decimals, unit=self.unit)

    def count(self, number: int) -> str:
        return written(number, self.language, decimals=0)

    def period(self, period: Period) -> str:
        return name(period, spoken(self.language))

    def range(self, periods: Sequence[Period]) -> str:
        """Empty for a single period."""
        first, last = min(periods, key=_first), max(periods, key=_first)
        if first == last:
            return ""
        return SENTENCES[spoken(self.language)]["range"].format(first=self.period(first), last=self.period(last))

    def change(
        self, column: str, now: tuple[Period, Number], before: tuple[Period, Number], share: float, unit: Unit
    ) -> str:
        difference = now[1] - before[1]
        words = {
            "column": column,
            "period": self.period(now[0]),
            "value": self.number(now[1]),
            "before": self.period(before[0]),
        }
        if difference == 0:
            return self.say("same", **words)
        return self.say(
            "change",
            **words,
            percent=percent(share, self.language),
            against=against(unit, self.language),
            previous=self.number(before[1]),
            verb=SENTENCES[spoken(self.language)]["up" if difference > 0 else "down"],
            difference=self.number(abs(difference)),
        )


def _first(period: Period) -> tuple[int, int]:
    day = period.first_day
    return (day.toordinal() if day else 0, period.number)


def time_of(period: Period, share: float | None, language: str) -> TemporalContext | None:
    day = period.first_day
    label = "" if share is None else trend(share, period.unit, language)
    return TemporalContext(day, period.unit, share, label) if day else None


def written(value: Number, language: str, *, decimals: int, unit: str = "") -> str:
    number = _number(value, spoken(language), decimals)
    if not unit:
        return number
    if spoken(language) == "en":
        return f"{number}%" if unit == "%" else f"{unit}{number}" if len(unit) == 1 else f"{number} {unit}"
    return f"{number} {unit}"


def _number(value: Number, language: str, decimals: int) -> str:
    if abs(value) >= _HUGE or 0 < abs(value) < 10**-MOST_DECIMALS:
        return f"{float(value):.6g}"
    pattern = "#,##0." + "#" * decimals if decimals else "#,##0"
    text = format_decimal(round(value, decimals), pattern, locale=language)
    return breaking_spaces(text)


def decimals_of(values: Sequence[Number]) -> int:
    """Return the number of decimals that the values are written with."""
    fractions = {value for value in values if isinstance(value, float)}
    return min(MOST_DECIMALS, max((_decimals(f"{value:.10g}") for value in fractions), default=0))


def _decimals(text: str) -> int:
    return MOST_DECIMALS if "e-" in text else len(text.partition(".")[2])
