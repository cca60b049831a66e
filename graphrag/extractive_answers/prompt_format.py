"""The format of an answer's prompt: render its messages' data for a chat model, and parse them back.

The last message holds, in this order, numbered excerpts, causal chains where there are any, what was understood of the
question, and the question as it was asked:

    <excerpts>
    <excerpt number="1" file="ventas.xlsx" title="Ventas" language="es" start="0" relevance="0.6123"
     columns="Mes|Ventas" rows="3-9" suspicious="true">
    [Fuente 1: ventas.xlsx, celda C12]
    …
    </excerpt>
    </excerpts>

    <causal_chains>
    <chain score="0.5512" sentences="1.2 2.1-2">«A» –CAUSES→ «B» [1] –CAUSES→ «C» [2]</chain>
    </causal_chains>

    <question_analysis intent="causal" direction="effects">
    <standalone_question>…</standalone_question>
    <sub_question>…</sub_question>
    </question_analysis>

    ¿Por qué…?

All text that comes from a document is escaped, so that none can imitate a delimiter: parsing is exact whatever the
documents hold.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from html import escape, unescape
from itertools import groupby
from typing import cast

from babel.dates import format_date
from langchain_core.messages import BaseMessage

from graphrag.extractive_answers.statements import Chain, ChainLink, Excerpt
from graphrag.linguistics.dates import parse_period
from graphrag.linguistics.language import visible
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Direction, Intent, Span

JOIN = "^"  # between the words of a stretch that reads like an order: no sentence that could be followed
DATE_LINES = {
    "es": ("FECHA ACTUAL: {}", "d 'de' MMMM 'de' y"),
    "fr": ("DATE ACTUELLE: {}", "d MMMM y"),
    "en": ("CURRENT DATE: {}", "MMMM d, y"),
}
_OWN_JOIN = "\u2060"  # stands for a document's own sign until all is escaped: no visible text holds it
_SPACE = re.compile(r"[ \t]")
# The beginning of a turn for some models, or of a line of ours.
_TOKEN = re.compile(r"\[(?=/?(?:INST|SYS)\]|(?:Fuente|Source) \d+: )", re.IGNORECASE)
_SOURCE_LINE = re.compile(r"\[(?:Fuente|Source) \d+: ")
_PROMPT = re.compile(
    r"<excerpts>\n(?P<excerpts>.*?)\n</excerpts>\n\n"
    r"(?:<causal_chains>\n(?P<chains>.*?)\n</causal_chains>\n\n)?"
    r"<question_analysis(?P<attributes>[^>]*)>\n(?P<analysis>.*?)</question_analysis>\n\n(?P<question>.*)",
    re.DOTALL,
)
_EXCERPT = re.compile(r"<excerpt(?P<attributes>[^>]*)>\n(?P<text>.*?)\n</excerpt>", re.DOTALL)
_CHAIN = re.compile(r"<chain(?P<attributes>[^>]*)>(?P<text>.*?)</chain>", re.DOTALL)
_ATTRIBUTE = re.compile(r' (\w+)="([^"]*)"')
_LINK = re.compile(r"(\d+)\.(\d+)(?:-(\d+))?")


@dataclass(frozen=True, slots=True)
class QuestionAnalysis:
    """The intent, direction and parts of a question."""

    intent: Intent = Intent.FACTUAL
    direction: Direction | None = None  # of a causal question
    standalone: str = ""  # a follow-up, worded so that it is understood alone
    parts: tuple[str, ...] = ()  # of a question that asks several things


@dataclass(frozen=True, slots=True)
class AnswerPrompt:
    """The content of the last message of an answer's prompt."""

    question: str
    analysis: QuestionAnalysis
    excerpts: tuple[Excerpt, ...]
    chains: tuple[Chain, ...] = ()


def render_prompt(prompt: AnswerPrompt) -> str:
    chains = [render_chain(chain) for chain in prompt.chains]
    parts = [
        _element("excerpts", map(render_excerpt, prompt.excerpts)),
        *([_element("causal_chains", chains)] if chains else []),
        _render_analysis(prompt.analysis),
        prompt.question,
    ]
    return "\n\n".join(parts)


def parse_prompt(text: str) -> AnswerPrompt | None:
    """Return None for a message that holds no excerpts, as in plain chat."""
    match = _PROMPT.fullmatch(text)
    if match is None:
        return None
    return AnswerPrompt(
        match["question"],
        _parse_analysis(_parse_attributes(match["attributes"]), match["analysis"]),
        tuple(_parse_excerpt(found) for found in _EXCERPT.finditer(match["excerpts"])),
        tuple(_parse_chain(found) for found in _CHAIN.finditer(match["chains"] or "")),
    )


def render_excerpt(excerpt: Excerpt) -> str:
    is_suspicious = bool(find_instructions(visible(excerpt.text)))
    attributes = {
        "number": str(excerpt.number),
        "file": _attribute(excerpt.filename),
        "title": _attribute(excerpt.title),
        "language": _attribute(excerpt.language),
        "start": str(excerpt.start_char),
        "relevance": f"{excerpt.score:.4f}",
        "columns": "|".join(_attribute(header).replace("|", "&#124;") for header in excerpt.headers),
        "rows": _lines_of_rows(excerpt),
        "suspicious": "true" if is_suspicious else "",
    }
    text = _mark_instructions(excerpt.text) if is_suspicious else _data(excerpt.text)
    return f"<excerpt{_render_attributes(attributes)}>\n{_render_source(excerpt.source_line)}{text}\n</excerpt>"


def _render_source(line: str) -> str:
    opening = _SOURCE_LINE.match(line)
    return f"{opening[0]}{_mark_instructions(_one_line(line[opening.end() :]))}\n" if opening else ""


def _parse_excerpt(match: re.Match[str]) -> Excerpt:
    attributes, text = _parse_attributes(match["attributes"]), match["text"]
    source = ""
    if _SOURCE_LINE.match(text):
        source, _, text = text.partition("\n")
    if attributes.get("suspicious"):
        text = text.replace(JOIN, " ")
    text = unescape(text)
    return Excerpt(
        int(attributes["number"]),
        _parse_value(attributes.get("title", "")),
        text,
        _parse_value(attributes.get("language", "")),
        start_char=int(attributes["start"]),
        rows=tuple(_rows(text, attributes.get("rows", ""))),
        headers=tuple(map(_parse_value, attributes["columns"].split("|"))) if "columns" in attributes else (),
        score=float(attributes["relevance"]),
        filename=_parse_value(attributes.get("file", "")),
        source_line=_parse_value(source),
    )


def render_chain(chain: Chain) -> str:
    links = (
        f"{link.number}.{link.first + 1}" + (f"-{link.last + 1}" if link.last > link.first else "")
        for link in chain.links
    )
    attributes = {"score": f"{chain.score:.4f}", "sentences": " ".join(links)}
    return f"<chain{_render_attributes(attributes)}>{_data(_one_line(chain.text))}</chain>"


def _parse_chain(match: re.Match[str]) -> Chain:
    attributes = _parse_attributes(match["attributes"])
    links = tuple(
        ChainLink(int(number), int(first) - 1, int(last or first) - 1)
        for number, first, last in _LINK.findall(attributes["sentences"])
    )
    return Chain(unescape(match["text"]), float(attributes["score"]), links)


def _render_analysis(analysis: QuestionAnalysis) -> str:
    attributes = {"intent": analysis.intent.value, "direction": analysis.direction or ""}
    alone = (
        [f"<standalone_question>{_data(analysis.standalone)}</standalone_question>\n"] if analysis.standalone else []
    )
    parts = [f"<sub_question>{_data(part)}</sub_question>\n" for part in analysis.parts]
    return f"<question_analysis{_render_attributes(attributes)}>\n{''.join([*alone, *parts])}</question_analysis>"


def _parse_analysis(attributes: Mapping[str, str], text: str) -> QuestionAnalysis:
    def texts(tag: str) -> Iterator[str]:
        return (unescape(found) for found in re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL))

    return QuestionAnalysis(
        Intent(attributes["intent"]),
        cast(Direction | None, attributes.get("direction")),
        next(texts("standalone_question"), ""),
        tuple(texts("sub_question")),
    )


def date_line(language: str, today: date) -> str:
    line, pattern = DATE_LINES[language]
    return line.format(format_date(today, pattern, locale=language))


def parse_date_line(messages: Sequence[BaseMessage]) -> tuple[str, date] | None:
    """Return language and date of the system message's last line; None where it tells none."""
    system = next((message.text for message in messages if message.type == "system"), "")
    for language, (line, _) in DATE_LINES.items():
        opening = line.format("")
        last = system.rpartition("\n")[2]
        period = parse_period(last.removeprefix(opening)) if last.startswith(opening) else None
        if period and period.unit == "day" and period.first_day:
            return language, period.first_day
    return None


def _element(tag: str, lines: Iterator[str] | Sequence[str]) -> str:
    return "\n".join([f"<{tag}>", *lines, f"</{tag}>"])


def _render_attributes(attributes: Mapping[str, str]) -> str:
    """Render those that have a value; the values are escaped already."""
    return "".join(f' {name}="{value}"' for name, value in attributes.items() if value)


def _parse_attributes(text: str) -> dict[str, str]:
    return dict(_ATTRIBUTE.findall(text))


def _data(text: str) -> str:
    """Return a text that can neither close a delimiter nor begin a turn, without its invisible characters."""
    return _TOKEN.sub("&#91;", escape(visible(text), quote=False))


def _attribute(text: str) -> str:
    return _mark_instructions(text).replace('"', "&quot;")


def _parse_value(text: str) -> str:
    return unescape(text.replace(JOIN, " "))


def _mark_instructions(text: str) -> str:
    """Join the words of the instructions in a text, so that they read as a quotation and not as an order."""
    shown = visible(text)
    held, found = shown.replace(JOIN, _OWN_JOIN), find_instructions(shown)
    marked = map_spans(held, found, lambda order: _SPACE.sub(JOIN, order))
    for order in (held[span.start : span.end] for span in found):
        marked = marked.replace(order, _SPACE.sub(JOIN, order))  # where it stands once more, glued to something
    escaped = _TOKEN.sub("&#91;", escape(marked, quote=False))
    return escaped.replace(_OWN_JOIN, f"&#{ord(JOIN)};")


def map_spans(text: str, spans: Sequence[Span], change: Callable[[str], str]) -> str:
    """Return the text with each span changed; spans are disjoint and in their order."""
    parts, position = [], 0
    for span in spans:
        parts += [text[position : span.start], change(text[span.start : span.end])]
        position = span.end
    return "".join([*parts, text[position:]])


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _lines_of_rows(excerpt: Excerpt) -> str:
    """Return the lines that are rows of a table: «3-9,12», counted from 1."""
    lines = sorted(
        {
            excerpt.text.count("\n", 0, place) + 1
            for row in excerpt.rows
            if (begin := max(0, row.start)) < (end := min(row.end, len(excerpt.text)))
            for place in (begin, end - 1)
        }
    )
    runs = [list(run) for _, run in groupby(enumerate(lines), key=lambda pair: pair[1] - pair[0])]
    return ",".join(f"{run[0][1]}-{run[-1][1]}" if len(run) > 1 else str(run[0][1]) for run in runs)


def _rows(text: str, lines: str) -> Iterator[Span]:
    wanted = {
        number
        for run in lines.split(",")
        if run
        for number in range(int(run.partition("-")[0]), int(run.rpartition("-")[2]) + 1)
    }
    start = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if number in wanted:
            yield Span(start, start + len(line))
        start += len(line) + 1
