"""Real and hostile files of other projects, where a developer has them beside the repository."""

import json
from collections import Counter

import pytest

from graphrag.errors import UnreadableDocument
from tests.graphrag.parsers.isolated import IsolatedParser
from tests.graphrag.parsers.laws import assert_lawful
from tests.processes import ROOT

DOCUMENTS = ROOT.parent / "shared" / "data" / "documents"
READ = "read"
# What comes of each file of a group. Those not named are read.
OUTCOMES = {
    "normal/picture.pptx": "empty",
    "malformed_or_edge/empty.txt": "empty",
    "malformed_or_edge/empty.xlsx": "empty",
    "malformed_or_edge/51921-Word-Crash067.doc": "empty",
    "malformed_or_edge/clusterfuzz-testcase-minimized-POIXWPFFuzzer-6120975439364096.docx": "damaged",
    "malformed_or_edge/clusterfuzz-testcase-minimized-POIXWPFFuzzer-5569740188549120.docx": "damaged",
    "malformed_or_edge/clusterfuzz-testcase-minimized-XLSX2CSVFuzzer-5025401116950528.xlsx": "damaged",
    "malformed_or_edge/clusterfuzz-testcase-POIHWPFFuzzer-5696094627495936.doc": "damaged",
    "encrypted/password_password_cryptoapi.doc": "encrypted",
    "encrypted/password_tika_binaryrc4.doc": "encrypted",
    "encrypted/bug53475-password-is-solrcell.docx": "encrypted",
    "encrypted/r6-both-passwords.pdf": "encrypted",
    "encrypted/r4-aes-user-password.pdf": "encrypted",
    "bomb/poc-xmlbomb.xlsx": "damaged",
    "bomb/poc-xmlbomb-empty.xlsx": "damaged",
    "xxe/ExternalEntityInText.docx": "damaged",
}
QUOTES = {
    "normal/TestMickey.doc": "Word 6.0/95 format",
    "multilingual/greek_heading_styles.doc": "Überschriften",
    "multilingual/eng_spa_mult.docx": "razón y conciencia",
    "normal/layout-parser-paper-fast.pdf": "1 Introduction",
    "encoding/umlauts-non-utf8.md": "ä",
}


def manifest() -> dict[str, bytes]:
    if not DOCUMENTS.is_dir():
        pytest.skip(f"the development data is not at {DOCUMENTS}")
    lines = (DOCUMENTS / "MANIFEST.jsonl").read_text(encoding="utf-8").splitlines()
    return {file: (DOCUMENTS / file).read_bytes() for file in (json.loads(line)["file"] for line in lines)}


async def outcome(parser: IsolatedParser, data: bytes, *, filename: str) -> tuple[str, str]:
    try:
        parsed = await parser.parse(data, filename=filename)
    except UnreadableDocument as exc:
        return str(exc.details["reason"]), ""
    assert_lawful(parsed)
    return READ, parsed.text


async def test_every_file_is_read_or_refused_for_its_cause(parser: IsolatedParser) -> None:
    """R1.1, R1.2, security 9"""
    files = manifest()
    found = {file: await outcome(parser, data, filename=file) for file, data in files.items()}
    assert {file: reason for file, (reason, _) in found.items()} == {file: OUTCOMES.get(file, READ) for file in files}
    assert Counter(reason for reason, _ in found.values())[READ] >= 55
    for file, quote in QUOTES.items():
        assert quote in found[file][1], file
