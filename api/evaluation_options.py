"""The options that order a run on the command line, at once or by a schedule."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from graphrag.evaluation_models import Judging

NameOption = Annotated[str, typer.Option(help="What it is to be called.")]
VersionOption = Annotated[int | None, typer.Option(min=1, help="Of the golden cases; without one, as they are.")]
OverridesOption = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="In place of the collection's value.")
]
DepthOption = Annotated[int | None, typer.Option(min=1, max=1000, help="Passages a search.")]

AnswersOption = Annotated[bool, typer.Option(help="Answer each question, too, and judge the answer.")]
JudgeOption = Annotated[
    Judging, typer.Option(help="Of answers; auto: a model where one may read the collection, else an estimate.")
]


def read_overrides(texts: Sequence[str] | None) -> dict[str, Any]:
    """`rerank=false`, `strategy=hybrid`: a value is JSON, else a text."""
    return dict(_read(text) for text in texts or [])


def _read(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise typer.BadParameter(f"{text}: not NAME=VALUE", param_hint="--set")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
