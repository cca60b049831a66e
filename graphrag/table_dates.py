"""What is late in a table of deliveries, tasks or payments: computed with today's date when it is asked."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from graphrag.ingestion.cell_values import read_periods
from graphrag.language import fold
from graphrag.periods import name, of_day

_ASKED = re.compile(
    r"\bretard|\bretras|\batras|\blate\b|\boverdue\b|\bdelayed\b|\bpast due\b|\bvencid|\bfuera de plazo\b"
    r"|\bhors d[ée]lai",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\b(?:(?:les)?quel(?:le)?s?|qu[ée]|cu[áa]l(?:es)?|cu[áa]nt[oa]s|combien|which|what|how many|list|hay|any)\b"
    r"|\by a-t-il\b|\b(?:est|sont|est[áa]n?|is|are)\b.*\b(?:retard|retras|atras|late|overdue|delayed|vencid)",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\bpor qu[ée]|\bpourquoi\b|\bwhy\b|\bhow come\b|\bcaus|\braison\b|\bmotiv|\braz[óo]n\b", re.IGNORECASE
)
_DUE = re.compile(
    r"previst|prevu|\bdue\b|expected|planned|scheduled|promised|vencimiento|echeance|limite|deadline|plazo|comprometid|\beta\b"
)
_DONE = re.compile(
    r"entrega|recib|recepcion|llegada|real|cierre|pago|terminad|finalizad"
    r"|livr|recu|reception|arrivee|reel|effective|cloture|paye|termine"
    r"|deliver|received|arriv|actual|complet|closed|paid|done"
)
_STATE = re.compile(r"^(?:estado|situacion|statut|etat|status|state)\b")
_IS_OPEN = re.compile(r"\b(?:no|non|not|sin|pas|pendiente|partial|parcial|partiel)")
_IS_DONE = re.compile(
    r"\b(?:entregad|recibid|complet|terminad|finalizad|cerrad|pagad|hech|livre|recu|termine|clos|paye|deliver|receiv|done"
    r"|closed|paid|finished)"
)
_IS_DROPPED = re.compile(r"\b(?:anulad|cancel|annul|abandon|descartad)")


@dataclass(frozen=True, slots=True)
class Late:
    row: int  # of those given, from 0
    due: date
    done: date | None
    days: int


@dataclass(frozen=True, slots=True)
class _Columns:
    due: int
    done: int | None
    state: int | None


def asks_what_is_late(question: str) -> bool:
    """Not why."""
    return bool(_ASKED.search(question) and _LISTED.search(question)) and not _CAUSE.search(question)


def late_rows(headers: Sequence[str], rows: Sequence[Mapping[int, str]], *, today: date, language: str) -> list[Late]:
    """Rows (header's number → text) that were done after they were due, or are due and open; of tables that say by a
    date or a state what is done. What was dropped is not late."""
    columns = _columns(headers)
    if columns is None:
        return []
    due, done = _dates(rows, columns.due, language), _dates(rows, columns.done, language)
    found = []
    for index, row in enumerate(rows):
        is_unread = columns.done is not None and columns.done in row and index not in done
        state = fold(row.get(columns.state, "")) if columns.state is not None else ""
        late = None if is_unread else _late(index, due.get(index), done.get(index), state, today)
        if late:
            found.append(late)
    return sorted(found, key=lambda late: (late.done is not None, late.due))


def _late(row: int, due: date | None, done: date | None, state: str, today: date) -> Late | None:
    if due is None or _IS_DROPPED.search(state):
        return None
    if done:
        return Late(row, due, done, (done - due).days) if done > due else None
    is_done = _IS_DONE.search(state) and not _IS_OPEN.search(state)
    return Late(row, due, None, (today - due).days) if today > due and not is_done else None


def _columns(headers: Sequence[str]) -> _Columns | None:
    folded = [fold(header) for header in headers]
    state = next((place for place, header in enumerate(folded) if _STATE.search(header)), None)
    due = [place for place, header in enumerate(folded) if _DUE.search(header)]
    done = [place for place, header in enumerate(folded) if _DONE.search(header) and place not in (*due, state)]
    dated = [place for place in done if re.search(r"\b(?:fecha|date|dia|jour|day|el|le|on)\b", folded[place])] or done
    if due and (dated or state is not None):
        return _Columns(due[0], dated[0] if dated else None, state)
    if dated and state is not None:  # «Fecha de entrega» beside «Estado» is when it is to be delivered
        return _Columns(dated[0], None, state)
    return None


def say_late(late: Late, *, today: date, language: str) -> str:
    """«13 días de retraso el 2 de febrero de 2026», as of today where it is still open."""
    one, many, still, was = _SENTENCES[language]
    days = (one if late.days == 1 else many).format(days=late.days)
    return (was if late.done else still).format(days=days, today=name(of_day(today), language))


_SENTENCES = {
    "es": ("1 día de retraso", "{days} días de retraso", "sin hacer: {days} el {today}", "hecho con {days}"),
    "fr": ("1 jour de retard", "{days} jours de retard", "pas encore fait : {days} le {today}", "fait avec {days}"),
    "en": ("1 day late", "{days} days late", "still open: {days} on {today}", "done {days}"),
}


def _dates(rows: Sequence[Mapping[int, str]], column: int | None, language: str) -> dict[int, date]:
    if column is None:
        return {}
    periods = read_periods({row.get(column, "") for row in rows} - {""}, language=language)
    days = {text: period.first_day for text, period in periods.items() if period.unit == "day"}
    return {index: day for index, row in enumerate(rows) if (day := days.get(row.get(column, "")))}
