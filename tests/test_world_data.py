"""The worlds that answers are trained on and measured with."""

import json

from tests.benchmarks.worlds import FITTED, KEPT, WORLDS


def test_evidence_is_verbatim() -> None:
    """R10.2 Each quote stands in its document, no question is asked twice, and nothing is trained on what is kept."""
    wrong: list[str] = []
    for world in (each for each in sorted(WORLDS.iterdir()) if each.is_dir()):
        documents = {path.name: " ".join(path.read_text("utf-8").split()) for path in world.glob("docs/*")}
        paths = [path for path in (world / "questions.jsonl", world / "more.jsonl") if path.is_file()]
        asked = [json.loads(line) for path in paths for line in path.read_text("utf-8").splitlines() if line]
        texts = [(each["question"], *each.get("previous", ())) for each in asked]
        wrong += [f"{world.name}: asked twice: {text}" for text in set(texts) if texts.count(text) > 1]
        wrong += [
            f"{each['id']}: {quote['quote'][:60]}"
            for each in asked
            for quote in (*each["evidence"], *each.get("also", ()), *each.get("near", ()))
            if " ".join(quote["quote"].split()) not in documents[quote["doc"]]
        ]
        assert (len(paths) == 1) == (world.name in KEPT), world.name
    assert not wrong
    assert set(FITTED).isdisjoint(KEPT)
    assert all((WORLDS / name).is_dir() for name in (*KEPT, *FITTED))
