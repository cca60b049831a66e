"""Quality and latency by size, as a picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from tests.benchmarks.report import Result, lines

# mypy: disable-error-code="import-not-found,import-untyped"
# matplotlib is in extras alone: `bench`, `notebooks`.


def draw(results: Sequence[Result], dataset: str, path: Path) -> None:
    """Quality and latency by size."""
    figure = Figure(figsize=(13, 5.5), layout="constrained")
    quality, latency = figure.subplots(1, 2)
    found = [line for line in lines(results) if line[1].dataset == dataset and "hit@10" in line[2]]
    for number, name in enumerate(dict.fromkeys(name for name, _, _ in found)):
        points = [(result.size, figures) for other, result, figures in found if other == name]
        sizes = [size for size, _ in points]
        style: dict[str, Any] = {"color": f"C{number}", "marker": "o", "markersize": 4}
        quality.plot(sizes, [figures["hit@10"] for _, figures in points], label=name, **style)
        quality.plot(sizes, [figures["hit@1"] for _, figures in points], linestyle=":", **style)
        first = [next(iter(figures["clients"].values())) for _, figures in points]
        latency.plot(sizes, [speed["p50_ms"] for speed in first], label=name, **style)
        latency.plot(sizes, [speed["p95_ms"] for speed in first], linestyle=":", **style)
    quality.set(title="hit@10 (line) and hit@1 (dotted)", xscale="log", xlabel="chunks", ylim=(0, 1))
    latency.set(title="milliseconds, p50 (line) and p95 (dotted)", xscale="log", xlabel="chunks", yscale="log")
    sizes = sorted({result.size for _, result, _ in found})
    for panel in (quality, latency):
        panel.grid(alpha=0.3)
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
        panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    figure.legend(*latency.get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    figure.suptitle(dataset)
    figure.savefig(path, dpi=150)
