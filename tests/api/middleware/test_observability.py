"""What a running service tells of itself: a last line a request, metrics that the dashboard asks for, one trace."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.api.scripted import ANSWER, asking
from tests.api.uploads import REPORT, finished
from tests.conftest import Server, run_server
from tests.model_server import Fail, ModelServer, Reply
from tests.otlp_receiver import Receiver, Span, otlp_receiver
from tests.processes import ROOT
from tests.promql import grouping, selectors

DASHBOARD = ROOT / "deploy" / "grafana" / "causeway.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yml"
QUESTION = "¿Por qué falló el horno H2 de la zarzaquimera?"
SECRET = "zarzaquimera"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENDER = "00f067aa0ba902b7"
OF_PROMETHEUS = {"instance", "le", "up"}  # labels and metrics that a scrape adds; "job" would be hidden by one


@dataclass(frozen=True)
class Watched:
    """A service after some traffic, and what it told of it."""

    server: Server
    receiver: Receiver
    answers: dict[str, httpx.Response]

    def lines(self, request_id: str) -> list[dict[str, Any]]:
        logged = [json.loads(line) for line in self.server.log().splitlines() if line.startswith("{")]
        return [line for line in logged if line.get("request_id") == request_id]

    def line(self, name: str) -> dict[str, Any]:
        """The last one of that request."""
        lines = self.lines(self.answers[name].headers["x-request-id"])
        (told,) = [line for line in lines if line["event"] == "request"]
        return told

    def trace(self, name: str) -> list[Span]:
        line = self.line(name)
        return self.receiver.trace(line["trace_id"], first=f"{line['method']} {line['route']}")


def use(api: httpx.Client, model: ModelServer) -> dict[str, httpx.Response]:
    """An upload, questions, a model that is down for one of them, and what is wrong."""
    asked = {"message": QUESTION, "collection": "notes"}
    query = {"query": QUESTION, "collection": "notes"}
    traced = {"traceparent": f"00-{TRACE}-{SENDER}-01"}
    answers = {"upload": api.post("/documents", files=[("files", ("a.md", REPORT))], data={"collection": "notes"})}
    finished(api, answers["upload"].json()["documents"][0]["id"])
    answers["chat"] = api.post("/chat", json=asked, headers=traced)
    answers["again"] = api.post("/chat", json=asked)
    answers["stream"] = api.post("/chat/stream", json=asked)
    model.script(Fail(500))
    answers["degraded"] = api.post("/chat", json=asked)
    model.script(Fail(500))
    answers["failed"] = api.post("/chat", json=asked | {"rag_enabled": False})  # without documents none can stand in
    answers["retrieve"] = api.post("/retrieve", json=query | {"debug": True})
    answers["other"] = api.post("/retrieve", json=query | {"top_k": 3})
    answers["invalid"] = api.post("/retrieve", json=query | {SECRET: 1})
    answers["unknown"] = api.get(f"/{SECRET}", params={"search": SECRET})
    return answers


@pytest.fixture(scope="module")
def watched(make_database: Callable[[], str]) -> Iterator[Watched]:
    with ModelServer(default=Reply(ANSWER)) as model, otlp_receiver() as receiver:
        environment = asking(model, **receiver.environment, RAG_CHAT_MAX_RETRIES="0", RAG_LOG_LEVEL="INFO")
        # One stage that is always too slow, and one that never is.
        environment |= {"RAG_SLOW_TRANSFORM_SECONDS": "0.000001", "RAG_SLOW_FULLTEXT_SECONDS": "1000"}
        with run_server(DATABASE_URL=make_database(), **environment) as server, server.client() as client:
            client.base_url = f"{server.url}/api/v1"
            yield Watched(server, receiver, use(client, model))


def test_the_last_line_of_an_answer_tells_how_it_was_made(watched: Watched) -> None:
    """R11.2 Stages, counts, transformations, caches, first word; 001.13.1–3, 9."""
    line = watched.line("chat")
    assert (line["method"], line["route"], line["status"]) == ("POST", "/api/v1/chat", 200)
    assert {"transform", "fulltext", "vector", "rerank", "expand", "generate", "verify"} <= set(line["stages"])
    assert {"fulltext", "vector", "fusion", "rerank", "expand"} <= set(line["results"])
    assert line["results"]["fusion"] == 1
    assert (line["intent"], line["parts"], line["hyde"], line["language"]) == ("causal", 0, False, "es")
    assert line["strategy"] in ("hybrid", "fulltext", "semantic")
    assert (line["model"], line["outcome"], line["task"]) == ("openai:scripted", "answered", "why")
    assert 0 < line["first_token_ms"] < line["milliseconds"]
    assert line["cited"] == len(watched.answers["chat"].json()["citations"])
    assert line["caches"]["query"] == {"hits": 0, "misses": 1}
    assert watched.line("again")["caches"]["query"] == {"hits": 1, "misses": 0}
    assert watched.line("stream")["results"]["fusion"] == 1


def test_all_lines_of_a_request_tell_whose_it_is(watched: Watched) -> None:
    """R11.2, R4.10 Request, trace, owner, collection and configuration; those of nodes and threads too."""
    lines = watched.lines(watched.answers["chat"].headers["x-request-id"])
    events = [line["event"] for line in lines]
    assert {"question transformed", "search", "request"} <= set(events)
    assert len({(line["owner"], line["trace_id"]) for line in lines}) == 1
    since = lines[events.index("retrieval configuration") :]  # the collection is known
    assert len({(line["collection"], line["config"]) for line in since}) == 1
    assert re.fullmatch("[0-9a-f]{12}", lines[0]["owner"])


def test_a_configuration_has_one_hash(watched: Watched) -> None:
    """R4.10 The same for the same; another for another."""
    assert watched.line("chat")["config"] == watched.line("stream")["config"]
    assert len({watched.line(name)["config"] for name in ("chat", "retrieve", "other")}) == 3


def test_what_goes_wrong_is_told_louder(watched: Watched) -> None:
    """R11.2 At the default level, degraded answers are told, and stages over their threshold, once a minute."""
    degraded = watched.line("degraded")
    assert (degraded["level"], degraded["degraded"], degraded["model"]) == ("warning", ["generate"], "extractive")
    failed = watched.line("failed")
    assert (failed["level"], failed["status"], failed["error"]) == ("warning", 502, "model_unavailable")
    assert watched.line("upload")["level"] == "info"
    assert (watched.line("invalid")["error"], watched.line("invalid")["level"]) == ("invalid_request", "info")
    slow = [json.loads(line) for line in watched.server.log().splitlines() if '"slow stage"' in line]
    assert [line["stage"] for line in slow if line["stage"] in ("transform", "fulltext")] == ["transform"]
    assert slow[0]["level"] == "warning"
    assert "transform" in watched.line("chat")["slow"]


def test_jobs_have_a_last_line_too(watched: Watched) -> None:
    """R11.2 With its stages and the owner's mark, which is the same as in the lines of the owner's requests."""
    lines = [json.loads(line) for line in watched.server.log().splitlines() if '"event": "job"' in line]
    (job,) = [line for line in lines if line["task"] == "ingest"]
    assert job["outcome"] == "done"
    assert {"prepare", "embed", "store"} <= set(job["stages"])
    assert (job["owner"], job["trace_id"]) == (watched.line("upload")["owner"], watched.line("upload")["trace_id"])


def test_neither_logs_nor_traces_nor_metrics_hold_a_word(watched: Watched) -> None:
    """Security 20: no question, no name of a file or an owner, no path that was asked for."""
    told = [watched.server.log(), *(span.told for span in watched.receiver.spans)]
    told.append(httpx.get(f"{watched.server.url}/metrics").text)
    for word in (SECRET, "horno", "a.md", "Harrowmere", 'local"'):
        assert not [text[:300] for text in told if word in text], word


def parents(spans: Sequence[Span]) -> dict[str, str]:
    """Each span's name, with that of the one that it belongs to."""
    names = {span.id: span.name for span in spans}
    return {span.name: names.get(span.parent, span.parent) for span in spans}


def test_a_request_is_one_trace(watched: Watched) -> None:
    """R11.2, 001.13.5 Of the client that names one; nodes hold their stages, these the calls of the model."""
    assert watched.line("chat")["trace_id"] == TRACE
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", watched.answers["chat"].headers["traceresponse"])
    spans = watched.trace("chat")
    tree = parents(spans)
    assert tree["POST /api/v1/chat"] == SENDER
    assert tree["total"] == "POST /api/v1/chat"
    assert tree["node retrieve"] == tree["node generate"] == "total"
    assert (tree["retrieve"], tree["fulltext"], tree["vector"]) == ("node retrieve", "retrieve", "retrieve")
    assert tree["verify"] == "node verify"  # in a thread
    assert tree["chat scripted"] == "generate"
    (call,) = [span for span in spans if span.name == "chat scripted"]
    asked = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "scripted"}
    assert asked.items() <= call.attributes.items()
    assert {span.service for span in spans} == {"causeway"}


def test_a_stream_is_one_trace(watched: Watched) -> None:
    """R11.2 Its answer is made by a task of its own."""
    tree = parents(watched.trace("stream"))
    assert tree["total"] == "POST /api/v1/chat/stream"
    assert tree["chat scripted"] == "generate"
    assert tree["POST /api/v1/chat/stream"] == ""


def test_a_job_is_of_the_trace_of_who_asked_for_it(watched: Watched) -> None:
    """R11.2 From an upload to its document."""
    spans = watched.receiver.trace(watched.line("upload")["trace_id"], first="job ingest")
    tree = parents(spans)
    assert tree["job ingest"] == "POST /api/v1/documents"
    assert tree["prepare"] == tree["store"] == "job ingest"


def test_a_trace_tells_what_failed(watched: Watched) -> None:
    """R11.2 By the error's kind."""
    kinds = {span.name: span.attributes.get("error.type") for span in watched.trace("degraded") if span.is_error}
    assert kinds == {"chat scripted": "ProviderError"}
    failed = {span.name for span in watched.trace("failed") if span.is_error}
    assert failed == {"chat scripted", "generate", "node generate", "total"}


Samples = dict[str, list[dict[str, str]]]


@pytest.fixture(scope="module")
def samples(watched: Watched) -> Samples:
    """Of every metric, the labels of its values."""
    found: Samples = defaultdict(list)
    for family in text_string_to_metric_families(httpx.get(f"{watched.server.url}/metrics").text):
        for sample in family.samples:
            found[sample.name].append(sample.labels)
    return found


def dashboard_expressions() -> list[str]:
    panels = json.loads(DASHBOARD.read_text("utf-8"))["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def alert_expressions() -> list[str]:
    groups = yaml.safe_load(ALERTS.read_text("utf-8"))["groups"]
    return [rule["expr"] for group in groups for rule in group["rules"]]


@pytest.mark.parametrize("expression", [*dashboard_expressions(), *alert_expressions()])
def test_what_the_dashboard_and_the_alerts_ask_for_is_measured(samples: Samples, expression: str) -> None:
    """R9.7, R11.2 Every metric is there after some traffic, with every label and value that it is asked for by."""
    asked = list(selectors(expression))
    assert asked
    known: set[str] = set()
    for name, matchers in asked:
        if name in OF_PROMETHEUS:
            known.add("job")
            continue
        assert name in samples, name
        known |= {label for labels in samples[name] for label in labels}
        for label, value in matchers.items():
            told = {labels[label] for labels in samples[name] if label in labels}
            assert told or label in OF_PROMETHEUS, (name, label)
            assert value in told or value == "" or label in OF_PROMETHEUS, (name, label, value)
    assert grouping(expression) <= known | OF_PROMETHEUS


def test_the_dashboard_can_be_imported() -> None:
    """R9.7 Grafana's schema: panels with ids of their own, side by side, over a data source that is chosen."""
    told = json.loads(DASHBOARD.read_text("utf-8"))
    assert told["schemaVersion"] >= 36
    assert {"datasource", "instance"} == {variable["name"] for variable in told["templating"]["list"]}
    panels = told["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        if panel["type"] != "row":
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert panel["targets"]


def test_no_metric_has_a_label_that_a_scrape_would_hide(samples: Samples) -> None:
    """R9.7 Prometheus names what it scrapes by job and instance."""
    assert not {label for values in samples.values() for labels in values for label in labels} & {"job", "instance"}


def test_routes_are_told_by_their_templates(samples: Samples) -> None:
    """R9.7 A few values: ids and names are none of them, and both addresses of a route are one."""
    routes = {labels["route"] for labels in samples["causeway_http_requests_total"]}
    assert {"/api/v1/documents/{document_id}", "/api/v1/chat", "/metrics", "none"} <= routes


def test_searches_without_an_answer_tell_every_stage(watched: Watched) -> None:
    """R11.2, 001.13.10 Debug has the time of each stage and what it handed on."""
    debug = watched.answers["retrieve"].json()["debug"]
    assert {"transform", "fulltext", "vector", "fuse", "rerank", "search"} <= set(debug["timings_ms"])
    assert [leg["total"] for leg in debug["legs"]] == [1, 1]
    assert debug["fused"]["total"] == debug["reranked"]["total"] == debug["graph"]["total"] == 1


def test_alerts_have_what_prometheus_asks_of_them() -> None:
    """R11.2"""
    configured = yaml.safe_load((ALERTS.parent / "prometheus.yml").read_text("utf-8"))
    assert configured["rule_files"] == [ALERTS.name]
    rules = [rule for group in yaml.safe_load(ALERTS.read_text("utf-8"))["groups"] for rule in group["rules"]]
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert rule["annotations"]["summary"]
