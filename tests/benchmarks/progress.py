"""How far a benchmark is, and how long it will take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn


@contextmanager
def progress(title: str, total: int, console: Console) -> Iterator[Callable[[int], None]]:
    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())
    with Progress(TextColumn("  {task.description}"), *columns, console=console) as bars:
        task = bars.add_task(title, total=total)
        yield lambda count: bars.advance(task, count)
