"""The stages of an answer: each reads the state, calls one function, returns the change; a failure is done without."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_stream_writer
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from agent.chains import chain_lines
from agent.context import Context, owner_of
from agent.context_window import Window, fit, log_cut
from agent.messages import DEFAULT_LANGUAGE, is_not_found, say
from agent.output.answer_writing import first_answer, write_answer
from agent.output.events import sources_event, status_event, token_event
from agent.prompts import build_plain_prompt, build_prompt, history_window
from agent.reach import expansion_window
from agent.state import Input, State
from agent.verification.checking import Verification
from agent.verification.checking import verify as verify_citations
from agent.verification.judge import open_judge
from graphrag.causal_graph import traversal
from graphrag.causal_graph.traversal import find_paths
from graphrag.llm.chat_models import EXTRACTIVE, beginning_with
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Collection, Filters, Intent, Passage, TransformedQuery
from graphrag.observability.telemetry import count_answer, count_citations, count_results, log, stage
from graphrag.query_transformation import transformation
from graphrag.query_transformation.follow_ups import Exchange
from graphrag.query_transformation.transformation import check_question
from graphrag.resilience.deadline import within
from graphrag.resilience.load_shedding import Effort
from graphrag.retrieval import expansion, federated
from graphrag.retrieval.filters import parse_filters
from graphrag.retrieval.named_files import within as within_files
from graphrag.retrieval.pipeline import follow_names, rank, simplified
from graphrag.services import Services

CITED = "cited_titles"  # the key in an answer's additional_kwargs: what a follow-up question may speak of


async def transform(state: Input, runtime: Runtime[Context]) -> dict[str, Any]:
    context, services = runtime.context, runtime.context.services
    question = check_question(state["messages"][-1].text, max_chars=services.settings.max_question_chars)
    earlier = _exchanges(state["messages"][:-1])
    query = TransformedQuery(question, DEFAULT_LANGUAGE, Intent.FACTUAL)
    degraded = []
    try:
        with stage("transform"):
            query = await asyncio.to_thread(transformation.transform, question, earlier)
        if services.refiner and _refines(context) and services.may_read(await _collection(runtime)):
            async with within("transform"):
                query = await services.refiner.refine(query, earlier, owner_id=owner_of(runtime))
    except Exception as exc:
        degraded = [_degrade("transform", exc)]
    empty: dict[str, Any] = {"paths": [], "passages": [], "warnings": [], "chat_model": None}
    return {"question": question, "query": query, "degraded": Overwrite([*context.degraded, *degraded]), **empty}


def _exchanges(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """The questions so far, with the titles that their answers cite."""
    exchanges: list[Exchange] = []
    for message in messages:
        if message.type == "human":
            exchanges.append(Exchange(message.text))
        elif exchanges and (titles := message.additional_kwargs.get(CITED)):
            exchanges[-1] = replace(exchanges[-1], cited=tuple(titles))
    return exchanges


async def _collection(runtime: Runtime[Context]) -> Collection:
    context = runtime.context
    return context.opened or await context.services.collection(owner_of(runtime), context.collection)


def _refines(context: Context) -> bool:
    return context.searches and context.place.effort is Effort.FULL


async def retrieve(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("retrieve", state)
    context, services = runtime.context, runtime.context.services
    filters = parse_filters(context.filters)
    with stage("retrieve"):
        collection = await _collection(runtime)
        config, ignored = services.retrieval_config(collection, _overrides(context), top_k=services.settings.chat_top_k)
        config, left_out = simplified(config, context.place.effort)
        found = await federated.retrieve(
            state["query"],
            retriever=context.retriever,
            cache=context.query_cache,
            store=services.store,
            collection=collection,
            model=await context.embedding_model(collection),
            config=config,
            filters=filters,
        )
    return {
        "collection": collection,
        "config": config,
        "candidates": found.hits,
        "files": found.files,
        "warnings": [*ignored, *found.warnings],
        "degraded": [*found.failed, *left_out],
    }


def _overrides(context: Context) -> dict[str, Any]:
    """The fields of their own count more."""
    top_k = {} if context.top_k is None else {"top_k": context.top_k}
    return {**context.retrieval, **top_k, **({} if context.rerank else {"rerank": False})}


async def rerank(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("rerank", state)
    config, services = state["config"], runtime.context.services
    reranker = services.reranker_of(state["collection"], runtime.context.place.effort)
    ranked = await rank(state["query"], state["candidates"], files=state["files"], reranker=reranker, config=config)
    led = await follow_names(
        state["query"],
        ranked.hits,
        graph=services.graph,
        collection=state["collection"],
        config=config,
        filters=_filters(state, runtime),
    )
    failed = [*ranked.failed, *led.failed]
    return {"candidates": ranked.hits, "evidence": led.hits[: config.top_k], "degraded": failed}


async def traverse(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Causal chains for the question, from what was found on; what states them joins the evidence."""
    if runtime.context.place.effort is not Effort.FULL:
        return {"degraded": ["traverse"]}
    _announce("traverse", state)
    query, collection, services = state["query"], state["collection"], runtime.context.services
    with stage("traverse"):
        try:
            async with within("traverse"):
                paths = await find_paths(
                    query,
                    state["candidates"],
                    graph=services.graph,
                    collection=collection,
                    filters=_filters(state, runtime),
                )
                stating = await traversal.read_hits(paths, store=services.store, collection=collection)
        except Exception as exc:
            return {"degraded": [_degrade("traverse", exc)]}
    count_results("traverse", len(paths))
    leading = paths if query.intent is Intent.CAUSAL else []
    return {
        "paths": paths,
        "evidence": traversal.join(state["evidence"], stating, leading, top_k=state["config"].top_k),
    }


def _filters(state: State, runtime: Runtime[Context]) -> Filters:
    """Those of the request; of files that the question names, these alone."""
    return within_files(parse_filters(runtime.context.filters), state["files"])


async def expand(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("expand", state)
    services, hits = runtime.context.services, state["evidence"]
    max_chars = services.settings.max_context_chars
    question, query, files = state["question"], state["query"], state["files"]
    reach, share = expansion_window(question, query, files, config=state["config"], settings=services.settings)
    degraded = []
    with stage("expand"):
        try:
            async with within("expand"):
                passages = await expansion.expand(
                    hits,
                    store=services.store,
                    collection=state["collection"],
                    reach=reach,
                    max_chars=max_chars,
                    max_share=share,
                )
        except Exception as exc:
            degraded = [_degrade("expand", exc)]
            passages = expansion.passages(hits, {}, reach=expansion.NOWHERE, max_chars=max_chars, max_share=share)
        passages, suspicious = await asyncio.to_thread(_prepare, passages, state, services)
    count_results("expand", len(passages))
    log_cut(reach.worthy(hits), passages)
    get_stream_writer()(sources_event(passages, state["paths"]))
    return {"passages": passages, "degraded": degraded, "warnings": [*state["warnings"], *suspicious]}


def _prepare(passages: Sequence[Passage], state: State, services: Services) -> tuple[list[Passage], list[str]]:
    """What fits a prompt, and a warning for each file of it that speaks to a model."""
    language = state["query"].language
    window = Window(
        services.settings.max_context_chars,
        services.settings.max_context_tokens,
        # Llama 2's tokens. Models that answer know several times as many, so theirs are fewer; what would count
        # them exactly is fetched from the network, or is a request of its own.
        services.bundled_embeddings.count_tokens,
    )
    kept = fit(passages, window, language=language, beside="\n".join(chain_lines(state["paths"], passages)))
    names = dict.fromkeys(passage.document.filename for passage in kept if find_instructions(passage.content))
    return kept, [say("suspicious_source", language).format(name) for name in names]


async def generate(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("generate", state)
    services, passages, language = runtime.context.services, state["passages"], state["query"].language
    config, not_valid = services.generation_config(state["collection"] if runtime.context.searches else None)
    models, not_known = beginning_with(config.chat_model, runtime.context.chat_models)
    models, not_allowed = beginning_with(runtime.context.chat_model, models)
    prompt = _prompt(state, runtime.context, config.system_prompt)
    place = runtime.context.place
    if models[0].name != EXTRACTIVE:
        place.leave()  # to wait for a model is no work
    with stage("generate"):
        written = await first_answer(
            models,
            lambda model: write_answer(model, prompt, passages, language=language, begun=place.leave),
            can_quote=bool(passages),
        )
    return {
        "messages": [AIMessage(written.text)],
        "chat_model": written.chat_model,
        "degraded": [_degrade("generate", written.failures[0])] if written.failures else [],
        "warnings": [*state["warnings"], *not_valid, *not_known, *not_allowed],
    }


async def refuse(state: State) -> dict[str, Any]:
    """Nothing was found: said without asking a model."""
    sentence = say("not_found", state["query"].language)
    get_stream_writer()(token_event(sentence))
    count_answer(found=False)
    return {"messages": [AIMessage(sentence)], "verification": Verification(sentence)}


async def verify(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("verify", state)
    message = state["messages"][-1]
    if is_not_found(message.text, state["query"].language) or not state["passages"]:
        if state["passages"]:
            count_answer(found=False)
        return {"verification": Verification(message.text)}
    degraded = []
    with stage("verify"):
        try:
            checked = await asyncio.to_thread(verify_citations, message.text, state["passages"], today=date.today())
        except Exception as exc:
            return {"verification": Verification(message.text), "degraded": [_degrade("verify", exc)]}
        if judge := open_judge(runtime.context.services, state["collection"]):
            try:
                checked = await judge.judge(checked, state["passages"])
            except Exception as exc:
                degraded = [_degrade("verify", exc)]
    count_answer(found=True)
    count_citations(Counter(citation.status for citation in checked.citations))
    titles = list(dict.fromkeys(citation.title for citation in checked.citations))
    answer = AIMessage(checked.answer, id=message.id, additional_kwargs={CITED: titles})
    return {"verification": checked, "messages": [answer], "degraded": degraded}


def _prompt(state: State, context: Context, system_prompt: str) -> list[AnyMessage]:
    settings = context.services.settings
    history = history_window(
        state["messages"], max_messages=settings.history_messages, max_chars=settings.history_chars
    )
    asked: dict[str, Any] = {
        "history": history,
        "today": date.today(),
        "system_prompt": system_prompt,
        "instructions": context.instructions,
    }
    if state["passages"]:
        return build_prompt(state["query"], state["passages"], paths=state["paths"], **asked)
    return build_plain_prompt(state["query"], **asked)


def _announce(name: str, state: State) -> None:
    get_stream_writer()(status_event(name, say(f"status_{name}", state["query"].language)))


def _degrade(name: str, exc: Exception) -> str:
    log.warning("stage failed, done without", stage=name, error=exc)
    return name
