"""A report as one HTML page, with its charts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID
from xml.etree import ElementTree

import pygal
from babel.dates import format_date, format_skeleton
from babel.numbers import format_decimal
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from pygal.style import Style

from agent.evaluation.comparison import ChangedCase, count_failed
from agent.evaluation.metrics import percentiles
from agent.evaluation.report import (
    HEADLINES,
    JUDGED_BY,
    Bin,
    Group,
    RunReport,
    distribute,
    find_worst,
    group_cases,
    order_metrics,
)
from agent.evaluation.significance import SMALLEST
from graphrag.linguistics.rules import read_texts
from graphrag.models.evaluation import CaseResult, CaseStatus

SVG = "{http://www.w3.org/2000/svg}"
# Drawn for half a page, so that a telephone's is not much smaller.
SIZE = {"width": 460, "height": 260}
FONT_SIZE = 12
LABELS = 5  # of a long axis
Series = Mapping[str, Sequence[float | None]]
Write = Callable[[float], str]  # a value as its reader writes it


def draw_bars(series: Series, labels: Sequence[str], *, title: str, write: Write) -> Markup:
    """Draw bars of values in [0, 1]."""
    chart = pygal.Bar(
        **_options(height=300, value_formatter=write),
        range=(0, 1),
        x_labels=labels,
        x_label_rotation=30,
        truncate_label=-1,
    )
    return _draw(chart, series, title)


def draw_lines(series: Series, labels: Sequence[str], *, title: str, write: Write, others: Sequence[bool]) -> Markup:
    """Draw lines of values in [0, 1]; `others`: the places that are not to be compared with the last one."""
    chart = pygal.Line(
        **_options(value_formatter=write),
        range=(0, 1),
        x_labels=labels,
        x_labels_major_count=min(LABELS, len(labels)),
        show_minor_x_labels=False,
        truncate_label=-1,
    )
    marked = {
        name: [
            {"value": value, "node": {"class": "dot other" if other else "dot"}}
            for value, other in zip(values, others, strict=True)
        ]
        for name, values in series.items()
    }
    return _draw(chart, marked, title)


def draw_histogram(bins: Sequence[Bin], *, title: str, name: str) -> Markup:
    chart = pygal.Histogram(**_options(show_legend=False), x_value_formatter=lambda value: f"{value:.0f}")
    return _draw(chart, {name: [(of.count, of.low, of.high) for of in bins]}, title)


def _options(**others: object) -> dict[str, object]:
    sizes = ("label", "major_label", "legend", "value")
    style = Style(**{f"{name}_font_size": FONT_SIZE for name in sizes}, font_family="sans-serif")
    own = {"js": [], "css": [], "style": style, "disable_xml_declaration": True, "max_scale": 6}
    room = {"legend_at_bottom": True, "legend_at_bottom_columns": 3, "margin": 8, "margin_right": 24}
    return own | room | SIZE | others


def _draw(chart: pygal.Graph, series: Mapping[str, Sequence[object]], title: str) -> Markup:
    for name, values in series.items():
        chart.add(name, values)
    root = ElementTree.fromstring(chart.render(is_unicode=True))  # without its comments
    _strip(root)
    root.remove(root[0])  # a title of pygal's own
    root.attrib = {"viewBox": root.attrib["viewBox"], "role": "img", "aria-label": title, "class": "chart"}
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # its texts are escaped


def _strip(element: ElementTree.Element) -> None:
    """Remove scripting attributes; a value becomes a tooltip."""
    element.tag = element.tag.removeprefix(SVG)
    element.attrib.pop("id", None)  # every chart has the same
    told = None
    for child in list(element):
        if child.tag in (f"{SVG}defs", f"{SVG}script"):
            element.remove(child)
        elif child.tag == f"{SVG}desc":
            told = child.text if child.get("class") == "value" else told
            element.remove(child)
        else:
            _strip(child)
    if told:
        ElementTree.SubElement(element, "title").text = told


HERE = Path(__file__).parent
WORDS: dict[str, dict[str, str]] = read_texts("agent.evaluation", "report_words")
TEMPLATES = Environment(
    loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
TIMES = {
    "latency_search": "milliseconds",
    "latency_first_token": "first_token_milliseconds",
    "latency_answer": "answer_milliseconds",
}
MAX_WORST = 20  # questions
MAX_CHANGED = 10
MAX_FOUND = 10  # documents of a question
DRAWN = 3  # metrics in a chart


def write_page(report: RunReport, language: str) -> str:
    """`language`: es, fr or en."""
    page = ReportPage(report, language)
    return TEMPLATES.get_template("report.html").render(
        page=page, report=report, run=report.run, w=page.word, number=page.number, signed=page.signed
    )


@dataclass(frozen=True)
class ReportPage:
    """Values for the report's template."""

    report: RunReport
    language: str
    most: ClassVar[int] = MAX_WORST
    smallest: ClassVar[float] = SMALLEST

    def word(self, key: str, **values: Any) -> str:
        return WORDS[key][self.language].format(**values)

    def number(self, value: float | None, digits: int = 3) -> str:
        if value is None:
            return "–"
        return format_decimal(value, "#,##0" + ("." + "0" * digits if digits else ""), locale=self.language)

    def mark(self, value: float) -> str:
        """Return the label of a tick on an axis."""
        return format_decimal(value, "#,##0.###", locale=self.language)

    def signed(self, value: float | None) -> str:
        if value is None:
            return "–"
        return ("+" if value >= 0 else "−") + self.number(abs(value))

    def time(self, moment: datetime) -> str:
        """Return the moment to the minute, in UTC."""
        moment = moment.astimezone(UTC)
        return f"{format_date(moment, 'medium', locale=self.language)}, {moment:%H:%M}"

    def value(self, value: Any) -> str:
        """Format a setting's value."""
        match value:
            case bool():
                return self.word("yes" if value else "no")
            case list():
                return ", ".join(map(str, value)) or "–"
        return "–" if value is None else str(value)

    @cached_property
    def groups(self) -> list[Group]:
        return group_cases(self.report.results)

    @property
    def all(self) -> Group:
        return self.groups[0]

    @cached_property
    def metrics(self) -> dict[str, list[str]]:
        return order_metrics(self.all.figures)

    @property
    def headlines(self) -> list[str]:
        return [name for name in HEADLINES if name in self.all.figures]

    @property
    def has_estimates(self) -> bool:
        return any(name.endswith("_estimate") for name in self.all.figures)

    def about(self, name: str) -> str:
        key = f"about_{name.partition('@')[0]}"
        return self.word(key if key in WORDS else "about_others")

    @property
    def counts(self) -> str:
        measured = [of for of in self.report.results if of.status is CaseStatus.MEASURED]
        return self.word(
            "counts",
            measured=len(measured),
            total=self.report.run.total,
            skipped=len(self.skipped),
            unanswerable=sum(not of.relevant_document_ids for of in measured),
        )

    @cached_property
    def skipped(self) -> list[CaseResult]:
        return [of for of in self.report.results if of.status is CaseStatus.SKIPPED]

    @cached_property
    def worst(self) -> list[CaseResult]:
        return find_worst(self.report.results, limit=MAX_WORST)

    @property
    def judged_by(self) -> str:
        return ", ".join(name for name in JUDGED_BY if name in self.all.figures)

    def rated(self, result: CaseResult) -> dict[str, float]:
        return {name: result.metrics[name] for name in JUDGED_BY if name in result.metrics}

    @property
    def degraded(self) -> Mapping[str, int]:
        return count_failed((*of.failed, *of.answer_failed) for of in self.report.results)

    @property
    def unjudged(self) -> Mapping[str, int]:
        return count_failed(of.unjudged for of in self.report.results)

    @property
    def chat_models(self) -> str:
        """Each with how many answers it wrote; "" where nothing was answered."""
        known = count_failed([of.chat_model] for of in self.report.results if of.chat_model)
        return ", ".join(f"{name} ({count})" for name, count in known.items())

    def name(self, document: UUID) -> str | None:
        """None: it has been deleted."""
        return self.report.names.get(document)

    def found(self, result: CaseResult) -> list[tuple[UUID, bool]]:
        """The first documents, each with whether it answers."""
        return [(of, of in result.relevant_document_ids) for of in result.retrieved_document_ids[:MAX_FOUND]]

    def missed(self, result: CaseResult) -> list[UUID]:
        return [of for of in result.relevant_document_ids if of not in result.retrieved_document_ids[:MAX_FOUND]]

    @property
    def compared(self) -> list[str]:
        """Metrics, in the order of the figures."""
        known = self.report.comparison.metrics if self.report.comparison else {}
        return [name for names in order_metrics(known).values() for name in names]

    @property
    def changed(self) -> Sequence[ChangedCase]:
        return self.report.comparison.changed[:MAX_CHANGED] if self.report.comparison else ()

    @cached_property
    def times(self) -> dict[str, dict[str, float]]:
        """Milliseconds: which → quantile → how many."""
        known = {
            name: [value for result in self.report.results if (value := getattr(result, field)) is not None]
            for name, field in TIMES.items()
        }
        return {name: percentiles(values) for name, values in known.items() if values}

    @property
    def groups_chart(self) -> Markup:
        series = {
            name: [group.figures[name].mean if name in group.figures else None for group in self.groups]
            for name in self.headlines[:DRAWN]
        }
        labels = [self.word(group.name) for group in self.groups]
        return draw_bars(series, labels, title=self.word("by_group"), write=self.mark)

    @property
    def trend_chart(self) -> Markup:
        points = self.report.trend[::-1]
        series = {name: [point.metrics.get(name) for point in points] for name in self.headlines[:DRAWN]}
        times = [point.run.finished_at.astimezone(UTC) for point in points if point.run.finished_at]  # all are done
        labels = [format_skeleton("MMMd", time, locale=self.language) for time in times]
        others = [not point.has_same_cases for point in points]
        return draw_lines(series, labels, title=self.word("trend"), write=self.mark, others=others)

    @property
    def latency_chart(self) -> Markup:
        values = [of.milliseconds for of in self.report.results if of.milliseconds is not None]
        return draw_histogram(distribute(values), title=self.word("histogram"), name=self.word("milliseconds"))
