"""Services that the tests of a module share."""

from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.ingestion.isolation import ForkServer, Sandbox
from graphrag.services import Services, open_services


@pytest.fixture(scope="module")
async def services(postgres: str, fork_server: ForkServer) -> AsyncIterator[Services]:
    """Services over the shared database, with open connections. Use an owner of your own: `owner`."""
    settings = Settings.from_environment(database_url=SecretStr(postgres))
    opened = open_services(settings, sandbox=Sandbox(settings.ingestion_limits.parsing, fork_server))
    yield opened
    await opened.close()
