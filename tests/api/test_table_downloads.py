"""The table that an answer was computed from, downloaded over HTTP from a real server."""

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api.commands import causeway
from tests.api.expectations import check_error
from tests.api.uploads import finished, upload
from tests.conftest import Server

COLLECTION = "descargas"
CLIENTS = ("Talleres Gómez", "Óptica Lledó", "=Panadería Sol")
HEADERS = ["Factura", "Cliente", "Fecha", "Importe (€)", "Estado"]
ROWS = [
    [
        f"F-{number}",
        CLIENTS[number % 3],
        f"2025-{number % 3 + 1:02}-10",
        str(number),
        ("Pagada", "Pendiente")[number % 2],
    ]
    for number in range(101, 161)
]
PENDING = [row for row in ROWS if row[4] == "Pendiente"]


def sheet(rows: list[list[str]]) -> str:
    return "\n".join(";".join(row) for row in [HEADERS, *rows])


@pytest.fixture(scope="module")
def api(demo_server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{demo_server.url}/api/v1", timeout=60, headers={"Accept-Language": "es"}) as client:
        yield client
        client.delete(f"/collections/{COLLECTION}")


@pytest.fixture(scope="module")
def document(api: httpx.Client) -> str:
    stored = finished(api, upload(api, COLLECTION, "facturas.csv", sheet(ROWS))["id"])
    assert stored["status"] == "indexed"
    return str(stored["id"])


def ask(api: httpx.Client, question: str, **body: Any) -> dict[str, Any]:
    answer = api.post("/chat", json={"message": question, "collection": COLLECTION, **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def download(api: httpx.Client, answer: dict[str, Any]) -> httpx.Response:
    return api.get(f"/conversations/{answer['conversation_id']}/messages/{answer['message_id']}/table.csv")


def read(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


def test_all_rows_are_downloaded(api: httpx.Client, document: str) -> None:
    """R8.3, R9.1 The answer has the first ten with their sources, the file all of them."""
    answer = ask(api, "¿Cuánto suman las facturas pendientes?")
    table = answer["table"]
    assert (table["row_count"], len(table["rows"]), table["group_count"]) == (30, 10, None)
    contents = {source["number"]: source["content"] for source in answer["sources"]}
    assert all(row[0] in contents[number] for row, number in zip(table["rows"], table["sources"], strict=True))
    response = download(api, answer)
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["content-disposition"] == f'attachment; filename="table-{answer["message_id"]}.csv"'
    assert response.content.startswith(b"\xef\xbb\xbf")
    written = [[cell.replace("'=", "=") for cell in row] for row in read(response.content.decode())]
    assert written == [HEADERS, *PENDING]
    assert "'=Panadería Sol" in response.text


def test_groups_are_downloaded_with_their_values(api: httpx.Client, document: str) -> None:
    """R8.3 In the answer as numbers too, and in order of time where they are months."""
    answer = ask(api, "¿Cuánto hemos facturado por mes?")
    table = answer["table"]
    sums = [sum(int(row[3]) for row in ROWS if row[2].startswith(f"2025-0{month}")) for month in (1, 2, 3)]
    assert (table["values"], table["group_count"], table["is_series"]) == (sums, 3, True)
    header, *groups = read(download(api, answer).text)
    assert header[0] == "Fecha"
    assert [(label, int(value)) for label, value in groups] == list(
        zip(("2025-01", "2025-02", "2025-03"), sums, strict=True)
    )
    by_client = ask(api, "¿Cuánto hemos facturado por cliente?")["table"]
    assert (by_client["is_series"], sorted(by_client["values"], reverse=True)) == (False, by_client["values"])


def test_other_answers_have_no_table(api: httpx.Client, document: str) -> None:
    """R9.1 409, as a document without cells; unknown ids 404."""
    other = ask(api, "¡Hola!")
    error = check_error(download(api, other), 409, "table_unavailable")
    assert error["message"] == "Esta respuesta no se calculó a partir de una tabla: no hay filas que descargar."
    check_error(download(api, {**other, "message_id": uuid4()}), 404, "message_not_found")


@pytest.mark.parametrize(
    ("question", "language", "wanted", "told"),
    [
        ("¿Cuánto suman las facturas pendientes?", "es", "Descárgalo en CSV", "«Descargar CSV»"),
        (
            "Combien au total pour les factures avec le statut Pendiente ?",
            "fr",
            "Télécharge-le en CSV",
            "Télécharger le CSV",
        ),
        ("How much do the invoices with Estado Pendiente total?", "en", "Download it as CSV", "“Download CSV”"),
        ("¿Qué dice la factura F-101 de los plazos?", "es", "Descárgalo en CSV", "no hay filas que descargar"),
        ("¡Hola!", "es", "Descárgalo en CSV", ""),
    ],
)
def test_a_follow_up_is_told_where_it_is(
    api: httpx.Client, document: str, question: str, language: str, wanted: str, told: str
) -> None:
    """R8.1, R9.1 In the language of the message; where no answer has a table it is no such answer."""
    place = {"conversation_id": ask(api, question)["conversation_id"]}
    answer = ask(api, wanted, **place)
    assert answer["language"] == language
    assert told in answer["answer"]
    assert ("table.csv" in answer["answer"]) == ("CSV" in told)


def test_another_version_of_the_document_is_told(api: httpx.Client) -> None:
    """R9.1, Security 19 The answer's table goes with the version that it is from; so does the download."""
    stored = finished(api, upload(api, COLLECTION, "cuotas.csv", "Socio;Cuota (€)\nIñaki Berasategui;20\nAna;30")["id"])
    answer = ask(api, "¿Cuánto es el total de cuota por socio?", filters={"filename": "cuotas.csv"})
    assert "Berasategui" in str(answer["table"])
    files = {"file": ("cuotas.csv", "Socio;Cuota (€)\nLuis;20\nAna;30\nEva;40")}
    api.put(f"/documents/{stored['id']}", files=files).raise_for_status()
    assert finished(api, stored["id"])["status"] == "indexed"
    check_error(download(api, answer), 409, "table_unavailable")
    message = api.get(f"/conversations/{answer['conversation_id']}/messages/{answer['message_id']}").json()
    assert message["details"]["table"] is None
    assert "Berasategui" not in str(message)


def test_the_openai_api_has_the_table(demo_server: Server, document: str) -> None:
    """R9.1 Beside the answer's other details."""
    body = {"model": COLLECTION, "messages": [{"role": "user", "content": "¿Cuánto suman las facturas pendientes?"}]}
    answer = httpx.post(f"{demo_server.url}/v1/chat/completions", json=body, timeout=60)
    assert answer.json()["causeway"]["table"]["row_count"] == 30


def test_the_command_line_writes_the_file(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R9.1 `causeway ask --csv`; without a table it says so, and writes nothing."""
    database, written = make_database(), tmp_path / "pendientes.csv"
    (tmp_path / "facturas.csv").write_text(sheet(ROWS))
    assert causeway("ingest", str(tmp_path / "facturas.csv"), DATABASE_URL=database).returncode == 0
    run = causeway("ask", "¿Cuánto suman las facturas pendientes?", "--csv", str(written), DATABASE_URL=database)
    assert run.returncode == 0, run.stderr
    assert len(read(written.read_bytes().decode("utf-8-sig"))) == 31
    none = causeway("ask", "¡Hola!", "--csv", str(tmp_path / "no.csv"), DATABASE_URL=database)
    assert (none.returncode, (tmp_path / "no.csv").exists()) == (1, False)
    assert "not computed from a table" in " ".join(none.stderr.split())
