"""The order of jobs, over a real PostgreSQL: owners take turns, single uploads come first, dead workers are counted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from uuid import UUID, uuid4

import pytest
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.ingestion.queue import MOST_ATTEMPTS, Queue, _Connector
from graphrag.ingestion.sources import SourceFile, document_id
from graphrag.models import Collection
from graphrag.models.ingestion import Ingestion, IngestionStatus
from graphrag.services import Services, open_services
from graphrag.stores.postgres.ingestions import MOST_STALLS
from tests.factories import make_ingestion

WAIT_SECONDS = 30
ALONE = 4_000_000  # bytes: two of them are too many for one job
SILENCE = "UPDATE procrastinate_workers SET last_heartbeat = now() - interval '1 hour'"


@pytest.fixture
async def opened(make_database: Callable[[], str]) -> AsyncIterator[Services]:
    """Of this test alone: a queue is everybody's."""
    made = open_services(Settings.from_environment(database_url=SecretStr(make_database())))
    yield made
    await made.close()


@dataclass
class Recorder:
    """A worker that notes whose job it does; it ends one when it may."""

    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    begun: list[tuple[str, UUID]] = field(default_factory=list)
    running: list[str] = field(default_factory=list)
    most: dict[str, int] = field(default_factory=dict)

    async def ingest(self, owner_id: str, collection_id: UUID, documents: Sequence[UUID]) -> None:
        self.begun += [(owner_id, document) for document in documents]
        self.running.append(owner_id)
        self.most[owner_id] = max(self.most.get(owner_id, 0), self.running.count(owner_id))
        await self.may_end.wait()
        self.running.remove(owner_id)

    @property
    def owners(self) -> str:
        return "".join(owner for owner, _ in self.begun)

    async def until(self, count: int) -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            while len(self.begun) < count:
                await asyncio.sleep(0.02)


@dataclass
class Desk:
    """Owners with one-letter names, each with a collection."""

    services: Services
    queue: Queue
    collections: dict[str, Collection] = field(default_factory=dict)

    async def order(self, owner: str, *, documents: int, byte_count: int = ALONE) -> list[UUID]:
        """One upload of so many documents."""
        collection = self.collections.setdefault(owner, Collection(uuid4(), owner, "notes", "bundled"))
        made = [make_ingestion(collection, byte_count=byte_count) for _ in range(documents)]
        async with self.services.database.transaction(owner) as connection:
            await self.queue.defer_ingestion(connection, collection, made)
        return [of.document_id for of in made]

    async def places(self, owner: str, documents: Sequence[UUID]) -> list[int | None]:
        found = await self.queue.find_places(self.collections[owner], documents)
        return [found.get(document) for document in documents]


def desk_of(services: Services, slots: int) -> Desk:
    return Desk(services, Queue(services.database, slots, lambda owner: owner))


async def work(queue: Queue, recorder: Recorder, jobs: int) -> None:
    async with queue.working(recorder):  # type: ignore[arg-type]  # jobs of other kinds do not come
        await recorder.until(jobs)


async def test_owners_take_turns(opened: Services) -> None:
    """R1.9, security 16: who loads a thousand files first keeps nobody waiting for all of them."""
    desk, recorder = desk_of(opened, 1), Recorder()
    recorder.may_end.set()
    for owner, count in (("a", 5), ("b", 2), ("c", 3)):
        await desk.order(owner, documents=count)
    await work(desk.queue, recorder, 10)
    assert recorder.owners == "abcabcacaa"


async def test_single_uploads_come_before_bulk_loads(opened: Services) -> None:
    """R1.9: a person waits for one document, nobody for the thousandth."""
    desk, recorder = desk_of(opened, 1), Recorder()
    recorder.may_end.set()
    bulk = await desk.order("a", documents=3)
    own, other = await desk.order("a", documents=1), await desk.order("b", documents=1)
    await work(desk.queue, recorder, 5)
    assert [document for _, document in recorder.begun] == [*own, *other, *bulk]


async def test_no_owner_has_all_slots(opened: Services) -> None:
    """Security 16: what one owner's documents hold up is not the others'."""
    desk, recorder = desk_of(opened, 3), Recorder()
    for _ in range(4):
        await desk.order("a", documents=1)
    async with desk.queue.working(recorder):  # type: ignore[arg-type]  # see `work`
        await recorder.until(2)
        await asyncio.sleep(1.5)
        assert recorder.owners == "aa"
        await desk.order("b", documents=1)
        await recorder.until(3)
        assert recorder.owners == "aab"
        recorder.may_end.set()
        await recorder.until(5)
    assert recorder.most == {"a": 2, "b": 1}


async def test_bulk_loads_leave_a_slot_to_single_uploads(opened: Services) -> None:
    """R1.9: also where several owners load."""
    desk, recorder = desk_of(opened, 3), Recorder()
    for owner in "abc":
        await desk.order(owner, documents=2)
    async with desk.queue.working(recorder):  # type: ignore[arg-type]  # see `work`
        await recorder.until(2)
        await asyncio.sleep(1.5)
        assert recorder.owners == "ab"
        await desk.order("d", documents=1)
        await recorder.until(3)
        assert recorder.owners == "abd"
        recorder.may_end.set()
        await recorder.until(7)


async def test_a_place_is_when_it_is_taken(opened: Services) -> None:
    """R1.9: the places are the order of a worker that has served nobody yet; what runs has none."""
    desk, recorder = desk_of(opened, 1), Recorder()
    recorder.may_end.set()
    ordered = {owner: await desk.order(owner, documents=count) for owner, count in (("a", 3), ("b", 1), ("c", 2))}
    places: dict[UUID, int | None] = {}
    for owner, ids in ordered.items():
        places |= zip(ids, await desk.places(owner, ids), strict=True)
    assert sorted(place or 0 for place in places.values()) == list(range(1, 7))
    await work(desk.queue, recorder, 6)
    taken = [document for _, document in recorder.begun]
    assert {document: number for number, document in enumerate(taken, start=1)} == places
    assert await desk.places("a", ordered["a"]) == [None] * 3


async def test_a_single_upload_s_place_is_before_bulk_loads(opened: Services) -> None:
    """R1.9"""
    desk = desk_of(opened, 1)
    bulk = await desk.order("a", documents=2)
    assert await desk.places("a", bulk) == [1, 2]
    assert await desk.places("b", await desk.order("b", documents=1)) == [1]
    assert await desk.places("a", bulk) == [2, 3]


async def test_documents_of_one_job_have_one_place(opened: Services) -> None:
    """R1.9"""
    desk = desk_of(opened, 1)
    ids = await desk.order("a", documents=50, byte_count=10)
    assert await desk.places("a", ids) == [1] * 50
    stranger = Collection(desk.collections["a"].id, "z", "notes", "bundled")
    assert await desk.queue.find_places(stranger, ids) == {}


@dataclass
class Stalls:
    """Workers that take a job and die while they have some of its documents."""

    services: Services
    collection: Collection

    async def die(self, *held: str) -> None:
        """Take the only job that waits, begin these documents, and be found dead by two others at once."""
        queue, ingestions = self.services.documents.queue, self.services.documents.ingestions
        queue._workers = self.services.jobs
        app = queue._make_app(_Connector(await queue.database.address(), None, max_size=2))
        async with app.open_async():
            job = await app.job_manager.fetch_job(["default"], await app.job_manager.register_worker())
            assert job
            await ingestions.begin(self.collection, [self.id(name) for name in held])
            await app.job_manager.connector.execute_query_async(SILENCE)
            stalled = [*await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=10)]
            assert [of.id for of in stalled] == [job.id]
            await asyncio.gather(queue._take_up(*stalled), queue._take_up(*stalled))

    def id(self, name: str) -> UUID:
        return document_id(self.collection.id, name)

    async def state(self, name: str) -> Ingestion:
        (found,) = await self.services.documents.ingestions.find(self.collection, [self.id(name)])
        return found

    async def work(self, *names: str) -> None:
        """Until these are done."""
        async with self.services.documents.queue.working(self.services.jobs), asyncio.timeout(WAIT_SECONDS):
            for name in names:
                while (await self.state(name)).status in (IngestionStatus.UPLOADED, IngestionStatus.PROCESSING):
                    await asyncio.sleep(0.05)


async def test_a_document_that_workers_die_of_is_given_up(opened: Services) -> None:
    """R1.9, security 17: after three, with its cause, and can be tried again; its companions are indexed."""
    stalls = Stalls(opened, await opened.collections.create("a", "notes"))
    files = [SourceFile(name, f"{name}.txt", f"El horno {name}.".encode()) for name in ("good", "deadly", "fine")]
    await opened.documents.add(stalls.collection, files)
    await stalls.die("good", "deadly", "fine")
    assert [(await stalls.state(name)).stalls for name in ("good", "deadly", "fine")] == [1, 1, 1]
    assert (await stalls.state("deadly")).status is IngestionStatus.UPLOADED
    for _ in range(MOST_STALLS - 1):
        await stalls.die("deadly")
    given_up = await stalls.state("deadly")
    assert (given_up.status, given_up.reason) == (IngestionStatus.ERROR, "stalled")
    assert "3" in given_up.cause
    await stalls.work("good", "fine")
    assert [(await stalls.state(name)).status for name in ("good", "fine")] == [IngestionStatus.INDEXED] * 2
    assert (await stalls.state("deadly")).status is IngestionStatus.ERROR
    assert len(await opened.documents.restart(stalls.collection, [stalls.id("deadly")])) == 1
    assert (await stalls.state("deadly")).stalls == 0
    await stalls.work("deadly")
    assert (await stalls.state("deadly")).status is IngestionStatus.INDEXED


async def test_a_worker_that_is_told_to_stop_has_not_died(opened: Services) -> None:
    """R1.9: its job is the next one's at once, however often."""
    desk, stopped = desk_of(opened, 1), Recorder()
    (document,) = await desk.order("a", documents=1)
    for count in range(MOST_ATTEMPTS + 2):
        async with desk.queue.working(stopped):  # type: ignore[arg-type]  # see `work`
            await stopped.until(count + 1)
    last = Recorder()
    last.may_end.set()
    await work(desk.queue, last, 1)
    assert last.begun == [("a", document)]
