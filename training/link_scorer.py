"""Fit the weights with which causal links of two documents are joined, and measure them on the demo, kept aside.

    python -m training.link_scorer ../shared/data

True joins are those within one text, of sentences apart, and their counterparts in the translation of that text: there
one link's effect and the next one's cause are the same event. False ones are those of documents that have nothing to
do with each other, by a word in common. It prints JOIN_WEIGHTS and JOIN_BIAS of
`graphrag/causal_graph/link_scoring.py`. It needs scikit-learn, which the product does without.
"""

import json
import random
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from graphrag.causal_graph.concepts import count_roots
from graphrag.causal_graph.document_graph import assemble_edges, chunk_graphs
from graphrag.causal_graph.link_scoring import JOIN_WEIGHTS, LinkScorer
from graphrag.linguistics.language import detect
from graphrag.models.graph import CausalEdge, Entity, Polarity
from graphrag.models.ingestion import IndexedDocument
from tests.benchmarks.datasets import demo_texts
from tests.factories import COLLECTION_ID, make_chunk, make_document

SETS = ("xquad-es", "xquad-en", "piaf-fr-dev", "hipporag-tune/ir_musique100")
WORLDS = Path(__file__).parent / "asked"
SAME_TEXT = 0.4  # of `LinkScorer.between`, from which two links of one text are joined for training
APART = 12  # paragraphs of a set that are as far apart belong to different articles
A_TRUE_ONE = 8.0  # false joins
REGULARISATION = 1.0  # scikit-learn's C


def read_texts(data: Path) -> Iterator[tuple[str, int, str]]:
    """Yield set, number and text of the documents."""
    for name in SETS:
        for number, line in enumerate((data / name / "corpus.jsonl").read_text("utf-8").splitlines()):
            yield name, number, json.loads(line)["text"]
    for world in sorted(WORLDS.iterdir()):
        lines = (world / "paragraphs.jsonl").read_text("utf-8").splitlines()
        yield from ((world.name, number, json.loads(line)["text"]) for number, line in enumerate(lines))


def find_edges(name: str, number: int, text: str) -> list[CausalEdge]:
    language = detect(text)
    document = make_document(filename=f"{name}:{number}", language=language)
    chunk = make_chunk(text, document=document)
    indexed = IndexedDocument(document, [chunk], [], graph=chunk_graphs(text, [chunk], language=language))
    return [edge for edge in assemble_edges(indexed, COLLECTION_ID) if edge.polarity is Polarity.FACT]


def _ends(edges: Sequence[CausalEdge]) -> list[Entity]:
    return [end for edge in edges for end in (edge.cause, edge.effect)]


def place(edge: CausalEdge) -> tuple[str, int]:
    name, number = edge.document.filename.split(":")
    return re.sub("-(es|en)$", "", name), int(number)  # paragraphs of xquad have the same number in both languages


def are_unrelated(one: CausalEdge, other: CausalEdge) -> bool:
    (name, number), (another, at) = place(one), place(other)
    return name != another or (name not in {world.name for world in WORLDS.iterdir()} and abs(number - at) > APART)


def true_joins(edges: Sequence[CausalEdge], scorer: LinkScorer) -> Iterator[tuple[CausalEdge, CausalEdge]]:
    for _, group in groupby(sorted(edges, key=lambda edge: (place(edge), edge.document.filename)), key=place):
        of_text = list(group)
        for one in of_text:
            for other in of_text:
                is_apart = one.end_char <= other.start_char or other.end_char <= one.start_char
                is_of_one = one.document is other.document
                if one is not other and (is_apart or not is_of_one):
                    surety = scorer.between(one, other) if is_of_one else 0.0
                    translated = not is_of_one and scorer.join_features(one, other)["several"]
                    if surety >= SAME_TEXT or translated:
                        yield one, other


def false_joins(edges: Sequence[CausalEdge], scorer: LinkScorer) -> Iterator[tuple[CausalEdge, CausalEdge]]:
    for one in edges:
        for other in edges:
            if are_unrelated(one, other) and scorer.join_features(one, other)["shared"]:
                yield one, other


def demo_joins() -> tuple[list[CausalEdge], set[tuple[str, str]]]:
    """Return the demo's edges, and quotes of two documents that follow one another in a chain written by a reader."""
    edges = [edge for name, parsed in demo_texts().items() for edge in find_edges(name, 0, parsed.text)]
    cases = json.loads((Path(__file__).parents[1] / "tests" / "golden" / "demo_chains.json").read_text("utf-8"))
    joined = set()
    for case in cases:
        for link, following in zip(case["chain"], case["chain"][1:], strict=False):
            joined |= {(here["text"], there["text"]) for here in link["quotes"] for there in following["quotes"]}
    return edges, joined


def main(data: Path) -> None:
    edges = [edge for document in read_texts(data) for edge in find_edges(*document)]
    scorer = LinkScorer(edges, {}, count_roots(_ends(edges)), threshold=0.0)
    true = list(true_joins(edges, scorer))
    false = list(false_joins(random.Random(7).sample(edges, min(700, len(edges))), scorer))
    values = np.array([list(scorer.join_features(*join).values()) for join in (*true, *false)])
    labels = np.array([1] * len(true) + [0] * len(false))
    weights = {0: 1.0, 1: len(false) / len(true) / A_TRUE_ONE}
    model = LogisticRegression(C=REGULARISATION, class_weight=weights).fit(values, labels)
    print(f"{len(edges)} edges, {len(true)} true joins, {len(false)} false")
    print("JOIN_WEIGHTS =", dict(zip(JOIN_WEIGHTS, model.coef_[0].round(2).tolist(), strict=True)))
    print("JOIN_BIAS =", round(float(model.intercept_[0]), 2))
    surety = model.predict_proba(values)[:, 1]
    for threshold in (0.5, 0.6, 0.7, 0.8):
        of_true, of_false = ((surety[labels == label] >= threshold).mean() for label in (1, 0))
        print(f"from {threshold}: {of_true:.2f} of the true are joined, {of_false:.4f} of the false")
    of_demo, joined = demo_joins()
    judge = LinkScorer(of_demo, {}, count_roots(_ends(of_demo)), threshold=0.0)
    for one in of_demo:
        for other in of_demo:
            if one.document is not other.document and judge.join_features(one, other)["shared"]:
                is_true = any(here in one.quote and there in other.quote for here, there in joined) or any(
                    one.quote in here and other.quote in there for here, there in joined
                )
                features = judge.join_features(one, other)
                sure = model.predict_proba([list(features.values())])[0, 1]
                if is_true or sure >= 0.5:
                    print(f"{sure:.2f} {'true' if is_true else '?'}: {one.effect.name[:90]} → {other.cause.name[:90]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
