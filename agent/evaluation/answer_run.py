"""A run's answers: planned with it, then each golden question answered, judged and timed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from agent.evaluation.answer_metrics import AnswerJudge, count_statements, judge_answer, measure_answer
from agent.evaluation.answering import answer_question
from agent.evaluation.judging import open_judge, plan_judging
from graphrag.chat_models import beginning_with
from graphrag.errors import CollectionChanged
from graphrag.evaluation_models import CaseResult, Judging, canonical_hash
from graphrag.models import Collection
from graphrag.services import Services
from graphrag.settings import RetrievalConfig

OF_THE_SERVICE = (  # that have a say in an answer
    "chat_fallbacks",
    "max_context_chars",
    "max_context_tokens",
    "max_document_share",
    "query_refinement",
    "verify_with_model",
)
UNANSWERED = ("generate",)


def plan_answers(
    collection: Collection, services: Services, *, overrides: Mapping[str, Any], judge: Judging
) -> dict[str, Any]:
    """All that has a say in the answers and their figures, beside what has one in the search.

    Raises JudgeUnavailable.
    """
    retrieval, _ = services.retrieval_config(collection, overrides, top_k=services.settings.chat_top_k)
    return {
        "answer_top_k": retrieval.top_k,
        **_plan_writing(collection, services),
        **plan_judging(judge, collection, services),
    }


def _plan_writing(collection: Collection, services: Services) -> dict[str, Any]:
    generation, _ = services.generation_config(collection)
    models, _ = beginning_with(generation.chat_model, services.chat_models)
    return {
        "chat_model": models[0].name,
        "system_prompt_hash": canonical_hash(generation.system_prompt) if generation.system_prompt else None,
        **services.settings.model_dump(mode="json", include=set(OF_THE_SERVICE)),
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
        """With the metrics of its answer beside those that it has."""
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
            metrics={**case.metrics, **measure_answer(given, relevant=relevant), **judged},
            answer_milliseconds=given.milliseconds,
            first_token_milliseconds=given.first_token_milliseconds,
            chat_model=given.chat_model,
            answer_failed=given.failed,
            statements=count_statements(given.verification),
            unjudged=unjudged,
        )
