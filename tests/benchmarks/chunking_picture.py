"""Recall and precision of what is read, as a picture."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from tests.benchmarks.chunking import Result

# mypy: disable-error-code="import-not-found,import-untyped"
# matplotlib is in extras alone: `bench`, `notebooks`.


def draw(results: Sequence[Result], path: Path) -> None:
    """Better is further up and to the right; the first result is what the others are held against."""
    figure = Figure(figsize=(11, 6), layout="constrained")
    panel = figure.subplots()
    for number, result in enumerate(results):
        colour, marker, point = "black" if number == 0 else f"C{number % 10}", "sD^vo"[number // 10], result.score
        panel.plot([point.precision], [point.recall], linestyle="", label=result.name, color=colour, marker=marker)
    baseline = results[0].score
    panel.axhline(baseline.recall, color="black", linewidth=0.6)
    panel.axvline(2 * baseline.precision, color="black", linewidth=0.6, linestyle=":")
    panel.set(title="Tokens read: twice the baseline's precision is dotted", xlabel="precision", ylabel="recall")
    panel.grid(alpha=0.3)
    figure.legend(loc="outside right upper", fontsize="small")
    figure.savefig(path, dpi=150)
