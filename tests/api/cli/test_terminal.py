"""Tables in a terminal that is too narrow for them."""

from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from api.cli import terminal
from api.cli.evaluation_runs import whole


def test_a_narrow_terminal_shows_fewer_columns_and_each_of_them_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """R10.4 a figure is never cut; what there is no room for is named."""
    lines = {width: StringIO() for width in (80, 40, 20)}
    for width, file in lines.items():
        monkeypatch.setattr(terminal, "out", Console(file=file, width=width))
        table = Table(whole("Metric"), "all", "easy", "hard")
        table.add_row("answer_relevance", "0.894", "0.812", "0.923")
        terminal.print_table(table, ("hard", "easy"))
    wide, narrow, narrowest = (file.getvalue() for file in lines.values())
    assert "0.923" in wide
    assert "Not shown" not in wide
    assert ("0.812" in narrow, "0.923" in narrow) == (True, False)
    assert narrow.endswith("Not shown, for want of room: hard\n")
    assert "hard, easy" in narrowest.replace("\n", " ")
