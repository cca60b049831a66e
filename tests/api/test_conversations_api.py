"""Conversations and feedback over HTTP, with a real server: kept, read back, edited, asked again, forgotten."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.expectations import check_citations, check_error
from tests.api.pages import read_pages
from tests.api.scripted import ENDLESS
from tests.api.streams import read_events, stream
from tests.conftest import Server, run_server
from tests.model_server import Body, CutStream, ModelServer, Reply

QUESTION = "¿Cuánto cobra de más al mes quien está habilitado en varias líneas?"
ASKED_IN = {  # question → the heading of questions in its language
    QUESTION: "Pregunta",
    "Why did the Christmas tins reach Bristol so late?": "Question",
    "À quelle date s'arrête le contrat avec Épicerie Valadour ?": "Question",
}
FOLLOW_UP = "¿y quién lo firma?"
AT_ONCE = 8
WAIT_SECONDS = 30
LANGUAGES = ("es", "fr", "en")


def said(body: Body) -> list[str]:
    return [message["content"] for message in body["messages"] if message["role"] != "system"]


ECHO = Reply(lambda body: f"({said(body)[-1]})", delay_seconds_per_token=0.02)


MODEL_REPLY = ECHO
ENVIRONMENT = {"RAG_WORKER": "false", "RAG_ENABLED": "false", "RAG_CHAT_MAX_RETRIES": "0"}


@pytest.fixture(scope="module")
def chatting(environment: dict[str, str]) -> Iterator[Server]:
    """Plain chat with the scripted model."""
    with run_server(**environment) as running:
        yield running


@pytest.fixture(scope="module")
def chat(chatting: Server) -> Iterator[httpx.Client]:
    with chatting.client() as client:
        yield client


@pytest.fixture(scope="module")
def client(demo_server: Server) -> Iterator[httpx.Client]:
    with demo_server.client() as client:
        yield client


def ask(client: httpx.Client, message: str | None = None, **body: Any) -> dict[str, Any]:
    response = client.post("/api/chat", json=body if message is None else {"message": message, **body})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()
    return answer


def read(client: httpx.Client, conversation: str, **query: Any) -> dict[str, Any]:
    response = client.get(f"/api/conversations/{conversation}", params=query)
    assert response.status_code == 200, response.text
    found: dict[str, Any] = response.json()
    return found


def contents(conversation: dict[str, Any]) -> list[str]:
    return [message["content"] for message in conversation["messages"]]


def test_a_question_begins_a_conversation_that_is_kept(client: httpx.Client) -> None:
    """R9.1, R8.9 With citations, sources, reliability and timings, as they were given; titled by the question."""
    answer = ask(client, QUESTION)
    found = read(client, answer["conversation_id"])
    assert found["title"] == "Cuánto cobra de más al mes quien está habilitado en varias…"
    question, kept = found["messages"]
    assert (question["role"], question["content"], question["id"]) == ("user", QUESTION, answer["parent_id"])
    assert (kept["role"], kept["status"], kept["id"]) == ("assistant", "complete", answer["message_id"])
    check_citations({"answer": kept["content"], **kept["details"]})
    assert {"answer": kept["content"], **kept["details"]} == {
        name: value
        for name, value in answer.items()
        if name not in {"conversation_id", "parent_id", "message_id", "answer_html"}
    }
    listed = client.get("/api/conversations", params={"limit": 200}).json()["conversations"]
    assert listed[0] == {name: value for name, value in found.items() if name != "messages"}


def test_a_follow_up_is_understood_by_the_conversation(client: httpx.Client) -> None:
    """R6.3 It needs the conversation alone, streamed or whole; what it asks for alone is something else."""
    first = ask(client, QUESTION)
    place = {"conversation_id": first["conversation_id"], "parent_id": first["message_id"]}
    answers = [ask(client, FOLLOW_UP, **place), stream(client, message=FOLLOW_UP, **place)[-1].data]
    told = [
        {"role": "user", "content": QUESTION},
        {"role": "assistant", "content": first["answer"]},
        {"role": "user", "content": FOLLOW_UP},
    ]
    sent = ask(client, messages=told)
    cited = first["citations"][0]["filename"]
    for answer in answers:
        assert [source["filename"] for source in answer["sources"]] == [of["filename"] for of in sent["sources"]]
        assert cited in {source["filename"] for source in answer["sources"]}
    assert ask(client, FOLLOW_UP)["sources"] != answers[0]["sources"]


def test_a_conversation_sent_whole_is_not_kept(client: httpx.Client) -> None:
    """R9.1 `messages` is the client's own."""
    before = client.get("/api/conversations", params={"limit": 200}).json()
    answer = ask(client, messages=[{"role": "user", "content": QUESTION}])
    assert answer["conversation_id"] is answer["message_id"] is answer["parent_id"] is None
    assert client.get("/api/conversations", params={"limit": 200}).json() == before


def test_a_stream_names_its_conversation_at_once(chat: httpx.Client) -> None:
    """R9.1 In headers, and at its end."""
    with chat.stream("POST", "/api/chat/stream", json={"message": "hello"}) as response:
        done = list(read_events(response.iter_lines()))[-1].data
    assert response.headers["x-conversation-id"] == done["conversation_id"]
    assert response.headers["x-question-id"] == done["parent_id"]
    assert contents(read(chat, done["conversation_id"])) == ["hello", "(hello)"]


def test_versions_of_questions_and_answers_stand_side_by_side(chat: httpx.Client, model: ModelServer) -> None:
    """R9.1 Each can be shown and gone on with; the model hears of its own branch alone."""
    first = ask(chat, "one")
    conversation = first["conversation_id"]
    second = ask(chat, "two", conversation_id=conversation)
    edited = ask(chat, "two, better", conversation_id=conversation, edit_message_id=second["parent_id"])
    again = ask(chat, conversation_id=conversation, regenerate_message_id=edited["message_id"])
    found = read(chat, conversation)
    assert contents(found) == ["one", "(one)", "two, better", "(two, better)"]
    assert [message["versions"] for message in found["messages"]] == [
        [first["parent_id"]],
        [first["message_id"]],
        [second["parent_id"], edited["parent_id"]],
        [edited["message_id"], again["message_id"]],
    ]
    assert contents(read(chat, conversation, message_id=second["parent_id"])) == ["one", "(one)", "two", "(two)"]
    ask(chat, "three", conversation_id=conversation, parent_id=second["message_id"])
    assert said(model.requests[-1].body) == ["one", "(one)", "two", "(two)", "three"]


def test_questions_at_once_do_not_mix(chatting: Server, model: ModelServer) -> None:
    """R9.1 Many after one answer: each hears what was before all of them, and is kept."""
    with chatting.client() as client:
        first = ask(client, "one")
        conversation = first["conversation_id"]
        place = {"conversation_id": conversation, "parent_id": first["message_id"]}
        before = len(model.requests)

        def ask_number(number: int) -> str:
            with chatting.client() as own:
                return str(ask(own, f"question {number}", **place)["answer"])

        with ThreadPoolExecutor(AT_ONCE) as pool:
            answers = list(pool.map(ask_number, range(AT_ONCE)))
        heard = [said(request.body) for request in model.requests[before:]]
        assert answers == [f"(question {number})" for number in range(AT_ONCE)]
        assert sorted(heard) == [["one", "(one)", f"question {number}"] for number in range(AT_ONCE)]
        shown = read(client, conversation)["messages"]
        assert len(shown[2]["versions"]) == AT_ONCE
        last = ask(client, "last", conversation_id=conversation)
        latest = shown[2]["content"]
        assert said(model.requests[-1].body) == ["one", "(one)", latest, f"({latest})", "last"]
        assert last["answer"] == "(last)"


def test_a_client_that_leaves_finds_what_came(chat: httpx.Client, model: ModelServer) -> None:
    """R8.9, security 18"""
    model.script(ENDLESS)
    before = model.disconnects
    with chat.stream("POST", "/api/chat/stream", json={"message": "everything"}) as response:
        tokens = (event for event in read_events(response.iter_lines()) if event.name == "token")
        came = "".join(next(tokens).data["text"] for _ in range(3))
        conversation = response.headers["x-conversation-id"]
    deadline = time.monotonic() + WAIT_SECONDS
    while model.disconnects == before or len(read(chat, conversation)["messages"]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    answer = read(chat, conversation)["messages"][1]
    assert answer["status"] == "cancelled"
    assert answer["content"].startswith(came)
    again = ask(chat, conversation_id=conversation, regenerate_message_id=answer["id"])
    assert again["answer"] == "(everything)"


def test_an_answer_that_broke_off_is_found_with_its_error(chat: httpx.Client, model: ModelServer) -> None:
    """R8.9, R11.1 The error names the conversation."""
    model.script(CutStream(3, "one two three four"))
    response = chat.post("/api/chat", json={"message": "count"})
    details = check_error(response, 502, "model_interrupted")["details"]
    answer = read(chat, details["conversation_id"])["messages"][1]
    assert (answer["id"], answer["status"]) == (details["message_id"], "interrupted")
    assert answer["details"]["error"] == "model_interrupted"
    assert answer["content"] == details["partial_answer"] != ""


def test_conversations_are_made_named_and_deleted(chat: httpx.Client) -> None:
    """R9.1"""
    made = chat.post("/api/conversations", json={})
    assert made.status_code == 201
    conversation = made.json()["id"]
    ask(chat, "one", conversation_id=conversation)
    assert read(chat, conversation)["title"] == "One"
    assert chat.patch(f"/api/conversations/{conversation}", json={"title": "Mine"}).json()["title"] == "Mine"
    ask(chat, "two", conversation_id=conversation)
    assert read(chat, conversation)["title"] == "Mine"
    assert chat.delete(f"/api/conversations/{conversation}").status_code == 204
    check_error(chat.get(f"/api/conversations/{conversation}"), 404, "conversation_not_found")
    check_error(chat.delete(f"/api/conversations/{conversation}"), 404, "conversation_not_found")


def test_a_conversation_asks_its_own_collection(client: httpx.Client) -> None:
    """R9.1 One that names none that exists is refused; a question may name another."""
    check_error(client.post("/api/conversations", json={"collection": "nowhere"}), 404, "collection_not_found")
    made = client.post("/api/conversations", json={"collection": "demo", "title": "Demo"}).json()
    assert (made["collection"], made["title"]) == ("demo", "Demo")
    assert ask(client, QUESTION, conversation_id=made["id"])["found"]
    response = client.post("/api/chat", json={"message": "x", "conversation_id": made["id"], "collection": "nowhere"})
    check_error(response, 404, "collection_not_found")
    assert len(read(client, made["id"])["messages"]) == 2


def test_feedback_is_kept_and_listed(client: httpx.Client) -> None:
    """R9.6 Thumbs on an answer and on a citation; changed, listed, taken back."""
    answer = ask(client, QUESTION)
    message = f"/api/conversations/{answer['conversation_id']}/messages/{answer['message_id']}"
    assert client.put(f"{message}/feedback", json={"rating": 1}).status_code == 200
    changed = client.put(f"{message}/feedback", json={"rating": -1, "comment": "Falta la fecha."}).json()
    assert (changed["rating"], changed["comment"], changed["citation"]) == (-1, "Falta la fecha.", 0)
    assert client.put(f"{message}/citations/1/feedback", json={"rating": 1}).status_code == 200
    kept = read(client, answer["conversation_id"])["messages"][1]["feedback"]
    assert [(one["citation"], one["rating"]) for one in kept] == [(0, -1), (1, 1)]
    up, down = (client.get("/api/feedback", params={"good": good}).json()["feedback"] for good in (True, False))
    assert up[0]["cited"] == answer["citations"][0]
    assert (down[0]["question"], down[0]["answer"], down[0]["cited"]) == (QUESTION, answer["answer"], None)
    assert len(client.get("/api/feedback").json()["feedback"]) >= len(up) + len(down)
    assert client.delete(f"{message}/feedback").status_code == 204
    check_error(client.delete(f"{message}/feedback"), 404, "message_not_found")
    assert client.delete(f"{message}/citations/1/feedback").status_code == 204
    assert read(client, answer["conversation_id"])["messages"][1]["feedback"] == []


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param("feedback", {"rating": 0}, id="no thumb"),
        pytest.param("feedback", {"rating": True}, id="true"),
        pytest.param("feedback", {"rating": 1, "comment": "x" * 4_001}, id="long comment"),
        pytest.param("feedback", {"rating": 1, "comment": "\0"}, id="NUL"),
        pytest.param("citations/0/feedback", {"rating": 1}, id="citation 0"),
        pytest.param("feedback", {"rating": 1, "stars": 5}, id="unknown field"),
    ],
)
def test_feedback_that_is_none_is_refused(client: httpx.Client, path: str, body: dict[str, Any]) -> None:
    """R9.6"""
    response = client.put(f"/api/conversations/{uuid4()}/messages/{uuid4()}/{path}", json=body)
    check_error(response, 422, "invalid_request")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"message": "x", "regenerate_message_id": str(uuid4())}, id="message and again"),
        pytest.param({"regenerate_message_id": str(uuid4())}, id="again nowhere"),
        pytest.param({"message": "x", "edit_message_id": str(uuid4())}, id="edit nowhere"),
        pytest.param({"message": "x", "parent_id": str(uuid4())}, id="after nowhere"),
        pytest.param({"messages": [{"role": "user", "content": "x"}], "conversation_id": str(uuid4())}, id="messages"),
        pytest.param(
            {
                "message": "x",
                "conversation_id": str(uuid4()),
                "parent_id": str(uuid4()),
                "edit_message_id": str(uuid4()),
            },
            id="two places",
        ),
        pytest.param({"message": "x", "conversation_id": "one"}, id="no id"),
    ],
)
def test_a_place_that_is_none_is_refused(chat: httpx.Client, body: dict[str, Any]) -> None:
    """R9.1"""
    for path in ("/api/chat", "/api/chat/stream"):
        check_error(chat.post(path, json=body), 422, "invalid_request")


@pytest.mark.parametrize("title", ["", " ", "a\nb", "a\0b", "x" * 201])
def test_a_title_is_one_line(chat: httpx.Client, title: str) -> None:
    """R9.1"""
    conversation = chat.post("/api/conversations", json={"title": "Mine"}).json()["id"]
    response = chat.patch(f"/api/conversations/{conversation}", json={"title": title})
    check_error(response, 422, "invalid_request")
    assert read(chat, conversation)["title"] == "Mine"


def test_what_is_not_there_is_said_in_the_reader_s_language(chatting: Server) -> None:
    """R9, security 3: before a stream begins, with its HTTP status."""
    conversation = uuid4()
    worded = set()
    for language in LANGUAGES:
        with chatting.client(**{"Accept-Language": language}) as client:
            begun = ask(client, "one")["conversation_id"]
            for path in ("/api/chat", "/api/chat/stream"):
                lost = client.post(path, json={"message": "x", "conversation_id": str(conversation)})
                error = check_error(lost, 404, "conversation_not_found")
                assert error["details"] == {"conversation": str(conversation)}
                assert str(conversation) in error["message"]
                body = {"conversation_id": begun, "regenerate_message_id": str(conversation)}
                worded |= {
                    error["message"],
                    check_error(client.post(path, json=body), 404, "message_not_found")["message"],
                }
            lost = client.get(f"/api/conversations/{begun}", params={"message_id": str(conversation)})
            check_error(lost, 404, "message_not_found")
    assert len(worded) == 2 * len(LANGUAGES)


def test_an_invalid_question_begins_nothing(chat: httpx.Client) -> None:
    """R9.1 Nothing is kept of it."""
    before = chat.get("/api/conversations", params={"limit": 200}).json()
    check_error(chat.post("/api/chat", json={"message": " "}), 400, "invalid_question")
    check_error(chat.post("/api/chat", json={"message": "x", "filters": {"color": "red"}}), 400, "invalid_filter")
    assert chat.get("/api/conversations", params={"limit": 200}).json() == before


def test_conversations_are_listed_by_pages_and_found_by_title(chat: httpx.Client) -> None:
    """R9.1 Each once, the latest first; by a part of the title, whatever its case and accents."""
    made = [chat.post("/api/conversations", json={"title": f"Almacén número {n}"}).json()["id"] for n in range(5)]
    found = read_pages(chat, "/api/conversations", "conversations", limit=2, query="ALMACEN NÚM")
    assert [len(page) for page in found] == [2, 2, 1]
    assert [one["id"] for page in found for one in page] == made[::-1]
    assert read_pages(chat, "/api/conversations", "conversations", query="100%_") == [[]]
    check_error(chat.get("/api/conversations", params={"query": "a\0"}), 422, "invalid_request")
    check_error(chat.get("/api/conversations", params={"cursor": "nonsense"}), 400, "invalid_cursor")
    check_error(chat.get("/api/conversations", params={"limit": 0}), 422, "invalid_request")


def test_several_conversations_are_deleted_at_once(chat: httpx.Client) -> None:
    """R9.1 Those that are not there are told apart, and hinder nothing."""
    kept, *gone = (ask(chat, question)["conversation_id"] for question in ("one", "two", "three"))
    unknown = str(uuid4())
    response = chat.post("/api/conversations/bulk-delete", json={"ids": [gone[1], unknown, gone[0], gone[1]]})
    assert response.json() == {"deleted": [gone[1], gone[0]], "not_found": [unknown]}
    for conversation in gone:
        check_error(chat.get(f"/api/conversations/{conversation}"), 404, "conversation_not_found")
    assert contents(read(chat, kept)) == ["one", "(one)"]
    for ids in ([], ["one"], [unknown] * 201):
        check_error(chat.post("/api/conversations/bulk-delete", json={"ids": ids}), 422, "invalid_request")


def test_a_conversation_is_given_another_collection(client: httpx.Client) -> None:
    """R9.1 And its title stays; null goes back to the default one."""
    place = f"/api/conversations/{client.post('/api/conversations', json={'title': 'Mine'}).json()['id']}"
    changed = client.patch(place, json={"collection": "demo"}).json()
    assert (changed["title"], changed["collection"]) == ("Mine", "demo")
    check_error(client.patch(place, json={"collection": "nowhere"}), 404, "collection_not_found")
    both = client.patch(place, json={"title": "Yours", "collection": None}).json()
    assert (both["title"], both["collection"]) == ("Yours", None)
    for body in ({}, {"title": None}, {"collection": ""}, {"collection": "a\0"}, {"color": "red"}):
        check_error(client.patch(place, json=body), 422, "invalid_request")


def test_messages_are_read_by_pages(chat: httpx.Client) -> None:
    """R9.1 All versions, or those of one branch; one alone."""
    first = ask(chat, "one")
    conversation = first["conversation_id"]
    second = ask(chat, "two", conversation_id=conversation)
    ask(chat, "two, better", conversation_id=conversation, edit_message_id=second["parent_id"])
    path = f"/api/conversations/{conversation}/messages"
    found = read_pages(chat, path, "messages", limit=4)
    assert [[one["content"] for one in page] for page in found] == [
        ["one", "(one)", "two", "(two)"],
        ["two, better", "(two, better)"],
    ]
    assert found[0][2]["versions"] == [found[0][2]["id"], found[1][0]["id"]]
    for query, said in (({"scope": "branch"}, "two, better"), ({"message_id": second["message_id"]}, "two")):
        (shown,) = read_pages(chat, path, "messages", **query)
        assert [one["content"] for one in shown] == ["one", "(one)", said, f"({said})"]
    for one in (found[0][3], found[1][0]):
        assert chat.get(f"{path}/{one['id']}").json() == one
    elsewhere = ask(chat, "three")
    for lost in (uuid4(), elsewhere["message_id"]):
        check_error(chat.get(f"{path}/{lost}"), 404, "message_not_found")
        check_error(chat.get(path, params={"message_id": str(lost)}), 404, "message_not_found")
    check_error(chat.get(f"/api/conversations/{uuid4()}/messages"), 404, "conversation_not_found")


def test_a_message_is_deleted_with_what_follows_it(chat: httpx.Client, model: ModelServer) -> None:
    """R9.1 Another version of it is shown then, else what is before it; the model hears of it no more."""
    first = ask(chat, "one")
    conversation = first["conversation_id"]
    second = ask(chat, "two", conversation_id=conversation)
    edited = ask(chat, "two, better", conversation_id=conversation, edit_message_id=second["parent_id"])
    ask(chat, "three", conversation_id=conversation)
    path = f"/api/conversations/{conversation}/messages"
    assert chat.delete(f"{path}/{edited['parent_id']}").status_code == 204
    assert contents(read(chat, conversation)) == ["one", "(one)", "two", "(two)"]
    ask(chat, "four", conversation_id=conversation)
    assert said(model.requests[-1].body) == ["one", "(one)", "two", "(two)", "four"]
    assert chat.delete(f"{path}/{second['message_id']}").status_code == 204
    assert contents(read(chat, conversation)) == ["one", "(one)", "two"]
    ask(chat, "five", conversation_id=conversation)
    assert said(model.requests[-1].body) == ["one", "(one)", "five"]
    assert chat.delete(f"{path}/{first['parent_id']}").status_code == 204
    assert contents(read(chat, conversation)) == []
    for lost in (first["parent_id"], uuid4(), ask(chat, "elsewhere")["message_id"]):
        check_error(chat.delete(f"{path}/{lost}"), 404, "message_not_found")
    ask(chat, "anew", conversation_id=conversation)
    assert contents(read(chat, conversation)) == ["anew", "(anew)"]


@pytest.mark.parametrize(("question", "heading"), ASKED_IN.items())
def test_a_conversation_is_exported(client: httpx.Client, question: str, heading: str) -> None:
    """R9.1 As Markdown with its citations, in the conversation's language; as JSON it is what is read otherwise."""
    answer = ask(client, question)
    path = f"/api/conversations/{answer['conversation_id']}"
    told = client.get(f"{path}/export", headers={"Accept-Language": "de"})
    assert told.headers["content-type"] == "text/markdown; charset=utf-8"
    assert told.headers["content-disposition"] == f'attachment; filename="conversation-{answer["conversation_id"]}.md"'
    lines = told.text.splitlines()
    assert lines[0] == f"# {read(client, answer['conversation_id'])['title']}"
    assert any(line.startswith(f"## {heading} · ") for line in lines)
    assert question in lines
    assert answer["answer"] in told.text
    cited = answer["citations"][0]
    assert f"- [{cited['number']}] {' '.join(cited['sentence'].split())} ({cited['filename']})" in lines
    written = client.get(f"{path}/export", params={"format": "json"})
    assert written.headers["content-disposition"].endswith('.json"')
    assert written.json() == client.get(path).json()
    check_error(client.get(f"/api/conversations/{uuid4()}/export"), 404, "conversation_not_found")
    check_error(client.get(f"{path}/export", params={"format": "pdf"}), 422, "invalid_request")


def test_an_answer_that_broke_off_is_exported_as_such(chat: httpx.Client, model: ModelServer) -> None:
    """R9.1"""
    model.script(CutStream(3, "one two three four"))
    broken = chat.post("/api/chat", json={"message": "count"}).json()["error"]["details"]
    path = f"/api/conversations/{broken['conversation_id']}/export"
    assert "*The answer was interrupted.*" in chat.get(path, headers={"Accept-Language": "en"}).text


def test_feedback_is_listed_by_pages_of_a_conversation_or_a_collection(client: httpx.Client) -> None:
    """R9.6"""
    named = client.post("/api/conversations", json={"collection": "demo"}).json()["id"]
    answers = [ask(client, QUESTION, conversation_id=named), ask(client, QUESTION)]
    for answer in answers:
        path = f"/api/conversations/{answer['conversation_id']}/messages/{answer['message_id']}"
        for part in ("feedback", "citations/1/feedback"):
            assert client.put(f"{path}/{part}", json={"rating": 1}).status_code == 200
    of_one = read_pages(client, "/api/feedback", "feedback", conversation_id=named, limit=1)
    assert [[one["citation"] for one in page] for page in of_one] == [[1], [0]]
    of_demo = [
        one for page in read_pages(client, "/api/feedback", "feedback", collection="demo", limit=1) for one in page
    ]
    assert {one["message_id"] for one in of_demo} >= {answer["message_id"] for answer in answers}
    assert len({(one["message_id"], one["citation"]) for one in of_demo}) == len(of_demo)
    check_error(client.get("/api/feedback", params={"conversation_id": str(uuid4())}), 404, "conversation_not_found")
    check_error(client.get("/api/feedback", params={"collection": "nowhere"}), 404, "collection_not_found")
    cursor = client.get("/api/conversations", params={"limit": 1}).json()["next_cursor"]
    check_error(client.get("/api/feedback", params={"cursor": cursor}), 400, "invalid_cursor")
