"""Replies that need no search: small talk, and which documents there are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from pathlib import PurePath

from babel.dates import format_date

from agent.messages import say
from graphrag.linguistics.dates import read_dates
from graphrag.linguistics.language import fold
from graphrag.linguistics.rules import Pattern, Rules, read_rules
from graphrag.models import Collection, Document

MOST_LISTED = 20  # documents


class ReplyRules(Rules):
    own_words: dict[str, Pattern]  # of small talk, by language: one word is too little to tell it by its letters
    thanks: Pattern
    goodbye: Pattern
    greeting: Pattern
    document_types: dict[str, Pattern]  # ending of a file's name → how people call it
    languages: dict[str, Pattern]


@lru_cache(maxsize=1)
def _rules() -> ReplyRules:
    return read_rules(ReplyRules, "agent.tasks", "replies")


def language_of_small_talk(message: str, default: str) -> str:
    """Return the language that alone has the message's words of small talk as its own."""
    flat = fold(message)
    found = [language for language, words_ in _rules().own_words.items() if words_.search(flat)]
    return found[0] if len(found) == 1 else default


def reply_to_small_talk(message: str, language: str) -> str:
    flat = fold(message)
    rules = _rules()
    kinds = {"thanks": rules.thanks, "goodbye": rules.goodbye, "greeting": rules.greeting}
    kind = next((kind for kind, pattern in kinds.items() if pattern.search(flat)), "other")
    return say(f"small_talk_{kind}", language)


def describe_catalogue(
    question: str, language: str, slot: str, collections: Sequence[Collection], documents: list[Document]
) -> str:
    """List the documents that the question asks for, the latest first. `slot`: list, count, latest, kinds."""
    if not documents:
        return say("empty_collection", language)
    names = ", ".join(each.name for each in collections)
    asked = sorted(_asked_for(question, language, documents), key=lambda each: each.created_at, reverse=True)
    if not asked:
        return say("catalogue_none", language).format(count=len(documents), collection=names)
    kinds = Counter(PurePath(each.filename).suffix.lstrip(".").lower() or each.media_type for each in asked)
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
    lead = say("catalogue_one" if len(asked) == 1 else "catalogue_many", language)
    shown = asked[: 5 if slot == "latest" else MOST_LISTED]
    lines = [
        lead.format(count=len(asked), collection=names, kinds=told),
        *(_line(each, language) for each in shown),
    ]
    if len(asked) > len(shown):
        lines.append(say("catalogue_more", language).format(count=len(asked) - len(shown)))
    return "\n".join(lines)


def _asked_for(question: str, language: str, documents: Sequence[Document]) -> list[Document]:
    """Return the documents of the types, languages and periods that the question names."""
    flat = fold(question)
    types = {kind for kind, pattern in _rules().document_types.items() if pattern.search(flat)}
    languages = {name for name, pattern in _rules().languages.items() if pattern.search(flat)}
    periods = [(each.first, each.last) for each in read_dates(question, language, year=date.today().year) if each.first]
    return [
        each
        for each in documents
        if (not types or PurePath(each.filename).suffix.lstrip(".").lower() in _endings(types))
        and (not languages or each.language in languages)
        and (not periods or any(first <= each.created_at.date() <= (last or first) for first, last in periods if first))
    ]


def _endings(types: Iterable[str]) -> set[str]:
    return {ending for each in types for ending in each.split("_")}


def _line(document: Document, language: str) -> str:
    day = format_date(document.created_at.date(), "d MMM y", locale=language)
    return f"- **{document.title or document.filename}** — {document.filename}, {day}"
