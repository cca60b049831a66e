"""A document that a request names, as its owner may see and change it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request

from api.conditional_requests import check_match, make_etag
from api.dependencies import OwnerDep, ServicesDep, WriterDep
from api.document_causes import cause_of
from api.document_schemas import DocumentOut
from graphrag.errors import DocumentNotFound, PreconditionFailed
from graphrag.ingestion_models import Ingestion
from graphrag.models import Collection
from graphrag.services import Services
from graphrag.stores.catalog import Entry


@dataclass(frozen=True, slots=True)
class Found:
    """Whatever collection it is in."""

    services: Services
    collection: Collection
    id: UUID
    request: Request

    async def entry(self) -> Entry:
        """Raises DocumentNotFound."""
        for entry in await self.services.catalog.find(self.collection, [self.id]):
            return entry
        raise not_found(self.id)

    async def show(self) -> DocumentOut:
        """Raises DocumentNotFound."""
        return show(self.collection, await self.entry(), self.request)

    @asynccontextmanager
    async def unchanged(self, if_match: str | None) -> AsyncIterator[Ingestion | None]:
        """The ingestion to which a step is to be bound, if the request says of which version it is.

        Raises PreconditionFailed, here or from within, with the ETag that it has now; DocumentNotFound.
        """
        entry = await self.entry()
        check_match(self.etag(entry), if_match)
        try:
            yield entry.ingestion if if_match else None
        except PreconditionFailed as exc:
            raise PreconditionFailed(str(exc), etag=self.etag(await self.entry())) from exc

    def etag(self, entry: Entry) -> str:
        shown = show(self.collection, entry, self.request)
        return etag_of(entry, shown)


def show(collection: Collection, entry: Entry, request: Request) -> DocumentOut:
    cause = cause_of(entry.ingestion.reason, request) if entry.ingestion else None
    return DocumentOut.of(collection, entry.document, entry.ingestion, cause)


def etag_of(entry: Entry, shown: DocumentOut) -> str:
    """Of all that is shown, and of the ticket: an upload is another version although it looked alike."""
    return make_etag(str(entry.ingestion and entry.ingestion.ticket), shown.model_dump_json())


def not_found(document: UUID) -> DocumentNotFound:
    return DocumentNotFound(f"There is no document {document}.", document=str(document))


async def find(document_id: UUID, services: ServicesDep, owner: OwnerDep, request: Request) -> Found:
    """Raises DocumentNotFound: for another owner's too, in the same words."""
    located = await services.library.ingestions.locate(owner, [document_id])
    for collection in await services.store.list_collections(owner):
        if collection.id == located.get(document_id):
            return Found(services, collection, document_id, request)
    raise not_found(document_id)


async def find_to_change(document_id: UUID, services: ServicesDep, owner: WriterDep, request: Request) -> Found:
    return await find(document_id, services, owner, request)


FoundDep = Annotated[Found, Depends(find)]
ChangedDep = Annotated[Found, Depends(find_to_change)]
