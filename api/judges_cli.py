"""The command line's `eval judges`: who judges answers in evaluations, and what a judge is told."""

from typing import Any

from agent.evaluation.answer_metrics import ANSWER_METRICS
from agent.evaluation.estimate import SUPPORTED_FROM
from agent.evaluation.judges import PROMPTS, PROMPTS_HASH
from api.terminal import JsonOption, out, print_json, run
from graphrag.services import Services


def judges(as_json: JsonOption = False) -> None:
    """Show the metrics of answers, the model that judges them, and its prompts."""
    described = run(_describe)
    if as_json:
        print_json(described)
        return
    for name, meaning in described["metrics"].items():
        out.print(f"{name}: {meaning}", highlight=False, soft_wrap=True)
    model = described["judge_model"] or "none: set RAG_CHAT_MODEL or RAG_JUDGE_MODEL; until then, estimates stand in"
    out.print(f"\nJudge: {model}", highlight=False, soft_wrap=True)
    out.print(f"An estimate takes a statement for supported from a score of {SUPPORTED_FROM} on.", highlight=False)
    for name, prompt in described["prompts"].items():
        out.print(f"\n{name}\n{prompt}", highlight=False, soft_wrap=True)


async def _describe(services: Services) -> dict[str, Any]:
    return {
        "metrics": ANSWER_METRICS,
        "judge_model": services.judge_model.name if services.judge_model else None,
        "estimate_threshold": SUPPORTED_FROM,
        "prompts": PROMPTS,
        "prompts_hash": PROMPTS_HASH,
    }
