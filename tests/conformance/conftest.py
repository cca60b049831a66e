"""The indexes beside PostgreSQL, open. What others keep there is of other owners."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.protocols import ChunkIndex
from graphrag.services import Services, open_services
from graphrag.stores.indexes.chroma import ChromaIndex
from graphrag.stores.indexes.milvus import MilvusIndex
from graphrag.stores.indexes.typesense import TypesenseIndex
from tests.chroma_server import run_chroma_server
from tests.conformance.toy_index import ToyIndex
from tests.milvus_server import run_milvus_server
from tests.typesense_server import KEY, TypesenseServer


@pytest.fixture(scope="module")
async def services(postgres: str) -> AsyncIterator[Services]:
    """Services over the shared database, with open connections. Use an owner of your own: `owner`."""
    opened = open_services(Settings.from_environment(database_url=SecretStr(postgres)))
    yield opened
    await opened.close()


@pytest.fixture
def toy() -> ToyIndex:
    return ToyIndex()


@pytest.fixture(scope="session")
async def chroma_folder(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChunkIndex]:
    index = ChromaIndex(Settings.from_environment(home=tmp_path_factory.mktemp("chroma"), index_timeout_seconds=60))
    await index.open()
    yield index
    await index.close()


@pytest.fixture(scope="session")
def chroma_address() -> Iterator[str]:
    with run_chroma_server() as address:
        yield address


@pytest.fixture(scope="session")
async def chroma_server(chroma_address: str) -> AsyncIterator[ChunkIndex]:
    index = ChromaIndex(Settings.from_environment(index_url=chroma_address))
    await index.open()
    yield index
    await index.close()


@pytest.fixture(scope="session")
async def milvus_folder(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[ChunkIndex]:
    index = MilvusIndex(Settings.from_environment(home=tmp_path_factory.mktemp("milvus"), index_timeout_seconds=60))
    await index.open()
    yield index
    await index.close()


@pytest.fixture(scope="session")
def milvus_address() -> Iterator[str]:
    with run_milvus_server() as address:
        yield address


@pytest.fixture(scope="session")
async def milvus_server(milvus_address: str) -> AsyncIterator[ChunkIndex]:
    index = MilvusIndex(Settings.from_environment(index_url=milvus_address, index_timeout_seconds=60))
    await index.open()
    yield index
    await index.close()


@pytest.fixture(scope="session")
def typesense_server() -> Iterator[TypesenseServer]:
    with TypesenseServer() as server:
        yield server


@pytest.fixture
async def typesense(typesense_server: TypesenseServer) -> AsyncIterator[ChunkIndex]:
    """Of a server that follows Typesense's published API strictly."""
    typesense_server.reset()
    index = TypesenseIndex(Settings.from_environment(index_url=typesense_server.url, index_api_key=SecretStr(KEY)))
    yield index
    await index.close()
