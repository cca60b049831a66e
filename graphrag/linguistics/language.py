"""The language of a text, its function words, its characters that no reader sees."""

import contextlib
import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import snowballstemmer
import stopwordsiso
from platformdirs import user_cache_path
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from graphrag.linguistics.rules import Pattern, Rules, WordList, read_rules


class LanguageRules(Rules):
    function_words: dict[str, WordList]
    question_words: dict[str, WordList]
    letters: dict[str, Pattern]


@lru_cache(maxsize=1)
def _rules() -> LanguageRules:
    return read_rules(LanguageRules, "graphrag.linguistics", "language")


# Controls, soft hyphen, joiners, zero-width and bidirectional marks, fillers, variation selectors, and the tag block,
# in which whole sentences can be written. Without joiners a family emoji falls apart into people: that is the price.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff\ud800-\udfff]"
)


def visible(text: str) -> str:
    return _INVISIBLE.sub("", text)


UNKNOWN = "und"
ANSWER_LANGUAGES = ("es", "fr", "en")  # what we answer in
STEMMERS = {
    "ca": "catalan",
    "de": "german",
    "en": "english",
    "es": "spanish",
    "fr": "french",
    "it": "italian",
    "pt": "portuguese",
}
CONFIDENT = 0.5  # below it a document's language is unknown
# Of 4 words, without accents and in lower case, 94 % are told right with these two and 83 % without them.
EXPECTED = 3  # times as likely are the languages that we answer in
FUNCTION_WORD = 2  # times as likely for each function word more than the others have, of which two count
FOREIGN_WORDS, FOREIGN = 3, 0.2  # but for names; the greatest share of our languages in a question in none of them
DETECTED_CHARS = 1_500  # half of them from the beginning, half from the middle
CACHED_WORDS = 50_000
_ADDRESS = re.compile(r"(?:https?://|www\.)\S+")
_LATIN = re.compile(r"[A-Za-zÀ-ɏ]+")
_LETTERS_OR_NUMBER = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_WORD = re.compile(r"\w+(?:[.,]\d+)*")  # 12.000 and 3,5 stay one word


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    """Map the model from the user's cache, where its first reader unpacks it: 0.02 s of CPU and not 0.5."""
    folder = user_cache_path("causeway") / f"languages-{'-'.join(sorted(STEMMERS))}-{version('py3langid')}"
    try:
        if not folder.exists():
            _unpack(folder)
        return _mapped(folder)
    except (OSError, ValueError):  # no place to write, or files that are not whole
        return _unpacked()


def _unpacked() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(sorted(STEMMERS))
    return identifier


def _unpack(folder: Path) -> None:
    """Write the model's arrays into a folder, which has all of them or does not exist. Raises OSError."""
    model = _unpacked()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=folder.parent, ignore_cleanup_errors=True) as made:
        for name, array in {
            "weights": model.nb_ptc,
            "priors": model.nb_pc,
            "languages": np.array(model.nb_classes),
            "next": np.asarray(model.tk_nextmove),
            "rows": np.asarray(model.tk_row),
            "features": np.array(model.tk_output, np.int32),
        }.items():
            np.save(Path(made, name), array)
        with contextlib.suppress(OSError):  # another process was first
            Path(made).rename(folder)


def _mapped(folder: Path) -> LanguageIdentifier:
    """Raises OSError or ValueError."""
    weights, priors, languages, following, rows, features = (
        np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))
        for name in ("weights", "priors", "languages", "next", "rows", "features")
    )
    return LanguageIdentifier(
        weights, priors, languages.tolist(), following.data, features.data, True, tk_row=rows.tolist()
    )


def load() -> None:
    """Reads the tables from disk, which the first question would wait for otherwise."""
    _identifier()
    for language in ANSWER_LANGUAGES:
        stop_words(language)


def _sample(text: str) -> str:
    half, middle = DETECTED_CHARS // 2, len(text) // 2
    return text if len(text) <= DETECTED_CHARS else f"{text[:half]}\n{text[middle : middle + half]}"


def detect(text: str) -> str:
    """The language of a document, ISO 639-1, or UNKNOWN."""
    text = _ADDRESS.sub(" ", _sample(text))
    if _is_in_other_script(text) or not any(map(str.isalpha, text)):
        return UNKNOWN
    shares = _shares(text)
    best = max(shares, key=lambda language: shares[language])
    return best if shares[best] >= CONFIDENT else UNKNOWN


def _is_in_other_script(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return letters > 0 and 2 * sum(map(len, _LATIN.findall(text))) <= letters


def _shares(text: str) -> dict[str, float]:
    """Return how probably a text is in each of the languages that have a stemmer; they sum to 1."""
    shares = {str(language): float(share) for language, share in _identifier().rank(text)}
    shares |= {language: shares[language] * weight for language, weight in _weights(text).items()}
    total = sum(shares.values())
    return {language: share / total for language, share in shares.items()}


def _weights(text: str) -> dict[str, float]:
    found = [fold(word) for word in words(text[:1_000])]
    counts = {language: sum(word in stop_words(language) for word in found) for language in ANSWER_LANGUAGES}
    leads = {
        language: count - max(other for name, other in counts.items() if name != language)
        for language, count in counts.items()
    }
    return {language: EXPECTED * FUNCTION_WORD ** max(-2, min(2, lead)) for language, lead in leads.items()}


def is_foreign(question: str) -> bool:
    """Return whether a question is surely in none of ANSWER_LANGUAGES."""
    text = _ADDRESS.sub(" ", question)
    if _is_in_other_script(text):
        return True
    told = [word for place, word in enumerate(words(text)) if not place or not word[0].isupper()]  # names are of any
    if len(told) < FOREIGN_WORDS:
        return False
    shares = _shares(" ".join(told))
    return sum(shares[language] for language in ANSWER_LANGUAGES) < FOREIGN


def detect_question(text: str, default: str = "es") -> str:
    """The language to answer in: the likeliest of ANSWER_LANGUAGES, English where it is surely none of them.

    `default` where the text has no letters.
    """
    if not any(character.isalpha() for character in text):
        return default
    if is_foreign(text):
        return "en"
    ranked = [(str(language), share) for language, share in _identifier().rank(text) if language in ANSWER_LANGUAGES]
    best, share = ranked[0]
    return best if share > ranked[-1][1] else default  # all alike: it saw nothing that it knows


def language_of(text: str, likely: Sequence[str]) -> str:
    """Return a statement's language by its function words and letters; the first of the likely ones in a tie."""
    found = [fold(match.group()) for match in _LETTERS_OR_NUMBER.finditer(text)]
    order = list(dict.fromkeys([*likely, *ANSWER_LANGUAGES]))
    known = [language for language in order if language in ANSWER_LANGUAGES]

    def signs(language: str) -> int:
        own = len(_rules().letters[language].findall(text.lower()))
        return own + sum(word in stop_words(language) for word in found)

    return max(known, key=signs, default=order[0])


@lru_cache(maxsize=CACHED_WORDS)
def fold(word: str) -> str:
    """Lower case without accents: «Acción» → "accion", «Œuvre» → "oeuvre". The database's causeway.fold agrees."""
    if word.isascii():
        return word.lower()
    plain = unicodedata.normalize("NFKD", word).lower()  # a styled «𝘈» is an A, which then has a lower case
    text = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return text.replace("œ", "oe")


@lru_cache(maxsize=8)
def stop_words(language: str) -> frozenset[str]:
    """Folded. Those of the languages that we answer in are our own; of the others, the published ones."""
    if language in ANSWER_LANGUAGES:
        return frozenset(map(fold, [*_rules().function_words[language], *_rules().question_words[language]]))
    return frozenset(map(fold, stopwordsiso.stopwords(language))) if stopwordsiso.has_lang(language) else frozenset()


@lru_cache(maxsize=1)
def all_stop_words() -> frozenset[str]:
    """Return the stop words of all the languages that we answer in, folded."""
    return frozenset().union(*map(stop_words, ANSWER_LANGUAGES))


@lru_cache(maxsize=1)
def question_words() -> frozenset[str]:
    """Return the folded words with which questions of our languages ask."""
    return frozenset(fold(word) for words_ in _rules().question_words.values() for word in words_)


@lru_cache(maxsize=CACHED_WORDS)
def stem(word: str, language: str) -> str:
    """The folded stem; two forms of a word that the stemmer joins have the same one."""
    if language not in STEMMERS:
        return fold(word)
    return fold(snowballstemmer.stemmer(STEMMERS[language]).stemWord(word.lower()))


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def labelled(label: str, text: str, language: str) -> str:
    """«Label: text», «Libellé : texte»."""
    return f"{label}{' :' if language == 'fr' else ':'} {text}"


def content_words(text: str, language: str) -> list[str]:
    """The words that are not stop words, in order, as written; all words where that would leave none."""
    found = words(text)
    return [word for word in found if not _is_empty(word, language)] or found


def content_stems(text: str, language: str) -> set[str]:
    """Return the stems of a text's content words."""
    return {stem(word, language) for word in content_words(text, language)}


@lru_cache(maxsize=CACHED_WORDS)
def _is_empty(word: str, language: str) -> bool:
    is_elided = len(word) == 1 and word.isalpha()  # the l of «l'entrepôt», the t of «a-t-il»
    return is_elided or fold(word) in stop_words(language)
