"""Print what a person gets while something is down: every fault of tests/faults, as a table.

python -m tests.benchmarks.faults [--only TEXT]
"""

import argparse
import logging
import tempfile
from collections.abc import Mapping
from pathlib import Path

from graphrag.observability.telemetry import configure_logging
from tests.faults.cases import CASES, Case
from tests.faults.world import Outcome, World, run_world
from tests.own_postgres import run_postgres

HEAD = "| fault | HTTP | first sign, ms | longest silence, ms | left out, in words | what the person gets |"
GIVEN = {"answer": "the answer", "partial": "its beginning, and an error", "words": "an error in words"}


def row(name: str, case: Case, outcome: Outcome) -> str:
    told = "; ".join(outcome.told) or "nothing"
    signs = "; ".join(sign for sign in outcome.signs if case.sign and case.sign in sign)
    given = f"{GIVEN[case.useful]}: “{outcome.said}”" if outcome.code else GIVEN[case.useful]
    cells = [name, outcome.status, round(outcome.first_sign_ms), round(outcome.longest_silence_ms), told, given]
    return f"| {' | '.join(map(str, cells))}{f' (meanwhile: “{signs}”)' if signs else ''} |"


def measure(world: World, cases: Mapping[str, Case]) -> None:
    world.ask()  # a model's first answer loads what it needs
    for name, case in cases.items():
        with case.inject(world):
            outcome = case.act(world)
        print(row(name, case, outcome), flush=True)
        world.ask()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="faults whose name holds it")
    only = parser.parse_args().only
    cases = {name: case for name, case in CASES.items() if only in name}
    configure_logging("ERROR")
    logging.disable(logging.WARNING)
    print(f"{HEAD}\n|---|---|---|---|---|---|")
    with (
        run_postgres() as postgres,
        tempfile.TemporaryDirectory() as folder,
        run_world(postgres.url, Path(folder)) as world,
    ):
        measure(world, cases)


if __name__ == "__main__":
    main()
