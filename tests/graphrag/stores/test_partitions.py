"""The statements of the service read one partition of a table: that of their collection."""

import json
import re
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from pydantic import SecretStr

import graphrag
from graphrag.config.settings import Settings
from graphrag.db.database import fetch, queries
from graphrag.db.migrate import SETTINGS
from graphrag.services import Services, open_services
from graphrag.stores.postgres import search
from graphrag.stores.postgres.rows import QUERIES
from tests.conformance.test_chunk_store import Shelf
from tests.processes import ROOT

TABLES = "chunks|chunk_embeddings|lexeme_statistics|mentions|causal_edges"
VIEWS = "chunk_details|searchable_chunks|causal_edge_details"
TOUCHED = re.compile(rf"(?:FROM|JOIN|INTO|UPDATE|USING)\s+(?:{TABLES}|{VIEWS})\b")
PARAMETER = re.compile(r"(ANY \(|ALL \()?%\((\w+)\)[sbt](::\w+\[\])?")
SCANNED = re.compile(rf'"Relation Name": "({TABLES})_(\d+)"')
FILTER = "document_id = ANY (%(documents)s)"
STATEMENTS = {
    f"{path.stem}.{name}": statement
    for path in sorted(Path(graphrag.__file__).parent.rglob("*.sql"))
    for name, statement in queries(path).items()
    if TOUCHED.search(statement)
}
FILTERS = {
    "postgres.search_vectors_exactly": search.OF_CHUNKS.replace("{filter}", FILTER),
    "postgres.search_vectors_by_index": search.IN_CHUNK.replace("{filter}", FILTER),
}
PARTS = {"score": QUERIES["bm25"], "embedding": "embedding::halfvec(2)", "model": "'tiny'", "kind": "content"}
NUMBERS = """
    beside budget chunk_count chunk_index confidence depth detour_chunks ef_search end_char exact_chunks first idf kinds
    last limit links most parent_end parent_start scores sizes start_char steps synonym_of title_weight variants weight
    weights width window_start average_chars
""".split()
WORDS = """
    content context extractor into key keys kind language lexemes model models owner_id phrases polarity quote roots
    situation suffix synonyms type version words
""".split()
IDS = "cause_id chunk_id chunks collection_id document_id documents edge_id effect_id exact ids starts".split()
VALUES: dict[str, Any] = {
    **dict.fromkeys(NUMBERS, 1),
    **dict.fromkeys(WORDS, "content"),
    **{name: uuid4() for name in IDS},
    **dict.fromkeys(["embedding", "vector"], "[1,0]"),
    **dict.fromkeys(["places", "headers"], "[]"),
    "candidates": "content",
    "directions": "causes",
    "expires_at": None,
}
LISTS = {"chunks", "directions", "documents", "ids", "keys", "lexemes", "phrases", "roots", "starts"}

REMAINDER = """
    SELECT remainder FROM generate_series(0, 15) AS remainder
    WHERE satisfies_hash_partition('chunks'::regclass, 16, remainder, %(collection_id)s)
"""
HOLDING = """
    SELECT tableoid::regclass::text AS chunks, causeway.vector_partition(collection_id) AS vectors
    FROM chunks WHERE collection_id = %(collection_id)s
"""


@pytest.mark.parametrize("name", STATEMENTS)
async def test_a_statement_reads_one_partition_of_each_table(services: Services, owner: str, name: str) -> None:
    """R4.8, R4.1 however many collections there are: the plan, for its values, has no other partition."""
    statement = STATEMENTS[name].replace("{filter}", FILTERS.get(name, FILTER))
    for part, text in PARTS.items():
        statement = statement.replace(f"{{{part}}}", text)
    values = {
        parameter: [VALUES[parameter]] if before or cast or parameter in LISTS else VALUES[parameter]
        for before, parameter, cast in PARAMETER.findall(statement)
    }
    async with services.database.transaction(owner) as connection:
        plan = await (await connection.execute(f"EXPLAIN (FORMAT JSON) {statement}", values)).fetchall()
    scanned = set(SCANNED.findall(json.dumps(plan)))
    assert len(scanned) == len({table for table, _ in scanned}), scanned
    assert scanned or "INSERT" in statement


def test_all_statements_are_looked_at() -> None:
    """R4.1 those that search, walk, write and delete are among them."""
    known = set(chain.from_iterable(re.findall(TABLES, statement) for statement in STATEMENTS.values()))
    assert known == set(TABLES.split("|"))
    assert len(STATEMENTS) > 30


async def test_a_partition_is_split_as_the_documentation_says(make_database: Callable[[], str], owner: str) -> None:
    """R4.1, R4.8 its collections lie in two partitions afterwards, and are searched, written and deleted as before."""
    page = (ROOT / "docs" / "scale.md").read_text("utf-8")
    (split,) = re.findall(r"^    DO .*?^    END \$\$;", page, re.DOTALL | re.MULTILINE)
    url = make_database()
    services = open_services(Settings.from_environment(database_url=SecretStr(url)))
    try:
        shelves: dict[int, Shelf] = {}
        while not shelves.keys() >= {3, 5, 11}:
            collection = await services.store.create_collection(owner, f"{uuid4()}", embedding_model="tiny")
            async with services.database.transaction(owner) as connection:
                (row,) = await fetch(connection, REMAINDER, {"collection_id": collection.id})
            shelves[row["remainder"]] = Shelf(services.store, collection)
        for number, shelf in shelves.items():
            await shelf.put(f"El horno H{number} falló.", language="es")
        with psycopg.connect(url) as admin:
            admin.execute(SETTINGS)
            admin.execute(split.encode())
        for number in (3, 5, 11):
            shelf = shelves[number]
            assert await shelf.found("horno") == await shelf.near(1.0, 0.0) == [f"El horno H{number} falló."]
            async with services.database.transaction(owner) as connection:
                (row,) = await fetch(connection, HOLDING, {"collection_id": shelf.collection.id})
            assert row == {"chunks": f"chunks_{number}", "vectors": f"chunk_embeddings_{number}"}
            await shelf.put("Otro horno.", language="es", source="other")
            assert len(await shelf.found("horno")) == 2
            assert await services.store.delete_collection(shelf.collection)
    finally:
        await services.close()
