"""A service with Chunkenizer's `POST /search` that answers as it is told to, in a thread of this process."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def passage(text: str = "Un texto.", document: str = "acta-7", index: int = 0, **more: Any) -> dict[str, Any]:
    return {"chunk_text": text, "document_id": document, "chunk_index": index, "score": 0.9, "metadata": {}} | more


@dataclass
class Script:
    """What is answered, and what was asked."""

    url: str = ""
    passages: list[dict[str, Any]] = field(default_factory=list)
    status: int = 200
    body: bytes | None = None  # instead of the passages
    missing_bytes: int = 0  # of what the header promises
    hangs: bool = False
    failures: int = 0  # of the first requests
    questions: list[dict[str, Any]] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def answer(self) -> tuple[int, bytes]:
        if len(self.questions) <= self.failures:
            return 503, b"busy"
        answer = {"query": self.questions[-1]["query"], "results": self.passages, "total_results": len(self.passages)}
        return self.status, json.dumps(answer).encode() if self.body is None else self.body


@contextmanager
def run_chunkenizer() -> Iterator[Script]:
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            script.headers.append(dict(self.headers))
            script.questions.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if script.hangs:
                script.over.wait(30)
            status, body = script.answer() if self.path == "/search" else (404, b"")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) + script.missing_bytes))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Into nobody's output."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        script.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
