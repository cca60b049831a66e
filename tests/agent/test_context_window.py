"""What of the passages a model is given: never more than it may be, the least relevant cut first."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from agent.context_window import DELIMITERS, Window, fit, log_cut
from agent.prompts import write_excerpt
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.registry import EmbeddingRegistry
from graphrag.models import Passage
from graphrag.observability.telemetry import configure_logging
from graphrag.testing.in_memory_store import InMemoryStore
from tests.agent.library import ask, data_of, done, open_library
from tests.factories import make_document, make_hit
from tests.model_server import ModelServer, Reply

SENTENCES = [
    "El puente se cerró. ",
    "La riada dañó <dos> pilares & una viga. ",
    "Costó 9.240 euros.\n\n",
    "¿Quién pagó? ",
]


def count(texts: Sequence[str]) -> list[int]:
    """By characters, four a token."""
    return [-(-len(text) // 4) for text in texts]


def make_passage(text: str, *, match: tuple[int, int] | None = None, start: int = 0) -> Passage:
    document = make_document(filename="puente.md")
    begin, end = match or (0, len(text))
    return Passage(document, 0, start, start + len(text), text, ((start + begin, start + end),), score=0.5)


def window(chars: int = 8_000, tokens: int = 3_000) -> Window:
    return Window(chars, tokens, count)


def cost(passages: Sequence[Passage]) -> int:
    written = [write_excerpt(number, passage, "es") for number, passage in enumerate(passages, start=1)]
    return sum(count([DELIMITERS, *written]))


texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=12).map("".join)


@given(st.lists(texts, min_size=1, max_size=5), st.integers(60, 1_500), st.integers(60, 400), st.data())
def test_the_context_fits(contents: list[str], chars: int, tokens: int, data: st.DataObject) -> None:
    """R8.2: never more tokens or characters; passages in their order, each a part of its own, only the last one cut."""
    passages = []
    for content in contents:
        start = data.draw(st.integers(0, len(content) - 1))
        end = data.draw(st.integers(start + 1, len(content)))
        passages.append(make_passage(content, match=(start, end), start=7))
    kept = fit(passages, window(chars, tokens), language="es")
    assert kept
    assert cost(kept) <= tokens
    assert sum(len(passage.content) for passage in kept) <= chars
    assert kept[:-1] == passages[: len(kept) - 1]
    whole, last = passages[len(kept) - 1], kept[-1]
    assert last.document == whole.document
    assert whole.content[last.start_char - 7 : last.end_char - 7] == last.content
    assert all(last.start_char <= start < end <= last.end_char for start, end in last.matches)
    used = sum(len(passage.content) for passage in kept[:-1])
    is_whole = last.content == whole.content.rstrip() or last == whole
    assert is_whole or cost([*kept[:-1], whole]) > tokens or used + len(whole.content) > chars


def test_what_is_around_a_match_goes_first() -> None:
    """R8.2: what follows it, then what precedes it, at the ends of sentences."""
    text = "Uno uno uno. Dos dos dos. Tres tres tres. Cuatro cuatro. Cinco cinco."
    match = (text.index("Tres"), text.index("Cuatro"))
    found = {
        fit([make_passage(text, match=match)], window(chars), language="es")[0].content
        for chars in range(15, len(text) + 1)
    }
    assert found == {
        text,
        "Uno uno uno. Dos dos dos. Tres tres tres. Cuatro cuatro.",
        "Uno uno uno. Dos dos dos. Tres tres tres.",
        "Dos dos dos. Tres tres tres.",
        "Tres tres tres.",
    }


def test_a_sentence_without_end_is_cut_between_words() -> None:
    """R8.2: a document that is searched whole may be longer than everything."""
    (kept,) = fit([make_passage("palabra " * 100_000)], window(), language="es")
    assert 4_000 < len(kept.content) <= 8_000
    assert kept.content.endswith("palabra")


def test_chains_take_their_part() -> None:
    """R8.2: what is told beside the excerpts counts."""
    passages = [make_passage("El puente se cerró. " * 10) for _ in range(5)]
    beside = "1. «riada» –CAUSES→ «cierre» [1]" * 20
    kept = fit(passages, window(tokens=400), language="es", beside=beside)
    assert cost(kept) + count([beside])[0] <= 400
    assert len(kept) < len(fit(passages, window(tokens=400), language="es"))


def test_what_is_cut_is_logged_without_its_text() -> None:
    """R8.2, security 20."""
    hits = [make_hit("Lo primero."), make_hit("Lo secreto.")]
    first = hits[0].chunk
    passages = [Passage(first.document, 0, 0, 11, "Lo primero.", ((0, 11),), score=0.5)]
    configure_logging("INFO")
    with capture_logs() as logs:
        log_cut(hits, passages)
        log_cut(hits[:1], passages)
    (entry,) = logs
    assert entry == {
        "event": "context cut", "chunks": [str(hits[1].chunk.id)], "characters": 11, "log_level": "info",
    }  # fmt: skip


@pytest.mark.parametrize("tokens", [120, 300])
async def test_a_prompt_keeps_to_its_tokens(
    tokens: int, registry: EmbeddingRegistry, model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8.2, R8.3: as the model's server gets it; the sources shown are those of the prompt."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-tests")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.base_url)
    model_server.default = Reply("La reparación costó 9.240 euros [1].")
    settings: dict[str, Any] = {"chat_model": "openai:gpt-4o-mini", "query_refinement": False}
    text = "El puente de Arenal se cerró. La reparación del puente costó 9.240 euros. " * 12
    documents = {f"{number}.md": f"# Puente {number}\n\n{text}\n" for number in range(6)}
    library = await open_library(registry, documents, store=InMemoryStore(), max_context_tokens=tokens, **settings)
    events = await ask(library, "¿Cuánto costó la reparación del puente de Arenal?")
    prompt = model_server.requests[-1].body["messages"][-1]["content"].rpartition("\n\n")[0]
    (sources,) = [data["sources"] for data in data_of(events, "sources")]
    assert BundledEmbeddings().count_tokens([prompt])[0] <= tokens
    assert prompt.count("<excerpt ") == len(sources) == len(done(events)["sources"]) > 0
    assert all(source["content"] in prompt for source in sources)
