"""`causeway backup` and `restore`: what comes back is what was there, and as well kept apart."""

import json
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from graphrag.db.embedded_postgres import EmbeddedPostgres, running_address
from tests.api.commands import causeway, one_line
from tests.conftest import DEMO, PATIENT, with_services
from tests.logins import create_login
from tests.production import run_production

QUESTION = "Why did Harrowmere Stores leave Dorada out of its Easter promotion?"
# Whatever says who may see and do what: owners and rights of relations and functions, policies, row level security.
PROTECTION = """
    SELECT relname::text, relowner::regrole::text, relacl::text, relrowsecurity, relforcerowsecurity
    FROM pg_class WHERE relnamespace = 'causeway'::regnamespace AND relkind IN ('r', 'p', 'v')
    UNION ALL SELECT proname, proowner::regrole::text, proacl::text, prosecdef, false
    FROM pg_proc WHERE pronamespace = 'causeway'::regnamespace
    UNION ALL SELECT polname, polrelid::regclass::text, polroles::regrole[]::text, polpermissive, false FROM pg_policy
    ORDER BY 1, 2, 3
"""


@pytest.fixture
def homes() -> Iterator[tuple[Path, Path]]:
    """An old one and a new one, with a server each that the commands join."""
    # Short and open to the embedded server's own user: pytest's folders are neither.
    folder = Path(tempfile.mkdtemp(prefix="cw-"))
    folder.chmod(0o755)
    old, new = EmbeddedPostgres(folder / "old"), EmbeddedPostgres(folder / "new")
    old.start()
    new.start()
    yield folder / "old", folder / "new"
    old.stop()
    new.stop()
    shutil.rmtree(folder)


def answer(home: Path) -> dict[str, object]:
    told: dict[str, object] = json.loads(causeway("ask", QUESTION, "--json", CAUSEWAY_HOME=str(home)).stdout)
    return {name: told[name] for name in ("answer", "citations", "reliability")}


def protection(home: Path) -> list[tuple[object, ...]]:
    with psycopg.connect(running_address(home) or "") as connection:
        return connection.execute(PROTECTION).fetchall()


@pytest.mark.slow
def test_a_backup_answers_as_what_it_was_made_of(homes: tuple[Path, Path]) -> None:
    """R11.3 Into a fresh home: the same answer, the same files, the same rights; never over something."""
    old, new = homes
    file = old.parent / "backup.tar"
    source = str(DEMO / "yearly-review-2025.md")
    assert causeway("ingest", source, CAUSEWAY_HOME=str(old)).returncode == 0
    assert causeway("backup", str(file), CAUSEWAY_HOME=str(old)).stdout.startswith(str(file))
    assert file.stat().st_mode & 0o077 == 0
    assert "is there already" in one_line(causeway("backup", str(file), CAUSEWAY_HOME=str(old)))
    restored = causeway("restore", str(file), CAUSEWAY_HOME=str(new))
    assert restored.returncode == 0, restored.stderr
    assert answer(new) == answer(old)
    assert stored(new) == stored(old) != {}
    assert protection(new) == protection(old)
    assert "set CAUSEWAY_HOME to a new folder" in one_line(causeway("restore", str(file), CAUSEWAY_HOME=str(new)))


def stored(home: Path) -> dict[str, tuple[bytes, int]]:
    """The original files, each with its rights."""
    paths = [path for path in (home / "files").rglob("*") if path.is_file()]
    return {str(path.relative_to(home)): (path.read_bytes(), path.stat().st_mode) for path in paths}


@pytest.mark.slow
def test_a_role_that_is_no_superuser_restores(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R4.8 An administrator's backup, restored by the service's own role: its keys hold, its texts are found."""
    source, home = make_database(), {"CAUSEWAY_HOME": str(tmp_path / "home"), **PATIENT}
    made = causeway("keys", "create", DATABASE_URL=source, **home)
    assert causeway("backup", str(tmp_path / "backup.tar"), DATABASE_URL=source, **home).returncode == 0
    with run_production() as production:
        restored = causeway("restore", str(tmp_path / "backup.tar"), **production, **home)
        assert restored.returncode == 0, restored.stderr
        url, key = production["DATABASE_MIGRATION_URL"], made.stdout.strip()
        identified = with_services(url, lambda services: services.authentication.api_keys.identify(key))
        assert identified.owner_id == "local"
        assert "no keys" not in causeway("keys", "list", **production, **home).stdout


def test_what_is_no_backup_is_refused(tmp_path: Path) -> None:
    """R11.3 Before a database is begun."""
    (tmp_path / "text.tar").write_text("no archive")
    home = str(tmp_path / "home")
    assert "can't be read" in one_line(causeway("restore", str(tmp_path / "text.tar"), CAUSEWAY_HOME=home))
    with tarfile.open(tmp_path / "other.tar", "w") as archive:
        archive.add(tmp_path / "text.tar", "text")
    assert "no backup" in one_line(causeway("restore", str(tmp_path / "other.tar"), CAUSEWAY_HOME=home))
    assert not Path(home).exists()


def test_a_dump_that_fails_leaves_nothing(tmp_path: Path, postgres: str) -> None:
    """R4.8 Who may not read every row is told who may."""
    reader = create_login(postgres, "reader", "IN ROLE causeway_app")
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("GRANT SELECT ON causeway.migrations TO reader")
    home = {"CAUSEWAY_HOME": str(tmp_path), "DATABASE_URL": reader}
    refused = one_line(causeway("backup", str(tmp_path / "backup.tar"), **home))
    assert "an administrator's" in refused
    assert not list(tmp_path.glob("*backup*"))


def test_what_was_never_used_has_no_backup(tmp_path: Path, postgres: str) -> None:
    """R11.3 Nor is the database changed, which may be an older version's."""
    home = {"CAUSEWAY_HOME": str(tmp_path), "DATABASE_URL": make_conninfo(postgres, dbname="template1")}
    assert "nothing yet" in one_line(causeway("backup", str(tmp_path / "backup.tar"), **home))
    assert not list(tmp_path.glob("*backup*"))
