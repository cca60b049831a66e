"""A conversation as a Markdown file: what was said, and below each answer the citations of its marks."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from babel.dates import format_datetime

from api.conversation_schemas import ConversationWithMessages, MessageOut

WORDS = {
    "es": {
        "untitled": "Conversación",
        "user": "Pregunta",
        "assistant": "Respuesta",
        "citations": "Citas",
        "erased": "Algún documento de esta respuesta ya no existe.",
        "interrupted": "La respuesta se interrumpió.",
        "failed": "No hubo respuesta.",
        "cancelled": "La respuesta se detuvo.",
    },
    "fr": {
        "untitled": "Conversation",
        "user": "Question",
        "assistant": "Réponse",
        "citations": "Citations",
        "erased": "Un document de cette réponse n'existe plus.",
        "interrupted": "La réponse s'est interrompue.",
        "failed": "Il n'y a pas eu de réponse.",
        "cancelled": "La réponse a été arrêtée.",
    },
    "en": {
        "untitled": "Conversation",
        "user": "Question",
        "assistant": "Answer",
        "citations": "Citations",
        "erased": "A document of this answer is no longer there.",
        "interrupted": "The answer broke off.",
        "failed": "There was no answer.",
        "cancelled": "The answer was stopped.",
    },
}


def to_markdown(conversation: ConversationWithMessages, language: str) -> str:
    words = WORDS[language]
    parts = [f"# {_line(conversation.title) or words['untitled']}", _time(conversation.created_at, language)]
    for message in conversation.messages:
        parts += _message(message, words, language)
    return "\n\n".join(parts) + "\n"


def _message(message: MessageOut, words: Mapping[str, str], language: str) -> Iterator[str]:
    yield f"## {words[message.role]} · {_time(message.created_at, language)}"
    if message.content:
        yield message.content
    if message.status != "complete":
        yield f"*{words[message.status]}*"
    if message.details.get("erased"):
        yield f"*{words['erased']}*"
    if cited := list(dict.fromkeys(map(_citation, message.details.get("citations", ())))):
        yield "\n".join([f"### {words['citations']}", "", *filter(None, cited)])


def _citation(citation: Mapping[str, Any]) -> str:
    """Empty for a statement that has none."""
    told = citation.get("sentence")
    return f"- [{citation['number']}] {_line(told)} ({_line(citation['filename'])})" if told else ""


def _line(text: str) -> str:
    return " ".join(text.split())


def _time(moment: datetime, language: str) -> str:
    return format_datetime(moment, "long", locale=language)
