"""Resolve the core install from wheels alone, for every platform and Python that it is meant for.

python .ci/wheels.py: exit code 1 where a package has no wheel. Nothing is installed.
"""

import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PLATFORMS = {  # name → pip's tags, and the environment that markers see
    "Linux x86_64": (("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64"), "linux", "x86_64"),
    "Linux arm64": (("manylinux_2_28_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64"), "linux", "aarch64"),
    "macOS arm64": (("macosx_14_0_arm64", "macosx_11_0_arm64", "macosx_10_12_universal2"), "darwin", "arm64"),
}


def requirements(python: str, system: str, machine: str) -> list[str]:
    """Return the core's requirements whose markers hold there: pip evaluates markers for its own machine alone."""
    given = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["dependencies"]
    there = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": system}
    there |= {"platform_machine": machine, "platform_system": {"linux": "Linux", "darwin": "Darwin"}[system]}
    wanted = []
    for requirement in map(Requirement, given):
        if requirement.marker is None or requirement.marker.evaluate(there):
            requirement.marker = None
            wanted.append(str(requirement))
    return wanted


def resolve(where: tuple[str, str]) -> str:
    """Return what pip says is missing; "" where all is there."""
    name, python = where
    tags, system, machine = PLATFORMS[name]
    platforms = [option for tag in tags for option in ("--platform", tag)]
    run = subprocess.run(
        [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--only-binary=:all:",
         "--target", "/tmp/causeway-wheels", "--python-version", python, *platforms,
         "--constraint", str(ROOT / "constraints.txt"), *requirements(python, system, machine)],
        capture_output=True, text=True,
    )  # fmt: skip
    return "" if run.returncode == 0 else run.stderr.strip()


def main() -> None:
    places = [(name, python) for name in PLATFORMS for python in PYTHONS]
    with ThreadPoolExecutor(4) as pool:
        missing = dict(zip(places, pool.map(resolve, places), strict=True))
    for (name, python), problem in missing.items():
        print(f"{name}, Python {python}: {problem or 'wheels for all'}")
    sys.exit(any(missing.values()))


if __name__ == "__main__":
    main()
