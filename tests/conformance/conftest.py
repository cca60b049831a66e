"""The indexes beside PostgreSQL, open. What others keep there is of other owners."""

from collections.abc import AsyncIterator, Iterator

import pytest

from graphrag.protocols import ChunkIndex
from graphrag.settings import Settings
from graphrag.stores.chroma import ChromaIndex
from tests.chroma_server import run_chroma_server
from tests.conformance.toy_index import ToyIndex


@pytest.fixture
def toy() -> ToyIndex:
    return ToyIndex()


@pytest.fixture(scope="session")
async def chroma_folder(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChunkIndex]:
    index = ChromaIndex(Settings.model_validate({"CAUSEWAY_HOME": tmp_path_factory.mktemp("chroma")}))
    await index.open()
    yield index
    await index.close()


@pytest.fixture(scope="session")
def chroma_address() -> Iterator[str]:
    with run_chroma_server() as address:
        yield address


@pytest.fixture(scope="session")
async def chroma_server(chroma_address: str) -> AsyncIterator[ChunkIndex]:
    index = ChromaIndex(Settings(index_url=chroma_address))
    await index.open()
    yield index
    await index.close()
