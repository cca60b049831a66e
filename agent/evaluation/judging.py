"""Who judges the answers of a run: a model that may read the collection, else the estimate."""

from typing import Any

from agent.evaluation.answer_metrics import AnswerJudge
from agent.evaluation.estimate import SUPPORTED_FROM, Estimate
from agent.evaluation.judges import PROMPTS_HASH, ModelJudge
from graphrag.chat_models import NamedModel, beginning_with
from graphrag.evaluation_errors import JudgeUnavailable
from graphrag.evaluation_models import Judging
from graphrag.models import Collection
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
        return Estimate()
    named = judge_of(collection, services)
    if named is None or model != named.name:
        raise JudgeUnavailable(
            f"The model {model!r} may no longer judge the answers of the collection {collection.name!r}.",
            collection=collection.name,
        )
    return ModelJudge(named.model, timeout_seconds=services.settings.judge_timeout_seconds)


def judge_of(collection: Collection, services: Services) -> NamedModel | None:
    """None where a collection has a chat model of its own, and the judge is neither that nor one that stands in for it:
    its documents are sent to no other.
    """
    judge, own = services.judge_model, collection.generation_config.get("chat_model")
    if judge is None or own is None:
        return judge
    readers, _ = beginning_with(own, services.chat_models)
    return judge if judge.name in {named.name for named in readers} else None
