"""Ask judged questions of a running service, and measure how many answers are right, short and rightly refused.

python -m tests.benchmarks.judged [--part kept|tune] [--kind KIND] [--show] [--pages FOLDER]

The 160 questions of tests/golden/answers/demo.jsonl are asked over the demo documents, 90 of trades_tune and 90 of
trades_kept, a part each, over the nine documents that lie there, and with --pages the 80 of service_public.jsonl over a
folder of French administrative pages. Each says what a good answer must hold, what it must
not, and its longest sensible length; they were written by somebody who had not read the code. Follow-ups are asked in a
conversation. A server with the extractive model is started for the run and ended after it.
"""

import argparse
import json
import re
import statistics
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import httpx
from rich.console import Console
from rich.table import Table

from tests.benchmarks.progress import progress
from tests.conftest import DEMO, run_server

GOLDEN = Path(__file__).parents[1] / "golden" / "answers"
NO_SEARCH = frozenset(("small_talk", "about", "transform", "cannot_do"))
Verdict = Literal["good", "acceptable", "wrong", "refused"]
_MARK = re.compile(r"\s?\[\d{1,3}\]")
_SENTENCE = re.compile(r"[^.!?…\n]+(?:[.!?…]+|\n|$)")


@dataclass(frozen=True, slots=True)
class Case:
    id: str
    language: str
    kind: str
    history: tuple[str, ...]
    question: str
    must: tuple[tuple[str, ...], ...]  # of each, one must be in the answer
    must_not: tuple[str, ...]
    outcome: str
    short: str
    max_words: int
    part: str


@dataclass(frozen=True, slots=True)
class Judged:
    case: Case
    answer: str
    short_answer: str
    outcome: str
    verdict: Verdict
    is_short_right: bool
    words: int
    filler: float | None  # share of a right answer's words that stand after the sentence that completes it


def read_cases(path: Path, part: str | None = None) -> list[Case]:
    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    fields = Case.__dataclass_fields__
    cases = (Case(**{name: _tuples(value) for name, value in record.items() if name in fields}) for record in records)
    return [case for case in cases if part in (None, case.part)]


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def normal(text: str) -> str:
    """Return a text in lower case, without accents, with plain apostrophes and single spaces."""
    letters = unicodedata.normalize("NFKD", text.lower().replace("’", "'"))
    return " ".join("".join(c for c in letters if not unicodedata.combining(c)).split())


def holds(text: str, wanted: str) -> bool:
    """Return whether a text has the wanted words, whole: 11 is not in 11,2."""
    return re.search(rf"(?<![\w])(?<!\d[.,]){re.escape(normal(wanted))}(?![\w]|[.,]\d)", normal(text)) is not None


def judge(case: Case, done: Mapping[str, Any]) -> Judged:
    answer, outcome = _MARK.sub("", done["answer"]).replace("**", ""), done["outcome"]
    held = [any(holds(answer, each) for each in alternatives) for alternatives in case.must]
    words = len(answer.split())
    is_tempted = any(holds(answer, each) for each in case.must_not)
    verdict: Verdict
    if case.kind == "unanswerable":
        verdict = "good" if outcome != "answered" else "wrong"
    elif outcome != "answered":
        verdict = "acceptable" if outcome == "closest" and all(held) else "refused"
    elif not all(held):
        verdict = "wrong"
    else:
        verdict = "acceptable" if is_tempted or words > 1.5 * case.max_words else "good"
    is_short_right = any(holds(done["short_answer"], each) for alternatives in case.must for each in alternatives)
    filler = _filler(answer, case) if verdict in ("good", "acceptable") and case.must else None
    return Judged(case, done["answer"], done["short_answer"], outcome, verdict, is_short_right, words, filler)


def _filler(answer: str, case: Case) -> float:
    """Return the share of words after the sentence with which all that the answer must hold has been said."""
    ends = [match.end() for match in _SENTENCE.finditer(answer)] or [len(answer)]
    needed = next(
        (end for end in ends if all(any(holds(answer[:end], each) for each in a) for a in case.must)), ends[-1]
    )
    return len(answer[needed:].split()) / max(1, len(answer.split()))


def ask(client: httpx.Client, case: Case, collection: str) -> dict[str, Any]:
    """Ask the question after those of its history, in a conversation; return the data of the answer."""
    conversation: dict[str, Any] = {}
    done: dict[str, Any] = {}
    for question in (*case.history, case.question):
        given = {"message": question, "collection": collection} | conversation
        done = client.post("/api/v1/chat", json=given).raise_for_status().json()
        conversation = {"conversation_id": done["conversation_id"]}
    return done


def summarise(judged: Sequence[Judged]) -> dict[str, str]:
    """Return the share of each verdict, of right short answers, the median length and the mean filler."""
    shares = {
        name: sum(each.verdict == name for each in judged) / len(judged)
        for name in ("good", "acceptable", "wrong", "refused")
    }
    filler = [each.filler for each in judged if each.filler is not None]
    short = [each.is_short_right for each in judged if each.case.short and each.case.kind != "unanswerable"]
    return {
        **{name: f"{share:.2f}" for name, share in shares.items()},
        "short right": f"{statistics.fmean(short):.2f}" if short else "–",
        "words": f"{statistics.median(each.words for each in judged):.0f}",
        "filler": f"{statistics.fmean(filler):.2f}" if filler else "–",
    }


def rows(judged: Sequence[Judged]) -> Iterator[tuple[str, Sequence[Judged]]]:
    groups: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        groups[each.case.kind].append(each)
        groups[each.case.language].append(each)
    yield from sorted(groups.items())
    yield "all", judged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("kept", "tune"))
    parser.add_argument("--kind")
    parser.add_argument("--pages", type=Path, metavar="FOLDER", help="the French administrative pages")
    parser.add_argument("--show", action="store_true", help="print each question that has no good answer")
    parser.add_argument("--out", type=Path, help="a file for all the answers, as JSON lines")
    arguments = parser.parse_args()
    console = Console(width=130)
    sets = [("demo", DEMO, GOLDEN / "demo.jsonl")]
    sets += [(each.name, each / "docs", each / "questions.jsonl") for each in sorted(GOLDEN.glob("trades_*"))]
    if arguments.pages:
        sets.append(("pages", arguments.pages, GOLDEN / "service_public.jsonl"))
    judged: list[Judged] = []
    for name, folder, path in sets:
        cases = [case for case in read_cases(path, arguments.part) if arguments.kind in (None, case.kind)]
        if not cases:
            continue
        with (
            TemporaryDirectory(prefix="cw-", dir="/tmp") as home,
            run_server("--collection", name, "--ingest", str(folder), CAUSEWAY_HOME=home, DATABASE_URL="") as server,
            server.client() as client,
            progress(f"{name}: questions", len(cases), console) as step,
        ):
            for case in cases:
                judged.append(judge(case, ask(client, case, name)))
                step(1)
    if arguments.show:
        for each in judged:
            if each.verdict != "good":
                console.print(
                    f"{each.verdict} · {each.case.id} · {' / '.join(each.case.history)} {each.case.question}",
                    style="bold",
                )
                console.print(
                    f"  must {each.case.must} not {each.case.must_not}\n  {each.outcome}: {each.answer}\n", markup=False
                )
    if arguments.out:
        lines = (
            json.dumps(
                {
                    "id": each.case.id,
                    "kind": each.case.kind,
                    "history": each.case.history,
                    "question": each.case.question,
                    "answer": each.answer,
                    "short_answer": each.short_answer,
                    "outcome": each.outcome,
                    "verdict": each.verdict,
                },
                ensure_ascii=False,
            )
            for each in judged
        )
        arguments.out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    table = Table("questions", "n", *summarise(judged))
    for name, group in rows(judged):
        table.add_row(name, str(len(group)), *summarise(group).values())
    console.print(table)


if __name__ == "__main__":
    main()
