"""Print the test files that a change may break: those that are close to a changed module by imports, nearest first.

python .ci/affected_tests.py [BASE]: changed is what differs from the commit BASE (default: where this branch left main,
or the commit before on main itself), committed or not. Files that are no modules count as the modules of their folder.
"""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("graphrag", "agent", "api", "tests")
MAX_FILES = 25  # more take minutes: the whole gate is for them
MAX_IMPORTS = 2  # between a test and a changed module; further ones are the whole gate's
# Nearly everything is imported by these, and they by nearly every test: what a chain through them says is nothing.
HUBS = {"agent.graph", "api.app", "api.cli.main", "graphrag.services", "tests.conftest"}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def find_modules() -> dict[str, Path]:
    return {module_name(path): path for package in PACKAGES for path in (ROOT / package).rglob("*.py")}


def imports(path: Path) -> set[str]:
    """Return the names of the modules, or of their contents, that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def git(*arguments: str) -> list[str]:
    run = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.splitlines()


def default_base() -> str:
    [head], [fork] = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "main")
    return "HEAD~1" if head == fork else fork


def changed_modules(base: str, modules: dict[str, Path]) -> Iterator[str]:
    for name in {*git("diff", "--name-only", base), *git("ls-files", "--others", "--exclude-standard")}:
        path = ROOT / name
        if path.suffix == ".py":
            if name.startswith(PACKAGES):  # also those that are gone: who imports them is found
                yield module_name(path)
        else:
            yield from (module for module, other in modules.items() if other.parent == path.parent)


def main() -> None:
    modules = find_modules()
    importers = defaultdict(set)
    for importer, path in modules.items():
        for name in imports(path):
            importers[name].add(importer)
    base = sys.argv[1] if len(sys.argv) > 1 else default_base()
    reached = nearest = set(changed_modules(base, modules))
    found = sorted(nearest)
    for _ in range(MAX_IMPORTS):
        nearest = {importer for name in nearest - HUBS for importer in importers[name]} - reached
        reached = reached | nearest
        found += sorted(nearest)
    tests = [name for name in found if name.rpartition(".")[2].startswith("test_") and name in modules]
    for name in tests[:MAX_FILES]:
        print(modules[name].relative_to(ROOT))
    if len(tests) > MAX_FILES:
        print(f"{len(tests) - MAX_FILES} more test files are left to the gate", file=sys.stderr)


if __name__ == "__main__":
    main()
