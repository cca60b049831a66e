"""Full-text search in PostgreSQL: candidates by the GIN index, then BM25 or ts_rank_cd over them (postgres.sql)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphrag.database import Connection
from graphrag.models import Collection, Filters, FulltextRanking
from graphrag.stores.candidates import AFFORDABLE, Lexeme, any_of, idf, likely_best
from graphrag.stores.filtering import FEW_CHUNKS, Restriction, restrict
from graphrag.stores.queries import QUERIES, fetch

EXACT_WEIGHT = 0.35  # of a word as written beside its stem; measured on development sets in three languages
PHRASE_COST = 10  # chunks in the time that one is read for its phrases
BM25_MOST = 2.2  # k1 + 1, what a term's frequency is worth at most


async def search_fulltext(
    connection: Connection,
    collection: Collection,
    words: Sequence[str],
    *,
    phrases: Sequence[str],
    filters: Filters,
    ranking: FulltextRanking,
    candidates: int,
    limit: int,
) -> list[dict[str, Any]]:
    """Rows of chunks, best first, each with its score in [0, 1]; about `candidates` chunks are looked at.

    Of an index's ranking PostgreSQL knows nothing: it is BM25 then.
    """
    key = {"collection_id": collection.id, "words": list(words), "phrases": list(phrases)}
    known = await fetch(connection, QUERIES["find_lexemes"], key)
    if not known:
        return []
    found = [Lexeme(*list(row.values())[:4]) for row in known]
    size = known[0]
    weights = _weights(found, chunk_count=size["chunk_count"])
    restriction = await restrict(connection, collection, filters)
    score = QUERIES["bm25" if ranking == "index" else ranking]
    statement = QUERIES["search_fulltext"].replace("{score}", score).replace("{filter}", restriction.condition)
    values = {
        **key,
        **restriction.values,
        "average_chars": size["average_chars"],
        "any_lexeme": any_of(weights),
        "lexemes": list(weights),
        "idf": list(weights.values()),
        "most": sum(weights.values()) * BM25_MOST,
        "budget": max(candidates * AFFORDABLE, FEW_CHUNKS) // (PHRASE_COST if phrases else 1),
        "limit": limit,
    }
    rows: list[dict[str, Any]] = []
    for query in _candidates(found, size, restriction, candidates):
        values["candidates"] = f"({query}) & {any_of([f'@{collection.id}'])}"  # causeway.home
        rows = await fetch(connection, statement, values)
        if len(rows) >= limit:
            break
    return rows


def _candidates(
    found: Sequence[Lexeme], size: Mapping[str, Any], restriction: Restriction, wanted: int
) -> Iterator[str]:
    """Queries for the index, to be tried until one gives enough: a filter may leave little of what the first finds."""
    if size["phrases"]:
        yield size["phrases"]
        return
    tried = ""
    for more in () if restriction.is_narrow else (wanted, wanted * AFFORDABLE):
        if size["chunk_count"] > 2 * more:
            query = likely_best(found, chunk_count=size["chunk_count"], wanted=more)
            if query != tried:  # it is for rare words, which never reach the number
                yield query
            tried = query
    yield any_of(dict.fromkeys(lexeme.lexeme for lexeme in found))


def _weights(found: Sequence[Lexeme], *, chunk_count: int) -> dict[str, float]:
    weights: dict[str, float] = {}
    for lexeme in found:
        weight = (1.0 if lexeme.is_stem else EXACT_WEIGHT) * idf(lexeme.document_frequency, chunk_count)
        weights[lexeme.lexeme] = max(weights.get(lexeme.lexeme, 0.0), weight)
    return weights
