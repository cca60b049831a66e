"""What logs call an owner."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.observability.pseudonyms import BYTES, FILE, Pseudonyms


def marks(home: Path, salt: str | None = None) -> Pseudonyms:
    return Pseudonyms(Settings.from_environment(home=home, log_salt=SecretStr(salt) if salt else None))


def test_an_owner_has_one_mark_in_an_installation(tmp_path: Path) -> None:
    """R11.2, security 20: in all its processes, also those that begin at the same moment; another has another."""
    with ThreadPoolExecutor(8) as pool:
        told = set(pool.map(lambda _: marks(tmp_path / "here").of("anna@example.org"), range(8)))
    assert len(told) == 1
    assert os.listdir(tmp_path / "here") == [FILE]
    assert marks(tmp_path / "here").of("berta@example.org") not in told
    assert marks(tmp_path / "elsewhere").of("anna@example.org") not in told


def test_nobody_else_can_look_for_an_owner(tmp_path: Path) -> None:
    """Security 20: the key is the service's alone."""
    mark = marks(tmp_path).of("anna@example.org")
    assert "anna" not in mark
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600


def test_processes_on_several_machines_share_a_salt(tmp_path: Path) -> None:
    """R11.2 RAG_LOG_SALT."""
    assert marks(tmp_path / "a", "x").of("anna") == marks(tmp_path / "b", "x").of("anna")
    assert marks(tmp_path / "a", "x").of("anna") != marks(tmp_path / "a", "y").of("anna")
    assert not (tmp_path / "a").exists()


def test_a_home_that_cannot_be_written_to_stops_nothing(tmp_path: Path) -> None:
    """R11.2 The marks then hold as long as the process; nothing is left behind."""
    (tmp_path / "file").touch()
    here = marks(tmp_path / "file")
    assert here.of("anna") == here.of("anna")


def test_a_home_without_hard_links_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """R11.2"""

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    assert len(marks(tmp_path).of("anna")) == 2 * BYTES
    assert os.listdir(tmp_path) == []


def test_a_salt_that_was_lost_is_no_key(tmp_path: Path) -> None:
    """Security 20: of an empty file anybody could make the marks."""
    (tmp_path / FILE).touch()
    assert marks(tmp_path).of("anna") != blake2b(b"anna", digest_size=BYTES).hexdigest()


def test_an_owner_may_have_any_name(tmp_path: Path) -> None:
    """R11.2 Half a surrogate pair too: a token's subject is its issuer's."""
    assert len({marks(tmp_path).of(name) for name in ("", "ñ", "\ud800", "a\0b")}) == 4
