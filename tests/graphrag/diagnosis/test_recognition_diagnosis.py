"""What `causeway doctor` says of tesseract, which is optional."""

import pytest

from api.cli.doctor import WORDS
from graphrag.diagnosis import installation
from graphrag.diagnosis.findings import Level
from graphrag.diagnosis.installation import OCR_COMMANDS, examine_installation


@pytest.mark.parametrize(
    ("program", "data", "code", "said"),
    [
        (None, set(), "ocr_missing", "{command}"),
        ("/usr/bin/tesseract", {"eng", "osd"}, "ocr_languages_missing", "es, fr"),
        ("/usr/bin/tesseract", {"eng", "spa", "fra"}, "ocr", "es, fr, en"),
    ],
)
@pytest.mark.parametrize("platform", ["linux", "darwin", "freebsd14"])
def test_the_way_to_recognition_is_told(
    program: str | None, data: set[str], code: str, said: str, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R11.2: what is there, what is missing, and the command that installs it here."""
    monkeypatch.setattr(installation, "find_tesseract", lambda: program)
    monkeypatch.setattr(installation, "installed_data", lambda: frozenset(data))
    monkeypatch.setattr("sys.platform", platform)
    finding = {each.code: each for each in examine_installation({})}[code]
    assert finding.level is Level.OK
    command = OCR_COMMANDS["darwin" if platform == "darwin" else "linux"]
    for language in ("es", "fr", "en"):
        sentence = WORDS[code][language].format(**finding.details)
        assert said.format(command=command) in sentence
        assert (command in sentence) == (code != "ocr")
