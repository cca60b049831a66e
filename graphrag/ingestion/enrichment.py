"""Title, authors, language and keywords of a document."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import NamedTuple

import stopwordsiso
from babel import Locale

from graphrag.ingestion.chunking.division import has_rows
from graphrag.linguistics import language
from graphrag.linguistics import language as languages
from graphrag.linguistics.language import fold
from graphrag.linguistics.sentences import plain
from graphrag.models import ParsedText, Table

MOST = 10
READ_CHARS = 2_500  # what a text is about is said at its beginning
HEADING_WEIGHT = 2.0  # of what a heading or the title holds
LENGTH_WEIGHTS = (0.0, 0.7, 1.6, 1.9, 2.0)  # by a phrase's words, the small ones not counted
WEIGHTS_OF_SINGLE = (0.0, 0.3, 1.0, 0.7, 0.4)  # the same, where it stands but once: a long one is then a clause
MOST_WORDS = len(LENGTH_WEIGHTS) - 1
MOST_LINKS = 2  # between two words
WORD_CHARS = range(3, 31)
LINKS = {
    "ca": "de d del dels la les el els l",
    "de": "der des von",
    "en": "of the",
    "es": "de del la las los el en",
    "fr": "de d du des la le les l à au aux en",
    "it": "di del della dei delle d la l",
    "pt": "de do da dos das",
}
_NOISE = re.compile(r"(?:https?://|www\.)\S+|</?[a-zA-Z][^<>]{0,200}>|&\w{2,8};")
_WORD = re.compile(r"[^\W_]+(?:[-‐·][^\W_]+)*")
_GAPS = frozenset([" ", "'", "’", "\u00a0"])  # between the words of a phrase


Key = tuple[str, ...]  # of a phrase: its words, without case, accents and plural


class Keyphrase(NamedTuple):
    key: Key
    text: str


def keywords(parsed: ParsedText, language: str) -> tuple[str, ...]:
    """Return at most ten keywords, best first; none is a number alone, and none contains another."""
    return different(phrases(parsed, language))


def phrases(parsed: ParsedText, language: str) -> Iterator[Keyphrase]:
    """All that could be keywords, best first."""
    text = _NOISE.sub(" . ", parsed.text[:READ_CHARS])
    found: dict[Key, list[tuple[int, int]]] = defaultdict(list)  # the places of each phrase
    for keys, starts, ends in _runs(text, language):
        for first in range(len(keys)):
            for last in range(first, min(first + MOST_WORDS, len(keys))):
                found[keys[first : last + 1]].append((starts[first], ends[last]))
    headed = _headed(parsed)
    vague = _vague(language)
    weights = {key: weight * (HEADING_WEIGHT if headed.issuperset(key) else 1) for key, weight in _weighted(found)}
    for key in sorted(weights, key=lambda key: -weights[key]):
        if not vague.issuperset(key) and any(map(str.isalpha, "".join(key))):  # few are asked for
            yield Keyphrase(key, _best_written([text[start:end] for start, end in found[key]]))


def different(ranked: Iterable[Keyphrase]) -> tuple[str, ...]:
    """The first ten, without those that share half of their words with one before."""
    chosen: list[Keyphrase] = []
    for phrase in ranked:
        key = {*phrase.key}
        if not any(2 * len(key & {*other}) >= min(len(key), len(other)) for other, _ in chosen):
            chosen.append(phrase)
        if len(chosen) == MOST:
            break
    return tuple(text for _, text in chosen)


def _weighted(found: Mapping[Key, Sequence[tuple[int, int]]]) -> Iterator[tuple[Key, float]]:
    within: dict[Key, int] = {}  # how often each stands in the commonest phrase that is a word longer
    for key, places in found.items():
        if len(key) > 1:
            for shorter in (key[1:], key[:-1]):
                within[shorter] = max(within.get(shorter, 0), len(places))
    for key, places in found.items():
        alone = len(places) - within.get(key, 0)
        if alone > 0:
            weights = LENGTH_WEIGHTS if len(places) > 1 else WEIGHTS_OF_SINGLE
            yield key, alone * weights[len(key)]


def _runs(text: str, language: str) -> Iterator[tuple[Key, list[int], list[int]]]:
    """Yield runs of content words with link words between them: keys, starts and ends."""
    links = _links(language)
    keys: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    skipped, end = 0, 0
    for match in _WORD.finditer(text):
        word = match.group()
        start, is_next = match.start(), text[end : match.start()] in _GAPS
        end = match.end()
        key = _meaning(word, language)
        if word[0].isdigit() and not (keys and is_next and not skipped and _is_code(text[starts[-1] : ends[-1]])):
            key = ""
        skipped = 0 if key else skipped + 1
        if keys and (not is_next or skipped > MOST_LINKS or not (key or word.lower() in links)):
            yield tuple(keys), starts, ends
            keys, starts, ends = [], [], []
        if key:
            keys.append(key)
            starts.append(start)
            ends.append(end)
    if keys:
        yield tuple(keys), starts, ends


def _is_code(word: str) -> bool:
    """Return whether a number may follow the word in a keyword: «ISO 9001»."""
    return len(word) > 1 and word.isupper()


@lru_cache(maxsize=languages.CACHED_WORDS)
def _meaning(word: str, language: str) -> str:
    """Its key; nothing where it has none."""
    key = _key(word)
    if word[0].isdigit() or (word.isupper() and any(map(str.isdigit, word))):  # «H2»
        return key
    is_stop = not {key, languages.fold(word)}.isdisjoint(_stops(language))
    return key if len(word) in WORD_CHARS and not is_stop else ""


def _key(word: str) -> str:
    folded = languages.fold(word)
    return folded.removesuffix("s") if len(folded) > 3 else folded


def _headed(parsed: ParsedText) -> set[str]:
    texts = [parsed.title, *(heading.text for heading in parsed.headings[:200])]
    return {_key(word) for text in texts for word in _WORD.findall(text)}


def _best_written(texts: Sequence[str]) -> str:
    """Return the most frequent spelling; lower case wins a tie, because a sentence's first word has a capital."""
    written = Counter(texts)
    best = max(written, key=lambda text: (written[text], text.islower(), text))
    lower = best[0].lower() + best[1:]
    return " ".join((lower if written[lower] else best).split())


@lru_cache(maxsize=16)
def _links(language: str) -> frozenset[str]:
    return frozenset(LINKS.get(language, "").split())


@lru_cache(maxsize=16)
def _stops(language: str) -> frozenset[str]:
    """Folded: what is in no keyword. Of the languages that we answer in, where the language is not known."""
    if language not in languages.STEMMERS:
        return frozenset().union(*map(_stops, languages.ANSWER_LANGUAGES))
    locale = Locale(language)
    names = [name for kind in (locale.months, locale.days) for name in kind["format"]["wide"].values()]
    return frozenset(map(languages.fold, names)) | languages.stop_words(language)


@lru_cache(maxsize=16)
def _vague(language: str) -> frozenset[str]:
    """Keys of what is a keyword only next to other words: of the published stop words many are in terms («línea»)."""
    known = [name for name in (language, *languages.ANSWER_LANGUAGES) if stopwordsiso.has_lang(name)]
    published = stopwordsiso.stopwords(known if language not in languages.STEMMERS else language)
    return frozenset(map(_key, published))


MOST_PHRASES = 20  # best first; with more of them come clauses that were written once


FEWEST_WORDS = 2
# Folded words that head columns in one of our languages and not in the others.
_WORDS = {
    "es": frozenset(
        "fecha mes ano dia semana enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre"
        " diciembre trimestre ventas importe cantidad unidades precio coste costo gasto gastos ingresos proveedor"
        " cliente producto pedido pedidos factura entrega prevista estado nombre apellido direccion ciudad pais"
        " descripcion codigo numero referencia tarea responsable observaciones categoria tienda empleado mercancia"
        " vencimiento horas saldo cajas".split()
    ),
    "fr": frozenset(
        "mois annee jour semaine janvier fevrier mars avril mai juin juillet aout septembre octobre novembre"
        " decembre trimestre ventes montant quantite unites prix cout depense depenses recettes fournisseur client"
        " produit commande commandes facture livraison prevue etat statut nom prenom adresse ville pays numero tache"
        " responsable remarques categorie magasin employe marchandise echeance heures solde cartons palettes".split()
    ),
    "en": frozenset(
        "month year day week january february march april june july august september october november december"
        " quarter sales amount quantity units price cost costs expense expenses income revenue supplier customer"
        " product order orders invoice delivery due status name surname address city country number reference task"
        " owner remarks category store shop employee goods hours balance boxes".split()
    ),
}
_LETTERS = re.compile(r"[a-z]+")


def header_language(tables: Sequence[Table]) -> str | None:
    """Return the language of most headers, if it is one and two words show it."""
    found = {word for table in tables for header in table.headers for word in _LETTERS.findall(fold(header))}
    votes = Counter({language: len(found & known) for language, known in _WORDS.items()})
    (best, most), (_, second), _ = votes.most_common()
    return best if most >= FEWEST_WORDS and most > second else None


TITLE_CHARS = 120
AUTHOR_CHARS = 100
MOST_AUTHORS = 20
BYLINE_CHARS = 3_000  # of the text's beginning, where the authors are named
_FRONT_MATTER = re.compile(r"---\n(?=[\w-]+:)((?:.*\n)*?)---(?:\n|$)")
_FRONT_TITLE = re.compile(r"(?mi)^(?:title|título|titulo|titre):[ \t]*(\S.*)$")
_NAMED_AUTHORS = re.compile(
    r"(?mi)^[ \t>*_#|-]*(?:aut(?:or|eur|rice|hor)(?:[aes]{1,2}|\([aes]{1,2}\)|/[aes]{1,2})?|written by"
    r"|(?:escrito|redactado|elaborado) por|(?:écrit|rédigé) par)[ \t*_|]*[:：][ \t*_|]*(\S.*|(?:\n[ \t]*- .+)+)"
)
_BETWEEN_NAMES = re.compile(r"\s*(?:[;/\n]|\s(?:y|e|et|and|&)\s)\s*")
_COMMA = re.compile(r"\s*,\s*")
_CREDENTIAL = re.compile(r"\s*(?:<[^>]*>|\([^)]*@[^)]*\)|\S+@\S+)")
# Names that programs give: to the file that they make, and to whoever sits before them.
_NO_TITLE = re.compile(
    r"(?i)(?:untitled|sin t[ií]tulo|sans titre|unbenannt|new document|nuevo documento|nouveau document)[\W\d]*"
    r"|(?:document|documento|dokument|doc|book|libro|classeur|presentation|presentación|présentation|slide|page|layout)"
    r"[\W\d]*|(?:powerpoint presentation|presentación de powerpoint|présentation powerpoint)|microsoft \w+ - .*"
    r"|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|odt|rtf|qxd|html?|txt|tmp)|title|título|titre"
)
_NO_AUTHOR = re.compile(
    r"(?i)(?:admin(?:istrat(?:or|eur))?|administrador|user|usuario|utilisateur|owner|propietario|default|unknown"
    r"|anonymous|desconocido|inconnu|author|autor|auteur|none|null|n/?a|root|pc|hp|dell|lenovo|acer|asus|windows user"
    r"|usuario de windows|utilisateur windows|microsoft office user|microsoft|apache poi|openpyxl"
    r"|python-docx|python-pptx|steve canny|xlsxwriter|libreoffice|word|excel)[\W\d]*"
)


def title(parsed: ParsedText, *, filename: str) -> str:
    """Return the document's title.

    It is the file's own, else its first heading of the highest rank, else a first line that reads like a title, else
    the file's name.
    """
    stem = PurePath(filename).stem
    if own := _own_title(parsed, stem):
        return own
    if parsed.headings:
        return min(parsed.headings, key=lambda heading: (heading.level, heading.start_char)).text[:TITLE_CHARS]
    first, _, rest = parsed.text.partition("\n")
    line = plain(first)
    is_name = len(line) <= TITLE_CHARS and any(character.isalnum() for character in line)
    if is_name and ":" not in line and not line.endswith(".") and rest.strip():
        return line
    return title_of_name(filename)


def title_of_name(filename: str) -> str:
    """Return the title of a file whose content has none."""
    return _spaced(PurePath(filename).stem)


def _own_title(parsed: ParsedText, stem: str) -> str:
    """Return the file's own title; "" if a program made it up or it is the file's name."""
    named = _FRONT_TITLE.search(_front_matter(parsed.text))
    for given in (parsed.title, named.group(1) if named else ""):
        written = " ".join(given.strip(" \t'\"").split())
        is_name = language.fold(_spaced(written)) == language.fold(_spaced(stem))
        if any(map(str.isalpha, written)) and not is_name and not _NO_TITLE.fullmatch(written):
            return written[:TITLE_CHARS].rstrip()
    return ""


def _spaced(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def authors(parsed: ParsedText) -> tuple[str, ...]:
    """Return the authors that the file names, else those of its front matter or of a first line «Autor: …»."""
    if own := _people(parsed.authors):
        return own
    if has_rows(parsed):  # whose authors are those of books
        return ()
    named = _NAMED_AUTHORS.search(parsed.text[:BYLINE_CHARS])
    return _people(_split_names(named.group(1))) if named else ()


def _split_names(line: str) -> Iterator[str]:
    for part in _BETWEEN_NAMES.split(line.strip().strip("[]|")):
        names = _COMMA.split(part)
        # «Gil, Ana» is one person, «Ana Gil, Eva Sanz» are two.
        yield from names if all(len(name.split()) > 1 for name in names) else [part]


def _people(names: Iterable[str]) -> tuple[str, ...]:
    written = (" ".join(_CREDENTIAL.sub("", name).strip(" \t*_\"'.,|-").split()) for name in names)
    known = (name for name in written if any(map(str.isalpha, name)) and not _NO_AUTHOR.fullmatch(name))
    return tuple(dict.fromkeys(name for name in known if len(name) <= AUTHOR_CHARS))[:MOST_AUTHORS]


def _front_matter(text: str) -> str:
    found = _FRONT_MATTER.match(text)
    return found.group(1) if found else ""


def detect_language(parsed: ParsedText) -> str:
    return header_language(parsed.tables) or language.detect(parsed.text)
