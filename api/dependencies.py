"""What a route is handed: the services, the running streams, and who is asking."""

from typing import Annotated

from fastapi import Depends, Header, Request

from agent.conversation import Conversing
from api.streams import Streams
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services


def get_services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


def get_conversing(request: Request) -> Conversing:
    conversing: Conversing = request.app.state.conversing
    return conversing


def get_streams(request: Request) -> Streams:
    streams: Streams = request.app.state.streams
    return streams


def get_owner() -> str:
    """Without authentication there is one local owner."""
    return LOCAL_OWNER


ServicesDep = Annotated[Services, Depends(get_services)]
ConversingDep = Annotated[Conversing, Depends(get_conversing)]
OwnerDep = Annotated[str, Depends(get_owner)]
StreamsDep = Annotated[Streams, Depends(get_streams)]
LastEventId = Annotated[str, Header(description="Of the last event that came: the stream goes on after it")]
