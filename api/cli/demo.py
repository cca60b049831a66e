"""The demo documents, as the notebooks open them: those of a checkout, indexed by the command line's own means."""

from pathlib import Path

from api.cli.ingest import load
from graphrag.ingestion.sources import find_files
from graphrag.models import Collection
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, shared_services

CHECKOUT = Path(__file__).parents[2]
DOCUMENTS = CHECKOUT / "notebooks" / "demo"
QUESTIONS = CHECKOUT / "tests" / "golden" / "demo.json"


async def open_demo() -> tuple[Services, Collection]:
    """Open the demo collection; its documents are indexed once."""
    services = shared_services()
    configure_logging("ERROR")  # a notebook shows what went wrong itself
    await services.open()
    owner = services.owner
    collection = await services.collections.create(owner, "demo")
    async with services.documents.queue.working(services.jobs):
        await load(services, collection, find_files([DOCUMENTS]))
    return services, await services.collections.open(owner, collection.name)
