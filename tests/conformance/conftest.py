"""The indexes beside PostgreSQL, each empty or nobody else's."""

from collections.abc import AsyncIterator, Iterator

import pytest
from pydantic import SecretStr

from graphrag.settings import Settings
from graphrag.stores.typesense import TypesenseIndex
from tests.conformance.toy_index import ToyIndex
from tests.typesense_server import KEY, TypesenseServer


@pytest.fixture
def toy() -> ToyIndex:
    return ToyIndex()


@pytest.fixture(scope="session")
def typesense_server() -> Iterator[TypesenseServer]:
    with TypesenseServer() as server:
        yield server


@pytest.fixture
async def typesense(typesense_server: TypesenseServer) -> AsyncIterator[TypesenseIndex]:
    typesense_server.reset()
    index = TypesenseIndex(Settings(index_url=typesense_server.url, index_api_key=SecretStr(KEY)))
    yield index
    await index.close()
