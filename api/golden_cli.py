"""The command line's `eval golden`: golden cases in and out of a collection."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from api import proposals_cli
from api.golden_files import GoldenExport, GoldenImport, export_golden, read_golden_file
from api.terminal import CollectionOption, out, run
from graphrag.evaluation_models import Existing, GoldenCase
from graphrag.services import Services
from graphrag.stores.golden_drafts import Written

app = typer.Typer(help="Golden cases: questions whose relevant documents are known.", no_args_is_help=True)
for command in (proposals_cli.propose, proposals_cli.proposals, proposals_cli.accept, proposals_cli.reject):
    app.command()(command)


@app.command("import")
def import_cases(
    file: Annotated[Path, typer.Argument(help="JSON: an export, or a list of cases.")],
    collection: CollectionOption = None,
    existing: Annotated[Existing, typer.Option(help="What becomes of a question that is there already.")] = "refuse",
) -> None:
    """Add a file's cases, all of them or none."""
    given = read_golden_file(file)
    written = run(lambda services: _import(services, given, collection or given.collection, existing=existing))
    out.print(f"{len(written.added)} added, {written.replaced} replaced, {written.kept} kept", highlight=False)


async def _import(services: Services, given: GoldenImport, name: str | None, *, existing: Existing) -> Written:
    collection = await services.collection(services.settings.owner, name)
    return await services.golden.add(collection, given.drafts(), existing=existing)


@app.command()
def export(
    file: Annotated[Path | None, typer.Argument(dir_okay=False, writable=True, help="Else standard output.")] = None,
    collection: CollectionOption = None,
    version: Annotated[int | None, typer.Option(min=1, help="Without one, the cases as they are now.")] = None,
) -> None:
    """Write all cases as JSON, which `import` reads, here or elsewhere."""
    text = run(lambda services: _export(services, collection, version=version)).model_dump_json(indent=2) + "\n"
    if file:
        file.write_text(text, encoding="utf-8")
    else:
        out.file.write(text)


async def _export(services: Services, name: str | None, *, version: int | None) -> GoldenExport:
    collection = await services.collection(services.settings.owner, name)
    return await export_golden(services.golden, collection, version=version)


@app.command("list")
def list_cases(collection: CollectionOption = None) -> None:
    """Show the cases; a broken one names a document that has been deleted."""
    table = Table("Question", "Category", "Difficulty", "Documents", "State")
    for case in run(lambda services: _list(services, collection)):
        state = f"broken: {len(case.missing_document_ids)} deleted" if case.missing_document_ids else "valid"
        table.add_row(case.query, case.category, case.difficulty, str(len(case.relevant_document_ids)), state)
    out.print(table)


async def _list(services: Services, name: str | None) -> list[GoldenCase]:
    return await services.golden.list_all(await services.collection(services.settings.owner, name))
