"""Experiments at the doors: which side answers a conversation, and how each of its answers went."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, get_args
from uuid import UUID, uuid4

from agent.context import Context
from agent.evaluation.experiment_report import ExperimentReport, report
from agent.output.events import Event
from graphrag.config.settings import GenerationConfig, RetrievalConfig
from graphrag.errors import CausewayError, InvalidSettings
from graphrag.llm.chat_models import beginning_with
from graphrag.models import Collection
from graphrag.models.experiments import AnswerRecord, Experiment, ExperimentPlan, Variant, as_b
from graphrag.observability.metrics import EXPERIMENT_ANSWERS
from graphrag.observability.request_context import identify
from graphrag.observability.telemetry import log
from graphrag.services import Services
from graphrag.stores.postgres.experiments import ExperimentStore

Answering = Callable[[Context], AsyncGenerator[Event, None]]


async def start_experiment(
    collection: Collection,
    *,
    services: Services,
    name: str,
    share: float,
    retrieval: Mapping[str, Any],
    generation: Mapping[str, Any],
) -> Experiment:
    """`retrieval` and `generation`: B's values. Raises InvalidSettings, ExperimentRunning or CollectionNotFound."""
    of_retrieval, of_generation = RetrievalConfig.checked(retrieval), GenerationConfig.checked(generation)
    if not_known := beginning_with(of_generation.get("chat_model"), services.chat_models)[1]:
        raise InvalidSettings(not_known[0], reason=not_known[0])
    plan = ExperimentPlan(
        name=name,
        share=share,
        retrieval=of_retrieval,
        generation=of_generation,
        config_hash_a=services.collections.answer_hash(collection),
        config_hash_b=services.collections.answer_hash(as_b(collection, of_retrieval, of_generation)),
    )
    return await services.experiments.create(collection, plan)


async def read_report(experiment: Experiment, *, services: Services) -> ExperimentReport:
    """Raises CollectionNotFound."""
    collection = await services.collections.open(experiment.owner_id, experiment.collection)
    hashes = [
        services.collections.answer_hash(experiment.configured(collection, variant)) for variant in get_args(Variant)
    ]
    sides, units = await services.experiments.read_answers(experiment)
    return await asyncio.to_thread(report, experiment, sides, units, config_hashes=(hashes[0], hashes[1]))


async def in_experiment(
    context: Context, answering: Answering, conversation_id: UUID | None = None
) -> AsyncGenerator[Event, None]:
    """The answer's events, by the side that the conversation is on where an experiment runs; `done` names it.

    A request with values of its own is no part of it. What can't be noted of an answer harms no answer.
    """
    trial = await _begin(context, conversation_id)
    if trial is None:
        async with aclosing(answering(context)) as events:
            async for event in events:
                yield event
        return
    try:
        async with aclosing(answering(trial.context)) as events:
            async for event in events:
                if event["event"] == "done":
                    await trial.finish(_describe(event["data"]))
                    event["data"]["variant"] = trial.variant
                trial.saw(event)
                yield event
    except Exception as exc:
        message_id = exc.details.get("message_id") if isinstance(exc, CausewayError) else None
        await trial.finish(AnswerRecord("failed", message_id and UUID(message_id)))
        raise


@dataclass(slots=True)
class _Trial:
    """One answer of an experiment."""

    experiment: Experiment
    variant: Variant
    context: Context  # to answer with
    answer_id: UUID
    store: ExperimentStore
    started: float = field(default_factory=time.perf_counter)
    first_token_ms: float | None = None

    def saw(self, event: Event) -> None:
        if event["event"] == "token" and self.first_token_ms is None:
            self.first_token_ms = self._milliseconds()

    async def finish(self, record: AnswerRecord) -> None:
        EXPERIMENT_ANSWERS.labels(variant=self.variant, outcome=record.outcome).inc()
        if record.outcome == "complete":
            record = replace(record, first_token_ms=self.first_token_ms, total_ms=self._milliseconds())
        try:
            await self.store.finish_answer(self.experiment, self.answer_id, record)
        except Exception as exc:
            log.warning("experiment's answer not noted", error=exc)

    def _milliseconds(self) -> float:
        return round((time.perf_counter() - self.started) * 1000, 3)


async def _begin(context: Context, conversation_id: UUID | None) -> _Trial | None:
    collection, store = context.opened, context.services.experiments
    if collection is None or context.retrieval or context.top_k is not None:
        return None
    try:
        experiment = await store.find_running(collection)
        if experiment is None:
            return None
        answer_id = uuid4()
        variant = experiment.draw(conversation_id or answer_id)
        asked = replace(context, opened=experiment.configured(collection, variant))
        await store.begin_answer(experiment, answer_id, variant, conversation_id=conversation_id)
    except Exception as exc:
        log.warning("answered without the experiment", error=exc)
        return None
    identify(experiment=str(experiment.id), variant=variant)
    return _Trial(experiment, variant, asked, answer_id, store)


def _describe(done: Mapping[str, Any]) -> AnswerRecord:
    marks = [citation["status"] == "supported" for citation in done["citations"]]
    message_id = done.get("message_id")
    return AnswerRecord(
        "complete",
        UUID(message_id) if message_id else None,
        found=done["found"],
        degraded=bool(done["degraded"]),
        supported=sum(marks) / len(marks) if marks else None,
    )
