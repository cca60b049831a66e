"""From a question to causal chains: the neighbourhood of what it means, every simple path in it, the best first."""

import asyncio
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType
from uuid import UUID

from graphrag.causal_graph.chains import MAX_EDGES, Chains
from graphrag.causal_graph.question import CausalQuestion, forms, read_question
from graphrag.graph_models import CausalEdge, CausalNeighbourhood, CausalPath
from graphrag.models import EVERYTHING, Chunk, Collection, Filters, Hit, TransformedQuery
from graphrag.protocols import GraphStore

NEAR = 8  # hits whose chunks are taken to be about the question
SURE = 0.5  # confidence from which a link holds as part of a chain
JOINED = 0.45  # and joint from which two hold together
RELEVANT = 0.3  # below it a path is about something else
CONTEXT = 300  # characters before a quote, of which it may speak
NO_CHUNKS: Mapping[UUID, Chunk] = MappingProxyType({})
WHOLE = 0.05  # what each further sure link adds to the score: the whole chain is the better explanation
# What a word of the question counts outside the asked cause or effect.
OTHER_LINKS, TITLE, BEFORE, OTHER_END, QUOTE = 0.3, 0.4, 0.5, 0.5, 0.7


async def find_paths(
    query: TransformedQuery,
    hits: Sequence[Hit] = (),
    *,
    graph: GraphStore,
    collection: Collection,
    filters: Filters = EVERYTHING,
    limit: int = 5,
) -> list[CausalPath]:
    """Chains of at most MAX_EDGES links that end in what the question asks the causes of, or begin in what it asks the
    effects of; scores in [0, 1]. Empty where the documents state none that is about the question.

    `hits`: what a search for the question finds, best first: what they state may be meant, whatever its words.
    """
    question = read_question(query)
    if not question.weights:
        return []
    near = {hit.chunk.id: hit.score for hit in hits[:NEAR] if hit.score > 0}
    neighbourhood = await graph.find_causal_neighbourhood(
        collection, question.words, near=near, direction=question.direction, depth=MAX_EDGES, filters=filters
    )
    chunks = {hit.chunk.id: hit.chunk for hit in hits[:NEAR]}
    return (await asyncio.to_thread(rank_paths, neighbourhood, question, chunks))[:limit]


def rank_paths(
    neighbourhood: CausalNeighbourhood, question: CausalQuestion, chunks: Mapping[UUID, Chunk] = NO_CHUNKS
) -> list[CausalPath]:
    """Best first; of equals the direct before the indirect. No chain is listed that is part of a longer sure one, nor
    one that says in other words what a better one says.
    """
    chains = Chains(neighbourhood, question)
    judged = [path for edges in chains.all() if (path := _judge(edges, chains, question, chunks)).score > 0]
    ordered = sorted(judged, key=lambda path: (-path.score, len(path.edges), [str(edge.id) for edge in path.edges]))
    return list(_distinct(ordered, chains))


def _judge(
    edges: Sequence[CausalEdge], chains: Chains, question: CausalQuestion, chunks: Mapping[UUID, Chunk]
) -> CausalPath:
    """Where every link is sure, the chain counts as much as the link that answers, and a little more for each other.
    Where one is not, all doubts add up.
    """
    relevance = max(
        relevance_of(edges, asked, is_effect, chains.meant(entity_id), question, _before(asked, chunks), chains.rarity)
        for asked, is_effect, entity_id in _asked_ends(edges, question)
    )
    if relevance < RELEVANT:
        return CausalPath(tuple(edges), 0.0)
    links = [edge.confidence for edge in edges]
    joints = [chains.joints.between(one, other) for one, other in pairwise(edges)]
    if min(links) >= SURE and min(joints, default=1.0) >= JOINED:
        asked = links[0] if question.direction == "effects" else links[-1]
        surety = (1 + asked) / 2 * (1 + WHOLE * (len(edges) - 1))
    else:
        surety = math.prod([*links, *joints])
    return CausalPath(tuple(edges), min(1.0, relevance * surety))


def _asked_ends(edges: Sequence[CausalEdge], question: CausalQuestion) -> Iterator[tuple[CausalEdge, bool, UUID]]:
    """The links that touch what is asked for, whether by their effect, and that entity."""
    if question.direction != "effects":
        yield edges[-1], True, edges[-1].effect.id
    if question.direction != "causes":
        yield edges[0], False, edges[0].cause.id


def relevance_of(
    edges: Sequence[CausalEdge],
    asked: CausalEdge,
    is_effect: bool,
    meant: float,
    question: CausalQuestion,
    before: str,
    rarity: Mapping[str, float],
) -> float:
    """In [0, 1]: how surely the question means the asked end, and how much of it the chain holds.

    What only the other end of the asked link holds counts nothing: «why did the buyer leave?» is not answered by what
    his leaving caused.
    """
    entity, other = (asked.effect, asked.cause) if is_effect else (asked.cause, asked.effect)
    said = _said_of(entity.name, other.name, asked.quote)
    if not meant or question.contradicts(f"{entity.name} {said}"):
        return 0.0
    language = asked.document.language
    rest = frozenset().union(*(forms(edge.quote, edge.document.language) for edge in edges if edge is not asked))
    others = forms(other.name, language)
    held = question.share(
        [
            (forms(entity.name, language), 1.0),
            (forms(said, language), QUOTE),
            (forms(asked.document.title, language), TITLE),
            (forms(before, language), BEFORE),
            (rest - others, OTHER_LINKS),
            (others & question.names, OTHER_END),
        ],
        rarity,
    )
    return (meant + held) / 2


def _said_of(entity: str, other: str, quote: str) -> str:
    """The part of the quote that is not about the link's other end."""
    at, there = quote.find(entity), quote.find(other)
    if at < 0 or there < 0:
        return quote.replace(other, " ")
    return f"{quote[:there]} {quote[at:]}" if there < at else quote[:there]


def _before(edge: CausalEdge, chunks: Mapping[UUID, Chunk]) -> str:
    """What stands before the quote in its chunk."""
    chunk = chunks.get(edge.chunk_id)
    return chunk.content[: edge.start_char - chunk.start_char][-CONTEXT:] if chunk else ""


def _distinct(ordered: Sequence[CausalPath], chains: Chains) -> Iterator[CausalPath]:
    kept: list[CausalPath] = []
    for path in ordered:
        longer = [other for other in ordered if len(other.edges) > len(path.edges) and other.score >= path.score]
        if any(_contains(other, path) for other in longer):
            continue
        if not any(_says_the_same(path, other, chains) for other in kept):
            kept.append(path)
            yield path


def _contains(longer: CausalPath, path: CausalPath) -> bool:
    ids, wanted = [edge.id for edge in longer.edges], [edge.id for edge in path.edges]
    return any(ids[start : start + len(wanted)] == wanted for start in range(len(ids) - len(wanted) + 1))


def _says_the_same(path: CausalPath, other: CausalPath, chains: Chains) -> bool:
    return len(path.edges) == len(other.edges) and all(
        chains.same(one.cause.id, another.cause.id) and chains.same(one.effect.id, another.effect.id)
        for one, another in zip(path.edges, other.edges, strict=True)
    )
