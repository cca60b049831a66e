"""Hostile files, as they come over HTTP."""

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.expectations import check_error, check_error_body
from tests.api.uploads import finished
from tests.conftest import Server, run_server
from tests.graphrag.parsers.documents import make_docx, make_every_format, make_pdf, part, with_part
from tests.graphrag.parsers.test_hostile_files import ENTITIES, PARTS, WORD, with_bomb

WORDS = "El horno H2 falló porque se rompió el retén."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def server(make_database: Callable[[], str], home: Path) -> Iterator[Server]:
    settings = {"RAG_FILES_URL": (home / "files").as_uri(), "RAG_PARSING__SECONDS": "20"}
    with run_server(DATABASE_URL=make_database(), **settings) as server:
        yield server


@pytest.fixture
def api(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{server.url}/api/v1", timeout=60) as client:
        yield client


def uploaded(api: httpx.Client, name: str, data: bytes) -> dict[str, Any]:
    """Its document, once it is indexed or has its error."""
    answer = api.post("/documents", files={"files": (name, data)})
    assert answer.status_code == 202, answer.text
    (made,) = answer.json()["documents"]
    return finished(api, made["id"]) if made["id"] else dict(made)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("es", "El nombre del archivo es demasiado largo: como máximo 255 bytes. Acórtelo."),
        ("fr", "Le nom du fichier est trop long : 255 octets au maximum. Raccourcissez-le."),
        ("en", "The file's name is too long: at most 255 bytes. Shorten it."),
    ],
)
def test_a_file_s_name_has_a_limit_of_bytes(api: httpx.Client, language: str, words: str) -> None:
    """Security 9: as file systems have it; one that is longer is refused, with its upload."""
    longest = f"{'ñ' * 125}a.txt"
    made = uploaded(api, longest, WORDS.encode())
    assert (len(longest.encode()), made["status"], made["filename"]) == (255, "indexed", longest)
    files = {"files": (f"b{longest}", WORDS.encode())}
    error = check_error(
        api.post("/documents", files=files, headers={"Accept-Language": language}), 400, "unreadable_document"
    )
    assert (error["message"], error["details"]) == (words, {"reason": "name_too_long", "limit": 255})
    replaced = api.put(f"/documents/{made['id']}", files={"file": (f"b{longest}", WORDS.encode())})
    check_error(replaced, 400, "unreadable_document")


HOSTILE = {
    "bomb.docx": (with_bomb(make_docx(), WORD, declared=24), "too_large"),
    "bomb.xlsx": (with_bomb(make_every_format()["a.xlsx"], PARTS["a.xlsx"], declared=1_000_000_000), "too_large"),
    "entities.docx": (ENTITIES["a.docx"], "damaged"),
    "entities.xlsx": (ENTITIES["a.xlsx"], "damaged"),
    "locked.pdf": (make_pdf([[WORDS]], password="abre"), "encrypted"),
    "torn.docx": (make_docx()[:700], "damaged"),
    "torn.pdf": (make_pdf([[WORDS]])[:500], "damaged"),
    "empty.txt": (b"", "empty"),
    "blank.md": (b" \n\t\n", "empty"),
    "program.pdf": (b"MZ\x90\x00" + bytes(range(256)) * 40, "unsupported"),
    "huge.txt": (b"a" * 100_000_001, "too_large"),
}


@pytest.mark.parametrize(("name", "data", "code"), [(name, *told) for name, told in HOSTILE.items()])
def test_a_hostile_file_has_its_error(api: httpx.Client, name: str, data: bytes, code: str) -> None:
    """Security 9: bombs, entities, passwords, torn, empty files; a typed error, and the next file goes on."""
    found = uploaded(api, name, data)
    assert (found["status"], found["error"]["code"]) == ("error", code), found
    assert found["error"]["message"]
    assert uploaded(api, f"after {name}.txt", f"{WORDS} {name}".encode())["status"] == "indexed"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../../../tmp/escape.txt", "escape.txt"),
        ("..\\..\\escape.txt", "escape.txt"),
        ("/etc/cron.d/escape.txt", "escape.txt"),
        ("C:\\Windows\\escape.txt", "escape.txt"),
        ("..", None),
        ("a/", None),
        (".", None),
        ("~/.ssh/authorized_keys", "authorized_keys"),
        ("%2e%2e%2fescape.txt", "%2e%2e%2fescape.txt"),
        ("con\u202etxt.exe", None),
        ("a" * 5_000 + ".txt", None),
    ],
)
def test_a_filename_is_no_path(api: httpx.Client, home: Path, given: str, kept: str | None) -> None:
    """Security 9: it is what a person calls the file; where it lies is made of ids."""
    answer = api.post("/documents", files={"files": (given, f"{WORDS} {given[:40]!r}".encode())})
    assert answer.status_code in ([202] if kept else [202, 400, 422]), answer.text
    if answer.status_code == 202:
        shown = answer.json()["documents"][0]["filename"]
        assert shown == kept or (kept is None and "/" not in shown and "\\" not in shown)
    else:
        check_error_body(answer.json())
    stored = [path for path in home.rglob("*") if path.is_file()]
    assert not [path for path in stored if "escape" in path.name or "authorized" in path.name]
    assert not Path("/tmp/escape.txt").exists()


@pytest.fixture
def trap() -> Iterator[tuple[str, list[bytes]]]:
    """An address that nobody may come to, and what came."""
    came: list[bytes] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def wait() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                came.append(connection.recv(200))

    threading.Thread(target=wait, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", came
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def linking(url: str) -> dict[str, bytes]:
    """Files of every kind that name the address wherever their formats let one be fetched from."""
    page = (
        f'<html><head><base href="{url}/"><link rel="stylesheet" href="{url}/a.css"><script src="{url}/a.js"></script>'
        f'<meta http-equiv="refresh" content="0;url={url}/next"></head><body background="{url}/b.png">'
        f"<p>{WORDS} html</p>"
        f'<img src="{url}/a.png"><iframe src="{url}/frame"></iframe><object data="{url}/o"></object>'
        f'<svg><image href="{url}/s.svg"/></svg><a href="{url}/link">aquí</a></body></html>'
    )
    entity = f'<!DOCTYPE x [<!ENTITY % e SYSTEM "{url}/dtd"> %e;]>'
    head, _, body = part(make_docx(), WORD).partition(b"?>")
    relation = (
        '<Relationship Id="rId99" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/'
        f'attachedTemplate" Target="{url}/template.dotm" TargetMode="External"/></Relationships>'
    ).encode()
    links = "word/_rels/document.xml.rels"
    plain = make_docx(lambda document: document.add_paragraph(f"{WORDS} docx {url}"))
    return {
        "page.html": page.encode(),
        "notes.md": f"# Notas\n\n{WORDS} md ![foto]({url}/a.png) <img src='{url}/b.png'> [aquí]({url})\n".encode(),
        "plain.docx": with_part(plain, links, part(plain, links).replace(b"</Relationships>", relation)),
        "entity.docx": with_part(make_docx(), WORD, head + b"?>" + entity.encode() + body),
        "sheet.csv": f'pieza;enlace\nretén;"=WEBSERVICE(""{url}/x"")"\n'.encode(),
        "link.txt": f"{WORDS} txt {url}/robots.txt\n".encode(),
        "report.pdf": make_pdf([[WORDS, f"pdf {url}/a.png"]]),
    }


def test_no_address_of_a_user_s_is_fetched(api: httpx.Client, trap: tuple[str, list[bytes]]) -> None:
    """Security 11: neither what a file links to, nor what a question or a filter names."""
    url, came = trap
    for name, data in linking(url).items():
        found = uploaded(api, name, data)
        assert found["status"] == "indexed" or name == "entity.docx", found
    for question in (f"Resume {url}/page", f"¿Qué dice ![x]({url}/a.png)?", url):
        assert api.post("/chat", json={"message": question}).status_code == 200
    api.post("/chat", json={"message": "¿Qué horno falló?", "filters": {"filename": url}})
    api.put("/collections/remote", json={"generation": {"chat_model": f"openai:{url}"}})
    api.post("/documents", files={"files": ("a.txt", b"")}, data={"collection": url})
    assert came == []


def test_the_trap_works(trap: tuple[str, list[bytes]]) -> None:
    """Security 11: …or the test above could not fail."""
    url, came = trap
    with pytest.raises(httpx.HTTPError):
        httpx.get(url, timeout=5)
    assert came
