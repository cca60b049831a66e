"""The part of OpenAI's API that its clients need: a collection is a model."""

import asyncio
from base64 import b64encode
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Path, Request, Response

from agent.context import Context
from agent.graph import graph
from agent.nodes import has_model
from agent.output.events import Event, last_of, stream_answer
from api.dependencies import ConversingDep, OwnerDep, ServicesDep, StreamsDep
from api.middleware.json_bodies import JsonRoute
from api.openai.answers import (
    ClientStream,
    Done,
    Head,
    OpenAIQuestion,
    UsageOf,
    read_request,
    write_chunks,
    write_completion,
)
from api.openai.responses import ResponseWriter, begin_response, find_branch_point, not_found
from api.openai.schemas import (
    DEFAULT_MODEL,
    Completion,
    CompletionRequest,
    EmbeddingOut,
    EmbeddingsRequest,
    EmbeddingsResponse,
    EmbeddingsUsage,
    ModelList,
    ModelName,
    ModelOut,
    ResponseOut,
    ResponseRequest,
    Usage,
)
from api.routes.chat import begin_answer, while_client_waits
from api.schemas.fields import errors
from api.streaming.sse import EVENT_STREAM, with_errors
from api.timed_search import answering
from graphrag.embeddings.registry import EmbeddingModel, cached, embed_batches
from graphrag.errors import (
    CollectionNotFound,
    ConversationNotFound,
    JsonUnavailable,
    MessageNotFound,
    ModelNotFound,
    ProviderError,
    UnsupportedParameter,
)
from graphrag.models import Collection
from graphrag.query_transformation.transformation import check_question
from graphrag.services import Services

router = APIRouter(route_class=JsonRoute, tags=["openai"])


async def find_collection(model: str, services: Services, owner: str) -> Collection:
    """Raises ModelNotFound; CollectionNotFound where there is no default one."""
    try:
        return await services.collections.open(owner, model)
    except CollectionNotFound as exc:
        if model == DEFAULT_MODEL:
            return await services.collections.open(owner, None)
        known = [DEFAULT_MODEL, *exc.details["known"]]
        raise ModelNotFound(f"There is no model {model!r}.", model=model, known=known) from exc


async def make_context(model: str, asked: OpenAIQuestion, services: Services, owner: str) -> Context:
    """Checked before a stream begins, so that what is wrong with the request still has its HTTP status."""
    check_question(asked.messages[-1].text, max_chars=services.settings.search.max_question_chars)
    opened: tuple[Collection, ...] = ()
    if services.settings.chat.enabled:
        opened = (await find_collection(model, services, owner),)
        await services.collections.embedding_model(*opened)
    context = Context(
        instructions=asked.instructions,
        owner_id=owner,
        opened=opened,
        services=services,
        answer_schema=asked.answer_schema,
    )
    if asked.answer_schema and not has_model(context, opened):
        raise JsonUnavailable("No language model is configured that could answer as JSON.")
    return context


@router.post(
    "/chat/completions",
    summary="Create a chat completion, whole or streamed, compatible with OpenAI's API",
    description="The answer is not stored. Its citations are Markdown footnotes; `citations` and "
    "`causeway`, in the answer or in the last chunk that has a choice, hold their details. With a `response_format` of "
    "JSON, the language model writes the verified answer into it; `causeway.statements` has a verdict for each of its "
    "texts. If a started stream fails, "
    "its last chunk has only `error`, with the text so far as `partial_answer`.",
    response_model=Completion,
    responses={
        200: {"content": EVENT_STREAM},
        **errors(400, 404, 409, 502, 504),
    },
)
async def create_chat_completion(
    body: CompletionRequest, services: ServicesDep, streams: StreamsDep, owner: OwnerDep, request: Request
) -> Completion | Response:
    asked = await asyncio.to_thread(read_request, body)
    context = await make_context(body.model, asked, services, owner)
    head, usage_of = Head(body.model), usage_estimator(asked, services)

    async with answering(services, owner) as slot:
        events = stream_answer(graph, asked.messages, replace(context, slot=slot))
        if not body.stream:
            done = await while_client_waits(request, last_of(events))
            return write_completion(head, done, await usage_of(done), asked)
        wants_usage = body.stream_options and body.stream_options.include_usage
        chunks = write_chunks(events, head, asked=asked, usage_of=usage_of if wants_usage else None)
        async with streams.admitted(owner) as stream_id:
            stream = streams.start(with_errors(chunks, request), owner, stream_id)
            stream.at_end(slot.keep())
    return ClientStream(stream, streams)


@router.post(
    "/responses",
    summary="Create a response, whole or streamed, compatible with OpenAI's API",
    description="The answer has marks [1]; its citations are annotations of the text, and `citations` and `causeway` "
    "hold their details. With a `text.format` of JSON, the language model writes the verified answer into it; its "
    "texts have the annotations. The response is stored as a conversation, which `previous_response_id` continues. If "
    "a started stream fails, its last event has only `error`, with the text so far as `partial_answer`.",
    response_model=ResponseOut,
    responses={
        200: {"content": EVENT_STREAM},
        **errors(400, 404, 409, 502, 504),
    },
)
async def create_response(
    body: ResponseRequest,
    services: ServicesDep,
    conversing: ConversingDep,
    streams: StreamsDep,
    owner: OwnerDep,
    request: Request,
) -> ResponseOut | Response:
    asked = await asyncio.to_thread(read_request, body)
    place = find_branch_point(body, asked)
    context = await make_context(body.model, asked, services, owner)

    def address_of(citation: Done) -> str:
        address = request.url_for("get_document_text", document_id=citation["document_id"])
        span = {"start_char": citation["start_char"], "end_char": citation["end_char"]}
        return str(address.include_query_params(**span))

    async def begin(placed: Context) -> tuple[ResponseOut, AsyncGenerator[Event, None]]:
        if place is None:
            return begin_response(body, None), stream_answer(graph, asked.messages, placed)
        question = asked.messages[-1].text
        named = [body.model] if any(collection.name == body.model for collection in context.opened) else []
        try:
            events, turn = await begin_answer(question, place, placed, conversing, collections=named)
        except (ConversationNotFound, MessageNotFound) as exc:
            raise not_found(body.previous_response_id) from exc
        return begin_response(body, turn), events

    writer = ResponseWriter(asked, usage_estimator(asked, services), address_of)
    async with answering(services, owner) as slot:
        placed = replace(context, slot=slot)
        if not body.stream:
            begun, events = await begin(placed)
            return await writer.write(begun, await while_client_waits(request, last_of(events)))
        async with streams.admitted(owner) as stream_id:
            begun, events = await begin(placed)
            stream = streams.start(with_errors(writer.write_events(events, begun), request), owner, stream_id)
            stream.at_end(slot.keep())
    return ClientStream(stream, streams)


def usage_estimator(asked: OpenAIQuestion, services: Services) -> UsageOf:
    read = [*(message.text for message in asked.messages), asked.instructions]

    async def usage_of(done: Done) -> Usage:
        return await asyncio.to_thread(estimate_usage, read, done, services)

    return usage_of


def estimate_usage(read: list[str], done: Done, services: Services) -> Usage:
    texts = [*read, *(source["content"] for source in done["sources"])]
    *prompt, completion = services.bundled_embeddings.count_tokens([*texts, done["answer"]])
    return Usage.of(sum(prompt), completion)


@router.get("/models", summary="List your collections as models; `causeway` is the default collection")
async def list_models(services: ServicesDep, owner: OwnerDep) -> ModelList:
    names = [collection.name for collection in await services.store.list_collections(owner)]
    try:
        await services.collections.open(owner, None)
        names = [DEFAULT_MODEL, *names]
    except CollectionNotFound:
        pass
    return ModelList(data=[ModelOut(id=name) for name in dict.fromkeys(names)])


@router.get("/models/{model:path}", summary="Get a collection as a model", responses=errors(404))
async def get_model(model: Annotated[ModelName, Path()], services: ServicesDep, owner: OwnerDep) -> ModelOut:
    await find_collection(model, services, owner)
    return ModelOut(id=model)


@router.post("/embeddings", summary="Embed texts with the model used for documents", responses=errors(400, 404, 502))
async def create_embeddings(body: EmbeddingsRequest, services: ServicesDep, owner: OwnerDep) -> EmbeddingsResponse:
    model = await find_embedding_model(body.model, services, owner)
    if body.dimensions not in (None, model.dimensions):
        raise UnsupportedParameter(f"{model.id!r} has {model.dimensions} dimensions.", param="dimensions")
    vectors, failed = await embed_batches(
        body.texts, model, batch_size=services.settings.ingestion_limits.embedding_batch_size
    )
    if failed:
        raise ProviderError(failed[0].cause)
    tokens = sum(await asyncio.to_thread(model.count_tokens, body.texts))
    encode = _base64 if body.encoding_format == "base64" else _same
    return EmbeddingsResponse(
        data=[EmbeddingOut(index=index, embedding=encode(vector)) for index, vector in enumerate(vectors) if vector],
        model=body.model,
        usage=EmbeddingsUsage(prompt_tokens=tokens, total_tokens=tokens),
    )


async def find_embedding_model(name: str, services: Services, owner: str) -> EmbeddingModel:
    """Return an embedding model by its id, or by a collection.

    Raises ModelNotFound, CollectionNotFound or EmbeddingModelUnavailable.
    """
    registry = services.embeddings
    if name not in registry.models:
        try:
            return await services.collections.embedding_model(await find_collection(name, services, owner))
        except ModelNotFound as exc:
            exc.details["known"] += registry.models
            raise
    return cached(registry.get(name), cache=services.cache, owner_id=owner)


def _base64(vector: list[float]) -> str:
    return b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def _same(vector: list[float]) -> list[float]:
    return vector
