"""Ask what an organisation's people ask of its documents, and measure how many answers are right, and how many wrong.

python -m tests.benchmarks.worlds [FOLDER…] [--every 1] [--out FILE]

A world is a folder with `docs/` and `questions.jsonl`, as `training/worlds/SPEC.md` says; without a FOLDER those of
KEPT are asked, on which nothing is fitted. Each is asked of a server of its own, which is ended after it. A question
has one verdict:

good: the right short answer, or what holds the answer said first; most items of a list; all sides of a comparison.
acceptable: it is said, but not first, or half of it.
wrong: another short answer, an answer without what holds it, any answer to what cannot be answered.
closest: not answered, what holds the answer is among the first passages shown.
nothing: not answered, and not among them. refused: rightly not answered.
"""

import argparse
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import httpx
from rich.console import Console
from rich.table import Table

from tests.benchmarks.progress import progress
from tests.conftest import run_server
from tests.processes import ROOT

WORLDS = ROOT / "training" / "worlds"
KEPT = tuple(
    "autocars biologia geology gestoria hydrologie itsupport mairie notaria payroll solar theatre veterinaire".split()
)
# What embeds questions and sentences was not trained on these, so that how sure it is can be fitted on them.
FITTED = tuple("ascensores avocat brewery creche farmacia laiterie library orchard residencia university".split())
Verdict = Literal["good", "acceptable", "wrong", "closest", "nothing", "refused"]
VERDICTS: tuple[Verdict, ...] = ("good", "acceptable", "wrong", "closest", "nothing", "refused")
SHOWN = 4  # passages that come closest
SAME = 0.7  # share of the shorter text's words from which two say the same
AGREES = 0.6  # F1 of words from which a short answer is a right one
_ARTICLES = frozenset(
    "el la los las un una unos unas le les l des du de d the a an of en al del au aux y et and".split()
)
_YES, _NO = frozenset(("yes", "si", "oui")), frozenset(("no", "non"))
_BOLD = re.compile(r"^\*\*.+?\*\*\s*[—–-]?\s*")
_UNITS = re.compile(r"\s*(?:\[\d+\](?:\s*\[\d+\])*)|\n+")
_SIGNS = re.compile(r"[*_#>«»“”]+")


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    language: str
    kind: str
    text: str
    is_answerable: bool
    answers: tuple[str, ...]  # that are right
    wrong: tuple[str, ...]  # values of the documents that are not
    sentence: str  # a full answer
    evidence: tuple[str, ...]  # quotes that hold the answer, together
    others: tuple[str, ...]  # quotes of which each holds it, too
    items: tuple[str, ...]  # of a list or a procedure
    previous: tuple[str, ...] = ()  # questions asked before it

    def is_held_by(self, text: str) -> bool:
        """Return whether a text says what one of the quotes says."""
        return any(overlap(text, quote) >= SAME for quote in (*self.evidence, *self.others))


@dataclass(frozen=True, slots=True)
class Asked:
    world: str
    question: Question
    verdict: Verdict
    done: Mapping[str, Any] = field(repr=False)

    @property
    def is_bold(self) -> bool:
        return bool(self.done["short_answer"]) and self.done["outcome"] == "answered"

    @property
    def is_bold_right(self) -> bool:
        is_right = self.verdict == "good" or is_short_right(self.done["short_answer"], self.question)
        return self.is_bold and self.question.is_answerable and is_right


def read_questions(world: Path) -> list[Question]:
    lines = (world / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [read_question(json.loads(line)) for line in lines if line.strip()]


def read_question(record: Mapping[str, Any]) -> Question:
    evidence, others = (tuple(each["quote"] for each in record.get(name, ())) for name in ("evidence", "also"))
    return Question(
        record["id"],
        record["lang"],
        record["kind"],
        record["question"],
        record["answerable"],
        (record["answer"], *record.get("answers", ())),
        tuple(record.get("wrong", ())),
        record.get("sentence", ""),
        evidence,
        others,
        tuple(record.get("items", ())),
        tuple(record.get("previous") or ()),
    )


def judge(question: Question, done: Mapping[str, Any]) -> Verdict:
    """Return the verdict on an answer, as POST /chat gives it."""
    said, short = split_units(done["answer"]), done["short_answer"]
    is_answered = done["outcome"] == "answered" and bool(done["citations"] or done.get("table"))
    if not question.is_answerable:
        return "wrong" if is_answered else "refused"
    if not is_answered:
        shown = [*(each["quote"] for each in done["citations"][: SHOWN - 1]), *said[:SHOWN]]
        return "closest" if any(map(question.is_held_by, shown)) else "nothing"
    if question.items and question.kind in ("list", "howto"):
        return _judge_share(share_of_items(question, f"{short} {done['answer']}"), whole=0.8)
    if question.kind == "compare":
        if short and is_short_right(short, question):
            return "good"
        told = sum(any(overlap(unit, quote) >= SAME for unit in said) for quote in question.evidence)
        return _judge_share(told / max(1, len(question.evidence)), whole=1, part=0.01)
    if short:
        return "good" if is_short_right(short, question) else "wrong"
    if any(map(question.is_held_by, said[:1])):
        return "acceptable" if question.kind == "yesno" else "good"
    return "acceptable" if any(map(question.is_held_by, said)) else "wrong"


def _judge_share(share: float, *, whole: float, part: float = 0.5) -> Verdict:
    return "good" if share >= whole else "acceptable" if share >= part else "wrong"


def share_of_items(question: Question, text: str) -> float:
    """Return how many of a list's items a text has, with three of four of their words at least."""
    held, own = normal(text), set(tokens(text))
    told = [
        normal(item) in held or sum(word in own for word in tokens(item)) >= 0.75 * max(1, len(tokens(item)))
        for item in question.items
    ]
    return sum(told) / len(told)


def is_short_right(short: str, question: Question) -> bool:
    """Return whether a short answer agrees with a right one, in its numbers and most of its words."""
    if question.kind == "yesno":
        return _polarity(short) == _polarity(question.answers[0]) != 0
    if any(f1(short, each) == 1 for each in question.wrong) and not any(
        f1(short, each) == 1 for each in question.answers
    ):
        return False
    return any(_agrees(short, gold) for gold in question.answers) or f1(short, question.sentence) >= AGREES


def _agrees(short: str, gold: str) -> bool:
    own, wanted = tokens(short), tokens(gold)
    if _numbers(gold) and not _numbers(gold) & _numbers(short):
        return False
    holds = bool(wanted) and " ".join(wanted) in " ".join(own) and len(own) <= 3 * len(wanted) + 6
    is_within = bool(own) and " ".join(own) in " ".join(wanted) and _numbers(gold) <= _numbers(short)
    return f1(short, gold) >= AGREES or holds or is_within


def split_units(answer: str) -> list[str]:
    """Return what stands between the marks and line breaks of an answer, without its short form."""
    parts = _UNITS.split(_BOLD.sub("", answer.strip(), count=1))
    return [unit for unit in (_SIGNS.sub(" ", part).strip() for part in parts) if len(tokens(unit)) > 1]


def normal(text: str) -> str:
    """Return a text in lower case, without accents and without the signs that group digits."""
    letters = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return re.sub(r"(?<=\d)[.,\s\u202f](?=\d{3}\b)", "", plain)


def tokens(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", normal(text)) if word not in _ARTICLES]


def overlap(one: str, other: str) -> float:
    """Return the share of the shorter text's words that the other has; 0 for fewer than three."""
    own, others = Counter(tokens(one)), Counter(tokens(other))
    fewest = min(own.total(), others.total())
    return (own & others).total() / fewest if fewest >= 3 else 0.0


def f1(one: str, other: str) -> float:
    own, others = Counter(tokens(one)), Counter(tokens(other))
    shared = (own & others).total()
    return 2 * shared / (own.total() + others.total()) if shared else 0.0


def _polarity(text: str) -> int:
    first = tokens(text)[:1]
    return 0 if not first else 1 if first[0] in _YES else -1 if first[0] in _NO else 0


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+(?:[.,:]\d+)*", normal(text)))


def ask(client: httpx.Client, question: Question, collection: str) -> dict[str, Any]:
    """Ask the question after those before it, in one conversation; return the data of the answer."""
    conversation: dict[str, Any] = {}
    done: dict[str, Any] = {}
    for text in (*question.previous, question.text):
        given = {"message": text, "collection": collection} | conversation
        done = client.post("/api/v1/chat", json=given).raise_for_status().json()
        conversation = {"conversation_id": done["conversation_id"]}
    return done


def ask_and_judge(client: httpx.Client, question: Question, world: str) -> Asked:
    """`world`: the name of the collection, too."""
    done = ask(client, question, world)
    return Asked(world, question, judge(question, done), done)


def summarise(asked: Sequence[Asked]) -> dict[str, float]:
    """Return the share of each verdict: of all questions where it is `wrong`, of those it can be given to else."""
    count = Counter(each.verdict for each in asked)
    answerable = sum(each.question.is_answerable for each in asked)
    among = {"wrong": len(asked), "refused": len(asked) - answerable}
    bold = [each.is_bold_right for each in asked if each.is_bold]
    shares: dict[str, float] = {
        verdict: count[verdict] / max(1, among.get(verdict, answerable)) for verdict in VERDICTS
    }
    return {**shares, "bold": len(bold) / max(1, len(asked)), "bold right": sum(bold) / max(1, len(bold))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask every so many questions")
    parser.add_argument("--out", type=Path, help="a JSON line for each question")
    arguments = parser.parse_args()
    worlds: list[Path] = arguments.worlds or [WORLDS / name for name in KEPT]
    console = Console(width=130)
    asked: list[Asked] = []
    for world in worlds:
        questions = read_questions(world)[:: arguments.every]
        with (
            TemporaryDirectory(prefix="cw-", dir="/tmp") as home,
            run_server(
                "--collection", world.name, "--ingest", str(world / "docs"), CAUSEWAY_HOME=home, DATABASE_URL=""
            ) as server,
            server.client() as client,
            progress(f"{world.name}: questions", len(questions), console) as step,
        ):
            for question in questions:
                asked.append(ask_and_judge(client, question, world.name))
                step(1)
    if arguments.out:
        lines = (
            {"world": each.world, "id": each.question.id, "verdict": each.verdict, "answer": each.done["answer"]}
            for each in asked
        )
        arguments.out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    groups = {"all": asked} | {
        name: [each for each in asked if name in (each.question.kind, each.question.language)]
        for name in sorted({name for each in asked for name in (each.question.kind, each.question.language)})
    }
    table = Table("questions", "n", *summarise(asked))
    for name, group in groups.items():
        table.add_row(name, str(len(group)), *(f"{share:.2f}" for share in summarise(group).values()))
    console.print(table)


if __name__ == "__main__":
    main()
