"""An issuer of tokens for tests: its keys, what it signs, and a server that gives its public keys away."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

ISSUER, AUDIENCE = "https://issuer.example", "causeway"
ALGORITHMS = {"rsa": "RS256", "ec": "ES256", "ed": "EdDSA"}
PrivateKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey


@cache
def private_key(key_id: str) -> PrivateKey:
    """Of the kind that the id begins with; the same for the same id."""
    if key_id.startswith("rsa"):
        return rsa.generate_private_key(65537, 2048)
    if key_id.startswith("ec"):
        return ec.generate_private_key(ec.SECP256R1())
    return ed25519.Ed25519PrivateKey.generate()


def algorithm_of(key_id: str) -> str:
    return next(name for kind, name in ALGORITHMS.items() if key_id.startswith(kind))


def public_jwk(key_id: str, **changed: Any) -> dict[str, Any]:
    algorithm = jwt.get_algorithm_by_name(algorithm_of(key_id))
    made = algorithm.to_jwk(private_key(key_id).public_key(), as_dict=True)
    return {**made, "kid": key_id, "use": "sig", **changed}


def jwks(*key_ids: str) -> str:
    return json.dumps({"keys": [public_jwk(key_id) for key_id in key_ids]})


def claims(**changed: Any) -> dict[str, Any]:
    """A person's token of this moment; what is changed to None is left out."""
    now = int(time.time())
    whole = {"iss": ISSUER, "aud": AUDIENCE, "sub": "ana", "iat": now, "exp": now + 600, **changed}
    return {name: value for name, value in whole.items() if value is not None}


def sign(key_id: str = "rsa-1", *, headers: dict[str, Any] | None = None, **changed: Any) -> str:
    return jwt.encode(
        claims(**changed), private_key(key_id), algorithm_of(key_id), headers={"kid": key_id, **(headers or {})}
    )


@dataclass
class IssuerServer:
    """Over HTTP on this machine. What it answers, and whether it does, may be changed while it runs."""

    content: str
    status: int = 200
    location: str = ""
    asked: int = 0
    goes_on: Event = field(default_factory=Event)  # cleared: it keeps who asks waiting
    url: str = ""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.asked += 1
        self.goes_on.wait(30)
        handler.send_response(self.status)
        if self.location:
            handler.send_header("Location", self.location)
        content = self.content.encode()
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)


@contextmanager
def serving(content: str) -> Iterator[IssuerServer]:
    issuer = IssuerServer(content)
    issuer.goes_on.set()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.answer(self)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer.url = f"http://127.0.0.1:{server.server_port}/jwks.json"
        Thread(target=server.serve_forever, args=[0.01], daemon=True).start()  # seconds until it sees its end
        try:
            yield issuer
        finally:
            issuer.goes_on.set()
            server.shutdown()
