"""Sign-in of people in a browser: to the identity provider, back from it, and out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from api.dependencies import ServicesDep
from api.middleware.authentication import SESSION_COOKIE, session_of
from api.middleware.rate_limits import RateLimits, network_of
from graphrag.authentication.openid import ATTEMPT_SECONDS, SignIn
from graphrag.errors import AuthenticationUnavailable, Unauthorized
from graphrag.observability.telemetry import log

ATTEMPT_COOKIE = "causeway_sign_in"
FAILED = "/?sign-in=failed"  # the page says so in its language
PRIVATE = {"Cache-Control": "no-store"}
# Of this site only: neither //HOST nor /\HOST, which browsers read as another one.
BackTo = Annotated[str, Query(alias="next", pattern=r"^/([^/\s\\][^\s\\]*)?$", max_length=2_000)]

router = APIRouter(include_in_schema=False)


async def get_sign_in(request: Request, services: ServicesDep) -> SignIn:
    """Count the request by address: it makes us ask the provider. Raises HTTPException or RateLimited."""
    if services.authentication.sign_in is None:
        raise HTTPException(404, "No identity provider is configured.")
    rates: RateLimits = request.app.state.rates
    await rates.count(request, f"sign-in from {network_of(request.client.host if request.client else '')}")
    return services.authentication.sign_in


SignInDep = Annotated[SignIn, Depends(get_sign_in)]


class SessionOut(BaseModel):
    sign_in: bool  # whether there is a provider
    name: str | None  # of who is signed in


@router.get("/session")
async def read_session(request: Request, response: Response, services: ServicesDep) -> SessionOut:
    response.headers.update(PRIVATE)
    sign_in, session = services.authentication.sign_in, session_of(request)
    try:
        name = sign_in.sessions.read(session)["name"] if sign_in and session else None
    except Unauthorized:
        name = None
    return SessionOut(sign_in=sign_in is not None, name=name)


@router.get("/sign-in")
async def begin_sign_in(request: Request, sign_in: SignInDep, back_to: BackTo = "/") -> Response:
    callback = str(request.url_for("complete_sign_in"))
    try:
        address, attempt = await sign_in.begin(redirect_uri=callback, back_to=back_to)
    except AuthenticationUnavailable as exc:
        log.warning("sign-in failed", error=exc)
        return RedirectResponse(FAILED, 303, headers=PRIVATE)
    response = RedirectResponse(address, 303, headers=PRIVATE)
    _keep(request, response, ATTEMPT_COOKIE, attempt, max_age=ATTEMPT_SECONDS)
    return response


@router.get("/sign-in/callback")
async def complete_sign_in(request: Request, sign_in: SignInDep) -> Response:
    attempt = request.cookies.get(ATTEMPT_COOKIE, "")
    try:
        session, back_to = await sign_in.complete(attempt, request.query_params)
    except (Unauthorized, AuthenticationUnavailable) as exc:
        log.info("sign-in failed", error=exc)
        response = RedirectResponse(FAILED, 303, headers=PRIVATE)
    else:
        response = RedirectResponse(back_to, 303, headers=PRIVATE)
        # Without an age: a session that has ended is still shown, and its holder told so.
        _keep(request, response, SESSION_COOKIE, session)
    response.delete_cookie(ATTEMPT_COOKIE)
    return response


@router.post("/sign-out", status_code=204)
async def sign_out(response: Response) -> None:
    response.delete_cookie(SESSION_COOKIE)


def _keep(request: Request, response: Response, name: str, value: str, *, max_age: int | None = None) -> None:
    is_secure = request.url.scheme == "https"
    response.set_cookie(name, value, max_age=max_age, httponly=True, samesite="lax", secure=is_secure)
