"""Evaluation runs in PostgreSQL. A run's cases are copied when it is ordered, and its job deferred with them."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from psycopg.errors import ForeignKeyViolation
from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, Database, fetch, queries
from graphrag.errors import CollectionNotFound, EvaluationNotFound
from graphrag.models import Collection
from graphrag.models.evaluation import CaseResult, CaseStatus, EvaluationRun, GoldenCase, RunPlan, RunStatus
from graphrag.stores.postgres.rows import ListPosition

QUERIES = queries(Path(__file__).with_name("evaluations.sql"))
RUN_COLUMNS = [field.name for field in fields(EvaluationRun) if field.name != "id"]
RESULT_COLUMNS = [field.name for field in fields(CaseResult)]
Defer = Callable[[Connection, Collection, UUID], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class EvaluationStore:
    """Raises EvaluationNotFound for another owner's, too, in the same words."""

    database: Database

    async def create(
        self, collection: Collection, plan: RunPlan, cases: Sequence[GoldenCase], *, defer: Defer
    ) -> EvaluationRun:
        """Raises CollectionNotFound where it has been deleted meanwhile."""
        run_id = uuid4()
        key = {"collection_id": collection.id, "run_id": run_id, "owner_id": collection.owner_id}
        planned = asdict(plan) | {
            "config": Jsonb(dict(plan.config)),
            "warnings": [*plan.warnings],
            "config_hash": plan.config_hash,
            "total": len(cases),
        }
        try:
            async with self.database.transaction(collection.owner_id) as connection:
                await connection.execute(QUERIES["create"], key | planned)
                async with connection.cursor() as cursor:
                    rows = [_case_row(case, position) | key for position, case in enumerate(cases)]
                    await cursor.executemany(QUERIES["add_case"], rows)
                await defer(connection, collection, run_id)
                return await _find(connection, run_id)
        except ForeignKeyViolation as exc:
            raise CollectionNotFound(
                f"There is no collection {collection.name!r}.", name=collection.name, known=[]
            ) from exc

    async def find(self, owner_id: str, run_id: UUID) -> EvaluationRun:
        async with self.database.transaction(owner_id) as connection:
            return await _find(connection, run_id)

    async def list_all(
        self,
        owner_id: str,
        *,
        collection_id: UUID | None = None,
        status: RunStatus | None = None,
        limit: int | None = None,
        after: ListPosition | None = None,
    ) -> list[EvaluationRun]:
        """The latest first."""
        created_at, run_id = after or (None, None)
        values = {
            "owner_id": owner_id,
            "collection_id": collection_id,
            "status": status.value if status else None,
            "created_at": created_at,
            "run_id": run_id,
            "limit": limit,
        }
        async with self.database.transaction(owner_id) as connection:
            return [_read(row) for row in await fetch(connection, QUERIES["list"], values)]

    async def begin(self, owner_id: str, collection_id: UUID, run_id: UUID) -> EvaluationRun | None:
        """Claim a run and return it with its progress; None if it has ended or was deleted."""
        async with self.database.transaction(owner_id) as connection:
            values = {"collection_id": collection_id, "run_id": run_id}
            rows = await fetch(connection, QUERIES["begin"], values)
        return _read(rows[0]) if rows else None

    async def take(self, run: EvaluationRun, *, limit: int) -> list[tuple[CaseResult, tuple[UUID, ...]]]:
        """Cases that wait, each with those of its documents that are no longer there."""
        async with self.database.transaction(run.owner_id) as connection:
            rows = await fetch(connection, QUERIES["take"], _key(run) | {"limit": limit})
        return [(_read_result(row), tuple(row["gone"])) for row in rows]

    async def save(self, run: EvaluationRun, result: CaseResult) -> bool:
        """False where the run is no longer the caller's: cancelled, deleted, or in another's hand."""
        values = _key(run) | {
            "position": result.position,
            "status": result.status.value,
            "retrieved_document_ids": [*result.retrieved_document_ids],
            "missing_document_ids": [*result.missing_document_ids],
            "rank": result.rank,
            "metrics": Jsonb(dict(result.metrics)),
            "milliseconds": result.milliseconds,
            "failed": [*result.failed],
            "answer_milliseconds": result.answer_milliseconds,
            "first_token_milliseconds": result.first_token_milliseconds,
            "chat_model": result.chat_model,
            "answer_failed": [*result.answer_failed],
            "statements": Jsonb(dict(result.statements)),
            "unjudged": [*result.unjudged],
        }
        async with self.database.transaction(run.owner_id) as connection:
            return (await connection.execute(QUERIES["save"], values)).rowcount > 0

    async def finish(self, run: EvaluationRun, summary: Mapping[str, Any], *, warnings: Sequence[str]) -> None:
        values = _key(run) | {"summary": Jsonb(dict(summary)), "warnings": [*warnings]}
        async with self.database.transaction(run.owner_id) as connection:
            await connection.execute(QUERIES["finish"], values)

    async def fail(
        self, owner_id: str, collection_id: UUID, run_id: UUID, *, ticket: UUID | None, cause: str, reason: str
    ) -> None:
        """Record a failure unless another worker has claimed the run; `ticket` is None for a run not yet claimed."""
        values = {"collection_id": collection_id, "run_id": run_id, "ticket": ticket, "cause": cause, "reason": reason}
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["fail"], values)

    async def cancel(self, owner_id: str, run_id: UUID) -> EvaluationRun:
        """Cancel a run; one that has ended stays as it is."""
        async with self.database.transaction(owner_id) as connection:
            await connection.execute(QUERIES["cancel"], {"run_id": run_id})
            return await _find(connection, run_id)

    async def delete(self, owner_id: str, run_id: UUID) -> None:
        async with self.database.transaction(owner_id) as connection:
            if not (await connection.execute(QUERIES["delete"], {"run_id": run_id})).rowcount:
                raise _not_found(run_id)

    async def read_results(self, run: EvaluationRun, *, limit: int | None = None, after: int = -1) -> list[CaseResult]:
        """Return the results in the order of the cases; `after` is the last position of the page before."""
        async with self.database.transaction(run.owner_id) as connection:
            rows = await fetch(connection, QUERIES["read_results"], _key(run) | {"limit": limit, "after": after})
        return [_read_result(row) for row in rows]


def _key(run: EvaluationRun) -> dict[str, Any]:
    return {"collection_id": run.collection_id, "run_id": run.id, "ticket": run.ticket}


def _case_row(case: GoldenCase, position: int) -> dict[str, Any]:
    return {
        "position": position,
        "case_id": case.id,
        "query": case.query,
        "category": case.category,
        "difficulty": case.difficulty,
        "relevant_document_ids": [*case.relevant_document_ids],
        "expected_answer": case.expected_answer,
    }


async def _find(connection: Connection, run_id: UUID) -> EvaluationRun:
    rows = await fetch(connection, QUERIES["find"], {"run_id": run_id})
    if not rows:
        raise _not_found(run_id)
    return _read(rows[0])


def _read(row: Mapping[str, Any]) -> EvaluationRun:
    values = {name: row[name] for name in RUN_COLUMNS}
    return EvaluationRun(
        id=row["run_id"], **values | {"status": RunStatus(row["status"]), "warnings": tuple(row["warnings"])}
    )


def _read_result(row: Mapping[str, Any]) -> CaseResult:
    values: dict[str, Any] = {
        name: tuple(row[name]) if isinstance(row[name], list) else row[name] for name in RESULT_COLUMNS
    }
    return CaseResult(**values | {"status": CaseStatus(row["status"])})


def _not_found(run_id: UUID) -> EvaluationNotFound:
    return EvaluationNotFound(f"There is no evaluation {run_id}.", run=str(run_id))
