"""Two collections of one owner with different embedding models, in a store in memory."""

from collections.abc import Mapping
from typing import Any

from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.ingestion.preparation import InProcessPreparer
from graphrag.ingestion.sources import SourceFile
from graphrag.models import LOCAL_OWNER
from graphrag.services import Services, open_services
from graphrag.testing.in_memory_graph import InMemoryGraph
from graphrag.testing.in_memory_store import InMemoryStore

MODELS = {"works": "e5", "accounts": "bundled"}
FILES: Mapping[str, Mapping[str, str]] = {
    "works": {
        "puente.md": "# Informe del puente\n\nEl puente de Arenal se cerró el 3 de mayo de 2024. El cierre del puente "
        "de Arenal se debió a que la riada dañó dos pilares.\n",
        "gerente.csv": "Obra,Responsable\nPuente de Arenal,Marta Soler\nMuelle norte,Iván Prats\n",
    },
    "accounts": {
        "facturas.md": "# Facturas de obras\n\nLa reparación del puente de Arenal costó 9.240 euros. La huelga provocó "
        "el cierre del almacén de Almendrina.\n",
        "pagos.csv": "Proveedor,Importe\nGrúas Leal,1200\nCementos Sur,800\nGrúas Leal,500\n",
    },
}
BOTH = ("works", "accounts")


async def open_collections(
    registry: EmbeddingRegistry, files: Mapping[str, Mapping[str, str]] = FILES, **settings: Any
) -> Services:
    opened, store = Settings.from_environment(**settings), InMemoryStore()
    parts = {"store": store, "graph": InMemoryGraph(store), "embeddings": registry}
    services = open_services(opened, preparer=InProcessPreparer(opened.ingestion_limits.parsing), **parts)
    await fill(services, LOCAL_OWNER, files)
    return services


async def fill(services: Services, owner: str, files: Mapping[str, Mapping[str, str]] = FILES) -> None:
    for name, texts in files.items():
        collection = await services.store.create_collection(owner, name, embedding_model=MODELS[name])
        model = await services.collections.embedding_model(collection)
        sources = [SourceFile(filename, filename, text.encode()) for filename, text in texts.items()]
        await services.ingestion.ingest(sources, collection=collection, model=model)
