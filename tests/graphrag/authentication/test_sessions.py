"""Sessions, and the secrets that sign them: kept, replaced, and known to all processes of a home."""

import json
from pathlib import Path

import pytest
from pydantic import SecretStr

from graphrag.authentication.identity import DEFAULT_SCOPES, Identity
from graphrag.authentication.sessions import FILE, ROTATION_SECONDS, Sessions, SignedTokens, SigningSecrets
from graphrag.errors import AuthenticationUnavailable, Unauthorized


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def sessions(home: Path, clock: Clock, given: str | None = None, seconds: float = 60) -> Sessions:
    """Of a process of its own."""
    secret = SecretStr(given) if given else None
    return Sessions(SignedTokens(SigningSecrets(secret, home, clock), "session", seconds))


def test_a_session_holds_in_all_processes(tmp_path: Path) -> None:
    """Security 7: of the same home, whichever was first."""
    clock = Clock()
    first, second = (sessions(tmp_path, clock) for _ in range(2))
    for one, other in ((first, second), (second, first)):
        assert other.identify(one.begin("ana", "Ana")) == Identity("ana", DEFAULT_SCOPES)


def test_secrets_are_replaced_and_the_one_before_holds(tmp_path: Path) -> None:
    """Security 20: a process that has not replaced it itself finds the new one; what is two secrets old is over."""
    clock = Clock()
    first, second = (sessions(tmp_path, clock) for _ in range(2))
    begun = first.begin("ana", "Ana")
    assert second.identify(begun).owner_id == "ana"
    clock.now += ROTATION_SECONDS
    renewed = first.begin("ana", "Ana")
    assert [second.identify(each).owner_id for each in (renewed, begun)] == ["ana", "ana"]
    assert len(json.loads((tmp_path / FILE).read_text())) == 2
    clock.now += ROTATION_SECONDS
    second.begin("bea", "Bea")
    assert sessions(tmp_path, clock).identify(renewed).owner_id == "ana"
    with pytest.raises(Unauthorized):
        sessions(tmp_path, clock).identify(begun)


def test_a_setting_outranks_the_file(tmp_path: Path) -> None:
    """Security 20: nothing is written; another secret ends all sessions."""
    begun = sessions(tmp_path, Clock(), "s" * 32).begin("ana", "Ana")
    assert sessions(tmp_path, Clock(), "s" * 32).identify(begun).owner_id == "ana"
    assert [*tmp_path.iterdir()] == []
    for other in (sessions(tmp_path, Clock(), "t" * 32), sessions(tmp_path, Clock())):
        with pytest.raises(Unauthorized) as caught:
            other.identify(begun)
        assert caught.value.details == {}


def test_a_session_that_has_ended_is_told_from_a_forged_one(tmp_path: Path) -> None:
    """Security 7: but not from its signature's secret alone."""
    ended = sessions(tmp_path, Clock(), seconds=-60).begin("ana", "Ana")
    with pytest.raises(Unauthorized) as caught:
        sessions(tmp_path, Clock()).identify(ended)
    assert caught.value.details == {"reason": "session_ended"}
    with pytest.raises(Unauthorized) as caught:
        sessions(tmp_path, Clock()).identify(ended[:-4] + "AAAA")
    assert caught.value.details == {}


def test_a_token_for_another_purpose_is_no_session(tmp_path: Path) -> None:
    """Security 7."""
    secrets = SigningSecrets(None, tmp_path)
    attempt = SignedTokens(secrets, "sign-in", 60).sign(sub="ana", name="Ana")
    with pytest.raises(Unauthorized):
        Sessions(SignedTokens(secrets, "session", 60)).identify(f"cws_{attempt}")


def test_a_home_that_can_t_be_written_is_told(tmp_path: Path) -> None:
    """Security 16: with the setting that helps."""
    (tmp_path / "file").touch()
    with pytest.raises(AuthenticationUnavailable, match="RAG_SESSION_SECRET"):
        sessions(tmp_path / "file", Clock()).begin("ana", "Ana")
