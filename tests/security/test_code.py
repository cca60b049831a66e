"""What the code of the packages may not hold, whoever writes it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from graphrag.linguistics.rules import SAFE_LOADER

ROOT = Path(__file__).parents[2]
PACKAGES = ("graphrag", "agent", "api")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TREES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in FILES}
STATEMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.rglob("graphrag/**/*.sql")
}

LOADS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "jsonpickle"}
RUNS_CODE = {"eval", "exec", "compile", "__import__"}
STARTS_PROGRAMS = {"system", "popen", "getoutput", "getstatusoutput"}
IS_SQL = re.compile(
    r"\b(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|ALTER\s|CREATE\s|DROP\s|GRANT\s|ORDER\s+BY\s)"
)
# What is put into the text of a statement: other statements of ours, fixed conditions, whole numbers. Never a value.
PUT_INTO_STATEMENTS = {
    "QUERIES[ranking]",
    "condition",
    "restriction.condition",
    "f'embedding::halfvec({len(vector)})'",
    "kind",  # content or contextual
    "_literal(collection.embedding_model).replace('%', '%%')",  # as psycopg quotes it
}
CREDENTIAL = re.compile(r"(?i)(api_?key|secret|passwo?r?d|token|signing|private_?key|credential)")
LIKE_A_KEY = re.compile(r"[^\s|/:]{12,}")
KEY_SHAPE = re.compile(
    r"sk-[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*PRIVATE KEY|eyJ[\w-]{10,}\.eyJ[\w-]{10,}"
)
EXAMPLE = re.compile(r"(?i)[a-z ]*(example|geheim|falsch|0123456789)|\.\.\.")


def nodes(kind: type[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    return ((name, node) for name, tree in TREES.items() for node in ast.walk(tree) if isinstance(node, kind))


def place(name: str, node: ast.AST) -> str:
    return f"{name}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)[:120]}"


def test_nothing_that_is_read_is_run() -> None:
    """Security 13: no pickle and its kin, no eval, no shell, no YAML that makes objects."""
    found = []
    for name, node in nodes(ast.AST):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            found += [place(name, node) for module in modules if module.partition(".")[0] in LOADS_CODE]
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            owner, _, function = called.rpartition(".")
            is_run = called in RUNS_CODE or (owner == "os" and function in STARTS_PROGRAMS)
            is_loaded = owner == "yaml" and function not in {"safe_load", "safe_load_all", "safe_dump"}
            is_loaded = is_loaded and not (function == "load" and "Loader=SAFE_LOADER" in ast.unparse(node))
            if is_run or is_loaded or called == "torch.load":
                found.append(place(name, node))
    assert found == []


def test_the_fast_yaml_loader_is_a_safe_one() -> None:
    """Security 13"""
    assert issubclass(SAFE_LOADER, yaml.constructor.SafeConstructor)


def test_no_program_is_started_through_a_shell_and_no_model_brings_code() -> None:
    """Security 13: shell and trust_remote_code are never anything but False."""
    given = [
        (place(name, node), ast.unparse(node.value))
        for name, node in nodes(ast.keyword)
        if isinstance(node, ast.keyword)
        and node.arg in {"shell", "trust_remote_code", "pickle_fallback", "allow_pickle"}
    ]
    assert given
    assert [told for told, value in given if value != "False"] == []


def test_no_statement_is_made_of_values() -> None:
    """Security 12: an f-string, a sum or a format that is SQL holds constants of ours alone; psycopg's own quote."""
    found = []
    for name, node in nodes(ast.AST):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
            put = [ast.unparse(part.value) for part in node.values if isinstance(part, ast.FormattedValue)]
            found += [place(name, node)] if IS_SQL.search(text) and not all(map(str.isupper, put)) else []
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
            constants = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            found += (
                [place(name, node)] if any(isinstance(text, str) and IS_SQL.search(text) for text in constants) else []
            )
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            text = ast.unparse(node.func.value)
            is_ours = text.startswith("sql.SQL(") or text == "BEGIN"  # psycopg's composition
            found += [place(name, node)] if IS_SQL.search(text) and not is_ours else []
    assert found == []


def test_what_is_put_into_a_statement_is_ours() -> None:
    """Security 12: each is looked at once, here."""
    put = [
        (place(name, node), ast.unparse(node.args[1]))
        for name, node in nodes(ast.Call)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"replace", "format", "format_map"}
        and "QUERIES[" in ast.unparse(node.func.value)
    ]
    assert put
    assert [told for told, value in put if value not in PUT_INTO_STATEMENTS] == []


def test_no_tsquery_is_read_from_raw_text() -> None:
    """Security 12: PostgreSQL parses operators in to_tsquery alone; what is cast was quoted by us (test_candidates)."""
    parsed = re.compile(r"(?<![a-z])(?<!plain)(?<!phrase)(?<!websearch_)to_tsquery\s*\(")
    everything = STATEMENTS | {name: ast.unparse(tree) for name, tree in TREES.items()}
    assert [name for name, text in everything.items() if parsed.search(text)] == []
    cast = [value for text in STATEMENTS.values() for value in re.findall(r"(\S+)::tsquery", text)]
    assert {value for value in cast if "%(" in value} == {"%(candidates)s", "%(any_lexeme)s"}


def test_there_is_no_default_credential() -> None:
    """Security 8: no key, password or signing key is the value of a name, a setting or an argument."""
    found = []
    for name, node in nodes(ast.AST):
        named = {
            ast.Assign: lambda assign: [(ast.unparse(target), assign.value) for target in assign.targets],
            ast.AnnAssign: lambda assign: [(ast.unparse(assign.target), assign.value)],
            ast.keyword: lambda argument: [(argument.arg or "", argument.value)],
        }.get(type(node), lambda _: [])(node)
        values = [getattr(value, "value", None) for called, value in named if CREDENTIAL.search(called)]
        found += [place(name, node) for value in values if isinstance(value, str) and LIKE_A_KEY.fullmatch(value)]
    assert found == []


@pytest.mark.parametrize("package", [*PACKAGES, "notebooks", "tests", "."])
def test_there_is_no_key_in_the_tree(package: str) -> None:
    """Security 8: whatever the file; examples say that they are."""
    folder = ROOT / package
    paths = folder.glob("*.*") if package == "." else folder.rglob("*.*")
    for path in paths:
        if not path.is_file() or path.suffix not in {
            ".py",
            ".md",
            ".toml",
            ".json",
            ".yml",
            ".sql",
            ".js",
            ".html",
            ".ipynb",
        }:
            continue
        keys = KEY_SHAPE.findall(path.read_text(encoding="utf-8"))
        assert [key for key in keys if not EXAMPLE.search(key)] == [], path


def test_errors_are_logged_as_they_are() -> None:
    """Security 20: whoever words one for a log gives away what it repeats (graphrag/observability/logging.py)."""
    worded = [
        place(name, node)
        for name, node in nodes(ast.Call)
        if isinstance(node, ast.Call)
        and re.fullmatch(r"log\.(debug|info|warning|error|critical|exception)", ast.unparse(node.func))
        and re.search(r"\b(str|repr)\((exc|error|failure|err|e)\b|\{(exc|error|failure|err|e)\b", ast.unparse(node))
    ]
    assert worded == []
