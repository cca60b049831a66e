"""How far what was found grows before it is read for an answer."""

from collections.abc import Sequence
from dataclasses import replace

from graphrag.config.settings import RetrievalConfig, Settings
from graphrag.extractive_answers.table_answers import asks_what_is_late
from graphrag.models import TransformedQuery
from graphrag.retrieval.expansion import ExpansionWindow

TABLE_CHARS = 6_000  # of a table that are read to find what is late in it


def expansion_window(
    question: str, query: TransformedQuery, files: Sequence[str], *, config: RetrievalConfig, settings: Settings
) -> tuple[ExpansionWindow, float]:
    """And the share of the context that one document may have. `files`: that the question names."""
    # A question of several parts needs the weaker hits too: each part has its own.
    least_share = 0.0 if query.is_complex or files else config.least_share
    reach = ExpansionWindow(config.window_sentences, config.parent_chars, least_share=least_share)
    if asks_what_is_late(question):  # a row that was not found may be the latest
        return replace(reach, parent_chars=max(reach.parent_chars, TABLE_CHARS)), 1.0
    return reach, settings.max_document_share
