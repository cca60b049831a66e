"""The command line's `eval report`: a run as a page."""

from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

import typer

from agent.evaluation.report import RunReport, find_latest, read_report
from agent.evaluation.report_page import write_page
from api.terminal import CollectionOption, out, run
from graphrag.services import Services


def report(
    run_id: Annotated[UUID | None, typer.Argument(metavar="[RUN]", help="Its id; without one, the last done.")] = None,
    collection: CollectionOption = None,
    baseline: Annotated[UUID | None, typer.Option(help="The run to compare with; without one, that before it.")] = None,
    output: Annotated[
        Path, typer.Option("--output", "-o", dir_okay=False, writable=True, help="Where the page is written.")
    ] = Path("report.html"),
    language: Annotated[Literal["es", "fr", "en"], typer.Option(help="Of the page.")] = "en",
) -> None:
    """Write a run as one HTML page with charts, which needs no network and no script."""
    if not output.absolute().parent.is_dir():  # said before the work, not after it
        raise typer.BadParameter(f"There is no folder {output.parent}.", param_hint="--output")
    found = run(lambda services: _read(services, collection, run_id, baseline))
    output.write_bytes(write_page(found, language).encode(errors="replace"))
    out.print(f"Wrote {output}", highlight=False, soft_wrap=True)


async def _read(services: Services, collection: str | None, run_id: UUID | None, baseline: UUID | None) -> RunReport:
    owner = services.settings.owner
    asked = run_id or (await find_latest(services, owner, collection)).id
    return await read_report(services, owner, asked, baseline_id=baseline)
