"""Dependencies of routes: the services, the running streams, and who is asking. None of it needs a thread."""

from typing import Annotated

from fastapi import Depends, Header, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from agent.conversation.service import ConversationService
from api.streaming.streams import SharedStreams
from graphrag.authentication.identity import Identity, Scope
from graphrag.services import Services

BEARER = HTTPBearer(
    auto_error=False, description="An API key of `causeway keys create`, or a token of the issuer that is trusted"
)


async def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


async def get_conversing(request: Request) -> ConversationService:
    conversing: ConversationService = request.app.state.conversing
    return conversing


async def get_streams(request: Request) -> SharedStreams:
    streams: SharedStreams = request.app.state.streams
    return streams


ServicesDep = Annotated[Services, Depends(get_services)]


async def get_identity(
    scopes: SecurityScopes,
    request: Request,
    _: Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)],  # for the document: the gate has read it
) -> Identity:
    """Raises Forbidden."""
    identity: Identity = request.state.identity
    for scope in scopes.scopes:
        identity.demand(Scope(scope))
    return identity


async def get_reader(identity: Annotated[Identity, Security(get_identity, scopes=[Scope.READ.value])]) -> str:
    return identity.owner_id


async def get_writer(identity: Annotated[Identity, Security(get_identity, scopes=[Scope.WRITE.value])]) -> str:
    return identity.owner_id


ConversingDep = Annotated[ConversationService, Depends(get_conversing)]
OwnerDep = Annotated[str, Depends(get_reader)]  # of one who may read: asks, searches, looks
WriterDep = Annotated[str, Depends(get_writer)]  # of one who may change collections and documents
MetricsDep = Annotated[Identity, Security(get_identity, scopes=[Scope.METRICS.value])]
StreamsDep = Annotated[SharedStreams, Depends(get_streams)]
CollectionFilter = Annotated[str | None, Query(description="Without one, those of all collections")]
CollectionQuery = Annotated[str | None, Query(description="Without one, the default one")]
LastEventId = Annotated[str, Header(description="Of the last event that came: the stream goes on after it")]
