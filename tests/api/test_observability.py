import pytest
from tests.conftest import run_server
from tests.api.scripted import QUESTION, ANSWER, asking
from tests.api.uploads import REPORT, upload, finished
from tests.model_server import ModelServer, Reply
from tests.otlp_receiver import otlp_receiver
import httpx, time

def test_x(make_database):
    with ModelServer(default=Reply(ANSWER)) as model, otlp_receiver() as rec, run_server(DATABASE_URL=make_database(), RAG_LOG_LEVEL="INFO", **asking(model), **rec.environment) as server:
        api = httpx.Client(base_url=f"{server.url}/api/v1", timeout=30)
        made = upload(api, "notes", "a.md", REPORT)
        finished(api, made["id"])
        t = "00-" + "a"*32 + "-" + "b"*16 + "-01"
        r = api.post("/chat", json={"message": "¿Por qué falló el horno H2?", "collection": "notes"}, headers={"traceparent": t})
        print(r.status_code, r.headers)
        r = api.post("/chat/stream", json={"message": "¿Por qué falló el horno H2?", "collection": "notes"})
        r = api.post("/retrieve", json={"query": "¿Por qué falló el horno H2?", "collection": "notes"})
        r = api.post("/retrieve", json={"query": "¿Por qué falló el horno H2?", "nope": "notes"})
        r = api.put("/retrieve", json={"query": "¿Por qué falló el horno H2?", "nope": "notes"})
        r = api.get("/documents/xyz")
        r = httpx.get(server.url+"/static/chat.js")
        r = httpx.get(server.url+"/nothing")
        m = httpx.get(server.url+"/metrics").text
        time.sleep(1)
        open("/tmp/w/s8scratch/metrics","w").write(m)
        open("/tmp/w/s8scratch/log","w").write(server.log() if False else server.process.log())
    open("/tmp/w/s8scratch/spans","w").write("\n".join(f"{s.trace[:6]} {s.id} {s.parent or '-'*16} {s.name} {s.attributes}" for s in rec.spans))
    assert 0
