"""Nodes of the graph: each reads the state, runs one stage and returns the change; a failure degrades the answer."""

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

from agent.context import Context, owner_of
from agent.context_window import Window, fit, log_cut
from agent.messages import is_not_found, say
from agent.output.answer_writing import WrittenAnswer, first_answer, write_answer
from agent.output.events import sources_event, status_event, token_event
from agent.output.json_answers import write_json
from agent.output.sanitizing import sanitize
from agent.prompts import build_plain_prompt, build_prompt, history_window, write_chains
from agent.state import NO_MESSAGES, Input, State
from agent.tasks.last_answer import (
    CITED_PASSAGES,
    COMPUTED,
    FORMS,
    describe_cited,
    has_table,
    last_cited,
    read_cited,
    rewrite,
)
from agent.tasks.replies import describe_catalogue, language_of_small_talk, reply_to_small_talk
from agent.tasks.summary import MOST_DOCUMENTS, find_targets, read_documents, read_since
from agent.tasks.summary import summarise as write_summary
from agent.verification.checking import Verification
from agent.verification.checking import verify as verify_citations
from agent.verification.judge import open_judge
from graphrag.errors import InvalidQuestion
from graphrag.extractive_answers.posed_questions import find_posed_answers, poses_question
from graphrag.extractive_answers.statements import Excerpt, without_marks
from graphrag.linguistics.language import content_words, is_foreign
from graphrag.llm.chat_models import EXTRACTIVE, NamedModel, beginning_with
from graphrag.llm.prompt_injection import find_instructions
from graphrag.models import Collection, Document, Intent, Passage, TransformedQuery
from graphrag.models.graph import CausalPath
from graphrag.observability.telemetry import count_answer, count_citations, count_results, log, stage
from graphrag.query_transformation.follow_ups import Exchange
from graphrag.query_transformation.tasks import Task, TaskReading, classify_task
from graphrag.query_transformation.transformation import check_question
from graphrag.resilience.load_shedding import Effort
from graphrag.retrieval.filters import lets_through, parse_filters
from graphrag.retrieval.named_files import find_named_files
from graphrag.retrieval.pipeline import RetrievalPipeline
from graphrag.retrieval.query import Query
from graphrag.services import Services
from graphrag.table_queries.answers import ComputedAnswer, TableAnswer

CITED = "cited_titles"  # the key in an answer's additional_kwargs: what a follow-up question may speak of
CLOSEST_ROWS = 3
COMPUTED_ROWS = 5  # of what a value was computed from, before what was found, in a model's prompt
SEARCHED_HITS = 5  # of which the document that most are of is the one to summarise


async def transform(state: Input, runtime: Runtime[Context]) -> dict[str, Any]:
    context, pipeline = runtime.context, runtime.context.pipeline
    if not state["messages"]:
        raise InvalidQuestion(NO_MESSAGES, reason="empty")
    question = check_question(state["messages"][-1].text, max_chars=context.services.settings.search.max_question_chars)
    await asyncio.to_thread(context.services.model_choice.load)  # whose package, the first time, takes seconds to load
    refined_for = await _collections(runtime) if pipeline.refiner and _refines(context) else ()
    query, degraded = await pipeline.transform(question, _exchanges(state["messages"][:-1]), refined_for=refined_for)
    warnings = [say("other_language", query.language)] if is_foreign(question) else []
    empty: dict[str, Any] = {"paths": [], "passages": [], "warnings": warnings, "chat_model": None, "computed": None}
    reading = await _read_task(question, query, state, runtime)
    if reading.task is Task.SMALL_TALK:
        query = replace(query, language=language_of_small_talk(question, query.language))
    left_out = Overwrite([*context.degraded, *degraded])
    return {"question": question, "query": query, "task": reading, "degraded": left_out, **empty}


async def _read_task(question: str, query: TransformedQuery, state: Input, runtime: Runtime[Context]) -> TaskReading:
    """Return the task of a message; where there is a language model, what it can do is a question."""
    if not runtime.context.searches:
        return TaskReading(Task.QUESTION, 1.0)
    answer, _ = last_cited(state["messages"][:-1])
    reading = await asyncio.to_thread(classify_task, question, query.language, has_answer=bool(answer))
    if reading.task in (Task.ABOUT_CAUSEWAY, Task.CANNOT_DO) and await _is_posed(question, query.language, runtime):
        return TaskReading(Task.QUESTION, reading.probability)
    if reading.slots.get("kind") == "outside_knowledge":  # whatever is asked, the documents may say it
        return TaskReading(Task.QUESTION, reading.probability)
    if (
        reading.task is Task.CANNOT_DO
        and reading.slots.get("kind") in ("translate", "write")
        and has_model(runtime.context)
    ):
        return TaskReading(Task.TRANSFORM_ANSWER if answer else Task.QUESTION, reading.probability)
    return reading


async def _is_posed(question: str, language: str, runtime: Runtime[Context]) -> bool:
    """Return whether a document poses a question itself, as lists of frequent questions do; False after a failure."""
    asked, store = content_words(question, language), runtime.context.services.store
    if not asked:
        return False
    try:
        filters = parse_filters(runtime.context.filters)
        hits = [
            hit
            for collection in await _collections(runtime)
            for hit in await store.search_fulltext(collection, asked, filters=filters, limit=SEARCHED_HITS)
        ]
    except Exception as exc:
        log.warning("posed questions not searched", error=exc)
        return False
    excerpts = (Excerpt(0, hit.chunk.document.title, hit.chunk.content, hit.chunk.document.language) for hit in hits)
    return any(poses_question(question, language, excerpt) for excerpt in excerpts)


async def reply(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Answer what needs no search: small talk, what Causeway is, which documents there are, what it cannot do."""
    reading, language = state["task"], state["query"].language
    change: dict[str, Any] = {}
    match reading.task:
        case Task.SMALL_TALK:
            text = reply_to_small_talk(state["question"], language)
        case Task.ABOUT_CAUSEWAY:
            text = say("about_causeway", language)
        case Task.CATALOGUE:
            change["collections"] = collections = await _collections(runtime)
            documents = await _list_documents(runtime, collections)
            kind = reading.slots.get("kind", "list")
            listed = describe_catalogue(state["question"], language, kind, collections, documents)
            text = sanitize(listed, (), documents)
        case Task.TRANSFORM_ANSWER:
            text = say("nothing_to_rewrite", language)
        case _:
            text = say(f"cannot_{reading.slots.get('kind', 'other')}", language)
    get_stream_writer()(token_event(text))
    return {**change, "messages": [AIMessage(text)], "verification": Verification(text)}


async def summarise(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Summarise what is asked for; with a language model, leave its passages to `generate`."""
    _announce("summarise", state)
    services, language, reading = runtime.context.services, state["query"].language, state["task"]
    collections, today = await _collections(runtime), date.today()
    documents = await _list_documents(runtime, collections)
    chosen = await _choose_documents(state, runtime, collections, documents)
    read = await read_documents(chosen, store=services.store, collections=collections)
    since = read_since(reading.slots.get("since", ""), language, today)
    change: dict[str, Any] = {"collections": collections}
    if not read:
        return change
    summary = await asyncio.to_thread(write_summary, read, language, since=since, today=today)
    if has_model(runtime.context, collections):
        passages, warnings = await asyncio.to_thread(_prepare, summary.passages, state, services)
        written = {}
    else:
        passages, warnings = summary.passages, _warn_of_instructions(summary.passages, language)
        written = _write(summary.text, passages)
    passages = _show_sources(passages, collections)
    return {**change, "passages": passages, "warnings": [*state["warnings"], *warnings], **written}


async def _choose_documents(
    state: State, runtime: Runtime[Context], collections: Sequence[Collection], documents: Sequence[Document]
) -> list[Document]:
    """Return the documents that a summary's target names, else those that a search for it finds; all without one."""
    filters = parse_filters(runtime.context.filters)
    allowed = [document for document in documents if lets_through(filters, document)]
    newest = sorted(allowed, key=lambda document: document.created_at, reverse=True)[:MOST_DOCUMENTS]
    target = state["task"].slots.get("target", "")
    if not target:
        return newest
    store = runtime.context.services.store
    named = [await find_named_files(state["question"], store=store, collection=each) for each in collections]
    files = [document for document in allowed if any(document.filename in each.files for each in named)]
    if found := files or find_targets(target, state["query"].language, allowed):
        return found
    context, pipeline = runtime.context, runtime.context.pipeline
    query = await pipeline.plan(
        state["query"], collections, _overrides(context), filters=filters, effort=context.slot.effort
    )
    hits = (await pipeline.search(query)).hits
    best = Counter(hit.chunk.document.id for hit in hits[:SEARCHED_HITS]).most_common(1)
    return [document for document in allowed if best and document.id == best[0][0]]


async def recall(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Read again what the last answer cites, and write it in the form that is asked for, or leave it to `generate`."""
    collections = await _collections(runtime)
    if state["task"].slots.get("change") == "csv":
        text = say("download_table" if has_table(state["messages"]) else "no_table", state["query"].language)
        return {"collections": collections, "passages": [], **_write(text)}
    answer, cited = last_cited(state["messages"][:-1])
    passages, numbers = await read_cited(cited, store=runtime.context.services.store, collections=collections)
    warnings = _warn_of_instructions(passages, state["query"].language)
    passages = _show_sources(passages, collections)
    change = {"collections": collections, "passages": passages, "warnings": [*state["warnings"], *warnings]}
    if has_model(runtime.context, collections) and passages:
        return change
    language, form = state["query"].language, state["task"].slots.get("change", "")
    if form not in FORMS:
        return {**change, "passages": [], **_write(say("cannot_rewrite", language))}
    written = rewrite(answer, form, passages, numbers, language)
    return {**change, **(_write(written, passages) if written else _write(say("nothing_to_rewrite", language)))}


def _write(text: str, quoted: Sequence[Passage] = ()) -> dict[str, Any]:
    """Stream a text and return it as the answer; where it quotes passages, without their markup."""
    shown = sanitize(text, quoted) if quoted else text
    get_stream_writer()(token_event(shown))
    return {"messages": [AIMessage(shown)], "chat_model": EXTRACTIVE}


def _exchanges(messages: Sequence[AnyMessage]) -> list[Exchange]:
    """Return the questions so far, with their answers' text and the titles that these cite.

    An answer that cites nothing found nothing: none of its names is spoken of.
    """
    exchanges: list[Exchange] = []
    for message in messages:
        if message.type == "human":
            exchanges.append(Exchange(message.text))
        elif exchanges and (titles := message.additional_kwargs.get(CITED)):
            exchanges[-1] = replace(exchanges[-1], cited=tuple(titles), answer=message.text)
    return exchanges


async def _collections(runtime: Runtime[Context]) -> tuple[Collection, ...]:
    context, known = runtime.context, runtime.context.services.collections
    return context.opened or await known.open_all(owner_of(runtime), context.collections or [context.collection])


async def _list_documents(runtime: Runtime[Context], collections: Sequence[Collection]) -> list[Document]:
    store = runtime.context.services.store
    return [document for collection in collections for document in await store.list_documents(collection)]


def _show_sources(
    passages: Sequence[Passage], collections: Sequence[Collection], paths: Sequence[CausalPath] = ()
) -> list[Passage]:
    """Stream the passages of an answer as its sources, and return them with their collections' names."""
    names = {collection.id: collection.name for collection in collections}
    named = [replace(each, collection=names.get(each.document.collection_id, "")) for each in passages]
    get_stream_writer()(sources_event(named, paths))
    return named


def _refines(context: Context) -> bool:
    return context.searches and context.slot.effort is Effort.FULL


async def retrieve(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("retrieve", state)
    with stage("retrieve"):
        query = await _plan(state, runtime)
        found = await runtime.context.pipeline.retrieve(query)
    return {
        "collections": query.collections,
        "config": query.config,
        "candidates": found.hits,
        "files": found.files,
        "warnings": [*state["warnings"], *query.warnings, *found.warnings],
        "degraded": [*found.failed, *query.left_out],
    }


async def _plan(state: State, runtime: Runtime[Context]) -> Query:
    context = runtime.context
    return await context.pipeline.plan(
        state["query"],
        await _collections(runtime),
        _overrides(context),
        filters=parse_filters(context.filters),
        effort=context.slot.effort,
        top_k=context.services.settings.chat.chat_top_k,
    )


def _overrides(context: Context) -> dict[str, Any]:
    """Return the retrieval settings of the request, of which its own fields override the others."""
    top_k = {} if context.top_k is None else {"top_k": context.top_k}
    return {**context.retrieval, **top_k, **({} if context.rerank else {"rerank": False})}


async def _query(state: State, runtime: Runtime[Context]) -> Query:
    """Return the query of the state, over the files alone that the question names."""
    context, known = runtime.context, runtime.context.pipeline.collections
    filters, effort = parse_filters(context.filters), context.slot.effort
    first, *others = [
        Query(state["query"], each, await known.embedding_model(each), state["config"], filters, effort)
        for each in state["collections"]
    ]
    return replace(first, others=tuple(others)).within(state["files"])


async def rerank(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("rerank", state)
    pipeline, query = runtime.context.pipeline, await _query(state, runtime)
    candidates = state.get("candidates")
    if candidates is None:  # no checkpoint holds what was found: after a breakpoint the search is made again
        planned = replace(await _plan(state, runtime), config=state["config"])
        candidates = (await pipeline.retrieve(planned.within(state["files"]))).hits
    ranked = await pipeline.rerank(query, candidates, files=state["files"])
    led = await pipeline.expand_by_graph(query, ranked.hits)
    return {
        "candidates": ranked.hits,
        "evidence": led.hits[: query.config.top_k],
        "degraded": [*ranked.failed, *led.failed],
    }


async def traverse(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    """Find causal chains for the question, starting from the hits; what states them joins the evidence."""
    if runtime.context.slot.effort is not Effort.FULL:
        return {"degraded": ["traverse"]}
    _announce("traverse", state)
    try:
        pipeline, query = runtime.context.pipeline, await _query(state, runtime)
        candidates = state.get("candidates")
        if candidates is None:  # after a breakpoint
            candidates = (await rerank(state, runtime))["candidates"]
        paths, evidence = await pipeline.traverse(query, candidates, state["evidence"])
    except Exception as exc:
        return {"degraded": [_degrade("traverse", exc)]}
    return {"paths": paths, "evidence": evidence}


async def expand(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("expand", state)
    pipeline, hits = runtime.context.pipeline, state["evidence"]
    query, question, files = await _query(state, runtime), state["question"], state["files"]
    with stage("expand"):
        by_model = has_model(runtime.context, state["collections"])
        is_causal = query.transformed.intent is Intent.CAUSAL
        asked = None if is_causal else await _ask_tables(state, pipeline, query, by_model=by_model)
        computed = asked.computed if asked else None
        if computed and not by_model:
            return _tell_computed(computed, state["collections"])
        passages, degraded = await pipeline.expand(query, hits, question=question, files=files)
        if computed:  # the model tells it in its words
            passages = [*computed.passages[:COMPUTED_ROWS], *passages]
        passages, suspicious = await asyncio.to_thread(_prepare, passages, state, runtime.context.services)
    count_results("expand", len(passages))
    window, _ = pipeline.expansion_window(query, question=question, files=files)
    log_cut(window.worthy(hits), passages)
    passages = _show_sources(passages, state["collections"], state["paths"])
    warnings = [*state["warnings"], *suspicious]
    read = {"passages": passages, "computed": computed, "degraded": list(degraded), "warnings": warnings}
    if asked and asked.is_of_rows and not by_model and passages:
        told = {**read, "warnings": [*warnings, *filter(None, [asked.note])]}
        return {**told, **_write(_name_rows(passages, query.transformed.language), passages)}
    return read


async def _ask_tables(state: State, pipeline: RetrievalPipeline, query: Query, *, by_model: bool) -> TableAnswer | None:
    """A failure leaves it to the rest."""
    question = state["query"].standalone
    try:
        return await pipeline.query_tables(query, state["evidence"], question=question, by_model=by_model)
    except Exception as exc:
        log.warning("tables not asked", error=exc)
        return None


def _tell_computed(found: ComputedAnswer, collections: Sequence[Collection]) -> dict[str, Any]:
    passages = _show_sources(found.passages, collections)
    return {"passages": passages, "paths": [], "computed": found, **_write(found.text, passages)}


def _name_rows(passages: Sequence[Passage], language: str) -> str:
    """Return the rows that come closest to a question about a table that was not understood: no number is given."""
    lines = (
        f"- {without_marks(passage.content.strip().splitlines()[0])} [{number}]"
        for number, passage in enumerate(passages[:CLOSEST_ROWS], start=1)
        if not find_instructions(passage.content)
    )
    return "\n".join([say("closest", language), *lines])


def _prepare(passages: Sequence[Passage], state: State, services: Services) -> tuple[list[Passage], list[str]]:
    """Return the passages that fit a prompt, and a warning for each file with instructions for a model."""
    language = state["query"].language
    window = Window(
        services.settings.chat.max_context_chars,
        services.settings.chat.max_context_tokens,
        # Llama 2's tokens. Models that answer know several times as many, so theirs are fewer; what would count
        # them exactly is fetched from the network, or is a request of its own.
        services.bundled_embeddings.count_tokens,
    )
    kept = fit(passages, window, language=language, beside=write_chains(state["paths"], passages, language))
    return kept, _warn_of_instructions(kept, language)


def _warn_of_instructions(passages: Sequence[Passage], language: str) -> list[str]:
    names = dict.fromkeys(passage.document.filename for passage in passages if find_instructions(passage.content))
    return [say("suspicious_source", language).format(name) for name in names]


async def generate(state: State, runtime: Runtime[Context]) -> dict[str, Any]:
    _announce("generate", state)
    passages, language = state["passages"], state["query"].language
    collections = state["collections"] if runtime.context.searches else ()
    models, system_prompt, not_used = _models(runtime.context, collections)
    prompt = _prompt(state, runtime.context, system_prompt)
    slot = runtime.context.slot
    if models[0].name != EXTRACTIVE:
        slot.release()  # to wait for a model is no work
    with stage("generate"):
        written = await first_answer(
            models,
            lambda model: write_answer(
                model,
                prompt,
                passages,
                language=language,
                backpressure=runtime.context.backpressure,
                begun=slot.release,
            ),
            can_quote=bool(passages),
        )
    return {
        "messages": [AIMessage(written.text)],
        "chat_model": written.chat_model,
        "degraded": [_degrade("generate", written.failures[0])] if written.failures else [],
        "warnings": [*state["warnings"], *not_used, *_warn_of_lone_sources(written, state)],
    }


def _warn_of_lone_sources(written: WrittenAnswer, state: State) -> list[str]:
    """Return a warning for each file that an answer quotes and that alone answers a question which it poses itself.

    Only doubtful answers are warned of: what a document's list of frequent questions plainly answers needs none.
    """
    if written.chat_model != EXTRACTIVE:
        return []
    query, names = state["query"], dict[str, None]()
    for passage in state["passages"]:
        excerpt = Excerpt(0, passage.document.title, passage.content, passage.document.language)
        others = [other.content for other in state["passages"] if other.document.id != passage.document.id]
        for each in find_posed_answers(query.standalone, query.language, excerpt):
            if each.is_doubtful and each.text in written.text and not any(each.text in other for other in others):
                names[passage.document.filename] = None
    return [say("lone_source", query.language).format(name) for name in names]


def _models(context: Context, collections: Sequence[Collection]) -> tuple[Sequence[NamedModel], str, list[str]]:
    """Return the models that may answer, in their order, the collections' system prompts, and warnings.

    Of several collections' own models the last in the service's order: the others might not read all of them.
    """
    asked: Sequence[Collection | None] = collections or [None]
    configs = [context.services.collections.generation_config(each) for each in asked]
    allowed = [beginning_with(config.chat_model, context.chat_models) for config, _ in configs]
    models, not_allowed = beginning_with(context.chat_model, min((models for models, _ in allowed), key=len))
    warnings = (warning for _, told in (*configs, *allowed) for warning in told)
    prompts = dict.fromkeys(config.system_prompt for config, _ in configs)
    return models, "\n\n".join(filter(None, prompts)), [*dict.fromkeys(warnings), *not_allowed]


def has_model(context: Context, collections: Sequence[Collection] = ()) -> bool:
    return _models(context, collections)[0][0].name != EXTRACTIVE


async def refuse(state: State) -> dict[str, Any]:
    """Answer that nothing was found, or that there are no documents yet, without calling a model."""
    is_empty = not any(collection.chunk_count for collection in state["collections"])
    sentence = say("empty_collection" if is_empty else "not_found", state["query"].language)
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
        if judge := open_judge(runtime.context.services, state["collections"]):
            try:
                checked = await judge.judge(checked, state["passages"])
            except Exception as exc:
                degraded = [_degrade("verify", exc)]
    count_answer(found=True)
    count_citations(Counter(citation.status for citation in checked.citations))
    titles = list(dict.fromkeys(citation.title for citation in checked.citations))
    cited = describe_cited(state["passages"], (citation.number for citation in checked.citations))
    kept: dict[str, Any] = {CITED: titles, CITED_PASSAGES: cited}
    if state.get("computed"):
        kept[COMPUTED] = True
    answer = AIMessage(checked.answer, id=message.id, additional_kwargs=kept)
    told = {"verification": checked, "messages": [answer], "degraded": degraded}
    if schema := runtime.context.answer_schema:
        model = _models(runtime.context, state["collections"])[0][0].model
        told["structured"] = await write_json(schema, state["query"].standalone, checked, state["passages"], model)
    return told


def _prompt(state: State, context: Context, system_prompt: str) -> list[AnyMessage]:
    settings = context.services.settings
    history = history_window(
        state["messages"], max_messages=settings.chat.history_messages, max_chars=settings.chat.history_chars
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
    log.warning("stage failed, answer degraded", stage=name, error=exc)
    return name
