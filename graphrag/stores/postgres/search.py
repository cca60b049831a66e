"""Full-text and vector search in PostgreSQL."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cache
from hashlib import sha256
from math import log
from typing import Any
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg import sql
from psycopg.types.json import Jsonb

from graphrag.db.database import Connection, fetch
from graphrag.linguistics.language import words as words_of
from graphrag.linguistics.spelling import nearest_word
from graphrag.models import EVERYTHING, Collection, Filters, FulltextRanking, Synonym, VectorKind
from graphrag.stores.postgres.rows import QUERIES

FEW_DOCUMENTS, FEW_CHUNKS = 1_000, 5_000  # all of which are looked at, rather than all that matches and then the filter


@dataclass(frozen=True, slots=True)
class Restriction:
    condition: str = "true"  # on a row with collection_id and document_id
    values: dict[str, Any] = field(default_factory=dict)
    is_narrow: bool = False


async def restrict(connection: Connection, collection: Collection, filters: Filters) -> Restriction:
    if filters == EVERYTHING:
        return Restriction()
    values = {"collection_id": collection.id, "filters": _as_json(filters)}
    rows = await fetch(connection, QUERIES["find_matching_documents"], values | {"limit": FEW_DOCUMENTS + 1})
    if len(rows) > FEW_DOCUMENTS:
        return Restriction(
            "document_id IN (SELECT causeway.matching_documents(%(collection_id)s, %(filters)s))", values
        )
    named = {"collection_id": collection.id, "documents": [row["document_id"] for row in rows]}
    (size,) = await fetch(connection, QUERIES["count_chunks"], named | {"limit": FEW_CHUNKS + 1})
    return Restriction("document_id = ANY (%(documents)s)", named, is_narrow=size["chunks"] <= FEW_CHUNKS)


def _as_json(filters: Filters) -> Jsonb:
    given = {field.name: getattr(filters, field.name) for field in fields(filters)}
    dates = {name: value.isoformat() for name, value in given.items() if isinstance(value, datetime)}
    return Jsonb({name: list(values) for name, values in given.items() if isinstance(values, tuple) and values} | dates)


AFFORDABLE = 10  # times as many candidates as wanted
MOST_WORDS = 6  # that decide, the rarest; a query over more costs the index more than it saves


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A form of a query word, with its document frequency in the collection."""

    word_number: int
    lexeme: str
    is_stem: bool
    document_frequency: int
    is_synonym: bool = False


@dataclass(frozen=True, slots=True)
class _Word:
    """Lexemes of which a chunk holds one, by its language, where it holds the word."""

    lexemes: tuple[str, ...]
    document_frequency: int
    weight: int  # its idf in millionths: sums of them can be compared


def idf(document_frequency: int, chunk_count: int) -> float:
    """Robertson & Zaragoza 2009, with 1 added so that it stays positive."""
    return log(1 + (chunk_count - document_frequency + 0.5) / (document_frequency + 0.5))


def any_of(lexemes: Iterable[str]) -> str:
    """A tsquery of lexemes as the database knows them: quoted, so that they are nothing but words."""
    return " | ".join(_quote(lexeme) for lexeme in lexemes)


def likely_best(found: Sequence[Lexeme], *, chunk_count: int, wanted: int) -> str:
    """Return the tsquery of all sets of words whose weights, together, reach a bar.

    The bar is set so that `wanted` chunks are expected to match; fewer if the next lower bar would be expected to match
    more than is affordable.

    A rare word reaches the bar alone, a common one with others: WAND's idea (Broder et al. 2003), for an index that has
    no scores.
    """
    words = _words(found, chunk_count)[:MOST_WORDS]
    return _at_least(_bar(words, chunk_count, wanted), words)


def _words(found: Sequence[Lexeme], chunk_count: int) -> list[_Word]:
    """Rarest first. A word's stems decide; its exact forms only where no stem is known."""
    forms: dict[int, list[Lexeme]] = {}
    for lexeme in found:
        forms.setdefault(lexeme.word_number, []).append(lexeme)
    words = {}
    for of_word in forms.values():
        deciding = [lexeme for lexeme in of_word if lexeme.is_stem] or of_word
        frequency = min(chunk_count, sum(lexeme.document_frequency for lexeme in deciding))
        lexemes = tuple(sorted(lexeme.lexeme for lexeme in deciding))
        words[lexemes] = _Word(lexemes, frequency, max(1, round(idf(frequency, chunk_count) * 1e6)))
    return sorted(words.values(), key=lambda word: (word.document_frequency, word.lexemes))


def _bar(words: Sequence[_Word], chunk_count: int, wanted: int) -> int:
    """Return the bar that about `wanted` chunks reach.

    Words are assumed to be independent, which gives the expected share of chunks with exactly this set of words, for
    every set.
    """
    shares, weights = np.ones(1), np.zeros(1, dtype=np.int64)
    for word in words:
        share = word.document_frequency / chunk_count
        shares = np.concatenate([shares * (1 - share), shares * share])
        weights = np.concatenate([weights, weights + word.weight])
    bars, set_of = np.unique(weights[1:], return_inverse=True)  # without the empty set
    expected = np.cumsum(np.bincount(set_of, shares[1:])[::-1])[::-1] * chunk_count  # at this bar or above it
    enough, affordable = bars[expected >= wanted], bars[expected <= wanted * AFFORDABLE]
    return int(max(enough[-1] if len(enough) else bars[0], affordable[0] if len(affordable) else bars[-1]))


def _at_least(bar: int, words: Sequence[_Word]) -> str:
    left = [sum(word.weight for word in words[number:]) for number in range(len(words) + 1)]

    @cache
    def reach(number: int, bar: int) -> str | None:
        """Return the tsquery for the words from `number` on: "" if `bar` is reached, None if it can't be."""
        if bar <= 0:
            return ""
        if left[number] < bar:
            return None
        with_it, without_it = reach(number + 1, bar - words[number].weight), reach(number + 1, bar)
        word = f"({any_of(words[number].lexemes)})"
        ways = [f"{word} & ({with_it})" if with_it else word] if with_it is not None else []
        return " | ".join([*ways, without_it] if without_it is not None else ways)

    query = reach(0, bar)
    assert query  # the bar is the weight of some set of the words
    return query


def _quote(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


EXACT_WEIGHT = 0.35  # of a word as written beside its stem; measured on development sets in three languages
SYNONYM_WEIGHT = 0.4  # of a word of the same meaning, or its translation; measured on questions in another language
PHRASE_COST = 10  # chunks in the time that one is read for its phrases
BM25_MOST = 2.2  # k1 + 1, what a term's frequency is worth at most


async def search_fulltext(
    connection: Connection,
    collection: Collection,
    words: Sequence[str],
    *,
    phrases: Sequence[str],
    synonyms: Sequence[Synonym],
    filters: Filters,
    ranking: FulltextRanking,
    candidates: int,
    limit: int,
) -> list[dict[str, Any]]:
    """Rows of chunks, best first, each with its score in [0, 1]; about `candidates` chunks are looked at.

    Of an index's ranking PostgreSQL knows nothing: it is BM25 then.
    """
    key = {
        "collection_id": collection.id,
        "words": list(words),
        "phrases": list(phrases),
        "synonym_of": [each.number + 1 for each in synonyms],
        "into": [each.language for each in synonyms],
        "synonyms": [each.word for each in synonyms],
    }
    known = await fetch(connection, QUERIES["find_lexemes"], key)
    if not known:
        return []
    found = [Lexeme(*list(row.values())[:5]) for row in known]
    size = known[0]
    weights = _weights(found, chunk_count=size["chunk_count"])
    restriction = await restrict(connection, collection, filters)
    ranking = "bm25" if ranking == "index" else ranking
    statement = (
        QUERIES["search_fulltext"].replace("{score}", QUERIES[ranking]).replace("{filter}", restriction.condition)
    )
    values = {
        **key,
        **restriction.values,
        "average_chars": size["average_chars"],
        "any_lexeme": any_of(weights),
        "lexemes": list(weights),
        "idf": list(weights.values()),
        "most": _most(found, weights) * BM25_MOST,
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
        share = SYNONYM_WEIGHT if lexeme.is_synonym else 1.0 if lexeme.is_stem else EXACT_WEIGHT
        weight = share * idf(lexeme.document_frequency, chunk_count)
        weights[lexeme.lexeme] = max(weights.get(lexeme.lexeme, 0.0), weight)
    return weights


def _most(found: Sequence[Lexeme], weights: Mapping[str, float]) -> float:
    """Return what a chunk may hold of the question: its words, and synonyms of those that no chunk holds."""
    own = {lexeme.lexeme for lexeme in found if not lexeme.is_synonym}
    known = {lexeme.word_number for lexeme in found if not lexeme.is_synonym}
    told: dict[int, float] = {}
    for lexeme in found:
        if lexeme.word_number not in known:
            told[lexeme.word_number] = max(told.get(lexeme.word_number, 0.0), weights[lexeme.lexeme])
    return sum(weights[lexeme] for lexeme in own) + sum(told.values())


LIKE_IT = 20_000  # lexemes with the first letter of a word, and about as long, that it is compared with


async def find_spellings(connection: Connection, collection: Collection, words: Sequence[str]) -> dict[str, str]:
    """Return the nearest word of a chunk for each of the words that no chunk holds."""
    values = {"collection_id": collection.id, "words": list(words), "limit": LIKE_IT}
    found = {}
    for row in await fetch(connection, QUERIES["find_similar_lexemes"], values):
        if lexeme := nearest_word(row["word"], row["lexemes"]):
            query = f"{any_of([lexeme])} & {any_of([f'@{collection.id}'])}"  # causeway.home
            named = {"collection_id": collection.id, "candidates": query}
            for chunk in await fetch(connection, QUERIES["find_chunk_with"], named):
                if written := nearest_word(row["word"], words_of(chunk["text"])):
                    found[row["word"]] = written
    return found


EXACT_CHUNKS = 5_000  # as many vectors are compared in the time of a scan of the index
DETOUR_CHUNKS = 1_000  # and as many more each time that the index holds as many rows of others as of the collection
MOST_DIMENSIONS = 4_000  # of a halfvec in an index
EF_SEARCH = 200  # at least: recall@10 of .88 among 300,000 bundled vectors; 100 has .79, 400 has .92
OF_CHUNKS = "chunk_id IN (SELECT chunk_id FROM chunks WHERE collection_id = %(collection_id)s AND {filter})"
# Beside the index each row is looked up in its turn: OFFSET keeps that from becoming a join, which loses the order.
IN_CHUNK = """EXISTS (SELECT FROM chunks c WHERE c.collection_id = %(collection_id)s
                      AND c.chunk_id = chunk_embeddings.chunk_id AND {filter} OFFSET 0)"""


async def search_vectors(
    connection: Connection,
    collection: Collection,
    vector: Sequence[float],
    *,
    kind: VectorKind,
    filters: Filters,
    limit: int,
) -> list[dict[str, Any]]:
    """Rows of chunks, nearest first, each with its score in [0, 1]: `limit` of them wherever there are so many."""
    restriction = await restrict(connection, collection, filters)
    values = {
        "collection_id": collection.id,
        "model": collection.embedding_model,
        "kind": kind,
        "vector": HalfVector(list(vector)),
        "limit": limit,
        **restriction.values,
    }
    is_big = collection.chunk_count > EXACT_CHUNKS and not restriction.is_narrow
    if is_big and await _prepare_index_scan(connection, collection, kind, len(vector), limit):
        condition = IN_CHUNK.replace("{filter}", restriction.condition) if filters != EVERYTHING else "true"
        statement = (
            QUERIES["search_vectors_by_index"]
            .replace("{filter}", condition)
            .replace("{embedding}", f"embedding::halfvec({len(vector)})")
            .replace("{kind}", kind)
            .replace("{model}", _literal(collection.embedding_model).replace("%", "%%"))
        )
        rows = await fetch(connection, statement, values)
        if len(rows) == limit:
            return rows
    condition = OF_CHUNKS.replace("{filter}", restriction.condition) if filters != EVERYTHING else "true"
    return await fetch(connection, QUERIES["search_vectors_exactly"].replace("{filter}", condition), values)


async def build_index(
    connection: Connection, collection_id: UUID, model: str, dimensions: int, *, kind: VectorKind
) -> None:
    """Build the HNSW index of all collections with this model in the collection's partition.

    Writers are not blocked. Needs the tables' owner, outside a transaction.
    """
    suffix = _index_suffix(model, dimensions, kind)
    (found,) = await fetch(connection, QUERIES["find_index"], {"collection_id": collection_id, "suffix": suffix})
    if found["is_built"]:
        return
    partition, name = sql.Identifier(found["partition"]), sql.Identifier(found["partition"] + suffix)
    await connection.execute("SET maintenance_work_mem = '512MB'")
    half_built = sql.SQL("DROP INDEX CONCURRENTLY IF EXISTS causeway.{}").format(name)
    await connection.execute(half_built)
    await connection.execute(
        sql.SQL(
            "CREATE INDEX CONCURRENTLY {} ON causeway.{}"
            " USING hnsw ((embedding::halfvec({})) halfvec_cosine_ops) WHERE model = {} AND kind = {}"
        ).format(name, partition, sql.Literal(dimensions), sql.Literal(model), sql.Literal(kind))
    )
    await connection.execute("RESET maintenance_work_mem")  # a pooler keeps the session for others


async def _prepare_index_scan(
    connection: Connection, collection: Collection, kind: VectorKind, dimensions: int, limit: int
) -> bool:
    """False where there is no index, or where it holds so many rows of others that comparing all is quicker."""
    values = {
        "collection_id": collection.id,
        "suffix": _index_suffix(collection.embedding_model, dimensions, kind),
        "ef_search": max(EF_SEARCH, 2 * limit),
        "chunk_count": collection.chunk_count,
        "exact_chunks": EXACT_CHUNKS,
        "detour_chunks": DETOUR_CHUNKS,
    }
    return bool(await fetch(connection, QUERIES["prepare_index_scan"], values))


def _index_suffix(model: str, dimensions: int, kind: VectorKind) -> str:
    """Return what follows the partition's name in the name of its index."""
    suffix = f"_hnsw_{sha256(model.encode()).hexdigest()[:16]}_{dimensions}"
    return suffix if kind == "content" else f"{suffix}_{kind}"


def _literal(model: str) -> str:
    return sql.Literal(model).as_string(None)
