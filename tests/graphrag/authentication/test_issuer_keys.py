"""The issuer's keys: read, read again when they change, and done without for a while."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphrag.authentication import tokens
from graphrag.authentication.tokens import FRESH_SECONDS, KEPT_SECONDS, MAX_BYTES, PAUSE_SECONDS, IssuerKeys
from graphrag.errors import AuthenticationUnavailable, InvalidSettings
from tests.graphrag.authentication.issuer import IssuerServer, jwks, private_key, public_jwk, serving


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def issuer() -> Iterator[IssuerServer]:
    with serving(jwks("ec-1", "ec-2")) as server:
        yield server


@pytest.fixture
def keys(issuer: IssuerServer, clock: Clock) -> IssuerKeys:
    return IssuerKeys(issuer.url, clock=clock)


async def test_the_issuer_is_asked_once(keys: IssuerKeys, issuer: IssuerServer) -> None:
    """By many at the same time too."""
    await keys.open()
    assert issuer.asked == 0  # it may start later than we
    found = await asyncio.gather(*(keys.find(key_id) for key_id in ["ec-1", "ec-2"] * 10))
    assert found == [public_jwk("ec-1"), public_jwk("ec-2")] * 10
    assert issuer.asked == 1


async def test_a_new_key_is_found_and_an_unknown_one_does_not_keep_us_asking(
    keys: IssuerKeys, issuer: IssuerServer, clock: Clock
) -> None:
    """Security 16: whoever invents ids of keys does not make us ask the issuer for each."""
    await keys.find("ec-1")
    issuer.content = jwks("ec-2", "ec-3")
    assert await keys.find("ec-3") is None  # just asked
    clock.now += PAUSE_SECONDS
    assert await keys.find("ec-3") == public_jwk("ec-3")
    for number in range(20):
        assert await keys.find(f"invented-{number}") is None
    assert issuer.asked == 2


async def test_a_withdrawn_key_stops(keys: IssuerKeys, issuer: IssuerServer, clock: Clock) -> None:
    """Security 7."""
    await keys.find("ec-1")
    issuer.content = jwks("ec-2")
    clock.now += FRESH_SECONDS + 1
    assert await keys.find("ec-1") is None


@pytest.mark.parametrize("status", [404, 500, 302])
async def test_known_keys_hold_for_a_while_without_the_issuer(
    keys: IssuerKeys, issuer: IssuerServer, clock: Clock, status: int
) -> None:
    await keys.find("ec-1")
    issuer.status = status
    clock.now += FRESH_SECONDS + 1
    assert await keys.find("ec-1") == public_jwk("ec-1")
    clock.now += KEPT_SECONDS
    with pytest.raises(AuthenticationUnavailable, match="RAG_JWT_JWKS"):
        await keys.find("ec-1")


async def test_nobody_waits_for_a_slow_issuer_who_has_a_known_key(
    keys: IssuerKeys, issuer: IssuerServer, clock: Clock
) -> None:
    await keys.find("ec-1")
    clock.now += FRESH_SECONDS + 1
    issuer.goes_on.clear()
    first = asyncio.create_task(keys.find("ec-1"))
    while issuer.asked < 2:
        await asyncio.sleep(0.01)
    assert await keys.find("ec-2") == public_jwk("ec-2")
    assert not first.done()
    issuer.goes_on.set()
    assert await first == public_jwk("ec-1")


async def test_a_hanging_issuer_is_an_error_and_no_hang(
    keys: IssuerKeys, issuer: IssuerServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Security 16. Who asks next is told at once."""
    monkeypatch.setattr(tokens, "READ_SECONDS", 1)
    issuer.goes_on.clear()
    for _ in range(3):
        with pytest.raises(AuthenticationUnavailable):
            await keys.find("ec-1")
    assert issuer.asked == 1
    issuer.goes_on.set()
    monkeypatch.undo()
    clock.now += PAUSE_SECONDS
    assert await keys.find("ec-1") == public_jwk("ec-1")


async def test_an_issuer_that_is_not_there_is_an_error(clock: Clock) -> None:
    keys = IssuerKeys("http://127.0.0.1:1/jwks.json", clock=clock)
    with pytest.raises(AuthenticationUnavailable):
        await keys.find("ec-1")


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no JSON",
        "[]",
        '{"keys": {}}',
        '{"keys": []}',
        '{"keys": [5, {"kty": "RSA"}, {"kty": "EC", "crv": "P-1", "kid": "ec-1"}]}',
        '{"keys": [{"kty": "oct", "kid": "ec-1", "k": "c2VjcmV0"}]}',
        '{"padding": "' + "x" * MAX_BYTES + '", "keys": []}',
        "[" * 100_000,
    ],
)
async def test_what_holds_no_public_key_leaves_none(keys: IssuerKeys, issuer: IssuerServer, content: str) -> None:
    """Security 8: least of all a shared secret."""
    issuer.content = content
    with pytest.raises(AuthenticationUnavailable):
        await keys.find("ec-1")


async def test_a_redirection_is_not_followed(keys: IssuerKeys, issuer: IssuerServer) -> None:
    """Security 11: the keys come from the address that the settings name, or not at all."""
    with serving(jwks("ec-1")) as other:
        issuer.status, issuer.location = 302, other.url
        with pytest.raises(AuthenticationUnavailable):
            await keys.find("ec-1")
        assert other.asked == 0


@pytest.mark.parametrize("change", [{"use": "enc"}, {"kid": 5}, {"d": "AQAB"}, {"kty": ["EC"]}, {"alg": ["ES256"]}])
async def test_keys_for_something_else_are_passed_over(tmp_path: Path, change: dict[str, object]) -> None:
    file = tmp_path / "jwks.json"
    file.write_text(json.dumps({"keys": [public_jwk("ec-1", **change), public_jwk("ec-2")]}))
    keys = IssuerKeys(str(file))
    await keys.open()
    assert await keys.find("ec-1") is None
    assert await keys.find("ec-2") == public_jwk("ec-2")


async def test_a_file_is_read_again_too(tmp_path: Path, clock: Clock) -> None:
    file = tmp_path / "jwks.json"
    file.write_text(jwks("ec-1"))
    keys = IssuerKeys(str(file), clock=clock)
    await keys.open()
    file.write_text(jwks("ec-2"))
    assert await keys.find("ec-1") == public_jwk("ec-1")
    clock.now += PAUSE_SECONDS
    assert await keys.find("ec-2") == public_jwk("ec-2")


@pytest.mark.parametrize("content", [None, "", jwks()])
async def test_a_file_without_keys_is_refused_at_start(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "jwks.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(InvalidSettings, match="RAG_JWT_JWKS"):
        await IssuerKeys(str(file)).open()


@pytest.mark.parametrize(
    "address",
    [
        "http://issuer.example/jwks.json",
        "ftp://issuer.example/jwks.json",
        "http://127.0.0.1.evil.example/k",
        "https://",
        "https://[::1/jwks.json",
        "https://issuer.example:port/jwks.json",
    ],
)
def test_keys_come_over_a_network_with_https_alone(address: str) -> None:
    """Security 8: whoever can change them on their way can make tokens."""
    with pytest.raises(InvalidSettings, match="https"):
        IssuerKeys(address)


def test_the_keys_of_the_tests_are_of_three_kinds() -> None:
    assert len({type(private_key(key_id)) for key_id in ("rsa-1", "ec-1", "ed-1")}) == 3
