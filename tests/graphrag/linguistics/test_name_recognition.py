"""Names that a trained model finds beside the rules: whatever the model, and where it is not to be had."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from api.routes.system import health
from graphrag.config.settings import Settings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.errors import MissingExtra
from graphrag.linguistics.spacy_pipelines import PIECE_CHARS, find_pipelines, open_recognizer, split_pieces
from graphrag.services import Services
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import with_parts
from tests.graphrag.ingestion.test_pipeline import make_desk
from tests.graphrag.linguistics.installed_pipelines import install_pipeline


class Accents:
    """Takes for a name whatever ends with -é."""

    async def find_names(self, texts: Sequence[str], *, language: str) -> list[tuple[str, ...]]:
        return [tuple(word for word in text.replace(",", " ").split() if word.endswith("é")) for text in texts]


async def test_a_model_s_names_are_beside_the_rules_but_not_those_of_cells(
    registry: EmbeddingRegistry, tmp_path: Path
) -> None:
    """R7.1 Cells are no sentences, and may be a million."""
    desk = await make_desk(registry)
    store = desk.store
    assert isinstance(store, InMemoryStore)
    desk.pipeline = replace(desk.pipeline, name_recognizer=Accents())
    (tmp_path / "a.txt").write_text("El lunes avisó bernabé a Marta Ainsa de la fuga.")
    (tmp_path / "b.csv").write_text("turno,quien\nnoche,josé\ndía,Marta Ainsa\n")
    await desk.ingest(tmp_path)
    found = {
        indexed.document.filename: {mention.key for graph in indexed.graph for mention in graph.mentions}
        for indexed in store.indexed(desk.collection)
    }
    assert {"bernabe", "marta ainsa"} <= found["a.txt"]
    assert "marta ainsa" in found["b.csv"]
    assert "jose" not in found["b.csv"]


@given(st.text(st.sampled_from("a b\n"), max_size=3 * PIECE_CHARS))
def test_a_long_text_is_read_whole_in_pieces(text: str) -> None:
    """R7.1"""
    pieces = list(split_pieces(text))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= PIECE_CHARS for piece in pieces)


def test_a_piece_ends_with_a_line_or_else_with_a_word() -> None:
    """R7.1 No name is cut in two."""
    assert list(split_pieces("ab " * 1_000 + "\n" + "ab " * 1_000)) == ["ab " * 1_000 + "\n", "ab " * 1_000]
    assert {piece[-1] for piece in split_pieces("ab " * PIECE_CHARS)} == {" "}
    assert list(map(len, split_pieces("a" * (PIECE_CHARS + 1)))) == [PIECE_CHARS, 1]


def test_the_best_standard_pipelines_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R7.1 One a language, and none of another kind, without spaCy."""
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert find_pipelines() == {}
    assert open_recognizer(None) is None
    names = "es_core_news_sm es_core_news_lg es_core_news_trf en_core_web_trf xx_ent_wiki_sm fr_dep_news_trf es_x"
    for name in names.split():
        install_pipeline(tmp_path, name)
    found = {language: package.name for language, package in find_pipelines().items()}
    assert found == {"es": "es_core_news_lg", "en": "en_core_web_trf", "xx": "xx_ent_wiki_sm"}


async def test_without_spacy_a_pipeline_that_is_found_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R7.1, R11.1 Rules alone find names, which is told once."""
    install_pipeline(tmp_path, "es_core_news_sm")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "spacy", None)
    recognizer = open_recognizer(None)
    assert recognizer is not None
    with structlog.testing.capture_logs() as logged:
        for _ in range(2):
            assert await recognizer.find_names(["lo vio rosa."], language="es") == [()]
    assert [(line["log_level"], line["pipeline"]) for line in logged] == [("warning", "es_core_news_sm")]


def test_the_missing_extra_is_named() -> None:
    """R4.10 As in a core install, where one names a pipeline."""
    with pytest.MonkeyPatch.context() as patch, pytest.raises(MissingExtra, match=r"WITH=linguistics"):
        patch.setitem(sys.modules, "spacy", None)
        open_recognizer(["es_core_news_sm"])


@pytest.mark.parametrize(
    ("given", "read"), [("", None), (" none ", ()), ("es_core_news_sm, /models/fr,", ("es_core_news_sm", "/models/fr"))]
)
def test_pipelines_are_named_by_a_variable(
    given: str, read: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R4.10"""
    monkeypatch.setenv("RAG_SPACY_PIPELINES", given)
    assert Settings.from_environment().ingestion_limits.spacy_pipelines == read


async def test_health_names_what_is_found(services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R11.2"""
    assert (await health(services)).name_pipelines is None
    install_pipeline(tmp_path, "es_core_news_sm")
    monkeypatch.syspath_prepend(tmp_path)
    services = with_parts(services, name_recognizer=open_recognizer(None))
    assert (await health(services)).name_pipelines == ["es_core_news_sm 3.8.0"]
