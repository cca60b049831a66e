"""The charts of a report, as SVG that stands in a page: no script, no address, the page's own colours."""

from collections.abc import Callable, Mapping, Sequence
from xml.etree import ElementTree

import pygal
from markupsafe import Markup
from pygal.style import Style

from agent.evaluation.report_figures import Bin

SVG = "{http://www.w3.org/2000/svg}"
# Drawn for half a page, so that a telephone's is not much smaller.
SIZE = {"width": 460, "height": 260}
FONT_SIZE = 12
LABELS = 5  # of a long axis
Series = Mapping[str, Sequence[float | None]]
Write = Callable[[float], str]  # a value as its reader writes it


def draw_bars(series: Series, labels: Sequence[str], *, title: str, write: Write) -> Markup:
    """Of values in [0, 1]."""
    chart = pygal.Bar(
        **_options(height=300, value_formatter=write),
        range=(0, 1),
        x_labels=labels,
        x_label_rotation=30,
        truncate_label=-1,
    )
    return _draw(chart, series, title)


def draw_lines(series: Series, labels: Sequence[str], *, title: str, write: Write, others: Sequence[bool]) -> Markup:
    """Of values in [0, 1]; `others`: the places that are not to be compared with the last one."""
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
    """What is for a script goes; a value becomes what a pointer is shown."""
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
