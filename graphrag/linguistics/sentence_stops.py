"""Full stops, question marks and their like in Spanish, French and English: which of them end a sentence."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from graphrag.linguistics.rules import AnyCase, Pattern, Rules, WordSet, read_rules


class SentenceRules(Rules):
    references: WordSet
    titles: WordSet
    before_names: WordSet
    before_numbers: WordSet
    words_before_numbers: WordSet
    company: Pattern
    postscript: AnyCase
    time_words: WordSet
    starters: WordSet
    starting_endings: AnyCase
    particles: WordSet
    lettered: WordSet
    unfinished: WordSet
    name_openers: WordSet
    greetings: WordSet
    closings: WordSet
    parts: WordSet
    name_endings: WordSet
    speech: WordSet


@lru_cache(maxsize=1)
def sentence_rules() -> SentenceRules:
    return read_rules(SentenceRules, "graphrag.linguistics", "sentences")


class Abbreviation(Enum):
    """Kinds of abbreviations, by what their full stop may end."""

    REFERENCE = "never ends a sentence"
    TITLE = "ends one only in lower case, before a word that begins sentences"
    BEFORE_NAME = "ends one only before a word that begins sentences"
    BEFORE_NUMBER = "ends one, but not before a number"
    WORD_BEFORE_NUMBER = "likewise, and is a word"


@lru_cache(maxsize=1)
def _abbreviations() -> dict[str, Abbreviation]:
    rules = sentence_rules()
    return (
        dict.fromkeys(rules.words_before_numbers, Abbreviation.WORD_BEFORE_NUMBER)
        | dict.fromkeys(rules.before_numbers, Abbreviation.BEFORE_NUMBER)
        | dict.fromkeys(rules.before_names, Abbreviation.BEFORE_NAME)
        | dict.fromkeys(rules.titles, Abbreviation.TITLE)
        | dict.fromkeys(rules.references, Abbreviation.REFERENCE)
    )


def abbreviation(word: str) -> Abbreviation | None:
    """Return the kind of an abbreviation, given without its last full stop; None for other words."""
    table = _abbreviations()
    key = word.replace(".", "")
    kind = table.get(key) or table.get(key.lower())
    if word.isupper() and kind is Abbreviation.BEFORE_NAME and word not in sentence_rules().before_names:
        return None  # an acronym
    return kind or (table.get(key.capitalize()) if key.isupper() and len(key) > 2 else None)


CAPITALS = "A-ZÀ-ÖØ-ÞŒŸŠŽ"
_INVISIBLE = r"\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff"  # joiners and marks of direction
_EMOJI = r"\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\ufe0f\u20e3\U0001f000-\U0001faff\U000e0020-\U000e007f"
_CJK_STOPS = "。！？｡"
_STOP = re.compile(rf"[.!?…؟۔।॥։።{_CJK_STOPS}]")
_CLOSING = re.compile(
    rf"[.!?…؟۔।॥։።{_CJK_STOPS}]++"
    r"(?:[ \u00a0\u202f][.!?…]++){0,4}"  # «Quoi ! ?», ". . ."
    rf"(?:[\"'»”’)\]*_」』）¹²³⁰-⁹{_INVISIBLE}]|[ \u00a0\u202f][»)](?!\w)|\[\d{{1,3}}\]|[ \u00a0]?[{_EMOJI}])*+"
)
_SPACE = re.compile(r"\s*")
OPENING = re.compile(rf"[\s\"'«“‘(\[¿¡*_–—{_INVISIBLE}-]*")
_WORD = re.compile(r"\w(?:[\w.°]|(?<=\.)-)*\Z")  # «(p. m», «l'art», «J.-C»: the last word with the stops within it
_LETTERS = re.compile(r"[^\W\d_]+")
_INITIAL = re.compile(rf"[{CAPITALS}]\.")
_LABEL = re.compile(  # what numbers: «pág. 5», «S. 5», «cap. IV», «bât. B», «réf. AB-12»
    rf"[+#]?\d|[{CAPITALS}]\. ?\d|[IVXLC]{{2,}}\b|[B-DF-HJ-NP-XZ]\b(?![.'’])|[{CAPITALS}](?=[.,;:)])"
    rf"|[{CAPITALS}]{{1,4}}[-/]?\d"
)
_ROMAN = re.compile(r"[IVXLC]+|[ivxlc]+")
_SECTION_NUMBER = re.compile(r"\d{1,3}(?:\.\d{1,3})*")
_PART = re.compile(r"\W*([^\W\d_]+)\.?\s+[\w.-]{1,8}\Z")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}[.-]+)+[^\W\d_]{1,4}")  # «B.O.E», «Ph.D», «J.-C»
_UNIT = re.compile(
    r"(?:[\d°º]-?[^\W\d_]|[\d°º][ \u00a0\u202f][ABCFGKLMTV])\Z"
)  # «3-B», «20 °C», «12 V», not "610 S. Main"
_SPEAKER = re.compile(rf"([{CAPITALS}]\w*)(?: [{CAPITALS}]\w*)? (\w+)")
_NEXT_WORD = re.compile(rf"[{CAPITALS}](?:[a-zß-ÿœ]+|(?=[\s'’]))(?:['’-]\w+)*(?![\w@/\\_]|[=(][\w)]|\.[a-z\d_])")
_NEXT_CAPITALS = re.compile(rf"[{CAPITALS}]{{2,}}(?![\w@/\\_]|[=(][\w)]|\.[a-z\d_])")
_ADDRESS = re.compile(r"[@=]|://|/.*\.|\..*/")
_IDENTIFIER = re.compile(r"[a-z]\.[a-z]")
_CLOSING_QUOTES = frozenset("\"'»”’")
_ENDS_OF_SENTENCE = frozenset(")]»”’\"'%€$£°º*_`")
_WORDS_OF_A_LETTER = frozenset("AÀEIOUYÔ")
_LATIN_VOWELS = frozenset("aeiouy")
_OPENERS = frozenset('¿¡«“—("')
_LONGEST_ADDRESS = 96  # characters
_LOOK_BACK = 24  # characters of the words before a stop
_LONGEST_LABEL = 40  # characters of the beginning that says which part of a document follows
_LONGEST_PARENTHESIS = 400  # characters of one that holds sentences without ending the sentence around it
_SHORTEST_WORD = 3  # letters of the last word of a sentence in a text without capitals


def find_sentence_starts(text: str, start: int, end: int, *, is_item: bool = False) -> Iterator[int]:
    """Yield where the sentences of the paragraph [start, end) begin, but for the first.

    `is_item`: a list item; that it begins in lower case doesn't say that its sentences do.
    """
    sentence = done = start
    for match in _STOP.finditer(text, start, end):
        position = match.start()
        if position < done:
            continue
        done = _CLOSING.match(text, position, end).end()  # type: ignore[union-attr]  # it begins with the same marks
        if done == end:
            return
        begin = _Stop(text, position, done, sentence, start, end, is_item).next_start()
        if begin:
            yield begin
            sentence = begin


@dataclass(slots=True)
class _Stop:
    """Marks [position, close) in the paragraph [start, end); the sentence that they may end begins at `sentence`."""

    text: str
    position: int
    close: int
    sentence: int
    start: int
    end: int
    is_item: bool

    def next_start(self) -> int:
        """Return where the next sentence begins; 0 if the marks end none."""
        text, close, end = self.text, self.close, self.end
        if text[self.position] in _CJK_STOPS:
            begin = _SPACE.match(text, close, end).end()  # type: ignore[union-attr]  # it also matches nothing
            return begin if begin < end else 0
        if not text[close].isspace():
            begin = self._next_without_space()
            return 0 if begin and self._is_in_parenthesis() else begin
        begin = _SPACE.match(text, close, end).end()  # type: ignore[union-attr]  # see above
        letter = OPENING.match(text, begin, end).end()  # type: ignore[union-attr]  # see above
        if letter == end or (
            self.position - self.sentence < 4 and OPENING.fullmatch(text, self.sentence, self.position)
        ):
            return 0  # nothing follows, or there is nothing yet: «[…] Nadie»
        following = text[letter]
        if following.islower() and not text[letter + 1 : letter + 2].isupper():  # «iPhone» may begin one
            goes_on = not self._ends_in_lower_case(letter)
        elif following in ",;:)]»?!":
            goes_on = True
        elif text[self.position] == "." and text[self.position + 1] not in ".!?…":
            goes_on = self._is_abbreviation(letter)
        elif text[self.position - 1 : self.position] in ("[", "("):  # an omission
            goes_on = not self._starts_sentence(letter)
        else:
            goes_on = self._is_followed_by_speaker(letter)
        return 0 if goes_on or self._is_in_parenthesis() else begin

    def _is_abbreviation(self, letter: int) -> bool:
        """Tell whether a full stop before a capital letter, a digit or a mark belongs to the word before it."""
        word = self._word()
        if not word:
            return self.text[self.position - 1] == "/" and self.text[letter].isdigit()  # «S/. 20»
        if (len(word) == 1 or word[0].isdigit() or _ROMAN.fullmatch(word)) and self._is_number_of_part(word, letter):
            return True
        if self.position - self.sentence < _LOOK_BACK and sentence_rules().postscript.fullmatch(self._before()):
            return True
        if word[-1] in "ALS" and sentence_rules().company.search(self._before()):
            return _INITIAL.match(self.text, letter) is not None
        kind = abbreviation(word)
        if len(word) == 1 and word.isalpha() and kind is None:
            return self._is_initial(letter) if word.isupper() else self._is_short_for(word, letter)
        match kind:
            case Abbreviation.REFERENCE:
                return True
            case Abbreviation.TITLE:
                return not (word.islower() and self._starts_sentence(letter))
            case Abbreviation.BEFORE_NAME:
                return not self._starts_sentence(letter)
            case Abbreviation.BEFORE_NUMBER | Abbreviation.WORD_BEFORE_NUMBER:
                is_alone = kind is Abbreviation.BEFORE_NUMBER and self._is_first(word)
                is_time = self._next_word(letter) in sentence_rules().time_words
                return is_alone or is_time or _LABEL.match(self.text, letter) is not None
        return self._looks_abbreviated(word) and not self._starts_sentence(letter)

    def _before(self, chars: int = _LOOK_BACK) -> str:
        """Return the last characters of the sentence, up to its stop."""
        return self.text[max(self.sentence, self.position - chars) : self.position]

    def _word(self) -> str:
        """Return the word before the stop, with the stops within it: «p.m»."""
        words = self._before().rsplit(None, 1)
        if not words or (words[-1].isalpha() and len(words[-1]) > 1):
            return words[-1] if words else ""
        found = _WORD.search(words[-1])
        return found[0] if found else ""

    def _is_first(self, word: str) -> bool:
        """Tell whether nothing but opening marks is before a word in its sentence."""
        first = self.position - len(word)
        return first - self.sentence < _LONGEST_LABEL and OPENING.fullmatch(self.text, self.sentence, first) is not None

    def _next_word(self, letter: int) -> str:
        found = _LETTERS.match(self.text, letter, min(self.end, letter + _LOOK_BACK))
        return found[0].lower() if found else ""

    def _starts_sentence(self, letter: int) -> bool:
        """Tell whether what follows begins a sentence, not a name: «Le greffier», but not «Le Guen», «A. B. Crowe»."""
        if self.text[letter - 1] in "¿¡":
            return True
        word, rules = self._next_word(letter), sentence_rules()
        after = letter + len(word)
        if not (word in rules.starters or rules.starting_endings.fullmatch(word)) or self.text.startswith(".", after):
            return False
        return word not in rules.particles or not self.text[after + 1 : after + 2].isupper()

    def _is_number_of_part(self, word: str, letter: int) -> bool:
        """Tell whether a number begins the sentence («2.1. Objeto») or names a part («Annexe IV. Taux»)."""
        if word[0].isdigit() and not _SECTION_NUMBER.fullmatch(word):
            return False
        if self._is_first(word):
            return self.sentence == self.start or not word.isdigit() or word == "1" or self._follows_number(int(word))
        first = self.position - len(word)
        if (
            word.isdigit()
            and self.text[first - 2 : first] in (": ", "; ")
            and (word == "1" or self._follows_number(int(word)))
        ):
            return True
        part = _PART.fullmatch(self.text, self.sentence, self.position) if self.sentence == self.start else None
        return part is not None and part[1].lower() in sentence_rules().parts - {self._next_word(letter)}

    def _follows_number(self, number: int) -> bool:
        """Tell whether a number within a paragraph goes on counting: «1. Abrir. 2. Cerrar.»."""
        begin = max(self.start, self.sentence - _LONGEST_PARENTHESIS)
        return number > 1 and self.text.find(f"{number - 1}. ", begin, self.position) != -1

    def _is_short_for(self, small: str, letter: int) -> bool:
        """Tell whether a stop goes with the small letter before it: «c. 1740», "Roe v. Wade", «9 a. m. Monday»."""
        before = self._before().rstrip()[:-1].rstrip()
        if _INITIAL.match(self.text, letter):  # «44 a. C.»
            return True
        if before[-1:].isdigit():  # a unit
            return False
        if before[-1:] == "." and self._next_word(letter) in sentence_rules().time_words:
            return True
        return small == "v" or _LABEL.match(self.text, letter) is not None

    def _is_initial(self, letter: int) -> bool:
        """Tell whether a stop goes with the capital letter before it: «J. Borges», but not «plan B.», «220 V.»."""
        if _UNIT.search(self._before()):
            return False
        words = self._before().rsplit(None, 2)
        is_label = len(words) > 1 and words[-2].lower() in sentence_rules().lettered
        if is_label and not _INITIAL.match(self.text, letter):
            return False
        return not self._starts_sentence(letter)

    def _looks_abbreviated(self, word: str) -> bool:
        """Tell whether a word in no table is written as abbreviations are: «B.O.E», «CC», «Brgdr», but not «40 kg»."""
        if "." in word:
            return _DOTTED.fullmatch(word) is not None and word.rpartition(".")[2] not in sentence_rules().name_endings
        if len(word) == 2 and word.isupper() and word[0] == word[1]:
            return True
        lower = word.lower()
        if not (word.isascii() and word.isalpha() and _LATIN_VOWELS.isdisjoint(lower)) or word.isupper():
            return False
        before = self._before().rstrip()[: -len(word)].rstrip()
        return lower[-1] != lower[-2] and not (before[-1:].isdigit() or before[-1:] == "/")  # nor «Hmm»

    def _is_followed_by_speaker(self, letter: int) -> bool:
        """Tell whether a question or exclamation in quotation marks is followed by who spoke: "Ready?" Tom asked."""
        if self.text[self.close - 1] not in _CLOSING_QUOTES:
            return False
        speaker = _SPEAKER.match(self.text, letter, self.end)
        return speaker is not None and speaker[2] in sentence_rules().speech

    def _ends_in_lower_case(self, letter: int) -> bool:
        """Tell whether the marks end a sentence of a text without capitals, which shows at the sentence's beginning."""
        if self.is_item:
            return False
        first = OPENING.match(self.text, self.sentence, min(self.end, self.sentence + _LONGEST_LABEL))
        if first is None or not self.text[first.end()].islower():
            return False
        word = self._word()
        if self.text[self.position] != ".":  # who spoke may follow
            is_quoted = self.text[self.close - 1] in _CLOSING_QUOTES or self.text[letter - 1] in "—–-"
            return not is_quoted and self._next_word(letter) not in sentence_rules().speech
        if not word:
            return self.text[self.position - 1] in _ENDS_OF_SENTENCE
        if word.isdigit():
            return not self._is_number_of_part(word, letter)
        return (
            len(word) >= _SHORTEST_WORD
            and "." not in word
            and abbreviation(word) in (None, Abbreviation.WORD_BEFORE_NUMBER)
        )

    def _is_in_parenthesis(self) -> bool:
        """Tell whether the next sentence, too, belongs to a parenthesis within a sentence."""
        text, close = self.text, self.close
        opening = text.rfind("(", max(self.sentence, close - _LONGEST_PARENTHESIS), close)
        if opening == -1 or text.find(")", opening, close) != -1 or text[opening - 1 : opening] in (":", ";", "-"):
            return False
        before = OPENING.match(text, self.sentence, opening + 1)
        if before is None or before.end() > opening:
            return False
        closing = text.find(")", close, min(self.end, close + _LONGEST_PARENTHESIS))
        return closing != -1 and text.find("(", close, closing) == -1

    def _next_without_space(self) -> int:
        """Return where a sentence begins right after the marks, else 0: «llegó.El pedido», not "ASP.NET"."""
        text, close = self.text, self.close
        words = text[max(self.sentence, self.position - _LONGEST_ADDRESS) : self.position].rsplit(None, 1)
        last = words[-1][-1] if words and words[-1] not in ("'", '"') else ""
        if not (last.isalnum() or last in _ENDS_OF_SENTENCE):
            return 0
        if text[close - 1] == '"' and text.count('"', max(self.sentence, close - _LONGEST_PARENTHESIS), close) % 2:
            close -= 1  # it opens a quotation
        if text[close] in _OPENERS:
            letter = OPENING.match(text, close, self.end).end()  # type: ignore[union-attr]  # it also matches nothing
            return close if text[letter : letter + 1].isupper() else 0
        return close if self._begins_sentence(words[-1], close) else 0

    def _begins_sentence(self, word: str, begin: int) -> bool:
        """Tell whether what follows a word and its stop without white space begins a sentence."""
        rules, is_lower = sentence_rules(), word == word.lower()
        found = _NEXT_WORD.match(self.text, begin)
        if found:
            is_name = len(found[0]) == 1 and found[0] not in _WORDS_OF_A_LETTER
            is_name |= len(found[0]) > 2 and found[0].lower() in rules.name_endings
        else:
            found = _NEXT_CAPITALS.match(self.text, begin)
            is_in_capitals = self.text[max(self.sentence, begin - _LOOK_BACK) : begin].isupper()
            is_name = not (is_lower or is_in_capitals) or found is None or found[0].lower() in rules.name_endings
        if is_name or (not is_lower and _ADDRESS.search(word)):
            return False
        if self.text[self.position] != "." or self.text[self.position + 1] in ".!?…":
            return True
        if _IDENTIFIER.search(word) and not _DOTTED.fullmatch(word):
            return word.rpartition(".")[2] in rules.name_endings
        return not self._is_abbreviation(begin)
