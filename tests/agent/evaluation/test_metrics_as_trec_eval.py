"""Metrics against trec_eval, by which information retrieval is measured since 1992."""

from random import Random
from typing import Any

import pytest
from pytrec_eval import RelevanceEvaluator

from agent.evaluation.metrics import measure

RANKINGS = 600
SAME = {
    **{f"hit@{k}": f"success_{k}" for k in (1, 3, 5, 10)},
    **{f"recall@{k}": f"recall_{k}" for k in (2, 5, 10)},
    **{f"precision@{k}": f"P_{k}" for k in (1, 5, 10)},
    "mrr@10": "recip_rank",  # which has no cut-off: it is shown the first ten
    "ndcg@10": "ndcg_cut_10",
}
MEASURES = {"success.1,3,5,10", "recall.2,5,10", "P.1,5,10", "recip_rank", "ndcg_cut.10"}
Judgements = dict[str, int]


def trec_eval(ranking: list[str], relevance: Judgements) -> dict[str, float]:
    """It orders by score, so that places become scores: a tie would be ordered by the documents' names."""
    scores = {document: float(-place) for place, document in enumerate(ranking[:10])}
    evaluator = RelevanceEvaluator({"q": relevance}, MEASURES)
    found: dict[str, Any] = evaluator.evaluate({"q": scores})["q"]
    return {name: found[of] for name, of in SAME.items()}


def draw(random: Random) -> tuple[list[str], Judgements]:
    """0 to 30 documents of 40, 1 to 15 judged; grades from «harmful» to 3, at times none of them relevant."""
    documents = [f"d{number}" for number in range(40)]
    ranking = random.sample(documents, random.randint(0, 30))
    grades = random.choice([(0, 1), (0, 1, 2, 3), (-1, 0, 1, 3), (0,), (1,)])
    judged = random.sample(documents, random.randint(1, 15))
    return ranking, {document: random.choice(grades) for document in judged}


def test_random_rankings_are_measured_as_by_trec_eval() -> None:
    """R10.2 to nine decimals: graded, with documents that nobody judged, with nothing relevant or nothing found."""
    random = Random(7)
    drawn = [draw(random) for _ in range(RANKINGS)]
    assert any(not ranking for ranking, _ in drawn)
    assert any(max(relevance.values()) <= 0 for _, relevance in drawn)
    assert sum(any(of > 1 for of in relevance.values()) for _, relevance in drawn) > RANKINGS / 4
    for ranking, relevance in drawn:
        ours = measure(ranking, relevance)
        expected = trec_eval(ranking, relevance)
        assert {name: ours[name] for name in SAME} == pytest.approx(expected, abs=1e-9), (ranking, relevance)


def test_ranks_beyond_the_tenth_are_none() -> None:
    """R10.2 where ours differs by design: trec_eval's recip_rank of the eleventh is 1/11, mrr@10 is 0."""
    ranking = [f"d{rank}" for rank in range(1, 12)]
    evaluator = RelevanceEvaluator({"q": {"d11": 1}}, {"recip_rank"})
    found = evaluator.evaluate({"q": {document: float(-place) for place, document in enumerate(ranking)}})
    assert found["q"]["recip_rank"] == pytest.approx(1 / 11)
    assert measure(ranking, {"d11": 1})["mrr@10"] == 0
