"""Train the network that ranks the spans of a sentence, and measure the short answers that it gives.

    python -m training.short_answers DATA [--examples tests/golden/short_answers.jsonl] [--write]

DATA is a folder of question-answering sets: `xquad-es`, `xquad-en`, `piaf-fr-dev` (each with `corpus.jsonl`,
`queries.jsonl`, `qrels.tsv`), `squad-es-v2-dev` (`paragraphs.jsonl`, `questions.jsonl`) and `causal-dev/{es,fr,en}`.
Sets that are not there are left out. Half of the documents are kept aside: nothing is trained or chosen on them.
"""

import argparse
import json
import re
import string
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from graphrag.extractive_answers import answer_spans
from graphrag.extractive_answers.answer_spans import CandidateSpans, Floats, find_candidates
from graphrag.extractive_answers.question_reading import read_question
from graphrag.extractive_answers.short_answers import find_short_answer
from graphrag.linguistics.language import content_stems
from graphrag.linguistics.sentences import plain, split_sentences

HIDDEN = 32
NETWORKS = 3
EPOCHS = 14
OWN_TIMES = 6  # an example of business texts counts, of which there are few
PER_QUESTION = 120  # spans of a sentence that are trained on
BATCH = 32  # questions
RATE = 0.002
DECAY = 2e-4  # of the weights
DROPPED = 0.15  # share of the features that a question is trained without
WEIGHTS = Path(answer_spans.__file__).parent / "rules" / "answer_spans.tsv"
_ARTICLES = re.compile(r"\b(?:a|an|the|el|la|los|las|un|una|unos|unas|le|les|l|du|des|au|aux|une|d)\b")


@dataclass(frozen=True)
class Example:
    source: str
    group: str
    question: str
    language: str
    sentence: str
    sentence_language: str
    golds: tuple[str, ...]
    split: str = ""  # where it is not by its group
    paragraph: str = ""

    @property
    def is_kept(self) -> bool:
        return self.split == "kept" if self.split else zlib.crc32(self.group.encode()) % 2 == 1


def normalized(text: str) -> list[str]:
    """Return the words that SQuAD compares, in three languages."""
    text = text.lower().replace("’", "'").replace("'", " ").replace("\u202f", " ").replace("\u00a0", " ")
    text = "".join(c for c in text if c not in string.punctuation and c not in "«»“”¿¡–—…")
    return _ARTICLES.sub(" ", text).split()


def f1(answer: str, golds: Sequence[str]) -> float:
    return max((_f1(normalized(answer), normalized(gold)) for gold in golds), default=0.0)


def _f1(one: list[str], other: list[str]) -> float:
    shared = sum((Counter(one) & Counter(other)).values())
    return 2 * shared / (len(one) + len(other)) if shared else float(one == other)


def exact(answer: str, golds: Sequence[str]) -> bool:
    return any(normalized(answer) == normalized(gold) for gold in golds)


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def _sentence_of(text: str, answer: str, start: int) -> str | None:
    spans = split_sentences(text)
    held = next((s for s in spans if s.start <= start and start + len(answer) <= s.end + 1), None)
    sentence = plain(text[held.start : held.end]) if held else ""
    return sentence if answer in sentence else None


def read_sets(data: Path) -> Iterator[Example]:
    ids: dict[str, str] = {}
    for name, language in (("xquad-en", "en"), ("xquad-es", "es"), ("piaf-fr-dev", "fr")):
        corpus = {line["id"]: line for line in _lines(data / name / "corpus.jsonl")}
        rows = (data / name / "qrels.tsv").read_text().splitlines() if corpus else []
        held = {parts[0]: parts[1] for parts in (row.split("\t") for row in rows)}
        for line in _lines(data / name / "queries.jsonl"):
            document = corpus[held[line["id"]]]
            group = re.sub(r"-\d+$", "", re.sub(r"^xq-\w\w-", "xq-", document["id"]))
            ids[line["id"]] = group
            sentence = _sentence_of(document["text"], line["answer"][0], line["answer_start"][0])
            if sentence:
                yield Example(
                    name, group, line["text"], language, sentence, language, tuple(line["answer"]), "", document["text"]
                )
    paragraphs = {line["id"]: line["text"] for line in _lines(data / "squad-es-v2-dev" / "paragraphs.jsonl")}
    questions = _lines(data / "squad-es-v2-dev" / "questions.jsonl")
    groups = {line["article"]: ids[line["id"]] for line in questions if line["id"] in ids}
    for line in questions:
        text = paragraphs[line["paragraph"]]
        answer = min(line["answer"], key=len, default="")
        places = [match.start() for match in re.finditer(re.escape(answer), text)] if answer else []
        sentence = _sentence_of(text, answer, places[0]) if len(places) == 1 else None
        if sentence:
            group = groups.get(line["article"], line["article"])
            yield Example("squad-es-v2", group, line["text"], "es", sentence, "es", tuple(line["answer"]), "", text)
    for language, name in (("es", "xquad-es"), ("fr", "piaf-fr-dev"), ("en", "xquad-en")):
        corpus = {line["id"]: line["text"] for line in _lines(data / name / "corpus.jsonl")}
        folder = data / "causal-dev" / language
        rows = (folder / "qrels.tsv").read_text().splitlines() if folder.exists() else []
        held = {parts[0]: parts[1] for parts in (row.split("\t") for row in rows)}
        for line in _lines(folder / "queries.jsonl"):
            document = held.get(line["id"], "")
            text, answer = corpus.get(document, ""), line["answer"][0] if line["answer"] else ""
            sentence = _sentence_of(text, answer, text.find(answer)) if answer and answer in text else None
            if sentence:
                group = re.sub(r"-\d+$", "", re.sub(r"^xq-\w\w-", "xq-", document))
                yield Example("causal", group, line["text"], language, sentence, language, tuple(line["answer"]))


def across(examples: Sequence[Example], data: Path) -> Iterator[Example]:
    """Yield Spanish questions over English sentences, and the reverse, of the set that is in both languages."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    for name in ("xquad-en", "xquad-es"):
        for line in _lines(data / name / "queries.jsonl"):
            texts[line["id"]][line["lang"]] = line["text"]
    by_text = {(text, language): each for each in texts.values() for language, text in each.items()}
    for example in examples:
        other = {"es": "en", "en": "es"}.get(example.language, "")
        asked = by_text.get((example.question, example.language), {}).get(other)
        if asked and example.source.startswith("xquad"):
            yield replace(example, source=f"{example.source} asked in {other}", question=asked, language=other)


def read_own(path: Path) -> Iterator[Example]:
    """Yield the examples written for this project."""
    for line in _lines(path):
        language = line["language"]
        yield Example(
            "own", line["document"], line["question"], language, line["sentence"],
            line.get("sentence_language", language), tuple(line["answer"]), line["split"],
        )  # fmt: skip


def without_answers(examples: Sequence[Example], data: Path) -> Iterator[Example]:
    """Yield questions over a sentence that does not answer: their own less the answer, and questions asked in vain."""
    for example in examples:
        start = example.sentence.find(example.golds[0]) if example.golds else -1
        if start >= 0:
            before = _FUNCTION_WORDS.sub("", example.sentence[:start])
            rest = f"{before} {example.sentence[start + len(example.golds[0]) :].lstrip(')»”')}"
            yield replace(example, source="answer taken out", sentence=" ".join(rest.split()), golds=())
    paragraphs = {line["id"]: line["text"] for line in _lines(data / "squad-es-v2-dev" / "paragraphs.jsonl")}
    for line in _lines(data / "squad-es-v2-dev" / "questions.jsonl"):
        if not line["answerable"]:
            text = paragraphs[line["paragraph"]]
            plausible = next((each for each in line["plausible"] if each in text), "")
            sentence = _sentence_of(text, plausible, text.find(plausible)) if plausible else None
            if sentence:
                yield Example("asked in vain", line["article"], line["text"], "es", sentence, "es", ())


_FUNCTION_WORDS = re.compile(
    r"(?:[\s(«“]+(?:el|la|los|las|un|una|de|del|en|por|a|al|con|para|y|le|les|l'|du|des|d'|une|à|au|aux|par|et|the|an?|of|in|on|"
    r"at|by|for|with|to|from|and|desde|since|depuis|durante|pendant|during))*[\s(«“]*$"
)


def neighbours(examples: Sequence[Example]) -> Iterator[Example]:
    """Yield questions over the sentence of the same paragraph that says most of their words besides the right one."""
    for example in examples:
        asked = content_stems(example.question, example.language)
        others = [plain(example.paragraph[s.start : s.end]) for s in split_sentences(example.paragraph)]
        others = [
            each for each in others if each != example.sentence and not any(gold in each for gold in example.golds)
        ]
        if others:
            best = max(others, key=lambda other: len(asked & content_stems(other, example.sentence_language)))
            yield replace(example, source="next sentence", sentence=best, golds=())


@dataclass
class Trained:
    """A sentence's spans with how much of them is the answer, as words in common."""

    example: Example
    candidates: CandidateSpans
    f1: Floats


def prepare(examples: Sequence[Example]) -> list[Trained]:
    found = []
    for example in examples:
        if example.golds and not any(gold in example.sentence for gold in example.golds):
            continue
        question = read_question(example.question, example.language)
        candidates = find_candidates(question, example.sentence, example.sentence_language)
        if candidates is not None:
            found.append(Trained(example, candidates, _overlaps(candidates, example)))
    return found


def _overlaps(candidates: CandidateSpans, example: Example) -> Floats:
    """Return the F1 of each span with the best of the answers, by the words that they cover."""
    best = np.zeros(len(candidates.first) + 1, np.float32)
    best[-1] = not example.golds
    bounds = candidates.bounds
    for gold in example.golds:
        start = example.sentence.find(gold)
        if start < 0:
            continue
        end = start + len(gold)
        places = [at for at, (begin, stop) in enumerate(bounds) if begin < end and start < stop]
        while len(places) > 1 and not normalized(example.sentence[slice(*bounds[places[0]])]):
            places = places[1:]
        if places:
            shared = np.minimum(candidates.last, places[-1]) - np.maximum(candidates.first, places[0]) + 1
            length = candidates.last - candidates.first + 1
            best[:-1] = np.maximum(best[:-1], 2 * np.maximum(shared, 0) / (length + len(places)))
    return best


def train_several(prepared: Sequence[Trained]) -> list[Floats]:
    """Return one network that averages several, which were trained from different beginnings."""
    found = [train(prepared, seed) for seed in range(NETWORKS)]
    hidden, biases, outputs = zip(*found, strict=True)
    return [np.hstack(hidden), np.hstack(biases), np.vstack(outputs) / NETWORKS]


def train(prepared: Sequence[Trained], seed: int) -> list[Floats]:
    """Maximise the logarithm of the expected F1 of a span drawn by its score, with Adam."""
    random = np.random.default_rng(seed)
    data = []
    repeated = [each for each in prepared for _ in range(OWN_TIMES if each.example.split else 1)]
    for each in repeated:
        if each.example.golds and each.f1.max() < 0.4:
            continue
        near = np.flatnonzero(each.f1 > 0)
        far = np.flatnonzero(each.f1 == 0)
        near = random.permutation(near)[: PER_QUESTION // 2] if len(near) > PER_QUESTION // 2 else near
        near = np.union1d(near, [int(each.f1.argmax()), len(each.f1) - 1])
        chosen = np.concatenate([near, random.permutation(far)[: PER_QUESTION - len(near)]])
        data.append((each.candidates.features[chosen], each.f1[chosen] ** 3))
    width = data[0][0].shape[1]
    weights = [
        (random.standard_normal((width, HIDDEN)) * np.sqrt(1 / 30)).astype(np.float32),
        np.zeros((1, HIDDEN), np.float32),
        (random.standard_normal((HIDDEN, 1)) * np.sqrt(1 / HIDDEN)).astype(np.float32),
    ]
    moments = [[np.zeros_like(each), np.zeros_like(each)] for each in weights]
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * (1 - epoch / EPOCHS)
        order = random.permutation(len(data))
        for batch in np.array_split(order, max(1, len(order) // BATCH)):
            mask = (random.random(width) > DROPPED).astype(np.float32) / (1 - DROPPED)
            features = np.vstack([data[at][0] for at in batch]) * mask
            edges = np.cumsum([0, *(len(data[at][1]) for at in batch)])
            hidden = np.maximum(features @ weights[0] + weights[1], 0)
            scores = (hidden @ weights[2])[:, 0]
            gradient = np.zeros_like(scores)
            for (begin, end), at in zip(pairwise(edges), batch, strict=True):
                likely = np.exp(scores[begin:end] - scores[begin:end].max())
                likely /= likely.sum()
                reward = data[at][1]
                expected = float(likely @ reward) + 1e-9
                gradient[begin:end] = (likely - likely * reward / expected) / len(batch)
            back = np.outer(gradient, weights[2][:, 0]) * (hidden > 0)
            gradients = [features.T @ back, back.sum(0, keepdims=True), (hidden.T @ gradient)[:, None]]
            step += 1
            for weight, own, (first, second) in zip(weights, gradients, moments, strict=True):
                first += 0.1 * (own - first)
                second += 0.001 * (own**2 - second)
                weight -= rate * (
                    first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8) + DECAY * 10 * weight
                )
    return weights


def write(weights: Sequence[Floats], path: Path = WEIGHTS) -> None:
    matrices = ["\n".join("\t".join(f"{value:.3g}" for value in row) for row in matrix) for matrix in weights]
    path.write_text("\n\n".join(matrices) + "\n", encoding="ascii")


@dataclass
class Result:
    example: Example
    answer: str
    confidence: float
    f1: float
    exact: bool
    oracle: float


def answer(weights: Sequence[Floats], prepared: Sequence[Trained]) -> list[Result]:
    found = []
    for each in prepared:
        scores = (np.maximum(each.candidates.features @ weights[0] + weights[1], 0) @ weights[2])[:, 0]
        best = answer_spans.best_span(each.candidates, scores)
        text = each.example.sentence[best.start : best.end]
        golds = each.example.golds
        found.append(
            Result(each.example, text, best.expected_f1, f1(text, golds), exact(text, golds), float(each.f1.max()))
        )
    return found


def report_own(examples: Sequence[Example]) -> None:
    """Print what the whole finder says to the examples written for this project: values, rows, yes and no too."""
    for split in (False, True):
        own = [example for example in examples if example.is_kept is split]
        found = [
            find_short_answer(
                each.question, each.sentence, language=each.language, sentence_language=each.sentence_language
            )
            for each in own
        ]
        pairs = list(zip(own, found, strict=True))
        shown = [(each, answer.text) for each, answer in pairs if answer]
        right = [(each, text) for each, text in shown if f1(text, each.golds) >= 0.5]
        same = sum(exact(text, each.golds) for each, text in shown)
        answerable = sum(bool(each.golds) for each in own)
        print(
            f"own {'kept' if split else 'tune'}: {len(own)}, answerable {answerable}, shown {len(shown)}, "
            f"right {len(right)} (exact {same}), precision {len(right) / len(shown):.2f}"
        )
        for each, answer in pairs:
            text = answer.text if answer else ""
            if (text or each.golds) and not (text and f1(text, each.golds) >= 0.5):
                print(f"    {each.question} | {each.sentence} | {each.golds[:1]} | {text!r}")


def report(results: Sequence[Result]) -> None:
    by_set: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        by_set[result.example.source].append(result)
    by_set["answerable"] = [result for result in results if result.example.golds]
    by_set["not answerable"] = [result for result in results if not result.example.golds]
    print(f"{'':24}{'n':>5} {'EM':>5} {'F1':>5} {'best':>5}   share shown/share of these with F1 ≥ .5, by confidence")
    for name, own in by_set.items():
        cuts = []
        for least in (0.0, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6):
            shown = [result for result in own if result.confidence >= least]
            right = sum(result.f1 >= 0.5 for result in shown) / max(1, len(shown))
            cuts.append(f"{least:.2f}: {len(shown) / len(own):.2f}/{right:.2f}")
        mean = {key: np.mean([getattr(result, key) for result in own]) for key in ("exact", "f1", "oracle")}
        print(f"{name:24}{len(own):5} {mean['exact']:5.3f} {mean['f1']:5.3f} {mean['oracle']:5.3f}   {'  '.join(cuts)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--examples", type=Path, default=Path("tests/golden/short_answers.jsonl"))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    examples = list(read_sets(arguments.data))
    examples += [*across(examples, arguments.data), *read_own(arguments.examples)]
    unanswered = [*without_answers(examples, arguments.data)][::2]
    unanswered += [*neighbours([example for example in examples if example.paragraph])][::3]
    prepared = prepare([*examples, *unanswered])
    tuned = [each for each in prepared if not each.example.is_kept]
    kept = [each for each in prepared if each.example.is_kept]
    weights = train_several(tuned)
    report(answer(weights, kept))
    if arguments.write:
        write(weights)
    report_own([each for each in examples if each.source == "own"])


if __name__ == "__main__":
    main()
