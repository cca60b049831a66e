"""Two owners in one database, who have collections of the same name and others that only one of them has."""

from graphrag.ingestion.sources import SourceText
from graphrag.services import Services
from tests.conftest import with_services

OWNERS = {"ana": "ben", "ben": "ana"}  # each with the other
QUESTION = "¿Por qué se paró el horno?"


def fill(url: str) -> None:
    with_services(url, _fill)


async def _fill(services: Services) -> None:
    for owner in OWNERS:
        for name in ("notes", f"{owner}-only"):
            made = await services.store.create_collection(owner, name, embedding_model="bundled")
            text = SourceText(f"parte-{owner}", f"El horno de {owner} se paró porque se rompió el retén de la puerta.")
            await services.ingestion.ingest(
                [text], collection=made, model=await services.collections.embedding_model(made)
            )
