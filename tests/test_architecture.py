"""The rules of the layout: imports point one way without circles, folders are subjects, class names are unique."""

import ast
import gc
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
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
LOOSE_MODULES = {"graphrag": 8, "agent": 10, "api": 8}  # at most, `__init__` aside
MODULES_PER_FOLDER = 25
# What stands in `graphrag`, from top to bottom: each imports only what comes after it.
LAYERS = (
    "diagnosis", "llamaindex", "langchain", "services", "testing", "retrieval", "table_queries", "ingestion", "stores",
    "extractive_answers",
    "query_transformation", "causal_graph", "rerankers", "parsers", "embeddings", "llm", "linguistics",
    "authentication", "cache", "db", "file_storage", "resilience", "observability", "config", "protocols", "models",
    "errors",
)  # fmt: skip
FOREIGN = {
    "graphrag": {"langgraph", "fastapi", "starlette", "uvicorn", "typer"},
    "agent": {"fastapi", "starlette", "typer"},
}
STARTING = {"run_server", "run_default_server", "run_worker"}
MOST_STARTS = 42  # places in the default tests: each costs every run of them some seconds
SLOW, LATER_TESTS = "pytest.mark.slow", {"benchmarks", "browser", "studio"}


@contextmanager
def uncollected() -> Iterator[None]:
    """Within it no finalizer runs. One that formats a traceback parses code, and CPython 3.11 fails where a parse
    begins within another.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Each module's syntax tree."""
    with uncollected():
        return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


def imports(name: str, tree: ast.Module) -> set[str]:
    """The modules that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{name}: relative import"
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.fixture(scope="module")
def imported(trees: dict[str, ast.Module]) -> dict[str, set[str]]:
    return {name: imports(name, tree) for name, tree in trees.items()}


def test_imports_point_one_way(imported: dict[str, set[str]]) -> None:
    wrong = {}
    for name, modules in imported.items():
        package = name.partition(".")[0]
        forbidden = {*PACKAGES[PACKAGES.index(package) + 1 :], *FOREIGN.get(package, ())}
        wrong[name] = {module for module in modules if module.partition(".")[0] in forbidden}
    assert not {name: modules for name, modules in wrong.items() if modules}


def test_there_are_no_circles(imported: dict[str, set[str]]) -> None:
    graph = {name: {module for module in modules if module in MODULES} - {name} for name, modules in imported.items()}
    TopologicalSorter(graph).prepare()


def test_layers_of_the_library_import_downwards(imported: dict[str, set[str]]) -> None:
    upward = []
    for name, modules in imported.items():
        for module in modules & MODULES.keys():
            if name.startswith("graphrag.") and module.startswith("graphrag."):
                layer, other = (LAYERS.index(one.split(".")[1]) for one in (name, module))
                upward += [(name, module)] if other < layer else []
    assert not upward


def test_folders_hold_few_modules_named_after_things() -> None:
    assert not [name for name in MODULES if name.rpartition(".")[2] in NAMES_OF_KINDS]
    folders = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    for package, limit in LOOSE_MODULES.items():
        assert folders[ROOT / package] <= limit
    assert not {folder: count for folder, count in folders.items() if count > MODULES_PER_FOLDER}


def starts_of_servers(node: ast.AST) -> Iterator[str]:
    """Yield what starts one in the default tests."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in STARTING:
        yield node.func.id
    for inner in ast.iter_child_nodes(node):
        marks = [ast.unparse(mark) for mark in getattr(inner, "decorator_list", ())]
        if SLOW not in marks:
            yield from starts_of_servers(inner)


def is_slow(module: ast.Module) -> bool:
    """Tell whether it is left out of the default tests."""
    return any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark" and SLOW in ast.unparse(node)
        for node in module.body
    )


def test_few_servers_are_started() -> None:
    """A process of a service takes a second: tests share one, or have one in a thread (`run_server_here`)."""
    starts: Counter[str] = Counter()
    for path in (ROOT / "tests").rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if not LATER_TESTS & set(path.parts) and any(f"{name}(" in source for name in STARTING):
            with uncollected():
                module = ast.parse(source)
            starts[path.name] += 0 if is_slow(module) else len(list(starts_of_servers(module)))
    assert 0 < starts.total() <= MOST_STARTS, starts


def test_class_names_are_unique(trees: dict[str, ast.Module]) -> None:
    names = Counter(node.name for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert not [name for name, count in names.items() if count > 1]


def test_modules_say_what_lives_there(trees: dict[str, ast.Module]) -> None:
    assert not [name for name, tree in trees.items() if not ast.get_docstring(tree)]


def test_docstrings_that_can_not_stand_alone_are_found() -> None:
    """`make lint` runs this check on all packages."""
    check = runpy.run_path(str(ROOT / ".ci" / "docstrings.py"))["wrong_openings"]
    source = '"""Of the default model."""\n\n\ndef limit() -> int:\n    """Return how many."""\n    """What else."""\n'
    with uncollected():
        assert list(check(source)) == [(1, "Of")]
        assert list(check(source.replace("Return how", "How"))) == [(1, "Of"), (5, "How")]


def test_core_install_is_light() -> None:
    """No torch, and nothing heavy is imported before it is needed."""
    heavy = "{'torch', 'transformers', 'sentence_transformers', 'spacy', 'sqlalchemy'}"
    code = f"import sys, agent.graph, api.cli; print({heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert loaded.stdout.strip() == "set()"
