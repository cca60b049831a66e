"""What is asked, and of what: folders in BEIR's format, or the demo documents with their golden questions."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from agent.evaluation.retrieval_run import read_dataset
from graphrag.config.settings import ParsingLimits
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.ingestion.chunking import chunk
from graphrag.ingestion.enrichment import detect_language, title
from graphrag.linguistics import language
from graphrag.models import ParsedText
from graphrag.parsers.parsing import parse
from tests.benchmarks.corpus import Passage, distractors

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "notebooks" / "demo"
DEMO_CHUNK_TOKENS = 250  # about 110 words, as a distractor has: a passage's length must not tell
GOLDEN = ROOT / "tests" / "golden" / "demo.json"


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    relevant: frozenset[str]  # documents


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    passages: Sequence[Passage]
    questions: Sequence[Question]

    @property
    def language(self) -> str:
        """The commonest, for systems that index in one."""
        languages = [passage.language for passage in self.passages]
        return max(sorted(set(languages)), key=languages.count)

    def sample(self, count: int, *, seed: int = 1) -> "Dataset":
        """At most so many questions, the same ones every time."""
        if count >= len(self.questions):
            return self
        return replace(self, questions=random.Random(seed).sample(self.questions, count))

    def grown(self, size: int) -> list[Passage]:
        """Its passages, and distractors up to that many."""
        made = distractors(self.passages, [question.text for question in self.questions])
        return [*self.passages, *islice(made, max(0, size - len(self.passages)))]


def demo_texts() -> dict[str, ParsedText]:
    """Return the demo documents that all systems read alike, by filename."""
    paths = sorted(path for path in DEMO.iterdir() if path.suffix in {".md", ".txt"})
    return {path.name: parse(path.read_bytes(), filename=path.name, limits=ParsingLimits()) for path in paths}


def demo_cases() -> list[dict[str, Any]]:
    """Return the golden cases that these documents answer."""
    names = demo_texts().keys()
    cases: list[dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return [case for case in cases if case["relevant_documents"] and names >= set(case["relevant_documents"])]


def load_demo() -> Dataset:
    model = BundledEmbeddings()
    passages = []
    for document, parsed in demo_texts().items():
        name, spoken = title(parsed, filename=document), detect_language(parsed)
        passages += _passages(
            parsed, document=document, title=name, language=spoken, model=model, max_tokens=DEMO_CHUNK_TOKENS
        )
    questions = [Question(case["query"], frozenset(case["relevant_documents"])) for case in demo_cases()]
    return Dataset("demo", passages, questions)


def load_beir(folder: Path) -> Dataset:
    model = BundledEmbeddings()
    read = read_dataset(folder)
    passages = []
    for document in read.documents:
        spoken = document.language or language.detect(document.text)
        text = ParsedText(document.text, "text/plain")
        passages += _passages(text, document=document.id, title=document.title, language=spoken, model=model)
    return Dataset(read.name, passages, [Question(query.text, frozenset(query.relevance)) for query in read.queries])


def _passages(
    parsed: ParsedText,
    *,
    document: str,
    title: str,
    language: str,
    model: BundledEmbeddings,
    max_tokens: int = 512,
) -> list[Passage]:
    """Chunks as Causeway makes them, which all systems get."""
    spans = chunk(parsed, title=title, count_tokens=model.count_tokens, max_tokens=max_tokens, overlap_tokens=0)
    return [Passage(document, span.context, parsed.text[span.start : span.end], language) for span in spans]
