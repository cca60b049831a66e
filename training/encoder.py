"""Layers of multilingual-e5-small in PyTorch: see `graphrag.embeddings.e5.Encoder` for what they compute."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from graphrag.embeddings.e5 import LAYERS, Layers, Tokenizer, WeightFile, read_arrays

RANK, SCALE, FIRST_ADAPTED = 16, 2.0, 2  # of what is added to the weights (LoRA, Hu et al. 2022)
SHORT = 128  # tokens up to which attention is computed in bfloat16: PyTorch's own is slow at that on a processor
Tokens = list[int]


class EncoderInTraining(nn.Module):
    """Some layers of a model, all their weights trained, or none, or matrices of low rank that are added to them."""

    def __init__(
        self,
        weights: WeightFile,
        layers: Layers,
        numbers: Sequence[int],
        *,
        is_trained: bool = False,
        is_adapted: bool = False,
    ) -> None:
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
        self.down, self.up = nn.ParameterDict(), nn.ParameterDict()
        for layer in range(FIRST_ADAPTED, self.depth if is_adapted else 0):
            for name in LAYERS:
                outputs, inputs = self.values[f"l{layer}_{name}_w"].shape
                self.down[f"l{layer}_{name}"] = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
                self.up[f"l{layer}_{name}"] = nn.Parameter(torch.zeros(outputs, RANK))
        self.most: dict[str, Tensor] | None = None  # the greatest input of each column, where they are gathered

    def forward(self, embedded: Tensor, is_there: Tensor) -> tuple[Tensor, Tensor]:
        """Return what becomes of the tokens (texts × longest × width), and each text's vector of unit length."""
        hidden = self._normalise(embedded, "emb.ln")
        mask = torch.where(is_there, 0.0, -1e4)[:, None, None]
        for layer in range(self.depth):
            split = [
                self._linear(hidden, f"l{layer}.{name}", is_there).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                for name in "qkv"
            ]
            joined = _attend(*split, mask).transpose(1, 2).flatten(2)
            hidden = self._normalise(hidden + self._linear(joined, f"l{layer}.ao", is_there), f"l{layer}.aln")
            inner = functional.gelu(self._linear(hidden, f"l{layer}.fi", is_there))
            hidden = self._normalise(hidden + self._linear(inner, f"l{layer}.fo", is_there), f"l{layer}.oln")
        hidden = hidden.float()
        counted = is_there[..., None].float()
        return hidden, functional.normalize((hidden * counted).sum(1) / counted.sum(1), dim=-1)

    def factors(self) -> dict[str, Tensor]:
        """Return what is added to the weights, as `read_layers` reads it."""
        downs = {f"{key.replace('_', '.')}.down": value for key, value in self.down.items()}
        return downs | {f"{key.replace('_', '.')}.up": SCALE * value for key, value in self.up.items()}

    def quantised(self) -> dict[str, NDArray[np.generic]]:
        """Return all weights as `read_document_layers` reads them: 8 bits each, with a scale for each output."""
        assert self.most is not None
        found: dict[str, NDArray[np.generic]] = {}
        for key, parameter in self.values.items():
            value = parameter.detach().float().cpu().numpy()
            name, part = key.rsplit("_", 1)
            name = name.replace("_", ".")
            found[f"{name}.{part}"] = value
            if value.ndim == 2:
                scale = np.abs(value).max(axis=1) / 127
                found[f"{name}.w"] = np.rint(value / scale[:, None]).astype(np.int8)
                found[f"{name}.scale"] = scale
        return found | self.ranges()

    def ranges(self) -> dict[str, NDArray[np.generic]]:
        assert self.most is not None
        return {f"{name}.most": value.cpu().numpy().astype(np.float16) for name, value in self.most.items()}

    def _linear(self, value: Tensor, name: str, is_there: Tensor) -> Tensor:
        if self.most is not None:
            greatest = value[is_there].float().abs().amax(0)
            self.most[name] = torch.maximum(self.most.get(name, greatest), greatest)
        key = name.replace(".", "_")
        found = functional.linear(value, self.values[f"{key}_w"], self.values[f"{key}_b"])
        if key in self.up:
            found = found + SCALE * functional.linear(functional.linear(value, self.down[key]), self.up[key])
        return found

    def _normalise(self, value: Tensor, name: str) -> Tensor:
        key = name.replace(".", "_")
        return functional.layer_norm(
            value, value.shape[-1:], self.values[f"{key}_w"], self.values[f"{key}_b"], eps=1e-12
        )


def _attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    if query.device.type == "cpu" and query.shape[-2] <= SHORT:
        alike = (query * query.shape[-1] ** -0.5) @ key.transpose(-1, -2) + mask.to(query.dtype)
        return alike.softmax(-1) @ value
    kind = torch.float32 if query.device.type == "cpu" else query.dtype
    parts = (each.to(kind) for each in (query, key, value))
    return functional.scaled_dot_product_attention(*parts, attn_mask=mask.to(kind)).to(query.dtype)


class TextEncoder:
    """Embeds texts of tokens with a model in training, those of like length together."""

    def __init__(self, weights: WeightFile, model: EncoderInTraining, *, batch_tokens: int = 6_000) -> None:
        self._weights, self.model, self._batch_tokens = weights, model, batch_tokens
        self._positions = weights.tensor("emb.pos").reshape(-1, weights.width)
        self._positions += weights.tensor("emb.type")[: weights.width]

    def __call__(self, texts: Sequence[Tokens]) -> Tensor:
        """Return texts × width, of unit length."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        found, rest = [], order
        while rest:
            fitting = [
                place for place, number in enumerate(rest, 1) if place * len(texts[number]) <= self._batch_tokens
            ]
            count = max(fitting, default=1)
            found.append(self._encode([texts[number] for number in rest[:count]]))
            rest = rest[count:]
        return torch.cat(found)[torch.tensor(order).argsort()]

    def _encode(self, texts: Sequence[Tokens]) -> Tensor:
        lengths = torch.tensor([len(text) for text in texts])
        is_there = torch.arange(int(lengths.max())) < lengths[:, None]
        tokens = np.full(is_there.shape, self._weights.padding)
        tokens[is_there.numpy()] = [token for text in texts for token in text]
        embedded = torch.from_numpy(self._weights.embed(tokens) + self._positions[: tokens.shape[1]])
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return self.model(embedded, is_there)[1]


def tokenize(tokenizer: Tokenizer, prefix: str, text: str, most: int) -> Tokens:
    """Return at most so many tokens of a text, between those of its begin and end."""
    return [tokenizer.weights.begin, *tokenizer.tokenize(prefix + text)[:most], tokenizer.weights.end]


def read_ranges(adapter: Path) -> dict[str, NDArray[np.float32]]:
    """Return the greatest input of each column, without what the adapter adds."""
    return {name: each for name, each in read_arrays(adapter).items() if name.endswith(".most")}


def save(path: Path, arrays: Mapping[str, Tensor | NDArray[np.generic]]) -> None:
    """Write arrays, those of PyTorch in half precision."""
    halves = {
        name: value.detach().cpu().numpy().astype(np.float16) if isinstance(value, Tensor) else value
        for name, value in arrays.items()
    }
    np.savez_compressed(path, allow_pickle=False, **halves)
