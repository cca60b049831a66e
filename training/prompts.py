"""Write the prompts that answers are composed from.

    python -m training.prompts DATA OUT [--queries 500] [--only NAME]

DATA has datasets in BEIR's format, `xquad-es`, `xquad-en` and `piaf-fr-dev`, whose queries have an `answer`. Each
becomes a collection, of which so many questions are asked through the agent; OUT/SET.jsonl gets a question a line with
its `prompt` as a chat model is given it. OUT/SET-lacking.jsonl has the questions about every third document, asked of a
collection without these; OUT/SET-as-OTHER.jsonl those of the same set in another language; OUT/causal-LANGUAGE.jsonl
those of `causal-dev`; OUT/squad-es-v2.jsonl and OUT/squad-es-v2-unanswerable.jsonl those of `squad-es-v2-dev`;
OUT/asked-NAME.jsonl and OUT/asked-NAME-unanswerable.jsonl those of `training/asked`, written for this, as are those of
`training/worlds`: OUT/world-NAME.jsonl has all questions of one, each with its `record`.
`training/answerability.py` and `training/reader.py` are fitted on them.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage

from agent import nodes
from agent.context import Context
from agent.evaluation.retrieval_run import CorpusDocument, Dataset, DatasetQuery, loaded, read_dataset
from agent.graph import graph
from graphrag.config.settings import ParsingLimits, Settings
from graphrag.extractive_answers import extraction
from graphrag.ingestion.enrichment import detect_language, title
from graphrag.observability.telemetry import configure_logging
from graphrag.parsers.parsing import parse
from graphrag.services import Services, open_services
from tests.benchmarks.answering import Answers, asked_as, read, read_answers, spread, without_some
from tests.benchmarks.worlds import WORLDS
from training.tasks import ASKED

SETS = ("xquad-es", "xquad-en", "piaf-fr-dev")
ACROSS = (("xquad-es", "xquad-en"), ("xquad-en", "xquad-es"))
CAUSAL = {"es": "xquad-es", "en": "xquad-en", "fr": "piaf-fr-dev"}  # the corpus of each language


@dataclass(frozen=True, slots=True)
class Job:
    name: str
    dataset: Dataset
    answers: Answers
    share: float = 1.0  # of the number of questions
    is_answerable: bool = True
    kinds: Mapping[str, str] = field(default_factory=dict)  # of the questions, where they are told
    records: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict
    )  # of a world's questions, as its file has them


def read_jobs(data: Path) -> Iterator[Job]:
    for name in SETS:
        dataset, answers = read(data / name)
        yield Job(name, dataset, answers)
        yield Job(f"{name}-lacking", without_some(dataset), answers, 0.5, is_answerable=False)
    for name, other in ACROSS:
        dataset, answers = read(data / name)
        yield Job(f"{name}-as-{other}", asked_as(dataset, data / other), answers, 0.5)
    for language, corpus in CAUSAL.items():
        folder = data / "causal-dev" / language
        relevant = dict(line.split("\t")[:2] for line in (folder / "qrels.tsv").read_text("utf-8").splitlines())
        asked = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
        queries = tuple(DatasetQuery(each["id"], each["text"], {relevant[each["id"]]: 1}) for each in asked)
        yield Job(f"causal-{language}", replace(read_dataset(data / corpus), queries=queries), read_answers(folder))
    yield from read_misleading(data / "squad-es-v2-dev", "squad-es-v2")
    for folder in sorted(each for each in ASKED.iterdir() if each.is_dir()):
        yield from read_misleading(folder, f"asked-{folder.name}")


def read_misleading(folder: Path, name: str) -> Iterator[Job]:
    paragraphs = [json.loads(line) for line in (folder / "paragraphs.jsonl").read_text("utf-8").splitlines()]
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text("utf-8").splitlines()]
    documents = tuple(
        CorpusDocument(each["id"], each["title"], each["text"], each.get("language", "es")) for each in paragraphs
    )
    for end, is_answerable in (("", True), ("-unanswerable", False)):
        asked = [each for each in questions if each["answerable"] is is_answerable]
        queries = tuple(DatasetQuery(each["id"], each["text"], {each["paragraph"]: 1}) for each in asked)
        answers = {each["id"]: each["answer"] for each in asked}
        kinds = {each["id"]: each["kind"] for each in asked if "kind" in each}
        yield Job(f"{name}{end}", Dataset(name, documents, queries), answers, is_answerable=is_answerable, kinds=kinds)


def read_worlds() -> Iterator[Job]:
    for folder in sorted(each for each in WORLDS.iterdir() if each.is_dir()):
        parsed = {
            path.name: parse(path.read_bytes(), filename=path.name, limits=ParsingLimits())
            for path in sorted(folder.glob("docs/*"))
        }
        documents = tuple(
            CorpusDocument(name, title(each, filename=name), each.text, detect_language(each))
            for name, each in parsed.items()
        )
        lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
        records = {each["id"]: each for each in map(json.loads, filter(None, lines))}
        queries = tuple(
            DatasetQuery(name, each["question"], {quote["doc"]: 1 for quote in each["evidence"]})
            for name, each in records.items()
        )
        answers = {name: [each["answer"]] for name, each in records.items()}
        yield Job(f"world-{folder.name}", Dataset(folder.name, documents, queries), answers, records=records)


async def write_prompts(job: Job, path: Path, *, count: int, services: Services) -> None:
    dataset, answers = job.dataset, job.answers
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
                context = Context(services=services, opened=(load.collection,))
                record = job.records.get(query.id, {})
                messages: list[AnyMessage] = []
                for text in (*(record.get("previous") or ()), query.text):
                    seen.clear()
                    asked = {"messages": [*messages, HumanMessage(text)]}
                    messages = (await graph.ainvoke(asked, context=context))["messages"]
                prompt = {"system": seen[0][0].text, "human": seen[0][-1].text} if seen else None
                line = {
                    "id": query.id,
                    "text": query.text,
                    "answer": answers[query.id],
                    "answerable": job.is_answerable,
                }
                line |= {"answerable": record["answerable"], "record": record} if record else {}
                line |= {"kind": job.kinds.get(query.id, ""), "relevant": list(query.relevance), "prompt": prompt}
                lines.append(line)
    finally:
        nodes._prompt = build
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines) + "\n", encoding="utf-8")
    print(path, len(lines))


async def run(arguments: argparse.Namespace) -> None:
    arguments.out.mkdir(parents=True, exist_ok=True)
    extraction.open_reader = lambda: None  # type: ignore[assignment]  # the answers are not kept
    with tempfile.TemporaryDirectory(prefix="cw-") as home:
        services = open_services(Settings.from_environment(home=Path(home)))
        await services.open()
        for job in (*read_jobs(arguments.data), *read_worlds()):
            if arguments.only in job.name:
                path = arguments.out / f"{job.name}.jsonl"
                await write_prompts(job, path, count=int(job.share * arguments.queries), services=services)
        await services.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--only", default="", help="part of the names of the sets to write")
    configure_logging("ERROR")
    asyncio.run(run(parser.parse_args()))
