"""One search: its parameters, and what it finds."""

import math
import operator
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.typesense_server.collection import Collection
from tests.typesense_server.contract import Refusal, Values, check_names, require, unsigned
from tests.typesense_server.filters import parse_filter
from tests.typesense_server.word_search import Query, search_words

MOST_PER_PAGE = 250
PARAMETERS = {
    *("q", "query_by", "filter_by", "vector_query", "include_fields", "exclude_fields", "page", "per_page"),
    *("prefix", "num_typos", "typo_tokens_threshold", "drop_tokens_threshold"),
    *("highlight_fields", "highlight_full_fields"),
}
VECTOR_PARAMETERS = {"k", "flat_search_cutoff", "distance_threshold"}
VECTOR_QUERY = re.compile(r"\s*(?P<field>[\w.]+)\s*:\s*\(\s*\[(?P<values>[^\]]*)\]\s*(?P<options>(,[^,()]*)*)\)\s*")


def search(collection: Collection, parameters: Mapping[str, Any]) -> Values:
    check_names(parameters, PARAMETERS)
    require("q" in parameters, 400, "Parameter `q` is required.")
    per_page, page = unsigned(parameters, "per_page", 10), unsigned(parameters, "page", 1)
    require(per_page <= MOST_PER_PAGE, 422, f"Only upto {MOST_PER_PAGE} hits can be fetched per page.")
    require(page > 0, 422, "Page must be an integer of value greater than 0.")
    holds = parse_filter(str(parameters.get("filter_by", "")), collection)
    documents = [document for document in collection.documents.values() if holds(document)]
    if "vector_query" in parameters:
        require(parameters["q"] == "*", 400, "Hybrid search is not served here.")
        hits = _nearest(collection, str(parameters["vector_query"]), documents, default=per_page * page)
    elif parameters["q"] == "*":
        hits = [{"document": document} for document in documents]
    else:
        hits = _worded(collection, parameters, documents)
    shown = [_shown(hit, parameters) for hit in hits[(page - 1) * per_page : page * per_page]]
    return {
        "facet_counts": [],
        "found": len(hits),
        "hits": shown,
        "out_of": len(collection.documents),
        "page": page,
        "request_params": {"collection_name": collection.told()["name"], "per_page": per_page, "q": parameters["q"]},
        "search_cutoff": False,
        "search_time_ms": 0,
    }


def _worded(collection: Collection, parameters: Mapping[str, Any], documents: Sequence[Values]) -> list[Values]:
    require("query_by" in parameters, 400, "No search fields specified for the query.")
    fields = [name.strip() for name in str(parameters["query_by"]).split(",")]
    for name in fields:
        field = collection.fields.get(name)
        if field is None:
            raise Refusal(404, f"Could not find a field named `{name}` in the schema.")
        require(field["type"] in ("string", "string[]"), 400, f"Field `{name}` should be a string or a string array.")
        require(field["index"], 400, f"Field `{name}` is marked as a non-indexed field in the schema.")
    # Of equal matches, by the default sorting field: the highest first.
    by_sorting = sorted(documents, key=lambda document: -document.get(collection.sorting_field, 0))
    return [
        {"document": document, "text_match": int(info["score"]), "text_match_info": info}
        for document, info in search_words(Query.parse(parameters), fields, by_sorting)
    ]


def _nearest(collection: Collection, text: str, documents: Sequence[Values], default: int) -> list[Values]:
    """The `k` nearest by cosine, each of them compared: the index of a real server may miss some."""
    read = VECTOR_QUERY.fullmatch(text)
    if read is None:
        raise Refusal(400, "Malformed vector query string.")
    field = collection.fields.get(read["field"], {})
    dimensions = field.get("num_dim")
    require(dimensions, 400, f"Field `{read['field']}` does not have a vector query index.")
    vector = _floats(read["values"])
    require(vector, 400, "When a vector query value is empty, an `id` parameter must be present.")
    require(len(vector) == dimensions, 400, f"Query field `{read['field']}` must have {dimensions} dimensions.")
    pairs = [[part.strip() for part in option.partition(":")[::2]] for option in read["options"].split(",")[1:]]
    options = dict(pairs)
    check_names(options, VECTOR_PARAMETERS)
    for name in ("k", "flat_search_cutoff"):
        wrong = f"Malformed vector query string: `{name}` parameter must be an integer."
        require(options.get(name, "0").isdecimal(), 400, wrong)
    farthest = _floats(options.get("distance_threshold", "2"))[0]
    distances = [
        (1 - _cosine(vector, document[read["field"]]), document) for document in documents if read["field"] in document
    ]
    near = sorted((pair for pair in distances if pair[0] <= farthest), key=lambda pair: pair[0])
    k = int(options.get("k", default))
    return [{"document": document, "vector_distance": distance} for distance, document in near[:k]]


def _floats(text: str) -> list[float]:
    try:
        return [float(value) for value in text.split(",")] if text.strip() else []
    except ValueError:
        wrong = "Malformed vector query string: one of the vector values is not a float."
        raise Refusal(400, wrong) from None


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    length = math.hypot(*left) * math.hypot(*right)
    return math.fsum(map(operator.mul, left, right)) / length if length else 0.0


def _shown(hit: Values, parameters: Mapping[str, Any]) -> Values:
    return hit | {"document": selected(hit["document"], parameters), "highlight": {}, "highlights": []}


def selected(document: Values, parameters: Mapping[str, Any]) -> Values:
    """Its `include_fields` without its `exclude_fields`."""
    included, excluded = (
        {name.strip() for name in str(parameters.get(of, "")).split(",") if name.strip()}
        for of in ("include_fields", "exclude_fields")
    )
    return {
        name: value for name, value in document.items() if (not included or name in included) and name not in excluded
    }
