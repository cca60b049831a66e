"""LangGraph's own server (`langgraph dev`, Studio): who asks is found out as over HTTP, and sees nothing of others.

`disable_studio_auth` in langgraph.json: else a header that names Studio would let anybody in.
"""

from functools import cache
from typing import Any, Literal, cast

from langgraph_sdk import Auth
from starlette.datastructures import Headers

from api.middleware.authentication import shown_by
from graphrag.authentication import Authentication
from graphrag.authentication.identity import Scope
from graphrag.config.settings import Settings
from graphrag.errors import Forbidden, Unauthorized
from graphrag.services import open_services

auth = Auth()
MADE_BY_THE_SERVER = {"created_by": "system"}  # the assistant that everybody asks


@cache
def authentication() -> Authentication:
    """Return the authentication of services of its own: the graph may run in another event loop."""
    return open_services(Settings.from_environment()).authentication


@auth.authenticate
async def authenticate(headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    try:
        identity = await authentication().identify(shown_by(Headers(raw=[*headers.items()])))
        identity.demand(Scope.READ)
    except (Unauthorized, Forbidden) as exc:
        status = 401 if isinstance(exc, Unauthorized) else 403
        raise Auth.exceptions.HTTPException(status_code=status, detail=str(exc)) from exc
    return {"identity": identity.owner_id}


def _asks_nobody() -> bool:
    return authentication().way is None


@auth.on
async def own(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Auth.types.FilterType | None:
    """Threads and runs, and assistants that one has made: each is its maker's alone."""
    if _asks_nobody():
        return None
    owned: Auth.types.FilterType = {"owner": ctx.user.identity}
    metadata = value.setdefault("metadata", {})  # changed in place: the server keeps this very object
    metadata.pop("created_by", None)
    metadata |= owned
    return owned


@auth.on.assistants(actions=["read", "search"])
async def read_assistants(ctx: Auth.types.AuthContext, value: Any) -> Auth.types.FilterType | None:
    if _asks_nobody():
        return None
    either = {"$or": [{"owner": ctx.user.identity}, MADE_BY_THE_SERVER]}
    return cast(Auth.types.FilterType, either)  # the SDK's type does not know of "$or" yet


@auth.on(resources=["store", "crons"])
async def no_other_memory(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Literal[False] | None:
    """The graph keeps nothing there; and what runs by the clock would run on after its maker's key was revoked."""
    return None if _asks_nobody() else False
