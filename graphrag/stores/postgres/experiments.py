"""Experiments in PostgreSQL: what is tried on a collection, and how each answer of theirs went."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import ForeignKeyViolation
from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import CollectionNotFound, ExperimentNotFound, ExperimentRunning
from graphrag.models import Collection
from graphrag.models.experiments import (
    AnswerRecord,
    Experiment,
    ExperimentPlan,
    ExperimentStatus,
    SideCounts,
    Unit,
    Variant,
)

QUERIES = queries(Path(__file__).with_name("experiments.sql"))
COLUMNS = [field.name for field in fields(Experiment) if field.name != "id"]
Place = tuple[datetime, UUID]  # of an experiment in the list


@dataclass(frozen=True, slots=True)
class ExperimentStore:
    """Raises ExperimentNotFound for another owner's, too, in the same words."""

    database: Database

    async def create(self, collection: Collection, plan: ExperimentPlan) -> Experiment:
        """It runs from then on. Raises ExperimentRunning, and CollectionNotFound where it was deleted meanwhile."""
        key = {"owner_id": collection.owner_id, "experiment_id": uuid4()}
        values = {"retrieval": Jsonb(dict(plan.retrieval)), "generation": Jsonb(dict(plan.generation))}
        try:
            async with self.database.transaction(collection.owner_id) as connection:
                given = asdict(plan) | values | key | {"collection_id": collection.id}
                if not (await connection.execute(QUERIES["create"], given)).rowcount:
                    raise ExperimentRunning(
                        f"{collection.name!r} has a running experiment: stop it first, see `eval experiment list`.",
                        collection=collection.name,
                    )
                return await _find(connection, key)
        except ForeignKeyViolation as exc:
            raise CollectionNotFound(
                f"There is no collection {collection.name!r}.", name=collection.name, known=[]
            ) from exc

    async def find(self, owner_id: str, experiment_id: UUID) -> Experiment:
        async with self.database.transaction(owner_id) as connection:
            return await _find(connection, {"owner_id": owner_id, "experiment_id": experiment_id})

    async def find_running(self, collection: Collection) -> Experiment | None:
        async with self.database.transaction(collection.owner_id) as connection:
            rows = await fetch(connection, QUERIES["find_running"], {"collection_id": collection.id})
        return _read(rows[0]) if rows else None

    async def list_all(
        self,
        owner_id: str,
        *,
        collection_id: UUID | None = None,
        status: ExperimentStatus | None = None,
        limit: int | None = None,
        after: Place | None = None,
    ) -> list[Experiment]:
        """The latest first."""
        started_at, before = after or (None, None)
        values = {
            "owner_id": owner_id,
            "collection_id": collection_id,
            "running": status and status is ExperimentStatus.RUNNING,
            "started_at": started_at,
            "before": before,
            "limit": limit,
        }
        async with self.database.transaction(owner_id) as connection:
            return [_read(row) for row in await fetch(connection, QUERIES["list"], values)]

    async def stop(self, owner_id: str, experiment_id: UUID) -> Experiment:
        """One that is stopped stays as it is."""
        key = {"owner_id": owner_id, "experiment_id": experiment_id}
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["stop"], key)
            return await _find(connection, key)

    async def delete(self, owner_id: str, experiment_id: UUID) -> None:
        key = {"owner_id": owner_id, "experiment_id": experiment_id}
        async with self.database.transaction(owner_id) as connection:
            if not (await connection.execute(QUERIES["delete"], key)).rowcount:
                raise _not_found(experiment_id)

    async def begin_answer(
        self, experiment: Experiment, answer_id: UUID, variant: Variant, *, conversation_id: UUID | None
    ) -> None:
        values = {
            "owner_id": experiment.owner_id,
            "answer_id": answer_id,
            "experiment_id": experiment.id,
            "variant": variant,
            "conversation_id": conversation_id,
        }
        async with self.database.transaction(experiment.owner_id) as connection:
            await connection.execute(QUERIES["begin_answer"], values)

    async def finish_answer(self, experiment: Experiment, answer_id: UUID, record: AnswerRecord) -> None:
        """What was deleted meanwhile stays so."""
        values = asdict(record) | {"owner_id": experiment.owner_id, "answer_id": answer_id}
        async with self.database.transaction(experiment.owner_id) as connection:
            await connection.execute(QUERIES["finish_answer"], values)

    async def read_answers(self, experiment: Experiment) -> tuple[list[SideCounts], list[Unit]]:
        """Sides that have answered, and what was drawn for them."""
        key = {"owner_id": experiment.owner_id, "experiment_id": experiment.id}
        async with self.database.transaction(experiment.owner_id) as connection:
            counted = await fetch(connection, QUERIES["count_sides"], key)
            rows = await fetch(connection, QUERIES["read_units"], key)
        return [SideCounts(**row) for row in counted], [Unit(row.pop("variant"), row) for row in rows]


async def _find(connection: Connection, key: Mapping[str, Any]) -> Experiment:
    rows = await fetch(connection, QUERIES["find"], key)
    if not rows:
        raise _not_found(key["experiment_id"])
    return _read(rows[0])


def _read(row: Mapping[str, Any]) -> Experiment:
    return Experiment(id=row["experiment_id"], **{name: row[name] for name in COLUMNS})


def _not_found(experiment_id: UUID) -> ExperimentNotFound:
    return ExperimentNotFound(f"There is no experiment {experiment_id}.", experiment=str(experiment_id))
