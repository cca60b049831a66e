"""A small collection with golden cases, for the tests of evaluation."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from graphrag.ingestion.sources import SourceText, document_id
from graphrag.models import Collection
from graphrag.models.evaluation import CaseDraft, DocumentReference
from graphrag.services import Services

TEXTS = {
    "horno.md": "# Parte del horno\n\nEl horno H2 falló porque se rompió el retén de la puerta.\n",
    "puente.md": "# El puente\n\nEl puente de Arenal se cerró el 3 de mayo de 2024 a causa de la riada.\n",
    "stock.md": "# Stock memo\n\nThe Bristol office ordered the Christmas tins in September.\n",
    "entrepot.md": "# L'entrepôt\n\nL'entrepôt de Toulouse consomme trop d'électricité en hiver.\n",
}
HORNO = "¿Por qué falló el horno H2?"
PUENTE = "¿Cuándo se cerró el puente de Arenal?"
TINS = "When did the Bristol office order the Christmas tins?"


@dataclass(frozen=True)
class Shelf:
    services: Services
    collection: Collection

    def id(self, filename: str) -> UUID:
        return document_id(self.collection.id, filename)

    async def add(self, *drafts: CaseDraft) -> list[UUID]:
        return list((await self.services.golden.add(self.collection, drafts)).added)

    async def ingest(self, **texts: str) -> None:
        model = await self.services.collections.embedding_model(self.collection)
        sources = [SourceText(name, text) for name, text in texts.items()]
        await self.services.ingestion.ingest(sources, collection=self.collection, model=model)

    async def drop(self, filename: str) -> None:
        assert await self.services.store.delete_document(self.collection, self.id(filename))


def draft(query: str, *documents: str | UUID, **fields: Any) -> CaseDraft:
    names = [DocumentReference(id=of) if isinstance(of, UUID) else DocumentReference.named(of) for of in documents]
    return CaseDraft(query, tuple(names), **fields)


async def open_shelf(services: Services, owner: str, name: str = "fábrica", **texts: str) -> Shelf:
    """Of texts: they need no parser, which is a process of its own."""
    shelf = Shelf(services, await services.collections.create(owner, name))
    await shelf.ingest(**(texts or TEXTS))
    return shelf
