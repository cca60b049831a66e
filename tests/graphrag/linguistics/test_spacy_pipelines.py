"""spaCy's trained pipelines: real ones, made by the tests, loaded and run by the real class."""

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import structlog
from pydantic import SecretStr

from graphrag.config.settings import Settings
from graphrag.errors import InvalidSettings
from graphrag.ingestion.sources import SourceText
from graphrag.linguistics.spacy_pipelines import PIECE_CHARS, SpacyRecognizer, load_pipeline, open_recognizer
from graphrag.models import Intent, TransformedQuery
from graphrag.retrieval.graph_expansion import expand_by_graph
from graphrag.services import Services, open_services
from tests.agent.library import with_parts
from tests.api.commands import NOWHERE, causeway, one_line
from tests.factories import make_query
from tests.graphrag.linguistics.installed_pipelines import install_pipeline

if TYPE_CHECKING:
    from spacy.tokens import Doc


pytestmark = pytest.mark.slow
QUESTIONS = {
    "es": "¿Qué turno hace quien avisó de la fuga?",
    "fr": "De quelle équipe est qui a signalé la fuite ?",
    "en": "Which shift works who reported the leak?",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of trained pipelines, by language."""
    from tests.graphrag.linguistics.tiny_pipelines import save_trained

    made = tmp_path_factory.mktemp("pipelines")
    return {language: save_trained(made / language, language) for language in QUESTIONS}


@pytest.fixture(scope="module")
def recognizer(folders: dict[str, Path]) -> SpacyRecognizer:
    opened = open_recognizer([str(folder) for folder in folders.values()])
    assert opened is not None
    return opened


def ruled(folder: Path, language: str = "es", **labels: str) -> SpacyRecognizer:
    from tests.graphrag.linguistics.tiny_pipelines import save_ruled

    opened = open_recognizer([str(save_ruled(folder, language, **labels))])
    assert opened is not None
    return opened


async def associations(services: Services, owner: str, language: str) -> list[str]:
    """Titles of what the report of a leak leads to, itself the first."""
    from tests.graphrag.linguistics.tiny_pipelines import SENTENCES

    collection = await services.collections.create(owner, "chat")
    report, shift, part, _ = SENTENCES[language]
    said = {"leak": report.format("rosa"), "shift": shift.format("rosa"), "part": part.format("fermín")}
    sources = [SourceText(title, text, title=title, language=language) for title, text in said.items()]
    model = await services.collections.embedding_model(collection)
    await services.ingestion.ingest(sources, collection=collection, model=model)
    (collection,) = await services.store.list_collections(owner)
    vectors = await model.embed_queries([said["leak"]])
    hits = await services.store.search_vectors(collection, vectors[0], limit=1)
    query = TransformedQuery(QUESTIONS[language], language, Intent.FACTUAL)
    led = await expand_by_graph(make_query(query, collection), hits, graph=services.graph)
    return [hit.chunk.document.title for hit in led]


@pytest.mark.parametrize("language", QUESTIONS)
async def test_what_rules_alone_miss_is_found(
    postgres: str, owner: str, folders: dict[str, Path], language: str
) -> None:
    """R7.1, R7.2 «rosa» is in no capital letter, so no rule joins the two messages that name her."""
    found = {}
    for pipelines in ((), (str(folders[language]),)):
        services = open_services(Settings.from_environment(database_url=SecretStr(postgres), spacy_pipelines=pipelines))
        await services.open()
        found[bool(pipelines)] = await associations(services, f"{owner}{len(pipelines)}", language)
        await services.close()
    assert found == {False: ["leak"], True: ["leak", "shift"]}


async def test_a_language_without_a_pipeline_goes_by_rules(recognizer: SpacyRecognizer, tmp_path: Path) -> None:
    """R7.1 Unless there is one for all languages."""
    texts = ["el lunes rosa avisó de la fuga.", ""]
    assert await recognizer.find_names(texts, language="es") == [("rosa",), ()]
    assert await recognizer.find_names(texts, language="de") == [(), ()]
    for_all = ruled(tmp_path, "xx", rosa="PER")
    assert for_all.pipelines == ("xx_tiny 1.2.3",)
    assert await for_all.find_names(texts, language="de") == [("rosa",), ()]


async def test_many_documents_at_once(recognizer: SpacyRecognizer, folders: dict[str, Path]) -> None:
    """R7.1 Each is read as if it were alone, and by whatever process: the same text, the same names."""
    from tests.graphrag.linguistics.tiny_pipelines import NAMES, SENTENCES

    def texts(language: str) -> list[str]:
        return [sentence.format(name) for sentence in SENTENCES[language] for name in NAMES]

    alone = {language: SpacyRecognizer([load_pipeline(str(folders[language]))], {}) for language in QUESTIONS}
    asked = [*QUESTIONS] * 5
    answers = await asyncio.gather(*(recognizer.find_names(texts(one), language=one) for one in asked))
    assert {name for names in answers[0] for name in names} == set(NAMES)
    for language, answer in zip(asked, answers, strict=True):
        assert answer == await alone[language].find_names(texts(language), language=language)


async def test_no_part_of_a_long_text_is_left_out(tmp_path: Path) -> None:
    """R7.1 Nor is a measure taken for a name."""
    recognizer = ruled(tmp_path, rosa="PER", lunes="DATE", dos="CARDINAL", horno="PRODUCT")
    text = "el lunes rosa vio los dos. " * (3 * PIECE_CHARS // 27) + "al final el horno."
    ((*names, last),) = await recognizer.find_names([text], language="es")
    assert len(names) == text.count("rosa")
    assert set(names) == {"rosa"}
    assert last == "horno"


def test_only_what_finds_names_is_kept(folders: dict[str, Path], tmp_path: Path) -> None:
    """R7.1 A tagger would take its time; what rules may ask for stays."""
    from tests.graphrag.linguistics.tiny_pipelines import save_ruled

    assert load_pipeline(str(folders["es"])).component_names == ["tok2vec", "ner"]
    assert load_pipeline(str(save_ruled(tmp_path, "es", rosa="PER"))).component_names == ["sentencizer", "entity_ruler"]


async def test_a_pipeline_that_fails_leaves_the_rules(tmp_path: Path, services: Services, owner: str) -> None:
    """R11.1 The document is indexed all the same; nothing of it is in the log."""
    from spacy.language import Language

    def break_off(read: "Doc") -> "Doc":
        if "fuga" in read.text:
            raise ValueError(f"on purpose: {read}")
        return read

    Language.component("broken", func=break_off)
    recognizer = ruled(tmp_path, rosa="PER")
    services = with_parts(services, name_recognizer=recognizer)
    recognizer._loaded["es"].add_pipe("broken")
    with structlog.testing.capture_logs() as logged:
        assert await associations(services, owner, "es") == ["leak"]
    assert {line["error"] for line in logged if line["event"] == "names by rules alone"} == {"ValueError"}
    assert "rosa" not in str(logged)
    assert await recognizer.find_names(["lo vio rosa."], language="es") == [("rosa",)]


@pytest.mark.parametrize("name", ["absent", "empty", "file", "torn", "nameless"])
async def test_a_named_pipeline_that_cannot_be_used_is_told_at_the_start(
    tmp_path: Path, folders: dict[str, Path], name: str
) -> None:
    """R4.10"""
    from tests.graphrag.linguistics.tiny_pipelines import save_nameless

    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    save_nameless(tmp_path / "nameless", "es")
    (tmp_path / "torn").symlink_to(torn(folders["es"], tmp_path / "half"))
    settings = Settings.from_environment(
        spacy_pipelines=(str(tmp_path / name),), database_url=SecretStr(NOWHERE["DATABASE_URL"])
    )
    with pytest.raises(InvalidSettings, match=name):
        await open_services(settings).open(awaits_database=True)


def torn(whole: Path, folder: Path) -> Path:
    """As an interrupted copy leaves it."""
    for file in filter(Path.is_file, whole.rglob("*")):
        (folder / file.relative_to(whole)).parent.mkdir(parents=True, exist_ok=True)
        (folder / file.relative_to(whole)).write_bytes(file.read_bytes()[:100])
    return folder


def test_two_pipelines_for_one_language_are_refused(folders: dict[str, Path]) -> None:
    """R4.10"""
    with pytest.raises(InvalidSettings, match="two pipelines for the language 'es'"):
        open_recognizer([str(folders["es"])] * 2)


def test_the_command_line_says_it_in_a_line(postgres: str, tmp_path: Path) -> None:
    """R4.10"""
    run = causeway("search", "horno", DATABASE_URL=postgres, RAG_SPACY_PIPELINES=str(tmp_path / "absent"))
    assert run.returncode == 1
    assert "absent' could not be loaded" in one_line(run)


async def test_an_installed_pipeline_is_loaded_when_it_is_needed(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R7.1, R11.1 Without a setting; one that does not work is passed over."""
    install_pipeline(tmp_path, "es_core_news_sm", data=folders["es"])
    install_pipeline(tmp_path, "fr_core_news_sm")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("es_core_news_sm", "fr_core_news_sm"):  # of another test
        monkeypatch.delitem(sys.modules, name, raising=False)
    recognizer = open_services(Settings.from_environment()).name_recognizer
    assert recognizer is not None
    assert set(recognizer.pipelines) == {"es_core_news_sm 3.8.0", "fr_core_news_sm 3.8.0"}
    assert not {"es_core_news_sm", "fr_core_news_sm"} & set(sys.modules)
    assert await recognizer.find_names(["lo vio rosa."], language="es") == [("rosa",)]
    assert "fr_core_news_sm" not in sys.modules
    with structlog.testing.capture_logs() as logged:
        assert await recognizer.find_names(["c'est rosa ici."], language="fr") == [()]
    assert [(line["log_level"], line["pipeline"]) for line in logged] == [("warning", "fr_core_news_sm")]
