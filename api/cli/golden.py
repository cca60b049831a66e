"""The commands eval golden and its proposals."""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.table import Table

from agent.proposals.proposals import Proposed, propose_cases
from api.cli.terminal import CollectionOption, JsonOption, err, out, print_json, run, say
from api.schemas.golden import (
    MOST_PROPOSALS,
    GoldenExport,
    GoldenImport,
    ProposalOut,
    ProposedOut,
    export_golden,
    read_golden_file,
)
from graphrag.models.evaluation import (
    CaseEdits,
    CaseProposal,
    DocumentReference,
    Existing,
    GoldenCase,
    Method,
    Origin,
    ProposalState,
)
from graphrag.services import Services
from graphrag.stores.postgres.golden import ImportedCases

Ids = Annotated[list[UUID], typer.Argument(metavar="ID...", help="Ids of proposals: see `eval golden proposals`.")]


def propose(
    collection: CollectionOption = None,
    documents: Annotated[
        list[str] | None, typer.Option(help="Document by id, source or file name; repeatable; default: all.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=MOST_PROPOSALS, help="Maximum number of new proposals.")] = 20,
    by: Annotated[Method, typer.Option(help="rules, or model: the chat model, with rules as fallback.")] = "rules",
    max_calls: Annotated[
        int | None, typer.Option(min=0, help="Maximum calls of the chat model, up to RAG_PROPOSAL_CALLS.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Propose golden cases from documents; accept those you want."""

    async def made(services: Services) -> Proposed:
        asked = await services.collections.open(services.owner, collection)
        return await propose_cases(
            asked, services=services, documents=documents or (), limit=limit, method=by, max_calls=max_calls
        )

    proposed = run(made)
    if as_json:
        print_json(ProposedOut.of(proposed).model_dump(mode="json"))
        return
    _show(proposed.proposals)
    for warning in proposed.warnings:
        err.print(warning, style="yellow")


def proposals(
    collection: CollectionOption = None,
    state: Annotated[ProposalState, typer.Option(help="State of the proposals.")] = ProposalState.PROPOSED,
    origin: Annotated[Origin | None, typer.Option(help="Origin of the proposals.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List proposals from documents and from answers with negative feedback."""

    async def listed(services: Services) -> list[CaseProposal]:
        asked = await services.collections.open(services.owner, collection)
        return await services.proposals.list_all(asked, state=state, origin=origin)

    found = run(listed)
    if as_json:
        print_json({"proposals": [ProposalOut.of(proposal).model_dump(mode="json") for proposal in found]})
    else:
        _show(found)


def accept(
    ids: Ids,
    document: Annotated[
        list[str] | None,
        typer.Option(help="Relevant document by id, source or file name, instead of the proposed ones; repeatable."),
    ] = None,
) -> None:
    """Accept proposals as golden cases."""
    names = None if document is None else tuple(map(DocumentReference.named, document))
    _decide(
        ids,
        lambda services, each: services.proposals.accept(services.owner, each, CaseEdits(documents=names)),
    )
    out.print(say("accepted", count=len(ids)), highlight=False)


def reject(ids: Ids) -> None:
    """Reject proposals; they are not proposed again."""
    _decide(ids, lambda services, each: services.proposals.reject(services.owner, each))
    out.print(say("rejected", count=len(ids)), highlight=False)


def _decide(ids: list[UUID], decide: Callable[[Services, UUID], Awaitable[object]]) -> None:
    """Apply a decision to proposals in order; those before a failing one stay decided."""

    async def all_of_them(services: Services) -> None:
        for each in ids:
            await decide(services, each)

    run(all_of_them)


def _show(found: Sequence[CaseProposal]) -> None:
    for proposal in found:
        kind = (proposal.category, proposal.difficulty, proposal.origin, proposal.method)
        out.print(f"{proposal.id} {', '.join(kind)}", style="dim", highlight=False, soft_wrap=True)
        out.print(f"  {proposal.query}", highlight=False, soft_wrap=True)
        if detail := proposal.expected_answer or proposal.reason:
            out.print(f"  → {detail}", highlight=False, soft_wrap=True)
    if not found:
        out.print(say("no_proposals"))


app = typer.Typer(help="Golden cases: questions whose relevant documents are known.", no_args_is_help=True)
for command in (propose, proposals, accept, reject):
    app.command()(command)


@app.command("import")
def import_cases(
    file: Annotated[Path, typer.Argument(help="JSON: an export, or a list of cases.")],
    collection: CollectionOption = None,
    existing: Annotated[Existing, typer.Option(help="Handling of questions that already exist.")] = "refuse",
) -> None:
    """Import the cases of a file, all of them or none."""
    given = read_golden_file(file)
    written = run(lambda services: _import(services, given, collection or given.collection, existing=existing))
    told = say("cases_imported", added=len(written.added), replaced=written.replaced, kept=written.kept)
    out.print(told, highlight=False)


async def _import(services: Services, given: GoldenImport, name: str | None, *, existing: Existing) -> ImportedCases:
    collection = await services.collections.open(services.owner, name)
    return await services.golden.add(collection, given.drafts(), existing=existing)


@app.command()
def export(
    file: Annotated[
        Path | None, typer.Argument(dir_okay=False, writable=True, help="File to write; default: standard output.")
    ] = None,
    collection: CollectionOption = None,
    version: Annotated[
        int | None, typer.Option(min=1, help="Version of the cases; default: the current cases.")
    ] = None,
) -> None:
    """Export all cases as JSON for `import`."""
    text = run(lambda services: _export(services, collection, version=version)).model_dump_json(indent=2) + "\n"
    if file:
        file.write_text(text, encoding="utf-8")
    else:
        out.file.write(text)


async def _export(services: Services, name: str | None, *, version: int | None) -> GoldenExport:
    collection = await services.collections.open(services.owner, name)
    return await export_golden(services.golden, collection, version=version)


@app.command("list")
def list_cases(collection: CollectionOption = None) -> None:
    """List the cases; a broken case refers to a deleted document."""
    table = Table(*(say(f"column_{name}") for name in ("question", "category", "difficulty", "documents", "status")))
    for case in run(lambda services: _list(services, collection)):
        missing = len(case.missing_document_ids)
        state = say("case_is_broken", count=missing) if missing else say("case_is_valid")
        table.add_row(case.query, case.category, case.difficulty, str(len(case.relevant_document_ids)), state)
    out.print(table)


async def _list(services: Services, name: str | None) -> list[GoldenCase]:
    return await services.golden.list_all(await services.collections.open(services.owner, name))
