"""The chat model of a service that has no owners: found, tried, chosen."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from api.dependencies import ServicesDep, WriterDep
from api.middleware.json_bodies import JsonRoute
from api.schemas.fields import errors
from api.schemas.models import ChatModelsOut, ChosenModelOut, ConnectionIn, FoundServerOut, ModelTrialOut
from graphrag.errors import ModelChoiceForbidden
from graphrag.llm.model_choice import ModelChoice, ModelConnection, find_servers, try_model


async def get_choice(services: ServicesDep, _: WriterDep) -> ModelChoice:
    """Raises ModelChoiceForbidden."""
    if not services.model_choice.is_allowed:
        raise ModelChoiceForbidden("The service has owners: RAG_CHAT_MODEL names its model.")
    return services.model_choice


ChoiceDep = Annotated[ModelChoice, Depends(get_choice)]
router = APIRouter(route_class=JsonRoute, tags=["models"], prefix="/models")


async def checked_connection(
    body: ConnectionIn, request: Request, services: ServicesDep, _: ChoiceDep
) -> ModelConnection:
    """Raises ModelAddressRefused."""
    return body.connection().checked(services.settings, own_port=request.scope["server"][1])


ConnectionDep = Annotated[ModelConnection, Depends(checked_connection)]


@router.get(
    "",
    summary="List the chat models that can be chosen, and the chosen one",
    description="Servers at the addresses of `RAG_MODEL_SERVERS`, and vendors with a key in the environment.",
)
async def list_chat_models(request: Request, services: ServicesDep, choice: ChoiceDep) -> ChatModelsOut:
    found = await find_servers(services.settings, own_port=request.scope["server"][1])
    chosen = choice.load()
    return ChatModelsOut(
        in_use=choice.before(services.chat_models)[0].name,
        chosen=ChosenModelOut.of(chosen.connection) if chosen else None,
        found=[FoundServerOut.model_validate(server) for server in found],
    )


@router.post("/try", summary="Ask a chat model a short question", responses=errors(502))
async def try_chat_model(connection: ConnectionDep, services: ServicesDep) -> ModelTrialOut:
    return ModelTrialOut.model_validate(await try_model(connection, services.settings))


@router.put(
    "/chosen",
    summary="Choose the chat model that writes answers, from the next one on",
    description="It is asked before the models of the settings, and stored under `CAUSEWAY_HOME` with its key.",
)
async def choose_chat_model(connection: ConnectionDep, choice: ChoiceDep) -> ChosenModelOut:
    await choice.choose(connection)
    return ChosenModelOut.of(connection)


@router.delete("/chosen", status_code=204, summary="Go back to the chat models of the settings")
async def forget_chat_model(choice: ChoiceDep) -> None:
    await choice.forget()
