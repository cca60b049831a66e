"""Measure how often answers hold what was asked for and cite where it stands, and how often they rightly refuse.

python -m tests.benchmarks.answering [FOLDER…] [--queries 300] [--asked-as FOLDER] [--keep] [--wrong FILE]

Without a FOLDER the demo documents are asked their golden questions. Each FOLDER is a dataset in BEIR's format whose
queries.jsonl has `answer`, a list of texts of which one must be in the answer. Each becomes a collection, of which so
many questions, evenly spaced, are asked through the whole agent. For the refusals another collection lacks every third
document, and the questions about these are asked. With --asked-as the questions are worded as in another folder, where
they have the same ids: those of xquad-en over the documents of xquad-es. Without DATABASE_URL or CAUSEWAY_HOME all of
it is on a server of its own, which is removed at the end.
"""

import argparse
import asyncio
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from langchain_core.messages import HumanMessage
from rich.console import Console
from rich.table import Table

from agent.context import Context
from agent.evaluation.retrieval_run import CorpusDocument, Dataset, DatasetQuery, InvalidDataset, loaded, read_dataset
from agent.graph import graph
from agent.messages import is_not_found
from graphrag.config.settings import Settings
from graphrag.ingestion.enrichment import detect_language, title
from graphrag.linguistics.language import fold, words
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Collection
from graphrag.observability.telemetry import configure_logging
from graphrag.services import Services, open_services
from tests.benchmarks.datasets import demo_cases, demo_texts
from tests.benchmarks.progress import progress

EVERY = 3  # of the documents one is left out of the second collection: its neighbours of the same title remain
_MARK = re.compile(r"\s?\[\d+\]")

Answers = Mapping[str, Sequence[str]]  # query → what an answer may say, any of them


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one question."""

    question: str
    gold: Sequence[str]
    answer: str
    is_refused: bool
    is_first: bool = False  # its first sentence holds the gold answer
    is_held: bool = False  # some sentence does
    is_cited: bool = False  # its first citation is the document that answers
    is_read: bool = False  # that document was among the passages


def read(folder: Path) -> tuple[Dataset, Answers]:
    """Raise InvalidDataset where a file of the folder is not as BEIR's format wants it."""
    return read_dataset(folder), read_answers(folder)


def read_answers(folder: Path) -> dict[str, list[str]]:
    """Raises InvalidDataset."""
    lines = (folder / "queries.jsonl").read_text(encoding="utf-8-sig").splitlines()
    records = [json.loads(line) for line in lines if line.strip()]
    answers = {str(record.get("_id", record.get("id"))): record.get("answer") for record in records}
    found = {query: given for query, given in answers.items() if isinstance(given, list) and any(map(normal, given))}
    if not found:
        raise InvalidDataset(f'{folder / "queries.jsonl"}: no line has "answer", a list of texts.')
    return found


def asked_as(dataset: Dataset, folder: Path) -> Dataset:
    """Return the dataset with its questions as another worded them, in another language; without those it lacks."""
    texts = {query.id: query.text for query in read_dataset(folder).queries}
    worded = tuple(replace(query, text=texts[query.id]) for query in dataset.queries if query.id in texts)
    return replace(dataset, name=f"{dataset.name}-as-{folder.name}", queries=worded)


def read_demo() -> tuple[Dataset, Answers]:
    """Return the demo documents with their golden questions, and what an answer to each may say."""
    cases = demo_cases()
    documents = [
        CorpusDocument(name, title(parsed, filename=name), parsed.text, detect_language(parsed))
        for name, parsed in demo_texts().items()
    ]
    queries = [DatasetQuery(case["id"], case["query"], dict.fromkeys(case["relevant_documents"], 1)) for case in cases]
    answers = {case["id"]: case["answer_contains"] for case in cases}
    return Dataset("demo", tuple(documents), tuple(queries)), answers


def normal(text: str) -> str:
    """Words without case, accents and punctuation, between spaces."""
    return f" {' '.join(fold(word) for word in words(text))} " if words(text) else ""


def holds(text: str, answers: Sequence[str]) -> bool:
    """Any of the answers, as whole words."""
    return any(normal(answer) in normal(text) for answer in answers if normal(answer))


def spread(items: Sequence[DatasetQuery], count: int) -> list[DatasetQuery]:
    """At most so many, evenly spaced, the same ones every time."""
    wanted = min(count, len(items))
    return [items[place * len(items) // wanted] for place in range(wanted)]


def without_some(dataset: Dataset) -> Dataset:
    """Every third document left out; its queries are those whose relevant documents are all gone."""
    kept = tuple(document for place, document in enumerate(dataset.documents) if place % EVERY != EVERY - 1)
    names = {document.id for document in kept}
    return replace(dataset, documents=kept, queries=tuple(q for q in dataset.queries if not names & set(q.relevance)))


async def ask(query: DatasetQuery, gold: Sequence[str], *, services: Services, collection: Collection) -> Outcome:
    context = Context(services=services, opened=(collection,))
    state = await graph.ainvoke({"messages": [HumanMessage(query.text)]}, context=context)
    answer, language = state["messages"][-1].text, state["query"].language
    sources = [passage.document.source for passage in state["passages"]]
    is_read = bool(query.relevance.keys() & set(sources))
    if is_not_found(answer, language):
        return Outcome(query.text, gold, answer, is_refused=True, is_read=is_read)
    said = _MARK.sub("", answer)
    cited = [sources[citation.number - 1] for citation in state["verification"].citations]
    return Outcome(
        query.text,
        gold,
        answer,
        is_refused=False,
        is_first=holds(said[: split_sentences(said)[0].end], gold),
        is_held=holds(said, gold),
        is_cited=cited[:1] != [] and cited[0] in query.relevance,
        is_read=is_read,
    )


async def ask_all(
    dataset: Dataset, answers: Answers, *, count: int, name: str, services: Services, keep: bool, console: Console
) -> list[Outcome]:
    queries = spread([query for query in dataset.queries if query.id in answers], count)
    with progress(f"{name}: documents, questions", len(dataset.documents) + len(queries), console) as step:
        async with loaded(dataset, services=services, name=name, embedding_model=None, keep=keep, advance=step) as load:
            if not load.seconds:  # it was there already
                step(len(dataset.documents))
            outcomes = []
            for query in queries:
                outcomes.append(await ask(query, answers[query.id], services=services, collection=load.collection))
                step(1)
    return outcomes


def share(outcomes: Sequence[Outcome], is_so: Callable[[Outcome], bool]) -> str:
    return f"{sum(map(is_so, outcomes)) / len(outcomes):.3f}" if outcomes else "–"


def row(name: str, answered: Sequence[Outcome], removed: Sequence[Outcome]) -> list[str]:
    return [
        name,
        str(len(answered)),
        share(answered, lambda outcome: outcome.is_first),
        share(answered, lambda outcome: outcome.is_held),
        share(answered, lambda outcome: outcome.is_cited),
        share(answered, lambda outcome: outcome.is_read),
        share(answered, lambda outcome: outcome.is_refused),
        str(len(removed)),
        share(removed, lambda outcome: outcome.is_refused),
    ]


COLUMNS = ("set", "asked", "first", "answer", "cited", "read", "refused", "asked of removed", "refused")


@contextmanager
def home() -> Iterator[Settings]:
    """That of the environment, or one that goes with the run."""
    if os.environ.get("DATABASE_URL") or os.environ.get("CAUSEWAY_HOME"):
        yield Settings.from_environment()
        return
    folder = Path(tempfile.mkdtemp(prefix="cw-"))  # short and open to the server's own user
    try:
        yield Settings.from_environment(home=folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def run(arguments: argparse.Namespace, settings: Settings, console: Console) -> None:
    table = Table(*COLUMNS)
    wrong: list[str] = []
    services = open_services(settings)
    await services.open()
    try:
        for dataset, answers in map(read, arguments.folders) if arguments.folders else [read_demo()]:
            if arguments.asked_as:
                dataset = asked_as(dataset, arguments.asked_as)
            found = [
                await ask_all(
                    each,
                    answers,
                    count=arguments.queries,
                    name=f"answering-{name}",
                    services=services,
                    keep=arguments.keep,
                    console=console,
                )
                for each, name in ((dataset, dataset.name), (without_some(dataset), f"{dataset.name}-lacking"))
            ]
            table.add_row(*row(dataset.name, *found))
            wrong += [f"{dataset.name}\t{o.question}\t{o.gold}\t{o.answer}" for o in found[0] if not o.is_first]
    finally:
        await services.close()
    console.print(table)
    if arguments.wrong:
        arguments.wrong.write_text("\n".join(wrong) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--queries", type=int, default=300, help="of each folder, and of its removed documents")
    parser.add_argument("--asked-as", type=Path, metavar="FOLDER", help="whose questions have the same ids, reworded")
    parser.add_argument("--keep", action="store_true", help="leave the collections for the next run")
    parser.add_argument("--wrong", type=Path, help="a file for the questions that the first sentence does not answer")
    configure_logging("ERROR")
    with home() as settings:
        asyncio.run(run(parser.parse_args(), settings, Console(width=130)))


if __name__ == "__main__":
    main()
