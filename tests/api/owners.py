"""Two owners in one database, who have collections of the same name and others that only one of them has."""

import asyncio

from pydantic import SecretStr

from graphrag.ingestion.sources import SourceText
from graphrag.services import Services
from graphrag.settings import Settings

OWNERS = {"ana": "ben", "ben": "ana"}  # each with the other
QUESTION = "¿Por qué se paró el horno?"


def fill(url: str) -> None:
    asyncio.run(_fill(url))


async def _fill(url: str) -> None:
    services = Services(Settings(database_url=SecretStr(url)))
    for owner in OWNERS:
        for name in ("notes", f"{owner}-only"):
            made = await services.store.create_collection(owner, name, embedding_model="bundled")
            text = SourceText(f"parte-{owner}", f"El horno de {owner} se paró porque se rompió el retén de la puerta.")
            await services.pipeline.ingest([text], collection=made, model=await services.embedding_model(made))
    await services.close()
