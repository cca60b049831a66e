"""A run's answers: planned with it, then each golden question answered, judged and timed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.evaluation.answer_metrics import AnswerJudge, answer_question, count_statements, judge_answer, measure_answer
from agent.evaluation.judges import PROMPTS_HASH, SUPPORTED_FROM, EstimatingJudge, ModelJudge
from graphrag.config.settings import RetrievalConfig
from graphrag.errors import CollectionChanged, JudgeUnavailable
from graphrag.llm.chat_models import NamedModel, beginning_with
from graphrag.models import Collection
from graphrag.models.evaluation import CaseResult, Judging, canonical_hash
from graphrag.services import Services


def plan_judging(wanted: Judging, collection: Collection, services: Services) -> dict[str, Any]:
    """All of it that has a say in the figures. Raises JudgeUnavailable."""
    named = judge_of(collection, services)
    if wanted == "estimate" or (wanted == "auto" and named is None):
        return {"judge": "estimate", "judge_model": None, "judge_prompts": None, "estimate_threshold": SUPPORTED_FROM}
    if named is None:
        raise JudgeUnavailable(
            f"No model may judge the answers of the collection {collection.name!r}.", collection=collection.name
        )
    return {"judge": "model", "judge_model": named.name, "judge_prompts": PROMPTS_HASH, "estimate_threshold": None}


def open_judge(model: str | None, collection: Collection, services: Services) -> AnswerJudge:
    """`model`: as the run was planned with, None for the estimate. Raises JudgeUnavailable where it judges no more."""
    if model is None:
        return EstimatingJudge()
    named = judge_of(collection, services)
    if named is None or model != named.name:
        raise JudgeUnavailable(
            f"The model {model!r} may no longer judge the answers of the collection {collection.name!r}.",
            collection=collection.name,
        )
    return ModelJudge(named.model, timeout_seconds=services.settings.evaluation.judge_timeout_seconds)


def judge_of(collection: Collection, services: Services) -> NamedModel | None:
    """Return the judge; None if it may not read the collection.

    Documents of a collection with its own chat model are sent to that model and its fallbacks alone.
    """
    judge, own = services.judge_model, collection.generation_config.get("chat_model")
    if judge is None or own is None:
        return judge
    readers, _ = beginning_with(own, services.chat_models)
    return judge if judge.name in {named.name for named in readers} else None


OF_THE_CHAT = {  # that have a say in an answer
    "chat_fallbacks",
    "max_context_chars",
    "max_context_tokens",
    "max_document_share",
    "verify_with_model",
}
UNANSWERED = ("generate",)


def plan_answers(
    collection: Collection, services: Services, *, overrides: Mapping[str, Any], judge: Judging
) -> dict[str, Any]:
    """All that has a say in the answers and their figures, beside what has one in the search.

    Raises JudgeUnavailable.
    """
    retrieval, _ = services.collections.retrieval_config(collection, overrides, top_k=services.settings.chat.chat_top_k)
    return {
        "answer_top_k": retrieval.top_k,
        **_plan_writing(collection, services),
        **plan_judging(judge, collection, services),
    }


def _plan_writing(collection: Collection, services: Services) -> dict[str, Any]:
    generation, _ = services.collections.generation_config(collection)
    models, _ = beginning_with(generation.chat_model, services.chat_models)
    return {
        "chat_model": models[0].name,
        "system_prompt_hash": canonical_hash(generation.system_prompt) if generation.system_prompt else None,
        **services.settings.chat.model_dump(mode="json", include=OF_THE_CHAT),
        "query_refinement": services.settings.search.query_refinement,
    }


@dataclass(frozen=True, slots=True)
class AnswerRun:
    services: Services
    collection: Collection
    retrieval: Mapping[str, Any]
    judge: AnswerJudge

    @classmethod
    def planned(cls, config: Mapping[str, Any], collection: Collection, services: Services) -> "AnswerRun":
        """Raises JudgeUnavailable, or CollectionChanged where answers would be written in another way by now."""
        now = _plan_writing(collection, services)
        if changed := [name for name in now if now[name] != config.get(name)]:
            raise CollectionChanged(
                f"Answers of the collection {collection.name!r} are no longer written as planned"
                f" ({', '.join(changed)}): order the run anew."
            )
        retrieval = {name: config[name] for name in RetrievalConfig.model_fields} | {"top_k": config["answer_top_k"]}
        return cls(services, collection, retrieval, open_judge(config["judge_model"], collection, services))

    async def measure(self, case: CaseResult) -> CaseResult:
        """Add the metrics of the case's answer to those that it has."""
        given = await answer_question(
            case.query, services=self.services, collection=self.collection, retrieval=self.retrieval
        )
        if given is None:
            return replace(case, answer_failed=UNANSWERED)
        relevant = case.relevant_document_ids
        judged, unjudged = await judge_answer(
            given, self.judge, question=case.query, expected=case.expected_answer, is_answerable=bool(relevant)
        )
        return replace(
            case,
            metrics={
                **case.metrics,
                **measure_answer(given, relevant=relevant, expected=case.expected_answer),
                **judged,
            },
            answer_milliseconds=given.milliseconds,
            first_token_milliseconds=given.first_token_milliseconds,
            chat_model=given.chat_model,
            answer_failed=given.failed,
            statements=count_statements(given.verification),
            unjudged=unjudged,
        )
