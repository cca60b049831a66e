"""Write the prompts that answers are composed from: `python -m training.prompts DATA OUT [--queries 500]`.

DATA has datasets in BEIR's format, `xquad-es`, `xquad-en` and `piaf-fr-dev`, whose queries have an `answer`. Each
becomes a collection, of which so many questions are asked through the agent; OUT/SET.jsonl gets a question a line with
its `prompt` as a chat model is given it. OUT/SET-lacking.jsonl has the questions about every third document, asked of a
collection without these. `training/answerability.py` is fitted on both.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from agent import nodes
from agent.context import Context
from agent.evaluation.retrieval_run import Dataset, loaded
from agent.graph import graph
from graphrag.config.settings import Settings
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, open_services
from tests.benchmarks.answering import Answers, read, spread, without_some

SETS = ("xquad-es", "xquad-en", "piaf-fr-dev")


async def write_prompts(
    dataset: Dataset, answers: Answers, path: Path, *, count: int, answerable: bool, services: Services
) -> None:
    seen: list[Sequence[AnyMessage]] = []
    build = nodes._prompt

    def keep(*arguments: Any) -> list[AnyMessage]:
        seen.append(build(*arguments))
        return build(*arguments)

    nodes._prompt = keep
    try:
        async with loaded(
            dataset, services=services, name=path.stem, embedding_model=None, keep=False, advance=lambda _: None
        ) as load:
            lines = []
            for query in spread([each for each in dataset.queries if each.id in answers], count):
                seen.clear()
                context = Context(services=services, opened=load.collection)
                await graph.ainvoke({"messages": [HumanMessage(query.text)]}, context=context)
                prompt = {"system": seen[0][0].text, "human": seen[0][-1].text} if seen else None
                line = {"id": query.id, "text": query.text, "answer": answers[query.id], "answerable": answerable}
                lines.append({**line, "relevant": list(query.relevance), "prompt": prompt})
    finally:
        nodes._prompt = build
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n", encoding="utf-8")
    print(path, len(lines))


async def run(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        services = open_services(Settings.from_environment(home=Path(home)))
        await services.open()
        for name in SETS:
            dataset, answers = read(arguments.data / name)
            for each, answerable in ((dataset, True), (without_some(dataset), False)):
                path = arguments.out / f"{name}{'' if answerable else '-lacking'}.jsonl"
                count = arguments.queries if answerable else arguments.queries // 2
                await write_prompts(each, answers, path, count=count, answerable=answerable, services=services)
        await services.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--queries", type=int, default=500)
    configure_logging("ERROR")
    asyncio.run(run(parser.parse_args()))
