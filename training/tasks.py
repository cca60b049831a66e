"""Fit the task classifier: `python -m training.tasks` writes graphrag/query_transformation/tasks.npz.

The sentences in `training/tasks/` are our own. A line is a task, a tab and a sentence in which `[a|b]` stands for one
of its alternatives and `{name}` for one of the values that a line `{name}` lists. A line is a cluster: its sentences
are all in the same part. A fifth of the lines is held out; cross-validation over the others chooses the thresholds.
The weights that are written are then fitted on all of them. The messages of `heldout.tsv` and `heldout2.tsv` (language,
task, message) are never fitted; those of `messages.tsv`, each written by hand, and the questions of `training/asked`
train the reader (`training/reader.py`), and are too many for this model.

    python -m training.tasks                  fit, report, write the weights
    python -m training.tasks FILE.jsonl ...   report also which of their "text" or "query" go without search

It needs scikit-learn, which the product does without.
"""

import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from graphrag.linguistics.language import detect_question, fold, question_words
from graphrag.query_transformation import tasks as product
from graphrag.query_transformation.tasks import TASKS, WITHOUT_SEARCH, Task, TaskModel
from training.answerability import is_kept

FOLDER = Path(__file__).parent / "tasks"
ASKED = Path(__file__).parent / "asked"
WEIGHTS = Path(product.__file__).with_name("tasks.npz")
HELD_OUT = ("heldout.tsv", "heldout2.tsv")
LANGUAGES = ("es", "fr", "en")
VARIANTS = 9  # at most, of a line
MOST_FEATURES = 26_000  # 18 bytes each
REGULARISATION = 12.0  # scikit-learn's C
# Of the tune part's questions, half of which are written to look like the tasks without search. Of ordinary questions
# a tenth as many are then read so.
MOST_WRONGLY_SEARCHLESS = 0.03
_LIST = re.compile(r"\[[^\[\]]*\]")  # whose alternatives are all taken: they are other sentences
_ALTERNATIVES = re.compile(r"\[([^\[\]]*)\]")
_SLOT = re.compile(r"\{(\w+)\}")
_ACCENTS = str.maketrans("áéíóúüñàâçèêëîïôùû¿¡", "aeiouunaaceeeiiouu  ")
COURTESY = {
    "es": (("Hola, ", "Buenos días, ", "Gracias. ", "Perdona, ", "vale, "), (", por favor", ", gracias", " porfa")),
    "fr": (("Bonjour, ", "Salut, ", "Merci. ", "Excusez-moi, ", "ok "), (" s'il te plaît", ", merci", " svp")),
    "en": (("Hi, ", "Hello! ", "Thanks. ", "Sorry, ", "ok, "), (" please", ", thanks", " pls")),
    "other": (("",), ("",)),
}
FOLDS = 2
ASKING = frozenset({Task.LIST, Task.COMPARE, Task.DEFINE, Task.LOOK_UP, Task.YES_NO, Task.WHY, Task.WHAT_FOLLOWED})


@dataclass(frozen=True)
class Example:
    task: Task
    sentence: str
    language: str
    has_answer: bool
    weight: float = 1.0


def read_clusters(language: str) -> list[tuple[Task, str]]:
    """Return the (task, pattern) lines of a language, with the values of slots as alternatives."""
    slots, lines = {}, []
    for line in (FOLDER / f"{language}.tsv").read_text(encoding="utf-8").splitlines():
        name, text = line.split("\t")
        if name.startswith("{"):
            slots[name[1:-1]] = text.split("|")
        else:
            lines.append((Task(name), text))
    return [(task, _SLOT.sub(lambda match: f"[{'|'.join(slots[match[1]])}]", text)) for task, text in lines]


def find_words() -> tuple[frozenset[int], frozenset[int]]:
    """Return the hashes of the words of at least two lines, and of those that lines without search have more often.

    The values of slots don't count: they are what messages are about.
    """
    counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    small_talk: set[str] = set()
    for language in LANGUAGES:
        for line in (FOLDER / f"{language}.tsv").read_text(encoding="utf-8").splitlines():
            name, text = line.split("\t")
            if not name.startswith("{"):
                found = {fold(word) for word in re.findall(r"[^\W_]+", _SLOT.sub(" ", text))}
                counts[Task(name) in WITHOUT_SEARCH].update(found)
                small_talk |= found if name == Task.SMALL_TALK else set()
    small_talk -= counts[False].keys()  # all its words are its own, however rare
    marks = {product.hash_name(token) for token in ("0", "filename", "quoted")}
    every = counts[True] + counts[False]
    signals = {word for word, count in counts[True].items() if count > max(1, counts[False][word])} | small_talk
    return (
        frozenset(product.hash_name(word) for word, count in every.items() if count > 1) | marks,
        frozenset(map(product.hash_name, signals)),
    )


def expand(pattern: str, chance: random.Random) -> str:
    """Return one of the pattern's sentences; innermost alternatives first."""
    while (match := _ALTERNATIVES.search(pattern)) is not None:
        pattern = f"{pattern[: match.start()]}{chance.choice(match[1].split('|'))}{pattern[match.end() :]}"
    return " ".join(pattern.split())


def roughen(sentence: str, language: str, task: Task, chance: random.Random) -> str:
    """Write a sentence as people do: with or without marks, accents, capitals and courtesy, and with slips."""
    is_question = task in ASKING or fold(sentence.split()[0]) in question_words()
    asks = is_question and chance.random() < 0.6 and sentence[-1:].isalnum()
    if asks:
        sentence = (
            f"¿{sentence}?" if language == "es" and chance.random() < 0.6 else f"{sentence}{' ' * (language == 'fr')}?"
        )
    if task is not Task.SMALL_TALK and chance.random() < 0.12:
        before, after = (chance.choice(words) for words in COURTESY[language])
        sentence = f"{before}{sentence}" if chance.random() < 0.6 else f"{sentence}{after}"
    if chance.random() < 0.6:
        sentence = re.sub(r"\w", lambda match: match[0].upper(), sentence, count=1)
    if chance.random() < 0.2:
        sentence = sentence.translate(_ACCENTS).strip()
    if chance.random() < 0.06:
        sentence = sentence.upper()
    if chance.random() < 0.1:
        sentence = sentence.lower().rstrip(" ?.!")
    if chance.random() < 0.15 and sentence[-1:].isalnum():
        sentence += chance.choice((".", "!", "...", "?", " ."))
    if chance.random() < 0.12 and len(sentence) > 8:
        at = chance.randrange(1, len(sentence) - 2)
        if (pair := sentence[at : at + 2]).isalpha():
            slip = chance.choice((pair[::-1], pair[0], f"{pair[0]}{pair}"))
            sentence = f"{sentence[:at]}{slip}{sentence[at + 2 :]}"
    return sentence


def make_examples(clusters: Sequence[tuple[Task, str]], language: str, chance: random.Random) -> list[list[Example]]:
    """Return the examples of each cluster; those of large ones weigh less."""
    found = []
    for task, pattern in clusters:
        sentences = sorted({expand(pattern, chance) for _ in range(3 * VARIANTS)})
        sentences = sorted(set(pattern[1:-1].split("|"))) if _LIST.fullmatch(pattern) else sentences
        chosen = sentences if _LIST.fullmatch(pattern) else chance.sample(sentences, min(VARIANTS, len(sentences)))
        variants = max(1, 8 // len(chosen))
        found.append(
            [
                Example(
                    task,
                    text,
                    language if language in LANGUAGES else detect_question(text),
                    task is Task.TRANSFORM_ANSWER or chance.random() < 0.5,
                    len(chosen) ** -0.3,
                )
                for sentence in chosen
                for text in dict.fromkeys(
                    [sentence, *(roughen(sentence, language, task, chance) for _ in range(variants))]
                )
            ]
        )
    return found


def split(clusters: list[list[Example]], chance: random.Random) -> tuple[list[list[Example]], list[Example]]:
    """Return the clusters to fit, and the examples of a fifth of each task's clusters, to keep."""
    fitted, kept = [], []
    by_task = defaultdict(list)
    for cluster in clusters:
        by_task[cluster[0].task].append(cluster)
    for of_task in by_task.values():
        chance.shuffle(of_task)
        for number, cluster in enumerate(of_task):
            if number % 5:
                fitted.append(cluster)
            else:
                kept.extend(cluster)
    chance.shuffle(fitted)
    return fitted, kept


def hashes_of(example: Example, task_words: frozenset[int]) -> np.ndarray[Any, Any]:
    names = product.read_features(example.sentence, example.language, task_words)
    return product.hash_features([*names])


def fit(examples: Sequence[Example]) -> TaskModel:
    """Return the model of the examples, its weights rounded to 8 bits, without thresholds."""
    task_words, signal_words = find_words()
    rows = [hashes_of(example, task_words) for example in examples]
    counts = Counter(int(each) for row in rows for each in row)
    features = np.array(sorted(each for each, count in counts.most_common(MOST_FEATURES) if count > 2), np.uint32)
    indices, pointers, values = [], [0], []
    for row in rows:
        found = np.searchsorted(features, row)
        known = found[features[np.minimum(found, len(features) - 1)] == row]
        indices.extend(known)
        values.extend([len(row) ** -0.5] * len(known))
        pointers.append(len(indices))
    matrix = csr_matrix((values, indices, pointers), (len(rows), len(features)))
    model = LogisticRegression(C=REGULARISATION, max_iter=150, tol=1e-3)
    model.fit(matrix, [TASKS.index(each.task) for each in examples], [each.weight for each in examples])
    scales = np.abs(model.coef_).max(1) / 127
    weights = np.rint(model.coef_ / scales[:, None]).astype(np.int8).T.copy()
    return TaskModel(
        task_words,
        signal_words,
        features,
        weights,
        scales.astype(np.float32),
        model.intercept_.astype(np.float32),
        0,
        0,
    )


def probabilities_of(model: TaskModel, example: Example) -> np.ndarray[Any, Any]:
    return model.probabilities(example.sentence, example.language)


def with_thresholds(model: TaskModel, clusters: list[list[Example]]) -> TaskModel:
    """Return the model with thresholds chosen by cross-validation over its clusters.

    Without search: the lowest above which is at most MOST_WRONGLY_SEARCHLESS of what is searched for. The others: the
    one of the highest accuracy.
    """
    read = []
    for fold_number in range(FOLDS):
        rest = fit(
            [each for number, cluster in enumerate(clusters) if number % FOLDS != fold_number for each in cluster]
        )
        own = [each for number, cluster in enumerate(clusters) if number % FOLDS == fold_number for each in cluster]
        read += [(each, probabilities_of(rest, each)) for each in own]

    def chosen(search: float, no_search: float) -> list[tuple[Task, Task]]:
        at = replace(model, search_threshold=search, no_search_threshold=no_search)
        return [(each.task, product.choose_task(shares, at, has_answer=each.has_answer)[0]) for each, shares in read]

    grid = [round(0.3 + 0.025 * step, 3) for step in range(25)]
    no_search = next((at for at in grid if wrongly_searchless(chosen(0.0, at)) <= MOST_WRONGLY_SEARCHLESS), grid[-1])
    search = max(grid[:15], key=lambda at: (accuracy(chosen(at, no_search)), -at))
    return replace(model, search_threshold=search, no_search_threshold=no_search)


def wrongly_searchless(pairs: Sequence[tuple[Task, Task]]) -> float:
    searched = [found for task, found in pairs if task not in WITHOUT_SEARCH]
    return sum(found in WITHOUT_SEARCH for found in searched) / len(searched)


def accuracy(pairs: Sequence[tuple[Task, Task]]) -> float:
    return sum(task is found for task, found in pairs) / len(pairs)


def classify(model: TaskModel, example: Example) -> Task:
    return product.choose_task(probabilities_of(model, example), model, has_answer=example.has_answer)[0]


def report(name: str, model: TaskModel, examples: Sequence[Example], *, shows_errors: bool = False) -> None:
    for language in LANGUAGES:
        own = [each for each in examples if each.language == language]
        pairs = [(each.task, classify(model, each)) for each in own]
        searchless = [(task, found) for task, found in pairs if task in WITHOUT_SEARCH]
        print(
            f"{name} {language}: {len(own)} sentences, accuracy {accuracy(pairs):.3f}, of the tasks without search "
            f"{accuracy(searchless):.3f}, searched for but read as one of them {wrongly_searchless(pairs):.4f}"
        )
        for task in TASKS if language == LANGUAGES[-1] else ():
            of_task = [(each.task, classify(model, each)) for each in examples if each.task is task]
            taken = Counter(classify(model, each) for each in examples if each.task is not task)[task]
            right = sum(one is other for one, other in of_task)
            if of_task:
                print(f"   {task:17} recall {right / len(of_task):.3f}, precision {right / max(1, right + taken):.3f}")
    for each in examples if shows_errors else ():
        if (found := classify(model, each)) is not each.task:
            print(f"   {each.language} {each.task} -> {found}: {each.sentence}")


def read_messages(name: str) -> list[Example]:
    rows = [line.split("\t") for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]
    return [Example(Task(task), text, language, task == Task.TRANSFORM_ANSWER) for language, task, text in rows]


def read_asked(chance: random.Random) -> list[Example]:
    """Return the questions of the worlds in `training/asked` that are not kept aside."""
    paths = sorted(ASKED.glob("*/questions.jsonl"))
    rows = [json.loads(line) for path in paths for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Example(
            Task.QUESTION if row["kind"] == "procedure" else Task(row["kind"]),
            row["text"],
            row["language"],
            chance.random() < 0.5,
        )
        for row in rows
        if not is_kept(row["paragraph"])
    ]


def read_questions(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    rows = json.loads(text) if path.suffix == ".json" else map(json.loads, text.splitlines())
    yield from (row.get("text") or row["query"] for row in rows)


def report_questions(model: TaskModel, path: Path) -> None:
    questions = [*read_questions(path)]
    found = [
        (question, classify(model, Example(Task.QUESTION, question, detect_question(question), has_answer)))
        for question in questions
        for has_answer in (False, True)
    ]
    wrong = [(task, question) for question, task in found if task in WITHOUT_SEARCH]
    print(
        f"{path.parent.name}/{path.name}: {len(questions)} questions, read without search {len(wrong) / len(found):.4f}"
    )
    print(f"   {dict(Counter(task.value for _, task in found))}")
    for task, question in dict.fromkeys(wrong):
        print(f"   {task}: {question}")


def main() -> None:
    chance = random.Random(7)
    clusters = [
        cluster
        for language in (*LANGUAGES, "other")
        for cluster in make_examples(read_clusters(language), language, chance)
    ]
    fitted, kept = split(clusters, chance)
    examples = [each for cluster in fitted for each in cluster]
    model = with_thresholds(fit(examples), fitted)
    print(f"thresholds: {model.search_threshold} with search, {model.no_search_threshold} without")
    report("kept", model, kept, shows_errors="--errors" in sys.argv)
    paths = [Path(each) for each in sys.argv[1:] if not each.startswith("--")]
    thresholds = (model.search_threshold, model.no_search_threshold)
    whole = replace(fit([*examples, *kept]), search_threshold=thresholds[0], no_search_threshold=thresholds[1])
    for name in HELD_OUT:
        report(name, whole, read_messages(name), shows_errors="--errors" in sys.argv)
    for path in paths:
        report_questions(whole, path)
    np.savez_compressed(
        WEIGHTS,
        features=whole.features,
        weights=whole.weights,
        scales=whole.scales,
        bias=whole.bias,
        thresholds=np.array(thresholds),
        task_words=np.array(sorted(whole.task_words), np.uint32),
        signal_words=np.array(sorted(whole.signal_words), np.uint32),
    )
    print(f"{WEIGHTS.name}: {len(whole.features)} features, {WEIGHTS.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
