"""The strict server as Typesense: the form of what it says, and that it refuses what it should."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.typesense_server import KEY, Cut, Fail, Garbage, Hang, TypesenseServer

FIELDS: list[dict[str, Any]] = [
    {"name": "title", "type": "string"},
    {"name": "tags", "type": "string[]", "facet": True, "optional": True},
    {"name": "points", "type": "int32"},
    {"name": "vector", "type": "float[]", "num_dim": 2, "optional": True},
    {"name": "extra", "type": "object", "optional": True, "index": False},
]
SCHEMA = {"name": "books", "fields": FIELDS, "default_sorting_field": "points", "enable_nested_fields": True}
BOOKS = [
    {"id": "a", "title": "Plant oven, the first", "tags": ["Fire, smoke", "x&&y"], "points": 3, "vector": [1.0, 0.0]},
    {"id": "b", "title": "The plant has one oven", "tags": ["smoke"], "points": 5, "vector": [0.6, 0.8]},
    {"id": "c", "title": "Énergie: l'usine", "points": 7, "vector": [0.0, 2.0], "extra": {"page": 1}},
    {"id": "d", "title": "Planting trees", "points": 9},
]


@pytest.fixture(scope="module")
def running() -> Iterator[TypesenseServer]:
    with TypesenseServer() as server:
        yield server


@pytest.fixture(scope="module")
def client(running: TypesenseServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=running.url, headers={"X-TYPESENSE-API-KEY": KEY}) as opened:
        yield opened


@pytest.fixture
def server(running: TypesenseServer) -> TypesenseServer:
    running.reset()
    return running


@pytest.fixture
def http(server: TypesenseServer, client: httpx.Client) -> httpx.Client:
    """Of a server that knows nothing."""
    return client


@pytest.fixture
def books(http: httpx.Client) -> httpx.Client:
    assert http.post("/collections", json=SCHEMA).status_code == 201
    assert all(line["success"] for line in load(http, *BOOKS))
    return http


def load(http: httpx.Client, *documents: Any, action: str = "upsert") -> list[dict[str, Any]]:
    lines = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in documents)
    answer = http.post("/collections/books/documents/import", params={"action": action}, content=lines)
    return [json.loads(line) for line in answer.text.split("\n")]


def search(http: httpx.Client, **parameters: Any) -> dict[str, Any]:
    one = {"collection": "books", "q": "*", **parameters}
    (result,) = http.post("/multi_search", json={"searches": [one]}).json()["results"]
    return dict(result)


def found(http: httpx.Client, **parameters: Any) -> list[str]:
    return [hit["document"]["id"] for hit in search(http, **parameters)["hits"]]


def test_it_asks_for_its_key(server: TypesenseServer) -> None:
    """R13.1 401, except for its health."""
    assert httpx.get(f"{server.url}/health").json() == {"ok": True}
    answer = httpx.get(f"{server.url}/collections", headers={"X-TYPESENSE-API-KEY": "another"})
    assert (answer.status_code, answer.json()["message"].split(" - ")[0]) == (401, "Forbidden")


def test_a_collection_is_made_once_and_told(http: httpx.Client) -> None:
    """R13.1 with the name, fields and metadata that it was given; 409 the second time, 404 where there is none."""
    made = http.post("/collections", json=SCHEMA | {"metadata": {"embedding_model": "tiny"}})
    assert made.status_code == 201
    told = http.get("/collections/books").json()
    assert [field["name"] for field in told["fields"]] == ["title", "tags", "points", "vector", "extra"]
    assert (told["metadata"], told["num_documents"]) == ({"embedding_model": "tiny"}, 0)
    assert http.get("/collections").json() == [told]
    again = http.post("/collections", json=SCHEMA)
    assert (again.status_code, again.json()["message"]) == (409, "A collection with name `books` already exists.")
    assert http.delete("/collections/books").status_code == 200
    assert http.get("/collections/books").status_code == 404
    assert http.get("/elsewhere").status_code == 404


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "Parameter `name` is required"),
        ({"fields": []}, "Parameter `fields` is required"),
        ({"fields": [{"name": "points", "type": "number"}]}, "invalid data type"),
        ({"fields": [{"name": "points", "type": "int32", "colour": "red"}]}, "`colour` is unknown"),
        ({"fields": [*FIELDS, FIELDS[0]]}, "already part of the schema"),
        ({"fields": [*FIELDS[:4], {"name": "extra", "type": "object", "index": False}]}, "must be optional"),
        ({"fields": [*FIELDS, {"name": "more", "type": "string", "num_dim": 2}]}, "only allowed on a float array"),
        ({"enable_nested_fields": False}, "only when nested fields are enabled"),
        ({"default_sorting_field": "rank"}, "not found in the schema"),
        ({"default_sorting_field": "title"}, "must be a single valued numerical field"),
        ({"fields": [{"name": "points", "type": "int32", "optional": True}]}, "cannot be an optional field"),
        ({"ttl": 3600}, "`ttl` is unknown"),
    ],
)
def test_a_schema_that_is_none_is_refused(http: httpx.Client, change: dict[str, Any], said: str) -> None:
    """R13.1 400, with the reason."""
    answer = http.post("/collections", json=SCHEMA | change)
    assert answer.status_code == 400
    assert said in answer.json()["message"]
    assert http.get("/collections").json() == []


def test_each_document_of_an_import_is_judged_alone(books: httpx.Client) -> None:
    """R13.1 a line each, in order: what was wrong with it, and the document itself."""
    good = BOOKS[3] | {"id": "e"}
    wrong: list[tuple[Any, str]] = [
        (good | {"title": 7}, "`title` must be a string"),
        (good | {"points": "7"}, "`points` must be an int32"),
        (good | {"points": 1 << 31}, "`points` must be an int32"),
        (good | {"points": True}, "`points` must be an int32"),
        (good | {"tags": "smoke"}, "`tags` must be an array"),
        (good | {"tags": None}, "declared in the schema, but is not found"),
        (good | {"vector": [1.0]}, "`vector` must have 2 dimensions"),
        (good | {"extra": []}, "`extra` must be an object"),
        (good | {"id": 5}, "`id` field should be a string"),
        ({"id": "e", "points": 1}, "`title` has been declared in the schema"),
        ({"id": "e", "title": "No points"}, "declared as a default sorting field"),
        ("{", "Expecting"),
        ("[]", "Bad JSON"),
    ]
    *refused, taken = load(books, *[document for document, _ in wrong], good)
    assert [said in line["error"] for line, (_, said) in zip(refused, wrong, strict=True)] == [True] * len(wrong)
    assert {(line["success"], line["code"]) for line in refused} == {(False, 400)}
    assert json.loads(refused[0]["document"])["id"] == "e"
    assert taken == {"success": True}


def test_an_import_creates_or_replaces(books: httpx.Client) -> None:
    """R13.1 create refuses an id that there is, upsert replaces; another action, or none to import, is 400."""
    (line,) = load(books, BOOKS[0], action="create")
    assert (line["code"], line["success"]) == (409, False)
    load(books, BOOKS[0] | {"title": "Another"})
    assert search(books, filter_by="id:a")["hits"][0]["document"]["title"] == "Another"
    assert len(found(books)) == 4
    path = "/collections/books/documents/import"
    assert books.post(path, params={"action": "emplace"}, content="{}").status_code == 400
    assert books.post(path, params={"mode": "upsert"}, content="{}").status_code == 400
    assert books.post(path, content="").status_code == 400


@pytest.mark.parametrize(
    ("filter_by", "ids"),
    [
        ("", "abcd"),
        ("points:>3", "bcd"),
        ("points:>= 5 && points:<9", "bc"),
        ("points:!=5", "acd"),
        ("points:=7", "c"),
        ("points:[3..5, 9]", "abd"),
        ("id:=[a,c,z]", "ac"),
        ("id:d", "d"),
        ("tags:smoke", "ab"),
        ("tags:=smoke", "b"),
        ("tags:=SMOKE", "b"),
        ("tags:=[`Fire, smoke`]", "a"),
        ("tags:=`x&&y`", "a"),
        ("tags:!=smoke", "acd"),
        ("title:the plant", "b"),
        ("title:=energie lusine", "c"),
        ("points:3 || points:5 && tags:=smoke", "b"),  # both bind alike, from the left
        ("points:3 || (points:5 && tags:=smoke)", "ab"),
        ("((points:9))", "d"),
    ],
)
def test_filters(books: httpx.Client, filter_by: str, ids: str) -> None:
    """R13.1 what a condition, a list, a comparison, a conjunction and backticks mean."""
    assert found(books, filter_by=filter_by) == list(ids)


@pytest.mark.parametrize(
    ("filter_by", "code", "said"),
    [
        ("points", 400, "Could not parse"),
        ("& points:>3", 400, "Could not parse"),
        ("points:>3 &&", 400, "unbalanced operands"),
        ("(points:>3", 400, "unbalanced parentheses"),
        ("points:>3)", 400, "unbalanced parentheses"),
        ("points:many", 400, "Not an int32"),
        ("points:>7.5", 400, "Not an int32"),
        ("title:", 400, "cannot be empty"),
        ("title:=``", 400, "cannot be empty"),
        ("pages:>3", 404, "Could not find a filter field named `pages`"),
        ("extra:x", 404, "Could not find a filter field named `extra`"),
        ("vector:1", 404, "Cannot filter on vector field"),
        (" || ".join(["points:3"] * 51), 400, "too many operations"),
    ],
)
def test_filters_that_are_none_are_refused(books: httpx.Client, filter_by: str, code: int, said: str) -> None:
    """R13.1 with the status and the words that Typesense has for it."""
    result = search(books, filter_by=filter_by)
    assert (result["code"], said in result["error"]) == (code, True), result


def test_vectors_are_found_by_cosine(books: httpx.Client) -> None:
    """R13.1 the distance is what the cosine lacks of 1; a document without a vector is none's neighbour."""
    hits = search(books, vector_query="vector:([0.0, 1.0], k:10)", include_fields="id")["hits"]
    assert [(hit["document"], round(hit["vector_distance"], 9)) for hit in hits] == [
        ({"id": "c"}, 0.0),
        ({"id": "b"}, 0.2),
        ({"id": "a"}, 1.0),
    ]
    assert found(books, vector_query="vector:([0.0, 1.0], k:2, flat_search_cutoff:20)") == ["c", "b"]
    assert found(books, vector_query="vector:([0,1], distance_threshold:0.5)", filter_by="points:>5") == ["c"]


@pytest.mark.parametrize(
    ("vector_query", "said"),
    [
        ("vector:([1.0])", "must have 2 dimensions"),
        ("vector:([])", "an `id` parameter must be present"),
        ("vector:([1.0, x])", "not a float"),
        ("vector:[1.0, 0.0]", "Malformed"),
        ("vector:([1.0, 0.0], k:many)", "must be an integer"),
        ("vector:([1.0, 0.0], size:3)", "`size` is unknown"),
        ("title:([1.0, 0.0])", "does not have a vector query index"),
        ("other:([1.0, 0.0])", "does not have a vector query index"),
    ],
)
def test_vector_queries_that_are_none_are_refused(books: httpx.Client, vector_query: str, said: str) -> None:
    """R13.1 400, with the reason."""
    result = search(books, vector_query=vector_query)
    assert (result["code"], said in result["error"]) == (400, True), result


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ({"q": "plant", "prefix": False}, "ba"),  # as good as each other: the default sorting field decides
        ({"q": "OVEN plant", "prefix": False}, "ab"),  # nearer together
        ({"q": "usine", "num_typos": 0}, ""),
        ({"q": "lusine énergie"}, "c"),
        ({"q": "plant"}, "bad"),  # a beginning is worth less
        ({"q": "plan", "prefix": False}, "ba"),  # one mistake
        ({"q": "plan", "prefix": "false", "num_typos": 0}, ""),
        ({"q": "palnt", "prefix": False}, "ba"),
        ({"q": "ovn", "prefix": False}, ""),  # three letters allow for none
        ({"q": "plnnting", "prefix": False}, "d"),
        ({"q": "oven fire", "prefix": False}, "ba"),  # the last word is left out
        ({"q": "oven fire", "drop_tokens_threshold": 0}, ""),
        ({"q": "fire oven"}, ""),  # fire alone finds nothing
        ({"q": "plant -one", "prefix": False}, "a"),
        ({"q": "trees the plant", "drop_tokens_threshold": 9, "prefix": False}, "d"),
    ],
)
def test_words_are_found(books: httpx.Client, query: dict[str, Any], ids: str) -> None:
    """R13.1 whole words, beginnings, mistakes, words left out from the end and words that are unwanted."""
    assert found(books, query_by="title", **query) == list(ids)


def test_text_match_tells_words_before_mistakes_before_distance(books: httpx.Client) -> None:
    """R13.1 its highest bits count the words; it is told in parts, too."""

    def matched(q: str) -> dict[str, int]:
        hits = search(books, q=q, query_by="title", prefix=False)["hits"]
        return {hit["document"]["id"]: hit["text_match"] for hit in hits}

    both, one, mistaken = matched("plant oven"), matched("plant"), matched("plabt")
    assert both["a"] >> 59 == 2
    assert both["a"] > both["b"] > one["a"] > mistaken["a"]
    info = search(books, q="plant", query_by="title")["hits"][0]["text_match_info"]
    assert (info["tokens_matched"], info["num_tokens_dropped"], info["typo_prefix_score"]) == (1, 0, 0)
    assert int(info["score"]) == 1 << 59 | int(info["best_field_score"]) << 11 | info["best_field_weight"] << 3 | 1


@pytest.mark.parametrize(
    ("parameters", "code", "said"),
    [
        ({"q": "plant"}, 400, "No search fields"),
        ({"q": "plant", "query_by": "name"}, 404, "Could not find a field named `name`"),
        ({"q": "plant", "query_by": "points"}, 400, "should be a string"),
        ({"q": "plant", "query_by": "title", "vector_query": "vector:([1,0])"}, 400, "not served here"),
        ({"q": '"the plant"', "query_by": "title"}, 400, "not served here"),
        ({"per_page": 251}, 422, "Only upto 250 hits"),
        ({"per_page": -1}, 400, "unsigned integer"),
        ({"page": 0}, 422, "greater than 0"),
        ({"collection": "films"}, 404, "Not found."),
        ({"size": 10}, 400, "`size` is unknown"),
        ({"sort_by": "points:asc"}, 400, "`sort_by` is unknown or not served"),
    ],
)
def test_searches_that_are_none_are_refused(
    books: httpx.Client, parameters: dict[str, Any], code: int, said: str
) -> None:
    """R13.1 with the status and the words that Typesense has for it; no parameter is silently left out."""
    result = search(books, **parameters)
    assert (result["code"], said in result["error"]) == (code, True), result


def test_pages(books: httpx.Client) -> None:
    """R13.1 the second page begins where the first ended; how many there are in all is told."""
    assert [found(books, per_page=3, page=page) for page in (1, 2, 3)] == [["a", "b", "c"], ["d"], []]
    assert search(books, per_page=3)["found"] == 4


def test_searches_that_come_together_are_answered_in_order(books: httpx.Client) -> None:
    """R13.1 one that is refused spoils no other; there are fifty at most."""
    one = {"collection": "books", "q": "*"}
    searches = {"searches": [one | {"filter_by": "points:3"}, one | {"page": 0}, one | {"filter_by": "points:5"}]}
    first, second, third = books.post("/multi_search", json=searches).json()["results"]
    assert [first["hits"][0]["document"]["id"], second["code"], third["found"]] == ["a", 422, 1]
    assert books.post("/multi_search", json={"searches": [one] * 50}).status_code == 200
    for wrong in ({"searches": [one] * 51}, {"searches": "all"}, {"queries": [one]}, {"searches": [], "union": True}):
        assert books.post("/multi_search", json=wrong).status_code == 400
    assert books.post("/multi_search", content="{").status_code == 400


def test_a_search_in_an_address_is_a_short_one(books: httpx.Client) -> None:
    """R13.1 4,000 characters."""
    path = "/collections/books/documents/search"
    assert books.get(path, params={"q": "oven", "query_by": "title"}).json()["found"] == 2
    answer = books.get(path, params={"q": "p" * 4000, "query_by": "title"})
    assert (answer.status_code, "Use the /multi_search end-point" in answer.json()["message"]) == (400, True)


def test_documents_are_exported_and_deleted_by_filter(books: httpx.Client) -> None:
    """R13.1 a line each; nothing is deleted without a filter."""
    path = "/collections/books/documents"
    exported = books.get(f"{path}/export", params={"filter_by": "points:<6", "exclude_fields": "title,tags,vector"})
    assert [json.loads(line) for line in exported.text.split("\n")] == [
        {"id": "a", "points": 3},
        {"id": "b", "points": 5},
    ]
    assert books.delete(path).status_code == 400
    assert books.delete(path, params={"filter_by": "pages:1"}).status_code == 404
    assert books.delete(path, params={"filter_by": "points:<6"}).json() == {"num_deleted": 2}
    assert books.get(f"{path}/export", params={"filter_by": "points:<6"}).text == ""
    assert found(books) == ["c", "d"]


def test_it_fails_as_it_is_told(server: TypesenseServer, books: httpx.Client) -> None:
    """R13.1 once a fault: a status, a web page, an answer that breaks off, silence; or some documents are refused."""
    server.fail(Fail(503), Garbage(), Cut(), Hang(5))
    assert books.get("/collections").status_code == 503
    assert "log in" in books.get("/collections").text
    with pytest.raises(httpx.RemoteProtocolError):
        books.get("/collections")
    with pytest.raises(httpx.ReadTimeout):
        books.get("/collections", timeout=0.05)
    server.refuses = lambda document: document["id"] == "a"
    assert [line["success"] for line in load(books, *BOOKS)] == [False, True, True, True]


def test_it_goes_and_comes_back(server: TypesenseServer, books: httpx.Client) -> None:
    """R13.1 at the same address, with what it had."""
    with server.away(), pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/health")
    assert httpx.get(f"{server.url}/health").status_code == 200
    assert found(books) == ["a", "b", "c", "d"]
