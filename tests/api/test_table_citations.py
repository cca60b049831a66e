"""Cells and trends of a table where a person sees them: on the terminal, in the described answer."""

from collections.abc import Callable
from pathlib import Path

from api.schemas.fields import CitationOut
from tests.api.commands import causeway

SALES = "Mes;Ventas\n2025-10-01;900\n2025-11-01;1000\n2025-12-01;1250\n"


def test_ask_prints_the_cells_and_the_trend(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R8.3, R8.6 After the answer, where it is from."""
    database = make_database()
    (tmp_path / "ventas.csv").write_text(SALES)
    indexed = causeway("ingest", str(tmp_path / "ventas.csv"), "--collection", "tienda", DATABASE_URL=database)
    assert indexed.returncode == 0, indexed.stderr
    run = causeway("ask", "¿Cuánto subieron las ventas en diciembre?", DATABASE_URL=database)
    assert run.returncode == 0, run.stderr
    cited = " ".join(run.stdout.split()).partition("[1] ventas.csv ")[2]
    assert cited.startswith("B3:B4 (+25 % frente al mes anterior), supported: Ventas, diciembre de 2025: 1.250")


def test_places_are_described() -> None:
    """R9.1 What a citation may say of its place is part of the documented answer."""
    described = CitationOut.model_json_schema()["properties"]
    assert {"page", "sheet", "cell", "date", "trend"} <= set(described)
