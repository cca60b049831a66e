"""Word and pattern tables of the three languages: YAML files beside the code that reads them, validated at first use.

In every file, `{NAME}` within a text stands for the entry NAME of its section `fragments`, and the line breaks of a
block are dropped, so that a long pattern can be written on several lines. Entries of the section `not_after` are lists
of words; as a fragment each gives a pattern that matches where none of the words stands before.
"""

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Annotated, Any, TypeVar

import regex
import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict

# Where libyaml is installed, ten times as fast.
SAFE_LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FRAGMENT = re.compile(r"\{([A-Z][A-Z_]*)\}")


class Rules(BaseModel):
    """A table, or a part of one: unknown and missing entries are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


_Shape = TypeVar("_Shape", bound=Rules)


def read_rules(shape: type[_Shape], package: str, name: str) -> _Shape:
    """Return a package's table `rules/NAME.yml`. Raise ValidationError where it has not the given shape."""
    text = files(package).joinpath("rules", f"{name}.yml").read_text(encoding="utf-8")
    return shape.model_validate(expand(yaml.load(text, Loader=SAFE_LOADER)))


def read_texts(package: str, name: str) -> dict[str, dict[str, str]]:
    """Return a package's table of texts for people, NAME.yml."""
    texts: dict[str, dict[str, str]] = yaml.load(
        files(package).joinpath(f"{name}.yml").read_text(encoding="utf-8"), Loader=SAFE_LOADER
    )
    return texts


def expand(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with its fragments in their places."""
    fragments = {
        name: "".join(rf"(?<!\b{word}\s)" for word in words.split())
        for name, words in table.pop("not_after", {}).items()
    }
    for name, text in table.pop("fragments", {}).items():
        fragments[name] = _filled(text, fragments)  # may name those above
    return {key: _expanded(value, fragments) for key, value in table.items()}


def _expanded(value: Any, fragments: dict[str, str]) -> Any:
    if isinstance(value, str):
        return _filled(value, fragments)
    if isinstance(value, list):
        return [_expanded(each, fragments) for each in value]
    if isinstance(value, dict):
        return {key: _expanded(each, fragments) for key, each in value.items()}
    return value


def _filled(text: str, fragments: dict[str, str]) -> str:
    return _FRAGMENT.sub(lambda match: fragments[match[1]], text.replace("\n", ""))


def split_words(text: str) -> list[str]:
    """Return the words of a text, or its phrases where commas separate them."""
    return [phrase.strip() for phrase in text.split(",")] if "," in text else text.split()


def join_patterns(patterns: str | list[str]) -> str:
    return "|".join(f"(?:{pattern})" for pattern in ([patterns] if isinstance(patterns, str) else patterns))


WordList = Annotated[list[str], BeforeValidator(split_words)]
WordSet = Annotated[frozenset[str], BeforeValidator(split_words)]
Pattern = Annotated[re.Pattern[str], BeforeValidator(lambda text: re.compile(join_patterns(text)))]
AnyCase = Annotated[re.Pattern[str], BeforeValidator(lambda text: re.compile(join_patterns(text), re.IGNORECASE))]


_TOKEN = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<?[=!]|[()]|.", re.DOTALL)


def loosened(pattern: str) -> str:
    """Return a pattern that matches wherever the given one does, and more; the end of a text may be a word's midst."""
    kept: list[str] = []
    depth = skipped_from = 0  # of open groups; of the lookaround that is left out
    for token in _TOKEN.findall(pattern):
        depth += token.startswith("(")
        if token in ("(?!", "(?<=", "(?<!") and not skipped_from:
            skipped_from = depth
        if not skipped_from and token not in (r"\b", r"\B"):
            kept.append(token)
        if token == ")":
            skipped_from = 0 if skipped_from == depth else skipped_from
            depth -= 1
    return "".join(kept)


class PatternIndex:
    """Index of many patterns by the first letters of what they match: most words need no search.

    Python's own `re` can't tell whether a text is the beginning of a possible match; the library `regex` can.
    """

    LETTERS = 5
    MOST_BEGINNINGS = 50_000  # that are remembered

    def __init__(self, patterns: Iterable[str]) -> None:
        self._patterns = [regex.compile(loosened(pattern)) for pattern in patterns]
        self._found: dict[str, tuple[int, ...]] = {"": tuple(range(len(self._patterns)))}

    def candidates(self, letters: str) -> tuple[int, ...]:
        """Return the numbers of the patterns of which a match may begin so; at most LETTERS characters count."""
        letters = letters[: self.LETTERS]
        if (known := self._found.get(letters)) is not None:
            return known
        found = tuple(
            number
            for number in self.candidates(letters[:-1])
            if self._patterns[number].match(letters, partial=True) is not None
        )
        if len(self._found) >= self.MOST_BEGINNINGS:
            self._found = {"": self._found[""]}
        self._found[letters] = found
        return found
