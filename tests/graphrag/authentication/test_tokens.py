"""Tokens of an issuer: whom they tell, and all that is refused."""

import base64
import hashlib
import hmac
import json
import time
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphrag.authentication.identity import Identity, Scope
from graphrag.authentication.tokens import LEEWAY_SECONDS, MAX_CHARS, Tokens, open_tokens
from graphrag.config.service import AuthenticationConfig
from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings, Unauthorized
from tests.graphrag.authentication.issuer import AUDIENCE, ISSUER, claims, jwks, private_key, public_jwk, sign

BOTH = frozenset({Scope.READ, Scope.WRITE})
ANY_PUBLIC = ("RS256", "PS256", "ES256", "ES384", "EdDSA")


def tokens_of(folder: Path, document: str, **changed: Any) -> Tokens:
    file = folder / "jwks.json"
    file.write_text(document)
    return open_tokens(
        AuthenticationConfig(
            **{"auth": "jwt", "jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks": str(file), **changed}
        )
    )


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return tokens_of(tmp_path, jwks("rsa-1", "ec-1", "ed-1"))


def encode(part: object) -> str:
    text = part if isinstance(part, str) else json.dumps(part)
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def by_hand(header: object, payload: object, secret: bytes | None = None) -> str:
    """What no library would sign; with HMAC where there is a secret."""
    signed = f"{encode(header)}.{encode(payload)}"
    signature = hmac.digest(secret, signed.encode(), hashlib.sha256) if secret is not None else b""
    return f"{signed}.{base64.urlsafe_b64encode(signature).rstrip(b'=').decode()}"


def public_pem(key_id: str) -> bytes:
    return private_key(key_id).public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


@pytest.mark.parametrize("key_id", ["rsa-1", "ec-1", "ed-1"])
async def test_a_token_tells_who_asks(tokens: Tokens, key_id: str) -> None:
    """Security 7: the subject is the owner."""
    assert await tokens.identify(sign(key_id)) == Identity("ana", BOTH)


@pytest.mark.parametrize(
    ("named", "scopes"),
    [
        ({}, BOTH),
        ({"scope": "read"}, {Scope.READ}),
        ({"scope": "openid read metrics profile"}, {Scope.READ, Scope.METRICS}),
        ({"scp": ["write", "read"]}, BOTH),
        ({"scp": "read"}, {Scope.READ}),
        ({"scope": ""}, set()),
        ({"scope": "openid"}, set()),
        ({"scope": "READ"}, set()),
        ({"scope": 5}, set()),
        ({"scope": {"read": True}}, set()),
        ({"scope": [["read"]]}, set()),
    ],
)
async def test_scopes_are_those_that_we_know(tokens: Tokens, named: dict[str, Any], scopes: set[Scope]) -> None:
    """Security 8: what is named is not more than it says; only a token that names none at all may read and write."""
    assert (await tokens.identify(sign(**named))).scopes == scopes


def attacks() -> dict[str, str]:
    now = int(time.time())
    own = rsa.generate_private_key(65537, 2048)
    other_curve = ec.generate_private_key(ec.SECP384R1())
    confused = {"alg": "HS256", "typ": "JWT", "kid": "rsa-1"}
    head, payload, signature = sign().split(".")
    return {
        "algorithm none": by_hand({"alg": "none"}, claims()),
        "algorithm none, of a known key": by_hand({"alg": "none", "kid": "rsa-1"}, claims()),
        "algorithm None": by_hand({"alg": "nOnE", "kid": "rsa-1"}, claims()),
        "no algorithm": by_hand({"kid": "rsa-1"}, claims()),
        "algorithm that is no word": by_hand({"alg": ["RS256"], "kid": "rsa-1"}, claims()),
        "the public key as a shared secret": by_hand(confused, claims(), public_pem("rsa-1")),
        "the public key's JSON as a shared secret": by_hand(
            confused, claims(), json.dumps(public_jwk("rsa-1")).encode()
        ),
        "an empty shared secret": by_hand(confused, claims(), b""),
        "a key of one's own": jwt.encode(claims(), own, "RS256", headers={"kid": "rsa-1"}),
        "a key of one's own in the header": jwt.encode(
            claims(), own, "RS256", headers={"jwk": json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(own.public_key()))}
        ),
        "keys of one's own address": sign(headers={"kid": "rsa-9", "jku": "http://127.0.0.1:9/jwks.json"}),
        "another key's id": sign("rsa-1", headers={"kid": "ec-1"}),
        "another key's id of the same kind": sign("rsa-2", headers={"kid": "rsa-1"}),
        "an unknown id": sign(headers={"kid": "rsa-9"}),
        "an id that is a path": sign(headers={"kid": "../../etc/passwd"}),
        "no id, of several keys": jwt.encode(claims(), private_key("rsa-1"), "RS256"),
        "an algorithm that is not allowed": jwt.encode(
            claims(), private_key("rsa-1"), "RS512", headers={"kid": "rsa-1"}
        ),
        "a curve that is not the key's": jwt.encode(claims(), other_curve, "ES384", headers={"kid": "ec-1"}),
        "an extension that must be understood": sign(headers={"crit": ["exp"], "exp": now}),
        "another's audience": sign(aud="another service"),
        "no audience": sign(aud=None),
        "an empty list of audiences": sign(aud=[]),
        "another issuer": sign(iss="https://evil.example"),
        "an issuer that begins like ours": sign(iss=ISSUER + ".evil.example"),
        "no issuer": sign(iss=None),
        "expired": sign(exp=now - LEEWAY_SECONDS - 60),
        "without an end": sign(exp=None),
        "not yet valid": sign(nbf=now + LEEWAY_SECONDS + 600),
        "made in the future": sign(iat=now + LEEWAY_SECONDS + 600),
        "no subject": sign(sub=None),
        "an empty subject": sign(sub=""),
        "a subject of spaces": sign(sub="  "),
        "a subject with a space at its end": sign(sub="ana "),
        "a subject with NUL": sign(sub="ana\0"),
        "a subject of two lines": sign(sub="ana\nbea"),
        "a subject with half a character": sign(sub="ana\ud800"),
        "a subject that reads from the right": sign(sub="ana\u202e"),
        "an endless subject": sign(sub="a" * 256),
        "a changed subject": ".".join([head, encode(claims(sub="bea")), signature]),
        "no signature": ".".join([head, payload, ""]),
        "another token's signature": ".".join([head, payload, sign(sub="bea").split(".")[2]]),
        "a huge token": sign(note="x" * MAX_CHARS),
        "brackets without end": f"{encode('[' * 6000)}.{payload}.{signature}",
        "a number without end": f"{encode('9' * 5000)}.{payload}.{signature}",
        "an API key": f"cw_{'0' * 16}_{'A' * 43}",
        "half a character": "\ud800.a.b",
        "nothing": "",
    }


async def told_by(tokens: Tokens, token: str | None) -> object:
    try:
        return await tokens.identify(token)
    except Unauthorized as exc:
        return str(exc), exc.details


async def test_whatever_does_not_hold_is_refused_in_the_same_words(tokens: Tokens) -> None:
    """Security 8 [CVE-2026-39413]."""
    with pytest.raises(Unauthorized) as nothing_shown:
        await tokens.identify(None)
    told = {attack: await told_by(tokens, token) for attack, token in attacks().items()}
    assert {attack: words for attack, words in told.items() if words != (str(nothing_shown.value), {})} == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200) | st.lists(st.text(alphabet="AQea0-_=", max_size=40), max_size=5).map(".".join))
async def test_no_text_is_an_error_of_our_own(tokens: Tokens, text: str) -> None:
    """Security 10."""
    with pytest.raises(Unauthorized):
        await tokens.identify(text)


@pytest.mark.parametrize("change", [{"exp": -10}, {"nbf": 10}, {"iat": 10}])
async def test_clocks_may_differ_a_little(tokens: Tokens, change: dict[str, int]) -> None:
    now = int(time.time())
    changed: dict[str, Any] = {name: now + seconds for name, seconds in change.items()}
    assert (await tokens.identify(sign(**changed))).owner_id == "ana"


async def test_a_token_for_several_services_is_ours_too(tokens: Tokens) -> None:
    assert (await tokens.identify(sign(aud=["another service", AUDIENCE]))).owner_id == "ana"


async def test_the_only_key_needs_no_name(tmp_path: Path) -> None:
    """Issuers with one key leave its id out."""
    tokens = tokens_of(tmp_path, jwks("rsa-1"))
    assert (await tokens.identify(jwt.encode(claims(), private_key("rsa-1"), "RS256"))).owner_id == "ana"


async def test_a_key_is_used_for_what_it_says_alone(tmp_path: Path) -> None:
    """Security 8: a key that names its algorithm verifies no other; another one, all of its kind."""
    token = jwt.encode(claims(), private_key("rsa-1"), "PS256", headers={"kid": "rsa-1"})
    free = json.dumps({"keys": [public_jwk("rsa-1", alg=None)]})
    assert (await tokens_of(tmp_path, free, jwt_algorithms=ANY_PUBLIC).identify(token)).owner_id == "ana"
    bound = json.dumps({"keys": [public_jwk("rsa-1", alg="RS256")]})
    with pytest.raises(Unauthorized):
        await tokens_of(tmp_path, bound, jwt_algorithms=ANY_PUBLIC).identify(token)


async def test_a_weak_key_signs_nothing(tmp_path: Path) -> None:
    """Security 8: RSA keys below 2,048 bits are broken ones."""
    weak = rsa.generate_private_key(65537, 1024)
    jwk = {**jwt.algorithms.RSAAlgorithm.to_jwk(weak.public_key(), as_dict=True), "kid": "weak"}
    tokens = tokens_of(tmp_path, json.dumps({"keys": [jwk]}))
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        token = jwt.encode(claims(), weak, "RS256", headers={"kid": "weak"})
    with pytest.raises(Unauthorized):
        await tokens.identify(token)


@pytest.mark.parametrize("algorithms", ["none", "HS256", "RS256,HS512", "RS256,none", "rs256", "", ","])
def test_only_public_keys_may_verify(monkeypatch: pytest.MonkeyPatch, algorithms: str) -> None:
    """Security 8: refused at start, by the variable's name."""
    monkeypatch.setenv("RAG_JWT_ALGORITHMS", algorithms)
    with pytest.raises(InvalidSettings, match="RAG_JWT_ALGORITHMS"):
        Settings.from_environment()


def test_algorithms_are_named_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_JWT_ALGORITHMS", "ES384, PS512")
    assert Settings.from_environment().authentication.jwt_algorithms == ("ES384", "PS512")


@pytest.mark.parametrize("missing", ["issuer", "audience", "jwks"])
def test_whose_tokens_hold_and_for_whom_must_be_said(missing: str) -> None:
    """Security 8: no default; an empty one is none."""
    given = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE, "jwt_jwks": "jwks.json", f"jwt_{missing}": ""}
    with pytest.raises(InvalidSettings, match=f"RAG_JWT_{missing.upper()}"):
        open_tokens(AuthenticationConfig.model_validate({"auth": "jwt", **given}))


@pytest.mark.parametrize("name", ["", " ", "ana ", "a\0b", "a\nb", "a" * 256])
def test_the_owner_of_the_settings_is_a_name_too(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("os.environ", {"RAG_OWNER": name})  # the system's own takes no NUL
    with pytest.raises(InvalidSettings, match="RAG_OWNER"):
        Settings.from_environment()
