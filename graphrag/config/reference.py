"""The reference of all settings, and the environment variables that are none of them."""

import difflib
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from graphrag.config.settings import READING, Settings, is_theme, variable_of

UNSET = "–"
PREFIX: str = READING["env_prefix"]
DELIMITER: str = READING["env_nested_delimiter"]


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    takes: str
    default: str  # as one would write it, or in words where it depends on the machine
    description: str


@dataclass(frozen=True, slots=True)
class Theme:
    title: str
    variables: tuple[Variable, ...]


OF_OTHERS = Theme(
    "Variables of libraries",
    (
        Variable("OPENAI_API_KEY", "text", UNSET, "API key of OpenAI, or of the server at `OPENAI_BASE_URL`"),
        Variable("OPENAI_BASE_URL", "address", "OpenAI's", "Address of an OpenAI-compatible server"),
        Variable("GOOGLE_API_KEY", "text", UNSET, "API key of Gemini"),
        Variable("MISTRAL_API_KEY", "text", UNSET, "API key of Mistral, for models chosen on the page"),
        Variable("OLLAMA_HOST", "address", "http://127.0.0.1:11434", "Address of Ollama"),
        Variable(
            "OLLAMA_BASE_URL",
            "address",
            UNSET,
            "Address of Ollama for chat models only; takes precedence over `OLLAMA_HOST`",
        ),
        Variable(
            "AWS_ACCESS_KEY_ID", "text", UNSET, "Access key of the S3 store; AWS' other credential sources work as well"
        ),
        Variable("AWS_SECRET_ACCESS_KEY", "text", UNSET, "Secret of that access key"),
        Variable("AWS_REGION", "text", UNSET, "Region of the bucket"),
        Variable(
            "FORWARDED_ALLOW_IPS",
            "list",
            "127.0.0.1",
            "Proxies whose `X-Forwarded-For` and `-Proto` are trusted; *: all",
        ),
        Variable("LANG", "text", "English", "Language of `causeway doctor`: Spanish, French or English"),
        Variable("LANGSMITH_TRACING", "true, false", "false", "LangGraph sends its own traces to LangSmith"),
        Variable("OTEL_EXPORTER_OTLP_ENDPOINT", "address", UNSET, "Address of a trace collector; unset: no traces"),
        Variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "address", UNSET, "The same, for traces only"),
        Variable("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf", "http/protobuf", "Protocol; no other is supported"),
        Variable("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf", "http/protobuf", "The same"),
        Variable("OTEL_TRACES_EXPORTER", "otlp, console, none", "otlp with an endpoint", "Exporter of traces"),
        Variable("OTEL_SERVICE_NAME", "text", "causeway", "Service name in traces"),
        Variable("OTEL_SDK_DISABLED", "true, false", "false", "Turns traces off, whatever the other variables say"),
    ),
)


def themes() -> list[Theme]:
    """Return our own settings in the order of their classes, then what the libraries beneath read."""
    ours = Settings.themes().values()
    return [*(Theme(_title(theme), tuple(_variables(theme, PREFIX))) for theme in ours), OF_OTHERS]


def to_markdown(reference: list[Theme]) -> str:
    parts = []
    for theme in reference:
        rows = "".join(
            f"| `{one.name}` | {one.takes} | {one.default} | {one.description} |\n" for one in theme.variables
        )
        parts.append(f"## {theme.title}\n\n| variable | values | default | description |\n|---|---|---|---|\n{rows}")
    return "\n".join(parts)


def _title(theme: type[BaseModel]) -> str:
    return (theme.__doc__ or "").strip().rstrip(".")


def _variables(theme: type[BaseModel], prefix: str) -> Iterator[Variable]:
    schema = theme.model_json_schema()
    for name, field in theme.model_fields.items():
        variable = variable_of(theme, name, prefix)
        if is_theme(field.annotation):
            yield from _variables(field.annotation, f"{variable}{DELIMITER}")
        else:
            properties = schema["properties"][field.validation_alias or name]
            yield Variable(variable, _takes(properties), _default(field), field.description or "")


def _takes(properties: Mapping[str, Any]) -> str:
    """Its choices, its bounds, or the name of its type."""
    kinds = [kind for kind in properties.get("anyOf", [properties]) if kind.get("type") != "null"]
    choices = [choice for kind in kinds for choice in kind.get("enum", [kind["const"]] if "const" in kind else [])]
    if choices:
        return ", ".join(choices)
    (kind,) = kinds
    match kind["type"]:
        case "boolean":
            return "true, false"
        case "array":
            return "list"
        case "string":
            return {"path": "path", "password": "secret"}.get(kind.get("format", ""), "text")
    number = "whole number" if kind["type"] == "integer" else "number"
    if "maximum" in kind:
        least = kind.get("minimum", kind.get("exclusiveMinimum"))
        return f"{number}, {least:_} to {kind['maximum']:_}"
    return f"{number} > 0" if "exclusiveMinimum" in kind else f"{number} ≥ 0"


def _default(field: FieldInfo) -> str:
    if field.default_factory:
        return (field.default_factory.__doc__ or "").strip().removeprefix("Return ").rstrip(".")
    match field.default:
        case None | "" | ():
            return UNSET
        case bool(value):
            return str(value).lower()
        case int(value) | float(value):
            return f"{value:_}"
        case tuple(values):
            return ",".join(values)
    return str(field.default)


def known_variables() -> frozenset[str]:
    """Return all variables, including those of libraries and those that hold several settings as JSON."""
    names = {variable.name for theme in themes() for variable in theme.variables}
    return frozenset(names | {name.partition(DELIMITER)[0] for name in names})


def unknown_variables(environment: Mapping[str, str]) -> dict[str, str | None]:
    """Return the unknown RAG_… variables, each with the known one that it resembles."""
    known = known_variables()
    given = sorted({name.upper() for name in environment if name.upper().startswith(PREFIX)} - known)
    return {name: _nearest(name, known) for name in given}


def _nearest(name: str, known: Set[str]) -> str | None:
    """Return the known variable whose name after the common prefix is nearest."""
    endings = {other.removeprefix(PREFIX): other for other in known}
    return next((endings[end] for end in difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1)), None)
