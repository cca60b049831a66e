"""Text of pictures and scanned pages, where tesseract is installed; and pictures that are made to harm."""

import io
import re
import struct
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from graphrag.config.settings import IngestionConfig, ParsingLimits
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.errors import UnreadableDocument
from graphrag.ingestion.isolation import Sandbox
from graphrag.ingestion.sources import SourceFile
from graphrag.parsers.detection import detect, picture_sizes
from graphrag.parsers.parsing import parse
from graphrag.parsers.recognition import LANGUAGES, _read_table, find_tesseract, installed_data
from tests.graphrag.parsers.documents import make_mail, make_pdf
from tests.processes import ROOT

needs_tesseract = pytest.mark.skipif(
    not set(LANGUAGES.values()) <= installed_data(),
    reason="no tesseract: apt-get install tesseract-ocr tesseract-ocr-spa tesseract-ocr-fra",
)
MODEL = EmbeddingModel("bundled", "bundled", 256, 0.5, BundledEmbeddings())
ACT = """El ayuntamiento de Arenal aprobó ayer el presupuesto de 2024, que asciende a 12.450.000 euros. La alcaldesa,
María Núñez, explicó que la reparación del puente se retrasará hasta el otoño porque la empresa adjudicataria no
presentó a tiempo los informes técnicos. Según el acta, el coste de las obras subió un 7,5 % debido a la escasez de
acero. Los vecinos preguntaron cuándo reabrirá la piscina municipal. El concejal respondió que la avería de la bomba
nº 3 causó el cierre del 14 de junio, y que la pieza de recambio llegará en septiembre."""
HUGE = 30_000
LIMITS = ParsingLimits()


def scan(text: str) -> Image.Image:
    """A printed page at 200 dpi, askew by one degree and noisy."""
    document = pypdfium2.PdfDocument(make_pdf([textwrap.wrap(text, 80)]))
    straight = document[0].render(scale=200 / 72).to_pil().convert("L")
    pixels = np.asarray(straight.rotate(1, fillcolor=255)).astype(int)
    noisy = pixels + np.random.default_rng(1).normal(0, 12, pixels.shape)
    return Image.fromarray(np.clip(noisy, 0, 255).astype("uint8"))


def as_file(image: Image.Image, kind: str = "PNG") -> bytes:
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


def as_pdf(images: Sequence[Image.Image], size: tuple[int, int] = (595, 842)) -> bytes:
    """Return pages of this size in points (by default A4), each filled by a picture."""
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=size)
    for image in images:
        canvas.drawImage(ImageReader(image), 0, 0, *size)
        canvas.showPage()
    canvas.save()
    return data.getvalue()


def recall(text: str, wanted: str) -> float:
    found, words = (Counter(re.findall(r"\w+", each)) for each in (text, wanted))
    return (found & words).total() / words.total()


def refusal(data: bytes, name: str, limits: ParsingLimits = LIMITS) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        parse(data, filename=name, limits=limits)
    return caught.value


@needs_tesseract
@pytest.mark.parametrize("name", ["acta.pdf", "acta.png"])
async def test_scanned_page_is_read_and_says_so(name: str) -> None:
    """R1.3: at least 95 of 100 words of a Spanish page, in the confined process, and in more time than other files."""
    page = scan(ACT)
    sandbox = Sandbox(ParsingLimits(seconds=4))
    source = SourceFile(name, name, as_pdf([page]) if name == "acta.pdf" else as_file(page))
    try:
        read = await sandbox.prepare(source, config=IngestionConfig(), model=MODEL)
    finally:
        sandbox.close()
    assert recall(read.text, ACT) >= 0.95
    assert {(place.page, place.is_recognized) for span in read.spans for place in span.locations} == {(1, True)}
    assert "OCR" in read.warnings[0]


@needs_tesseract
def test_printed_pages_beside_scanned_ones_are_not_marked() -> None:
    """R1.3"""
    writer, scanned = (
        pypdfium2.PdfDocument(make_pdf([["Una página impresa."]])),
        as_pdf([scan("Una página escaneada.")]),
    )
    writer.import_pages(pypdfium2.PdfDocument(scanned))
    data = io.BytesIO()
    writer.save(data)
    parsed = parse(data.getvalue(), filename="a.pdf", limits=ParsingLimits())
    assert parsed.text == "Una página impresa.\n\nUna página escaneada."
    assert [(place.page, place.is_recognized) for place in parsed.locations] == [(1, False), (2, True)]


@needs_tesseract
def test_attached_picture_is_read() -> None:
    """R1.3: not one that only decorates the message."""
    message = make_mail()
    picture = as_file(scan("La bomba se averió."))
    message.add_attachment(picture, maintype="image", subtype="png", filename="foto.png")
    parsed = parse(message.as_bytes(), filename="a.eml", limits=ParsingLimits())
    assert parsed.text.endswith("foto.png\n\nLa bomba se averió.")
    assert [(place.file, place.is_recognized) for place in parsed.locations] == [("foto.png", True)]


@needs_tesseract
@pytest.mark.parametrize("kind", ["blank", "noise"])
def test_picture_without_text_says_so(kind: str) -> None:
    """R1.2: noise is no text."""
    pixels = np.full((300, 250), 255) if kind == "blank" else np.random.default_rng(2).integers(0, 255, (300, 250))
    image = Image.fromarray(pixels.astype("uint8"))
    for data, name in ((as_file(image), "a.png"), (as_pdf([image], size=(125, 150)), "a.pdf")):
        found = refusal(data, name)
        assert (found.details["reason"], "no text was recognised" in str(found)) == ("unrecognized", True)


@needs_tesseract
def test_pages_beyond_the_time_are_listed() -> None:
    """R1.3"""
    page = scan("Una página escaneada.")
    parsed = parse(as_pdf([page] * 3), filename="a.pdf", limits=ParsingLimits(recognition_seconds=0.01))
    assert parsed.warnings == (
        "pages whose text was recognised (OCR) and may hold errors: 1",
        "pages without a text layer: 2–3",
    )


def test_without_recognition_the_way_out_is_named() -> None:
    """R1.2"""
    for data, name in ((as_file(Image.new("L", (60, 80))), "a.png"), (as_pdf([Image.new("L", (60, 80))]), "a.pdf")):
        found = refusal(data, name, ParsingLimits(recognition_seconds=0))
        assert (found.details["reason"], "install Tesseract" in str(found)) == ("scanned", True)


def huge_pictures() -> dict[str, bytes]:
    """Headers of pictures of 900 million pixels, with nothing behind them."""
    chunk = b"IHDR" + struct.pack(">IIBBBBB", HUGE, HUGE, 8, 0, 0, 0, 0)
    entries = struct.pack("<HHIII", 256, 4, 1, HUGE, 0)[:12] + struct.pack("<HHII", 257, 4, 1, HUGE)
    return {
        "a.png": b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk,
        "a.gif": b"GIF89a" + struct.pack("<HH", HUGE, HUGE) + bytes(20),
        "a.bmp": b"BM" + bytes(12) + struct.pack("<Iii", 40, HUGE, -HUGE) + bytes(28),
        "a.jpg": b"\xff\xd8\xff\xe0\0\x04\0\0\xff\xc2" + struct.pack(">HBHH", 17, 8, HUGE, HUGE) + bytes(20),
        "a.tiff": b"II*\0" + struct.pack("<IH", 8, 2) + entries + bytes(4),
        "a.webp": b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (HUGE - 1).to_bytes(3, "little") * 2,
    }


@pytest.mark.parametrize(("name", "data"), huge_pictures().items())
def test_picture_of_too_many_pixels_is_refused_at_its_header(name: str, data: bytes) -> None:
    """Security 9"""
    found = refusal(data, name)
    assert (found.details["reason"], "60,000,000 pixels" in str(found)) == ("too_large", True)


@given(
    st.sampled_from(["PNG", "GIF", "BMP", "JPEG", "TIFF", "WEBP"]),
    st.integers(1, 300),
    st.integers(1, 300),
    st.booleans(),
)
def test_sizes_are_those_of_the_picture(kind: str, width: int, height: int, is_gray: bool) -> None:
    """Security 9: law: what the header says is what a decoder makes of it."""
    data = as_file(Image.new("L" if is_gray else "RGB", (width, height)), kind)
    media_type = detect(data, filename="a.txt")
    assert media_type == f"image/{kind.lower()}"
    assert picture_sizes(data, media_type) == [(width, height)]


def test_every_page_of_a_tiff_is_measured() -> None:
    """Security 9"""
    data = io.BytesIO()
    small, large = Image.new("L", (10, 20)), Image.new("L", (30, 40))
    small.save(data, "TIFF", save_all=True, append_images=[large])
    assert picture_sizes(data.getvalue(), "image/tiff") == [(10, 20), (30, 40)]


@given(st.binary(max_size=200), st.sampled_from(sorted(huge_pictures())))
def test_torn_headers_are_refused(tail: bytes, name: str) -> None:
    """Security 10"""
    data = huge_pictures()[name]
    for torn in (data[:12] + tail, data[:3] + tail):
        with pytest.raises(UnreadableDocument) as caught:
            parse(torn, filename=name, limits=ParsingLimits(recognition_seconds=0))
        assert caught.value.details["reason"] in {"damaged", "too_large", "scanned", "unsupported"}


def test_paragraphs_of_low_confidence_are_no_text() -> None:
    """R1.3"""
    rows = ["level\tpage", *(f"5\t1\t1\t{p}\t{n}\t1\t0\t0\t9\t9\t{c}\t{word}" for p, n, c, word in [
        (1, 1, 96, "Una"), (1, 1, 95, "línea"), (1, 2, 12, "torcida"),
        (2, 1, 20, "¡|"), (2, 1, 8, "~"), (3, 1, 90, "Fin"),
    ])]  # fmt: skip
    assert _read_table("\n".join(rows)) == "Una línea\ntorcida\n\nFin"


PROBE = """\
#!{python}
import os, socket, sys
def tried(action):
    try: action()
    except OSError: return "refused"
    return "done"
def write():
    with open({place!r}, "w") as file: file.write("x"); file.flush()
words = [tried(socket.socket), tried(write), str(sorted(os.environ)), str(len(sys.stdin.buffer.read()))]
print("head", *("5\\t1\\t1\\t1\\t1\\t1\\t0\\t0\\t0\\t0\\t99\\t" + word.replace(" ", "") for word in words), sep="\\n")
"""
CONFINED = """
from functools import partial
from graphrag.config.settings import ParsingLimits
from graphrag.ingestion import sandbox
from graphrag.parsers import recognition
limits = ParsingLimits()
recognition.find_tesseract = lambda: {program!r}
recognition.installed_data = lambda: frozenset({{"eng"}})
recognition.start(partial(sandbox.confine, limits, may_start_programs=True), lambda: print("announced"))
sandbox.confine(limits)
print(recognition.Recognizer(limits).recognize(b"picture"))
try: recognition.recognize(b"picture")
except OSError: print("nothing else is started")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux restricts system calls")
def test_program_that_recognises_is_confined(tmp_path: Path) -> None:
    """Security 9: it has no network, writes no file and sees no environment; the parser itself starts nothing."""
    program, place = tmp_path / "tesseract", tmp_path / "written"
    program.write_text(PROBE.format(python=sys.executable, place=str(place)))
    program.chmod(0o755)
    code = CONFINED.format(program=str(program))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=60)
    lines = done.stdout.split("\n")
    assert lines[0] == "announced", done.stderr
    network, file, environment, count = lines[1].split()
    assert (network, file, count) == ("refused", "refused", "7")
    assert "OMP_THREAD_LIMIT" in environment
    assert "HOME" not in environment
    assert not place.exists() or not place.read_text()
    assert lines[2] == "nothing else is started"


def test_tesseract_is_found_where_the_environment_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    """R1.3: as in the process that parses."""
    found = find_tesseract()
    monkeypatch.delenv("PATH", raising=False)
    find_tesseract.cache_clear()
    assert (find_tesseract() is None) == (found is None)
