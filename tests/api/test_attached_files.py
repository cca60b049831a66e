"""A message with an attached file, from its file to the citation that a person sees."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.api.commands import causeway
from tests.graphrag.parsers.documents import make_mail, make_pdf


def test_an_attachment_is_cited_by_its_name_and_page(make_database: Callable[[], str], tmp_path: Path) -> None:
    """R1.1, R8.3: with the message's own fields as the document's metadata."""
    database, message = make_database(), make_mail()
    pages = make_pdf([["Acta de la reunión del martes."], ["El horno H2 falló porque la bomba de aceite se averió."]])
    message.add_attachment(pages, maintype="application", subtype="pdf", filename="acta.pdf")
    (tmp_path / "carta.eml").write_bytes(message.as_bytes())
    indexed = causeway("ingest", str(tmp_path / "carta.eml"), "--collection", "obra", DATABASE_URL=database)
    assert indexed.returncode == 0, indexed.stderr
    run = causeway("ask", "¿Por qué falló el horno H2?", DATABASE_URL=database)
    assert run.returncode == 0, run.stderr
    assert "[1] carta.eml acta.pdf p. 2" in " ".join(run.stdout.split())
    found = causeway("search", "horno", "--collection", "obra", "--json", DATABASE_URL=database)
    metadata = json.loads(found.stdout)["hits"][0]["metadata"]
    assert (metadata["file"], metadata["is_recognized"]) == ("acta.pdf", False)
    assert metadata["document_metadata"]["message"]["from"] == "Inés Muñoz <ines@obra.example>"
    assert metadata["title"] == "Re: Retraso de la grúa nº 4"
