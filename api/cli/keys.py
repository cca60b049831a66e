"""`causeway keys`: who may use the service over HTTP, and how it is taken back."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

import typer
from rich.table import Column, Table

from api.cli.terminal import JsonOption, err, out, print_json, run, say
from graphrag.authentication.api_keys import ID_CHARS, ApiKey
from graphrag.authentication.identity import DEFAULT_SCOPES, Scope
from graphrag.errors import InvalidSettings
from graphrag.models.documents import is_owner_name
from graphrag.services import Services

MOST_DAYS = 36_500
COLUMNS = ("owner", "name", "scopes", "status", "created", "until", "used")  # beside the id
OwnerOption = Annotated[
    str | None,
    typer.Option(
        help="Owner, in the namespace shared by keys, tokens and RAG_OWNER; default: RAG_OWNER.", show_default=False
    ),
]
app = typer.Typer(help="Manage keys for the HTTP service (RAG_AUTH=api_key).", no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Option(help="Label to tell keys apart.")] = "",
    owner: OwnerOption = None,
    scopes: Annotated[
        list[Scope] | None,
        typer.Option(
            "--scope", help="Scope of the key, repeatable; default: read and write. metrics gives access to /metrics."
        ),
    ] = None,
    expires_days: Annotated[
        int | None, typer.Option(help="Days until the key expires; default: never.", min=1, max=MOST_DAYS)
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a key. It is shown only once: only its hash is stored."""
    valid_for = timedelta(days=expires_days) if expires_days else None
    kept, shown = run(
        lambda services: services.authentication.api_keys.create(
            _owner(services, owner), _printable(name), scopes=scopes or DEFAULT_SCOPES, valid_for=valid_for
        )
    )
    if as_json:
        print_json({**_describe(kept), "key": shown})
        return
    out.print(shown, soft_wrap=True, highlight=False)
    until = f"{kept.expires_at:%Y-%m-%d}" if kept.expires_at else say("never")
    command = f"causeway keys revoke {kept.id}{_of(owner)}"
    told = say("key_created", owner=kept.owner_id, scopes=", ".join(kept.scopes), until=until, command=command)
    err.print(told, style="dim", soft_wrap=True, highlight=False)


@app.command("list")
def list_all(owner: OwnerOption = None, as_json: JsonOption = False) -> None:
    """List an owner's keys, including revoked ones; secrets are never shown."""
    whose, keys = run(lambda services: _list_keys(services, owner))
    if as_json:
        print_json({"keys": [_describe(key) for key in keys]})
    elif keys:
        out.print(_table(keys))
    else:
        told = say("no_keys", owner=whose, command=f"causeway keys create{_of(owner)}")
        out.print(told, soft_wrap=True, highlight=False)


async def _list_keys(services: Services, named: str | None) -> tuple[str, list[ApiKey]]:
    """Return whose keys they are, too."""
    owner = _owner(services, named)
    return owner, await services.authentication.api_keys.list_all(owner)


@app.command()
def revoke(key_id: str, owner: OwnerOption = None, as_json: JsonOption = False) -> None:
    """Revoke a key; every process rejects it from now on."""
    key = run(lambda services: services.authentication.api_keys.revoke(_owner(services, owner), _printable(key_id)))
    if as_json:
        print_json(_describe(key))
    else:
        out.print(say("key_revoked", key=key.id), highlight=False)


def _of(owner: str | None) -> str:
    return f" --owner {shlex.quote(owner)}" if owner else ""


def _owner(services: Services, named: str | None) -> str:
    if named is not None and not is_owner_name(named):
        told = f"--owner: {named!r} is no name: 1 to 255 printable characters, no space at either end."
        raise InvalidSettings(told, reason="owner_name", given=ascii(named))
    return named or services.owner


def _printable(text: str) -> str:
    if not text.isprintable():
        raise InvalidSettings(f"{text!r} has characters that can't be printed.", reason="unprintable", given=repr(text))
    return text


def _describe(key: ApiKey) -> dict[str, Any]:
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in (asdict(key) | {"status": _status(key)}).items()
    }


def _status(key: ApiKey) -> str:
    if key.revoked_at:
        return "revoked"
    return "expired" if key.expires_at and key.expires_at <= datetime.now(UTC) else "valid"


def _table(keys: Sequence[ApiKey]) -> Table:
    whole = Column(say("column_id"), min_width=ID_CHARS)  # what `revoke` takes, however narrow the terminal
    table = Table(whole, *(say(f"column_{name}") for name in COLUMNS))
    for key in keys:
        dates = (f"{moment:%Y-%m-%d %H:%M}" if moment else "" for moment in _moments(key))
        table.add_row(key.id, key.owner_id, key.name, " ".join(key.scopes), say(f"key_is_{_status(key)}"), *dates)
    return table


def _moments(key: ApiKey) -> tuple[datetime | None, ...]:
    return key.created_at, key.revoked_at or key.expires_at, key.last_used_at
