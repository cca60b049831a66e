"""JSON bodies: objects have few keys, and a large body is parsed while other requests are answered."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from json.decoder import JSONArray, JSONObject  # type: ignore[attr-defined]  # its stub names the decoder alone
from json.scanner import py_make_scanner  # type: ignore[attr-defined]  # its stub names one scanner alone
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.routing import APIRoute

MOST_KEYS = 3_000  # of an object: more than metadata can have; unknown ones would each be an error
MOST_VALUES = 100_000  # lists and objects of a large body: Python looks through all of them at once, again and again
LARGE_BYTES = 256_000  # which Python's parser in C takes up to 12 ms for, in which no other thread runs


class JsonRoute(APIRoute):
    """Route of an endpoint that may take JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            return await handle(_JsonRequest(request.scope, request.receive))

        return handler


class _JsonRequest(Request):
    async def json(self) -> Any:
        """Raises as `Request.json` does, or HTTPException."""
        if not hasattr(self, "_json"):
            body = await self.body()
            self._json = await asyncio.to_thread(_parse_in_turns, body) if len(body) > LARGE_BYTES else _parse(body)
        return self._json


def _parse(body: bytes) -> Any:
    return json.loads(body, object_pairs_hook=_read_object)


def _parse_in_turns(body: bytes) -> Any:
    """Parse as `_parse` does, about ten times as slowly; other threads get their turns after any value."""
    return json.loads(body, cls=_TurnTakingDecoder, object_pairs_hook=_read_object)


class _TurnTakingDecoder(json.JSONDecoder):
    """Raises HTTPException for a body of more lists and objects than can be meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.parse_array, self.parse_object = self._counted(JSONArray), self._counted(JSONObject)
        self.scan_once = py_make_scanner(self)
        self._count = 0

    def _counted(self, parse: Callable[..., Any]) -> Callable[..., Any]:
        def parse_next(*given: Any) -> Any:
            self._count += 1
            if self._count > MOST_VALUES:
                raise HTTPException(422, f"More than {MOST_VALUES:,} lists and objects in a body: send less at a time.")
            return parse(*given)

        return parse_next


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Raises HTTPException, which tells how many keys there are: not which."""
    if len(pairs) > MOST_KEYS:
        raise HTTPException(422, f"An object has {len(pairs):,} keys: at most {MOST_KEYS} are read.")
    return dict(pairs)
