"""What Causeway says by itself: whole in three languages, and a sentence for all that can happen."""

import ast
import inspect
import string
from types import ModuleType

import pytest

from agent import messages, nodes
from agent.messages import is_not_found, say
from graphrag.retrieval import pipeline

LANGUAGES = {"es", "fr", "en"}
RETRIEVAL = {"fulltext", "vector"}  # legs of the hybrid search, which name themselves
KEEPING = {"save"}  # what agent.conversation and api.routes.chat do


def placeholders(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def first_arguments(function: str, module: ModuleType = nodes) -> set[str]:
    """Return the literal first arguments of every call of a function in a module."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Call)]
    found = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id == function]
    return {str(argument.value) for argument in found if isinstance(argument, ast.Constant)}


@pytest.mark.parametrize("key", messages._MESSAGES)
def test_every_sentence_is_said_in_three_languages(key: str) -> None:
    """R8.5 The same sentence, with the same placeholders, and each in words of its own."""
    sentences = messages._MESSAGES[key]
    assert set(sentences) == LANGUAGES
    assert len({frozenset(placeholders(sentence)) for sentence in sentences.values()}) == 1
    assert len({sentence.strip() for sentence in sentences.values()} - {""}) == len(LANGUAGES)


def test_every_stage_that_announces_itself_has_a_status_message() -> None:
    """R8.9 Nothing fails for want of a sentence."""
    announced = first_arguments("_announce")
    assert announced >= {"retrieve", "traverse", "rerank", "expand", "generate", "verify"}
    assert {f"status_{name}" for name in announced} <= set(messages._MESSAGES)


def test_every_stage_that_can_be_done_without_has_a_message() -> None:
    """R11.1 Degraded mode shown: transform, both legs, rerank, expand, generate, verify."""
    degradable = first_arguments("_degrade") | first_arguments("_degraded", pipeline) | RETRIEVAL | KEEPING
    assert degradable >= {"transform", "fulltext", "vector", "rerank", "expand", "generate", "verify"}
    assert {f"degraded_{name}" for name in degradable} <= set(messages._MESSAGES)


def test_a_language_that_we_do_not_speak_is_answered_in_spanish() -> None:
    """R8.5 The default language."""
    assert say("not_found", "de") == say("not_found", "es")


def test_an_unknown_key_is_an_error() -> None:
    with pytest.raises(KeyError):
        say("no_such_sentence", "es")


def test_the_not_found_sentence_in_french() -> None:
    """R8.5 As the specification has it, to the letter."""
    expected = "Je n'ai pas trouvé d'information pertinente dans vos documents concernant cette question."
    assert say("not_found", "fr") == expected


@pytest.mark.parametrize(
    ("answer", "language", "expected"),
    [
        ("« Je n’ai pas trouvé d’information pertinente dans vos documents concernant cette question. »", "fr", True),
        ("I found no relevant information in your documents about this question", "en", True),
        ("I found no relevant information in your documents about this question. But ask Ana.", "en", False),
    ],
)
def test_not_found_is_recognised_however_it_is_quoted(answer: str, language: str, expected: bool) -> None:
    """R8.5 models write other quotes and apostrophes."""
    assert is_not_found(answer, language) is expected
