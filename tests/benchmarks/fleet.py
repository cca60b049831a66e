"""Workers as a fleet: how fast documents are indexed by 1, 2 and 4 of them, where the embedding server answers slowly.

python -m tests.benchmarks.fleet --documents 200 --workers 1 2 4 --latency 0.05

A server takes the documents in and indexes none; worker processes are timed from the first upload until all documents
are indexed. Server, workers, PostgreSQL and the embedding server, which answers each request after the
latency, share this machine's processors: what the workers wait for adds up, what they compute does not.
"""

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import httpx
from rich.console import Console
from rich.table import Table

from graphrag.observability.telemetry import configure_logging
from tests.benchmarks.reembedding import WORDS
from tests.conftest import run_default_server, run_worker
from tests.model_server import ModelServer
from tests.own_postgres import run_postgres

SENTENCES = 60  # of a document, which are a few chunks
AT_ONCE = 50  # documents of a request
WAITED_SECONDS = 900
MODEL = """embeddings:
  - {{id: distant, provider: openai, model: any, base_url: {url}}}
"""


def text_of(number: int) -> str:
    """Return a text of its own."""
    words = [WORDS[(number * 7 + place * (number % 11 + 1)) % len(WORDS)] for place in range(SENTENCES * 12)]
    return " ".join(f"Note {number}-{at}: the {' '.join(words[at : at + 12])}." for at in range(0, len(words), 12))


def upload(client: httpx.Client, collection: str, count: int) -> None:
    for start in range(0, count, AT_ONCE):
        numbers = range(start, min(start + AT_ONCE, count))
        files = [("files", (f"note-{number}.txt", text_of(number).encode())) for number in numbers]
        client.post("/api/v1/documents", files=files, data={"collection": collection}).raise_for_status()


def wait_for(client: httpx.Client, collection: str, count: int) -> None:
    deadline = time.monotonic() + WAITED_SECONDS
    while time.monotonic() < deadline:
        facets = client.get(f"/api/v1/collections/{collection}/facets")
        if facets.is_success and facets.json()["document_count"] == count:
            return
        time.sleep(0.1)
    raise TimeoutError(f"not all of {count} documents were indexed in {WAITED_SECONDS} s")


def run(documents: int, workers: Sequence[int], latency: float) -> dict[int, float]:
    """Return the seconds that each number of workers took."""
    taken = {}
    with ExitStack() as stack:
        model = stack.enter_context(ModelServer())
        model.embeddings_delay_seconds = latency
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cw-")))
        (folder / "embeddings.yml").write_text(MODEL.format(url=model.base_url))
        environment = {
            "DATABASE_URL": stack.enter_context(run_postgres()).url,
            "EMBEDDINGS_CONFIG": str(folder / "embeddings.yml"),
            "OPENAI_API_KEY": "no-key",
            "RAG_FILES_URL": (folder / "files").as_uri(),
            "RAG_WORKER": "false",
        }
        client = stack.enter_context(stack.enter_context(run_default_server(**environment)).client())
        for count in workers:
            collection = f"by-{count}"
            with ExitStack() as fleet:
                for _ in range(count):
                    fleet.enter_context(run_worker(**environment))
                started = time.monotonic()
                upload(client, collection, documents)
                wait_for(client, collection, documents)
                taken[count] = time.monotonic() - started
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--latency", type=float, default=0.05, metavar="SECONDS", help="of the embedding server")
    given = parser.parse_args()
    configure_logging("ERROR")
    table = Table("workers", "seconds", "documents/s")
    for count, seconds in run(given.documents, given.workers, given.latency).items():
        table.add_row(str(count), f"{seconds:.1f}", f"{given.documents / seconds:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
