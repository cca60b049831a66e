"""`causeway backup` and `causeway restore`: everything in one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from api.terminal import err, load_settings, out
from graphrag.backup import restore_backup, write_backup

ELSEWHERE = "The original files are in S3, and not in the backup: copy the bucket."


def backup(path: Annotated[Path, typer.Argument(help="The file to write; it is not there yet.")]) -> None:
    """Copy the database and the original files into one file. The service may run meanwhile."""
    written = write_backup(load_settings(), path)
    out.print(f"{path}: {path.stat().st_size / 1_000_000:,.1f} MB", highlight=False)
    if not written.has_files:
        err.print(ELSEWHERE, style="yellow")


def restore(path: Annotated[Path, typer.Argument(help="What `causeway backup` has written.")]) -> None:
    """Bring a backup back, into a CAUSEWAY_HOME or a DATABASE_URL that holds nothing yet."""
    restored = restore_backup(load_settings(), path)
    out.print(f"Restored what version {restored.version} had written.", highlight=False)
    if not restored.has_files:
        err.print(ELSEWHERE, style="yellow")
