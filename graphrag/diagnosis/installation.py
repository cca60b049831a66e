"""The program itself: its Python, its extras, its variables."""

import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from importlib.util import find_spec

from graphrag.diagnosis.findings import Finding, ok, warning
from graphrag.variables import unknown_variables

MODULES = {  # by extra
    "chroma": "chromadb",
    "google": "langchain_google_genai",
    "linguistics": "spacy",
    "local-models": "sentence_transformers",
    "ollama": "langchain_ollama",
    "otel": "opentelemetry.sdk",
    "redis": "redis",
    "s3": "obstore",
    "splitters": "langchain_text_splitters",
    "typesense": "typesense",
}


def examine_installation(environment: Mapping[str, str]) -> Iterator[Finding]:
    extras = [extra for extra, module in MODULES.items() if is_installed(module)]
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok("installed", version=version("causeway"), python=python, extras=", ".join(extras) or "–")
    for name, near in unknown_variables(environment).items():
        yield warning("variable_mistyped", name=name, near=near) if near else warning("variable_unknown", name=name)


def is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False
