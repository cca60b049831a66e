"""Measure what is read of a text for a question, by how it was chunked: how much of what answers, and how much besides.

python -m tests.benchmarks.chunking [--data DIR] [--questions N] [--top-k N] [--out DIR]

DIR holds texts (NAME.md) and questions.jsonl with the exact spans that answer each; without one the demo documents are
asked their golden questions, which the sentences with the expected words answer: too few for a decision. Measured in
tokens, as in Smith and Troynikov, "Evaluating Chunking Strategies for Retrieval" (2024): what is read twice counts
twice against precision.
"""

import argparse
import asyncio
import json
import statistics
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid5

from pydantic import SecretStr
from rich.console import Console
from rich.table import Table

from graphrag.config.settings import PACKAGES, IngestionConfig, Settings, has_splitter
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.word_vectors import _tokenizer
from graphrag.ingestion.chunking import ChunkSpan, chunk_document
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import LOCAL_OWNER, Chunk, Chunking, Collection, Document, Hit, ParsedText
from graphrag.models.ingestion import IndexedDocument
from graphrag.observability.telemetry import configure_logging
from graphrag.rerankers.bundled import QuestionWords, read_question
from graphrag.retrieval.expansion import NOWHERE, ExpansionWindow, expand
from graphrag.services import Services, open_services
from tests.benchmarks.datasets import ROOT, demo_cases, demo_texts
from tests.benchmarks.systems.databases import fresh_database, running_postgres

CREATED_AT = datetime(2026, 1, 1, tzinfo=UTC)
UNLIMITED = 1_000_000_000
WINDOW, WINDOW_OVERLAP = 400, 200  # tokens: what LangChain's and LlamaIndex's splitters by length are mostly set to
Stretch = tuple[str, int, int]  # of a text, by its name
Found = tuple[QuestionWords, list[Hit]]


@dataclass(frozen=True, slots=True)
class Setup:
    """How texts are chunked, and what of the hits is read."""

    name: str
    config: IngestionConfig | None  # None: overlapping windows of a fixed length
    reach: ExpansionWindow = NOWHERE


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    answer: Sequence[Stretch]


@dataclass(frozen=True, slots=True)
class Score:
    """Of one question, or the mean of many. Recall, precision and their overlap are shares of tokens."""

    recall: float
    precision: float
    iou: float
    tokens: float  # read


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    chunks: int
    score: Score
    expansion_ms: float
    settings: Mapping[str, object] = field(default_factory=dict)


class Texts:
    """By name, with the last character of each of their tokens: its first may be the space before a word."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        tokenizer = _tokenizer()
        encoded = {name: tokenizer.encode(text, add_special_tokens=False) for name, text in texts.items()}
        self.ends = {name: [end - 1 for _, end in tokens.offsets] for name, tokens in encoded.items()}

    def tokens(self, stretches: Sequence[Stretch]) -> int:
        return sum(
            bisect_left(self.ends[name], end) - bisect_left(self.ends[name], start) for name, start, end in stretches
        )

    def windows(self, name: str) -> list[ChunkSpan]:
        """Cut wherever their ends fall; each begins in the middle of the one before."""
        cuts = [0, *(end + 1 for end in self.ends[name])]
        firsts = range(0, max(1, len(cuts) - 1 - WINDOW_OVERLAP), WINDOW - WINDOW_OVERLAP)
        bounds = [(cuts[first], cuts[min(first + WINDOW, len(cuts) - 1)]) for first in firsts]
        return [ChunkSpan(first, last, first, name) for first, last in bounds]


def sentence(tokens: int = 512, sentences: int = 0, share: float = 0.0, coverage: float = 0.0) -> Setup:
    read = f", ±{sentences} sentences" if sentences else ""
    cut = f", from {share:g} of the best" if share else ""
    cut += f", cut at {coverage:g}" if coverage else ""
    config = IngestionConfig(chunking="sentence", chunk_tokens=tokens)
    window = ExpansionWindow(sentences, parents=False, least_share=share, least_coverage=coverage)
    return Setup(f"sentence {tokens}{read}{cut}", config, window)


def whole(chunking: Chunking) -> Setup:
    return Setup(f"{chunking} 512", IngestionConfig(chunking=chunking))


def parents(share: float = 0.0) -> Setup:
    cut = f", from {share:g} of the best" if share else ""
    config = IngestionConfig(chunking="parent_child")
    return Setup(f"parent_child{cut}", config, ExpansionWindow(least_share=share))


WHOLE: tuple[Chunking, ...] = ("paragraph", "heading_section", "fixed_window", "semantic")
SETUPS = [
    Setup(f"windows of {WINDOW}, overlap {WINDOW_OVERLAP}", None),
    Setup(f"windows of {WINDOW}, from 0.5 of the best", None, ExpansionWindow(parents=False, least_share=0.5)),
    sentence(),
    *map(whole, WHOLE),
    *(whole(chunking) for chunking in PACKAGES if has_splitter(chunking)),
    parents(),
    parents(0.5),
    sentence(512, 2, 0.5),
    *(sentence(512, 2, 0.5, coverage) for coverage in (0.3, 0.4, 0.5)),
    *(sentence(256, sentences) for sentences in (0, 2, 3)),
    *(sentence(256, sentences, share) for share in (0.4, 0.5) for sentences in (2, 3)),
    *(sentence(192, sentences, share) for share in (0.4, 0.5) for sentences in (2, 3)),
]


def compare(answer: Sequence[Stretch], read: Sequence[Stretch], texts: Texts) -> Score:
    wanted, tokens = texts.tokens(answer), texts.tokens(read)
    found = texts.tokens([shared for stretch in union(read) for shared in _shared(stretch, answer)])
    return Score(found / wanted, found / tokens if tokens else 0.0, found / (wanted + tokens - found), tokens)


def union(stretches: Sequence[Stretch]) -> list[Stretch]:
    """What any of them holds, once."""
    merged: list[Stretch] = []
    for name, start, end in sorted(stretches):
        if merged and merged[-1][0] == name and start <= merged[-1][2]:
            merged[-1] = (name, merged[-1][1], max(end, merged[-1][2]))
        else:
            merged.append((name, start, end))
    return merged


def _shared(stretch: Stretch, others: Sequence[Stretch]) -> list[Stretch]:
    name, start, end = stretch
    overlaps = [(max(start, first), min(end, last)) for other, first, last in others if other == name]
    return [(name, first, last) for first, last in overlaps if first < last]


def mean(scores: Sequence[Score]) -> Score:
    return Score(*(statistics.fmean(values) for values in zip(*(asdict(s).values() for s in scores), strict=True)))


def load(folder: Path) -> tuple[dict[str, str], list[Question]]:
    rows = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    names = sorted({row["corpus"] for row in rows})
    texts = {name: (folder / f"{name}.md").read_text(encoding="utf-8") for name in names}
    return texts, [Question(row["text"], [(row["corpus"], *span) for span in row["spans"]]) for row in rows]


def load_demo() -> tuple[dict[str, str], list[Question]]:
    texts = {name: parsed.text for name, parsed in demo_texts().items()}
    questions = [Question(case["query"], list(_answering_sentences(case, texts))) for case in demo_cases()]
    return texts, [question for question in questions if question.answer]


def _answering_sentences(case: Mapping[str, Any], texts: Mapping[str, str]) -> Iterator[Stretch]:
    for name in case["relevant_documents"]:
        for sentence in split_sentences(texts[name]):
            if any(words in texts[name][sentence.start : sentence.end] for words in case["answer_contains"]):
                yield name, sentence.start, sentence.end


@dataclass(frozen=True, slots=True)
class Bench:
    services: Services
    model: BundledEmbeddings
    texts: Texts
    questions: Sequence[Question]
    top_k: int

    async def run(self, setups: Sequence[Setup], console: Console) -> list[Result]:
        """Setups that chunk alike search the same collection."""
        results: list[Result] = []
        collections: dict[str, tuple[Collection, list[Found]]] = {}
        for setup in setups:
            key = setup.config.model_dump_json(exclude_defaults=True) if setup.config else "windows"
            if key not in collections:
                collection = await self._ingest(key, setup.config)
                collections[key] = collection, [await self._search(question, collection) for question in self.questions]
            results.append(await self._measure(setup, *collections[key]))
            console.print(f"  {setup.name}: {results[-1].score.recall:.3f}")
        return results

    async def _ingest(self, name: str, config: IngestionConfig | None) -> Collection:
        collection = await self.services.store.create_collection(LOCAL_OWNER, name, embedding_model="bundled")
        documents = [self._indexed(title, text, config, collection) for title, text in self.texts.texts.items()]
        await self.services.store.put_documents(collection, documents)
        await self.services.store.optimize(collection)
        return await self.services.collections.open(LOCAL_OWNER, name)

    def _indexed(self, name: str, text: str, config: IngestionConfig | None, collection: Collection) -> IndexedDocument:
        parsed, count = ParsedText(text, "text/plain"), self.model.count_tokens
        spans = self.texts.windows(name)
        if config:
            embed = self.model.embed_documents
            spans = chunk_document(parsed, title=name, config=config, count_tokens=count, embed=embed).spans
        document = Document(
            id=uuid5(collection.id, name),
            collection_id=collection.id,
            source=name,
            filename=name,
            media_type="text/plain",
            content_hash=name,
            language="en",
            title=name,
            created_at=CREATED_AT,
        )
        chunks = [
            Chunk(
                id=uuid5(document.id, str(index)),
                index=index,
                content=text[span.start : span.end],
                start_char=span.start,
                end_char=span.end,
                window_start=span.window_start,
                context=span.context,
                document=document,
                parent=span.parent,
            )
            for index, span in enumerate(spans)
        ]
        embedded = [f"{span.context}\n{text[span.window_start : span.end]}" for span in spans]
        return IndexedDocument(document, chunks, self.model.embed_documents(embedded))

    async def _search(self, question: Question, collection: Collection) -> Found:
        pipeline = self.services.retrieval
        transformed, _ = await pipeline.transform(question.text)
        query = await pipeline.plan(transformed, [collection], {"strategy": "hybrid", "top_k": self.top_k})
        return read_question(question.text, transformed.language), (await pipeline.search(query)).hits

    async def _measure(self, setup: Setup, collection: Collection, found: Sequence[Found]) -> Result:
        scores, milliseconds = [], []
        for question, (words, hits) in zip(self.questions, found, strict=True):
            reach = replace(setup.reach, question=words)
            started = time.perf_counter()
            read = await self._read(replace(setup, reach=reach), collection, hits)
            milliseconds.append((time.perf_counter() - started) * 1000)
            scores.append(compare(question.answer, read, self.texts))
        chosen = {"reach": asdict(setup.reach), "ingestion": setup.config.model_dump() if setup.config else None}
        return Result(setup.name, collection.chunk_count, mean(scores), statistics.median(milliseconds), chosen)

    async def _read(self, setup: Setup, collection: Collection, hits: Sequence[Hit]) -> list[Stretch]:
        if setup.config is None:
            chunks = [hit.chunk for hit in setup.reach.worthy(hits)]
            return [(chunk.document.source, chunk.start_char, chunk.end_char) for chunk in chunks]
        found = await expand(
            hits, store=self.services.store, collections=[collection], window=setup.reach, max_chars=UNLIMITED
        )
        return [(passage.document.source, passage.start_char, passage.end_char) for passage in found]


def print_table(results: Sequence[Result], questions: int, top_k: int, console: Console) -> None:
    table = Table(title=f"{questions} questions, the {top_k} best chunks of each", title_justify="left")
    table.add_column("", no_wrap=True)
    for header in ("chunks", "recall", "precision", "× windows", "IoU", "tokens", "expansion ms"):
        table.add_column(header, justify="right", no_wrap=True)
    for result in results:
        score = result.score
        rates = (f"{score.precision:.2%}", f"{score.precision / results[0].score.precision:.2f}", f"{score.iou:.2%}")
        times = (f"{score.tokens:,.0f}", f"{result.expansion_ms:.1f}")
        table.add_row(result.name, str(result.chunks), f"{score.recall:.3f}", *rates, *times)
    console.print(table)


async def measure(
    texts: Mapping[str, str], questions: Sequence[Question], *, setups: Sequence[Setup], top_k: int, console: Console
) -> list[Result]:
    model = BundledEmbeddings()
    with running_postgres() as server, fresh_database(server, "chunking") as url:
        services = open_services(Settings.from_environment(database_url=SecretStr(url)))
        await services.open()
        try:
            return await Bench(services, model, Texts(texts), questions, top_k).run(setups, console)
        finally:
            await services.close()


def main() -> None:
    configure_logging("ERROR")
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.chunking", description=__doc__)
    parser.add_argument("--data", type=Path, metavar="DIR", help="texts and questions.jsonl")
    parser.add_argument("--questions", type=int, default=sys.maxsize, help="at most")
    parser.add_argument("--top-k", type=int, default=5)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "benchmark", metavar="DIR")
    arguments = parser.parse_args(sys.argv[1:])
    console = Console(width=140)
    from tests.benchmarks.chunking_picture import draw  # of the extra `bench`: its absence shows now, not afterwards

    arguments.out.mkdir(parents=True, exist_ok=True)
    texts, questions = load(arguments.data) if arguments.data else load_demo()
    asked = questions[: arguments.questions]
    results = asyncio.run(measure(texts, asked, setups=SETUPS, top_k=arguments.top_k, console=console))
    print_table(results, len(asked), arguments.top_k, console)
    rows = [asdict(result) for result in results]
    (arguments.out / "chunking.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    draw(results, arguments.out / "chunking.png")
    console.print(f"chunking.json and chunking.png are in {arguments.out}")


if __name__ == "__main__":
    main()
