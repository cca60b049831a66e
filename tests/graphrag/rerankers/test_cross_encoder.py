"""The cross-encoder: a real model, made by the tests, run by the real class."""

import asyncio
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from graphrag.errors import InvalidSettings, MissingExtra, OutOfTime, ProviderError
from graphrag.models import Hit
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.resilience.deadline import deadline
from tests.factories import make_hit

TEXTS = {"horno": "La pieza del horno.", "fuga": "Hubo una fuga de gas.", "turno": "Turno, taller y sala."}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save(tmp_path_factory.mktemp("cross-encoder"))


def save(folder: Path, *, labels: int = 1) -> Path:
    from tests.graphrag.rerankers.tiny_cross_encoder import save_cross_encoder

    save_cross_encoder(folder, labels=labels)
    return folder


def hits(*texts: str) -> list[Hit]:
    return [make_hit(text, context="") for text in texts]


async def rerank(reranker: CrossEncoderReranker, query: str, found: list[Hit]) -> list[Hit]:
    return await reranker.rerank(query, found, language="es", top_k=50)


def scores(ranked: list[Hit]) -> dict[str, float]:
    return {hit.chunk.content: hit.score for hit in ranked}


@pytest.mark.slow
@pytest.mark.parametrize("asked", TEXTS)
async def test_the_model_decides_the_order(folder: Path, asked: str) -> None:
    """R5.1, R5.2 By question and text together, whatever the search thought."""
    found = [make_hit(text, 0.1 if word == asked else 0.9, context="") for word, text in TEXTS.items()]
    ranked = await rerank(CrossEncoderReranker(str(folder)), asked, found)
    assert ranked[0].chunk.content == TEXTS[asked]
    assert ranked[0].score > 0.9
    assert all(hit.score < 0.1 for hit in ranked[1:])


@pytest.mark.slow
async def test_titles_and_headings_are_read_too(folder: Path) -> None:
    """R5.1 They are indexed with the text, and may alone tell what it is about."""
    found = [make_hit("Se paró.", context="La bomba"), make_hit("Se paró.", context="El horno")]
    ranked = await rerank(CrossEncoderReranker(str(folder)), "horno", found)
    assert [hit.chunk.context for hit in ranked] == ["El horno", "La bomba"]


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["Sigmoid", "Identity"])
async def test_scores_do_not_depend_on_the_activation_that_a_model_brings(
    folder: Path, tmp_path: Path, activation: str
) -> None:
    """R5.2 Some are saved with a sigmoid, some with none: scores are in [0, 1] all the same."""
    import torch.nn
    from sentence_transformers.cross_encoder import CrossEncoder

    CrossEncoder(str(folder), activation_fn=getattr(torch.nn, activation)()).save_pretrained(str(tmp_path))
    ranked = await rerank(CrossEncoderReranker(str(tmp_path)), "horno", hits(*TEXTS.values()))
    assert scores(ranked) == scores(await rerank(CrossEncoderReranker(str(folder)), "horno", hits(*TEXTS.values())))
    assert 0 < ranked[-1].score < 0.1 < 0.9 < ranked[0].score < 1


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 2, 3])
async def test_scores_do_not_depend_on_the_batches(folder: Path, batch_size: int) -> None:
    """R5.2 Nor on how far a text was padded: equal texts are equal, and keep their order."""
    texts = [*TEXTS.values(), "El horno.", *TEXTS.values(), "El motor y el gas de la sala, por turno y por taller."]
    found = hits(*texts)
    ranked = await rerank(CrossEncoderReranker(str(folder), batch_size=batch_size), "horno", found)
    assert ranked == await rerank(CrossEncoderReranker(str(folder)), "horno", found)
    first, second = (found[number].chunk.id for number in (0, 4))
    places = [hit.chunk.id for hit in ranked]
    assert places.index(second) == places.index(first) + 1


@pytest.mark.slow
async def test_many_questions_at_once(folder: Path) -> None:
    """R5.2 One model answers them all, each as if it were alone."""
    reranker = CrossEncoderReranker(str(folder))
    asked = [*TEXTS] * 5
    answers = await asyncio.gather(*(rerank(reranker, word, hits(*TEXTS.values())) for word in asked))
    assert [ranked[0].chunk.content for ranked in answers] == [TEXTS[word] for word in asked]


@pytest.mark.slow
async def test_a_text_too_long_is_judged_by_its_beginning(folder: Path) -> None:
    """R5.2"""
    reranker = CrossEncoderReranker(str(folder))
    found = hits("horno gas." + " x" * 5_000, "bomba gas." + " x" * 5_000)
    ranked = await rerank(reranker, "horno", found)
    assert [hit.chunk for hit in ranked] == [hit.chunk for hit in found]
    assert ranked[0].score > ranked[1].score


@pytest.mark.slow
async def test_a_folder_is_read_once_and_without_network(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R5.1 By `open` where one wants the first question not to wait."""
    asked: list[object] = []

    def refuse(host: object, *args: object, **options: object) -> None:
        asked.append(host)
        raise socket.gaierror("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, "models/tiny")  # such a path could as well be a name on the hub
    reranker = CrossEncoderReranker("models/tiny")
    await reranker.open()
    shutil.rmtree("models/tiny")
    assert (await rerank(reranker, "horno", hits(*TEXTS.values())))[0].chunk.content == TEXTS["horno"]
    assert asked == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["absent", "empty", "file"])
async def test_a_model_that_cannot_be_loaded_is_named(tmp_path: Path, name: str) -> None:
    """R5.1"""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(InvalidSettings, match=name) as raised:
        await CrossEncoderReranker(str(tmp_path / name)).open()
    assert raised.value.__cause__ is not None


@pytest.mark.slow
async def test_a_model_that_is_not_made_for_ranking_is_refused(tmp_path: Path) -> None:
    """R5.1 One that tells contradiction from agreement gives three scores, none of which is relevance."""
    with pytest.raises(InvalidSettings, match="3 scores"):
        await CrossEncoderReranker(str(save(tmp_path, labels=3))).open()


@pytest.mark.slow
async def test_a_broken_model_is_a_provider_error(folder: Path, tmp_path: Path) -> None:
    """R5.2, R11.1 Its scores would order nothing; what retrieves then keeps the order of the search."""
    from transformers import BertForSequenceClassification

    broken = BertForSequenceClassification.from_pretrained(folder)
    broken.classifier.bias.data.fill_(float("nan"))
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    broken.save_pretrained(tmp_path)
    with pytest.raises(ProviderError, match="no number"):
        await rerank(CrossEncoderReranker(str(tmp_path)), "horno", hits("El horno."))


async def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """R5.1 As in a core install."""
    monkeypatch.setitem(sys.modules, "sentence_transformers.cross_encoder", None)
    with pytest.raises(MissingExtra, match=r"make install WITH=local-models"):
        await rerank(CrossEncoderReranker("cross-encoder/ms-marco-MiniLM-L6-v2"), "horno", hits("El horno."))


class Big(CrossEncoderReranker):
    """As if its model were big: every pair takes its time."""

    def __init__(self, seconds: float) -> None:
        super().__init__("big")
        self.__dict__["_encoder"] = None
        self.seconds, self.asked = seconds, 0

    def _judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked += 1
        time.sleep(self.seconds * len(pairs))
        return [0.0] * len(pairs)


async def test_it_is_not_begun_where_it_takes_longer_than_anybody_waits() -> None:
    """R11.1, R5.2 By what a pair took before; a slowness that has passed is found out some time."""
    reranker = Big(seconds=0.2)
    found = hits(*TEXTS.values())
    assert len(await rerank(reranker, "horno", found)) == 3
    with deadline(0.3), pytest.raises(OutOfTime):
        await rerank(reranker, "horno", found)
    assert reranker.asked == 1
    with deadline(60):
        assert len(await rerank(reranker, "horno", found)) == 3
    reranker.seconds = 0.0
    for _ in range(30):
        with deadline(0.3), suppress(OutOfTime):
            await rerank(reranker, "horno", found)
    assert reranker.asked > 2
