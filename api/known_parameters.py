"""A query parameter that a route does not know is an error: passed over, a mistyped one would change what is found."""

from fastapi import Request
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute


async def refuse_unknown_parameters(request: Request) -> None:
    """Raises RequestValidationError, which names those that there are."""
    route: APIRoute = request.scope["route"]
    known = _names(route.dependant)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        told = f"There is no such parameter. Known: {', '.join(sorted(known)) or 'none'}"
        raise RequestValidationError(
            [{"type": "extra_forbidden", "loc": ("query", name), "msg": told} for name in unknown]
        )


def _names(dependant: Dependant) -> set[str]:
    return {field.alias for field in dependant.query_params}.union(*map(_names, dependant.dependencies))
