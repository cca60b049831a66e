"""The rules of the house: imports point one way, without circles; files are named after things and stay short."""

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("graphrag", "agent", "api")  # each may import those before it
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
}
NAMES_OF_KINDS = {"utils", "util", "helpers", "helper", "common", "base", "core", "misc", "manager", "managers"}
MAX_LINES = 300
FOREIGN = {
    "graphrag": {"langgraph", "fastapi", "starlette", "uvicorn", "typer"},
    "agent": {"fastapi", "starlette", "typer"},
}


def imports(path: Path) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{path}: relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("name", MODULES)
def test_imports_point_one_way(name: str) -> None:
    package = name.partition(".")[0]
    later = PACKAGES[PACKAGES.index(package) + 1 :]
    forbidden = {*later, *FOREIGN.get(package, ())}
    assert not {module for module in imports(MODULES[name]) if module.partition(".")[0] in forbidden}


def test_there_are_no_circles() -> None:
    graph = {name: {module for module in imports(path) if module in MODULES} - {name} for name, path in MODULES.items()}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("name", MODULES)
def test_file_is_short_and_named_after_a_thing(name: str) -> None:
    assert name.rpartition(".")[2] not in NAMES_OF_KINDS
    assert len(MODULES[name].read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("name", MODULES)
def test_module_says_what_lives_there(name: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8")))


def test_core_install_is_light() -> None:
    """No torch, and nothing heavy is imported before it is needed."""
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'sqlalchemy'}"
    code = f"import sys, agent.graph, api.cli; print({heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert loaded.stdout.strip() == "set()"
