"""Every fault of the ladder, how it is brought about, and what a person gets nevertheless."""

import resource
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Literal

from tests.faults.world import Outcome, World
from tests.model_server import Behaviour, CutStream, EmbeddingsBehaviour, Fail, Garbage, Hang

CUT = "Harrowmere dropped Dorada from its Easter promotion [1]. And then"
MOST_BYTES = 500_000
Injection = Callable[[World], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Case:
    inject: Injection
    degraded: tuple[str, ...] = ()  # what the answer is made without
    code: str = ""  # of the error that stands in for an answer
    act: Callable[[World], Outcome] = World.ask
    sign: str = ""  # a part of what is said meanwhile
    useful: Literal["answer", "partial", "words"] = "answer"


def embeddings(*behaviours: EmbeddingsBehaviour) -> Injection:
    @contextmanager
    def inject(world: World) -> Iterator[None]:
        world.model.script_embeddings(*behaviours)
        yield
        world.model._embeddings_script.clear()

    return inject


@contextmanager
def other_dimensions(world: World) -> Iterator[None]:
    world.model.dimension, before = 32, world.model.dimension
    try:
        yield
    finally:
        world.model.dimension = before


def models(**by_purpose: Behaviour) -> Injection:
    return lambda world: world.models(**by_purpose)


def missing(table: str) -> Injection:
    return lambda world: world.without_table(table)


def locked(table: str) -> Injection:
    return lambda world: world.locked_table(table)


@contextmanager
def no_folder(world: World) -> Iterator[None]:
    """A file stands where the folder was, which stops an administrator too, whom rights do not."""
    aside = world.files.with_name("aside")
    world.files.rename(aside)
    world.files.write_bytes(b"")
    try:
        yield
    finally:
        world.files.unlink()
        aside.rename(world.files)


@contextmanager
def full_disk(world: World) -> Iterator[None]:
    """For every file of the service's that is larger than a log: as with no space left, no more is written."""
    pid = world.server.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE, (MOST_BYTES, resource.RLIM_INFINITY))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


def upload_some(world: World) -> Outcome:
    return world.upload(b"Nobody has written this before. " * 20_000)


def upload_much(world: World) -> Outcome:
    """More than the server keeps in memory until it is read."""
    return world.upload(b"Nobody has written this before. " * 60_000)


CASES: dict[str, Case] = {
    "embeddings: 429": Case(embeddings(*[Fail(429)] * 9), ("vector",)),
    "embeddings: 500": Case(embeddings(*[Fail(500)] * 9), ("vector",)),
    "embeddings: hang": Case(embeddings(Hang(30)), ("vector",)),
    "embeddings: garbage": Case(embeddings(Garbage()), ("vector",)),
    "embeddings: other dimensions": Case(other_dimensions, ("vector",)),
    "full text: its table gone": Case(missing("lexeme_statistics"), ("fulltext",)),
    "full text: its table locked": Case(locked("lexeme_statistics"), ("fulltext",)),
    "vectors: their table gone": Case(missing("chunk_embeddings"), ("vector",)),
    "graph: its table gone": Case(missing("entities"), ("traverse",)),
    "graph: its table locked": Case(locked("causal_edges"), ("traverse",)),
    "cache in PostgreSQL: its table gone": Case(missing("cache_entries")),
    "conversations: an answer can't be kept": Case(missing("message_documents"), ("save",)),
    "question: the model refines nothing (500)": Case(models(refining=Fail(500)), ("transform",)),
    "question: the model that refines hangs": Case(models(refining=Hang(30)), ("transform",)),
    "question: the model refines with garbage": Case(models(refining=Garbage()), ("transform",)),
    "reranker: the model grades nothing (500), the bundled one does": Case(models(grading=Fail(500))),
    "reranker: the model that grades hangs": Case(models(grading=Hang(30))),
    "model: 429, the next one answers": Case(models(first=Fail(429)), ("generate",)),
    "model: 500, the next one answers": Case(models(first=Fail(500)), ("generate",)),
    "model: garbage, the next one answers": Case(models(first=Garbage()), ("generate",)),
    "model: hangs, the next one answers": Case(models(first=Hang(30)), ("generate",), sign="longer than usual"),
    "models: both 500, the documents' sentences": Case(models(first=Fail(500), second=Fail(500)), ("generate",)),
    "model: the stream is cut": Case(models(first=CutStream(8, CUT)), code="model_interrupted", useful="partial"),
    "model: the stream stalls": Case(
        models(first=CutStream(8, CUT, "stall")), code="model_interrupted", useful="partial"
    ),
    "files: no folder, an upload": Case(no_folder, code="file_unavailable", act=World.upload, useful="words"),
    "files: no folder, a question": Case(no_folder),
    "files: disk full, an upload": Case(full_disk, code="file_unavailable", act=upload_some, useful="words"),
    "files: disk full, a large upload": Case(full_disk, code="file_unavailable", act=upload_much, useful="words"),
    "files: disk full, a question": Case(full_disk),
}
