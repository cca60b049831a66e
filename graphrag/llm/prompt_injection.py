"""Text in documents that speaks to a language model: orders to forget its own, roles, template tokens, hidden notes.

A document may say so for good reasons, so that nothing of it is removed: it is marked, and never obeyed.
"""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from graphrag.linguistics.language import visible
from graphrag.linguistics.rules import PatternIndex
from graphrag.linguistics.sentences import split_sentences
from graphrag.models import Span

_CJK = "\u3000"  # the first of the characters whose sentences have no white space between them
# Between two words of a pattern: marks, and up to so many other words («ignore all of the previous instructions»).
_GAP = r"\W+(?:\w+\W+){0,%d}"
_CLAUSE_GAP = r"(?:[^\w.!?\n]|\.(?=\w))+(?:\w+(?:[^\w.!?\n]|\.(?=\w))+){0,%d}"  # within a sentence


def _near(*words: str, apart: int = 4, gap: str = _GAP) -> str:
    return rf"\b(?:{(')' + gap % apart + '(?:').join(words)})\b"


_FORGET = (
    "ignor(?:e[sz]?|es?|ar|a|ad|en?|ing|ieren|iere|are)|disregard|forget|override|bypass|overrule|neglect"
    "|olvid(?:a|e|es|ar|ad|en)|descart(?:a|e|ar|en)|omit(?:e|a|ir|an)|pasa por alto|haz caso omiso"
    "|oubli(?:e[sz]?|er)|neglige[sz]?|ne (?:tiens|tenez) (?:pas|aucun) compte|fais abstraction|faites abstraction"
    "|vergiss|ignora(?:te|re)|dimentica|esqueca|desconsidere"
)
_EARLIER = (
    "previous|prior|preceding|above|earlier|foregoing|existing|original|initial|system|your|all"
    "|previas?|previos?|anteriores|anterior|todas?|todos?|sistema|tus|sus|dadas|iniciales"
    "|precedente?s?|precedents?|anterieure?s?|toutes?|tous|systeme|tes|vos|ci-dessus|initiales?"
    "|vorherigen|precedenti|anteriores"
)
_RULES = (
    "instructions?|prompts?|rules|guidelines|directions|directives?|orders|commands|restrictions|safeguards|context"
    "|instrucci(?:on|ones)|reglas|ordenes|indicaciones|directrices|restricciones|contexto"
    "|contexte|consignes?|regles|ordres|anweisungen|istruzioni|instrucoes"
)
_REVEAL = (
    "reveal|show|print|display|output|repeat|leak|dump|give me|tell me|send|expose|disclose|return|share|list"
    "|revela|muestra(?:me)?|muestrame|imprime|repite|dame|dime|envia(?:me)?|devuelve(?:me)?|ensena(?:me)?|filtra|lista(?:me)?"
    "|revele[sz]?|devoile[sz]?|affiche[sz]?|montre[sz]?|donne[sz]?(?:-moi)?|imprime[sz]?|repete[sz]?|envoie|envoyez|renvoie|divulgue[sz]?"
)
_SECRET = (
    "system prompt|(?:your|the) (?:initial |hidden |original |full )?prompt|(?:your|the (?:initial|hidden|original|system)) instructions|passwords?|api keys?|secret keys?"
    "|access keys?|credentials|environment variables?|os environ|env vars?|tokens? secrets?"
    "|prompt (?:del|de) sistema|(?:tu|tus|el) prompt|tus instrucciones|instrucciones del sistema|contrasenas?|claves? (?:api|secretas?|de acceso)|credenciales"
    "|variables? de entorno"
    "|(?:all|every) (?:of )?(?:the )?(?:user|customer)s? (?:data|emails|records|accounts)"
    "|(?:datos|correos|emails) de (?:todos )?los (?:usuarios|clientes)|(?:donnees|emails|courriels) (?:de tous les|des) (?:utilisateurs|clients)"
    "|prompt (?:du )?systeme|(?:ton|votre|le) prompt|tes instructions|instructions systeme|mots? de passe|cles? (?:api|secretes?)"
    "|identifiants de connexion|donnees sensibles|variables? d environnement"
)
_ANSWER = (
    r"your (?:final |next )?(?:answer|response|reply|output|message)s?|tu (?:proxima )?(?:respuesta|contestacion)"
    r"|(?:ta|votre) (?:prochaine )?reponse"
)
_SHAPE = (
    "include|add|append|insert|integrate|modify|augment|enhance|replace|substitute|convert|render|rearrange|scramble"
    "|remove|group|combine|introduce|misspell|jumble|anagram|encode|translate|embed|mention"
    "|incluye|anade|agrega|inserta|integra|modifica|reemplaza|sustituye|convierte|escribe|empieza|termina|acaba|codifica|elimina"
    "|inclus|ajoute|insere|integre|modifie|remplace|convertis|ecris|commence|termine|code|supprime|mentionne"
    "|incluez|ajoutez|inserez|integrez|modifiez|remplacez|ecrivez|commencez|terminez|supprimez"
)
_ONLY = (
    r"\b(?:reply|respond|answer|output|say|write|print|return)\W+(?:with\W+(?:only|just|exactly|nothing but)"
    r"|(?:only|just|exactly|nothing but)\W+(?:with|the (?:words?|text|phrase|number)|this|yes|no))\b"
    r"|\b(?:responde|contesta|escribe|di|devuelve|imprime)\W+(?:con\W+)?(?:solo|solamente|unicamente|exactamente)\W+(?:con|la palabra|la frase|el texto|lo siguiente|esto|si|no)\b"
    r"|\b(?:reponds|ecris|dis|renvoie|affiche)\W+(?:seulement|uniquement|exactement|rien d autre)\b"
    r"|\b(?:repondez|ecrivez)\W+(?:seulement|uniquement|exactement)\W+(?:par|avec|le mot|la phrase|ceci|oui|non)\b"
)
_MODEL = "dan|ai|a i|assistant|chatbot|language model|llm|gpt|ia|asistente|modelo de lenguaje|modele de langage"
_POWERFUL = (
    "(?:system )?administrator|admin|root|hacker|jailbroken|unrestricted|developer|administrador|desarrollador|administrateur"
    "|developpeur|pirate informatique"
)
_BEGINNING = r"(?<!\w )\b(?:(?:please|now|por favor|ahora|maintenant)\W+)?"
_ROLE = (
    rf"\b(?:you are|you re|eres|tu es|vous etes)\W+(?:(?:now|ahora|maintenant|desormais)\W+)?(?:\w+\W+){{0,4}}(?:{_MODEL})\b(?! +(?:manager|director|social|maternelle|de direction))"
    rf"|{_BEGINNING}(?:act|behave|roleplay|pose) as\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    rf"|{_BEGINNING}(?:actua|actue|comportate|comportese) como\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    rf"|{_BEGINNING}(?:agis|agissez|comporte toi|comportez vous) (?:comme|en tant que)\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    r"|\b(?:pretend (?:to be|you are|that you are)|simulate being|finge (?:ser|que eres)|simula (?:ser|que eres)|hazte pasar por"
    rf"|fais semblant d etre|joue le role d\w*)\W+(?:\w+\W+){{0,4}}(?:{_MODEL}|{_POWERFUL})\b"
    r"|\b(?:developer|debug|god|jailbreak|dan|maintenance) mode (?:on|enabled|activated|is)\b|\bmodo (?:desarrollador|dios|depuracion|jailbreak)\b"
    r"|\bmode (?:developpeur|debogage|jailbreak)\b|\bdo anything now\b|\b(?:enter|enable|activate) (?:developer|debug|god|dan|maintenance) mode\b"
    rf"|\b(?:{_MODEL})\W+(?:without|sin|sans|with no|no)\W+(?:\w+\W+){{0,2}}(?:restrictions?|restricciones|filtros?|filtres?|filters?|limites?|limits)\b"
    r"|\b(?:from now on|a partir de ahora|desde ahora|a partir de maintenant|desormais)\W+(?:you (?:will|must|are|only|always)|respond|answer|reply|act|tu|eres|responde|responderas|debes|actua|contesta|reponds|agis)\b"
    r"|\b(?:i am|i m|soy|je suis)\W+(?:your|tu|ton|votre)\W+(?:developer|administrator|creator|owner|desarrollador|administrador|creador|developpeur|administrateur|createur)\b"
)  # fmt: skip
_NEW = (
    r"\b(?:new|updated|real|actual|important) (?:system )?(?:instructions?|prompt|directives?|task)\b\s*[:=]"
    r"|\b(?:nuevas?|verdaderas?) (?:instruccion(?:es)?|orden(?:es)?|tarea)\b\s*[:=]"
    r"|\b(?:nouvelles?|vraies?) (?:instructions?|consignes?|taches?)\b\s*[:=]"
    r"|\b(?:note|message|attention|instructions?|notice|nota|mensaje|instrucciones|aviso)\W+(?:to|for|para|a|pour|a l attention de|a l)\W+(?:(?:the|any|all|la|el|los|l|le|les|toute?s?)\W+)?"
    r"(?:ai|llm|language model|assistant|chatbot|ia|asistente|modelo|modele|agent)s?\b"
    r"|\b(?:ai|llm) (?:assistant|agent|model)s?\W+(?:must|should|reading this|processing this)\b"
    r"|\b(?:user|owner|administrator|developer) has authori[sz]ed you\b"
    r"|\b(?:do not|don t|never|without)\W+(?:tell|mention|inform|telling|informing)\w*\W+(?:\w+\W+){0,3}the user\b"
    r"|\b(?:no|sin)\W+(?:\w+\W+){0,2}(?:digas|menciones|informes|decirselo|avisar)\W+(?:\w+\W+){0,2}(?:al|el) usuario\b"
    r"|\bne\W+(?:\w+\W+){0,2}(?:dis|mentionne|informe)\W+(?:\w+\W+){0,4}l utilisateur\b"
    r"|\bif you are an? (?:ai|llm|language model|assistant)\b|\bsi (?:eres|es usted) una? (?:ia|asistente|modelo)\b|\bsi (?:tu es|vous etes) une? (?:ia|assistant|modele)\b"
)
_MANNER = (
    rf"(?:use|write|provide|begin|start|end|finish){_CLAUSE_GAP % 8}(?:in|to|from|with) (?:{_ANSWER})"
    r"|(?:provide|write|begin|start|end|finish|give) your (?:response|reply|answer)(?: in (?!the|this|writing|person|block|ink)| using| with(?:out)?| as)"
)
ORDERS = re.compile(
    "|".join(
        (
            _near(_FORGET, _EARLIER, _RULES),
            _near(_FORGET, _RULES, _EARLIER, apart=3),
            _near("do not|don t|never|no|ne", "follow|obey|sigas|obedezcas|suis|suivez", _EARLIER, _RULES, apart=2),
            _near("do not|don t|never|no|ne", "follow|obey|sigas|obedezcas|suis|suivez", _RULES, _EARLIER, apart=2),
            _near(_REVEAL, _SECRET, apart=6),
            _near(
                "what|which|cuale?s?|que|quel|quelles?|quels",
                "(?:your|tu|tus|ton|tes) (?:system |initial |exact )?(?:prompt|instructions|instrucciones)",
                apart=3,
            ),
            _near(_SHAPE, _ANSWER, apart=14, gap=_CLAUSE_GAP),
            rf"\b(?:{_MANNER})\b",
            rf"{_BEGINNING}(?:replace|substitute|convert|swap|reemplaza|sustituye|cambia|remplace|change)\W+(?:\w+\W+){{0,3}}(?:letters?|vowels?|consonants?|letras?|vocales|consonantes|lettres?|voyelles|consonnes)\b",
            rf"\b(?:in|en|dans) (?:{_ANSWER})\W+(?:{_SHAPE}|suggest|tease|sugiere|suggere)\b",
            _near("linking to|suggest", "www|https?", apart=2),
            _near(
                "mark|grade|rate|marca|califica|marque|note",
                "(?:answer|response|respuesta|reponse)",
                "correct|correcta|correcte|valid",
                apart=4,
            ),
            _ONLY,
            _ROLE,
            _NEW,
        )
    )
)
# What separates the turns of a conversation for one model or another, and the words of who speaks on a line of their own.
TOKENS = re.compile(
    r"<\|[\w|]{2,40}\|>|\[/?(?:INST|SYS)\]|<</?SYS>>|</?(?:system|assistant|instructions?|excerpts?|causal_chains|question_analysis)>"
    r"|\[(?:system|sistema|systeme|système|admin|assistant)\]|\{\{-?\s*\w*(?:system|prompt|instruction)\w*\s*-?\}\}|<start_of_turn>|<end_of_turn>"
    r"|^[ \t>#*_-]*(?:system|sistema|systeme|système|assistant|asistente|developer|admin|administrator|administrador|administrateur|root)(?: (?:message|prompt|override))?[*_ \t]*:[*_]*[ \t]*$"
    r"|^[ \t>#*_-]*(?:(?:system|assistant) (?:message|prompt|override)|###? ?(?:instruction|system)s?)[*_ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
FOLLOWING = re.compile(
    r"\W*(?:and |then |now |y |luego |ahora |et |puis |maintenant )?(?:say|write|print|reply|respond|answer|output|mark|send|reveal|repeat|tell"
    r"|do not|execute|follow|visit|click|di|escribe|responde|contesta|marca|envia|revela|repite|muestra|ejecuta|no |sigue|visita"
    r"|dis|ecris|reponds|repondez|marque|affiche|envoie|revele|repete|execute|ne |suis|you must|debes|tu dois|vous devez)\b"
)


_ENCODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
_LINE = re.compile(r".+")
_QUOTED = re.compile(r"'([^'\n]{2,80})'|\"([^\"\n]{2,80})\"")
_WITH_DIGITS = re.compile(r"\b(?=\w*[a-z])(?=\w*[013457])\w{3,}\b")  # 1gn0re
_DIGITS = str.maketrans("013457", "oieast")
_WORD = re.compile(r"\b\w")
_BEGINNINGS = PatternIndex([ORDERS.pattern])
_RUN = re.compile(r"[\x00-\x7f]+|.", re.DOTALL)
_SPACED = re.compile(r"\b\w(?:[ ._*-]\w){5,}\b")
# Letters of other scripts that pass for Latin ones.
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһոԛԝтмкнвАЕОРСУХІЈЅТМКНВαοιερντυκΑΒΕΖΗΙΚΜΝΟΡΤΥΧı",
    "aeopcyxijsdhnqwtmkhbaeopcyxijstmkhbaoiepvtukabezhikmnoptyxi",
)


@lru_cache(maxsize=1024)
def find_instructions(text: str) -> tuple[Span, ...]:
    """The sentences that hold any, and those that go on with the order; disjoint, in their order."""
    found = sorted({*_orders(text), *_spans(TOKENS, text)}, key=lambda span: span.start)
    return tuple(_joined(_sentences(text, found))) if found else ()


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[Span]:
    return (Span(match.start(), match.end()) for match in pattern.finditer(text))


def _orders(text: str) -> Iterator[Span]:
    flat, places = _flat(text)
    for span in _ordering(flat):
        yield Span(places[span.start], places[span.end - 1] + 1)
    digits_read = _WITH_DIGITS.sub(lambda match: match[0].translate(_DIGITS), flat)
    for span in _ordering(digits_read) if digits_read != flat else ():
        yield Span(places[span.start], places[span.end - 1] + 1)
    for match in _SPACED.finditer(flat):
        if ORDERS.search(_closed_up(flat[match.start() :])):
            yield Span(places[match.start()], places[match.end() - 1] + 1)
    for match in _ENCODED.finditer(text):
        if ORDERS.search(_flat(_decoded(match[0]))[0]):
            yield Span(match.start(), match.end())
    yield from _quoted_apart(text)


def _ordering(flat: str) -> Iterator[Span]:
    """Find the matches of ORDERS; nearly all words begin otherwise, and need no search."""
    end = 0
    for word in _WORD.finditer(flat):
        start = word.start()
        is_possible = start >= end and _BEGINNINGS.candidates(flat[start : start + PatternIndex.LETTERS])
        if is_possible and (order := ORDERS.match(flat, start)):
            end = order.end()
            yield Span(start, end)


def _quoted_apart(text: str) -> Iterator[Span]:
    """Yield instructions that are split into quoted parts: 'ignore all prev' + 'ious instructions'."""
    for line in _LINE.finditer(text):
        parts = list(_QUOTED.finditer(text, line.start(), line.end()))
        if len(parts) > 1 and ORDERS.search(_flat("".join(part[1] or part[2] for part in parts))[0]):
            yield Span(parts[0].start(), parts[-1].end())


def _flat(text: str) -> tuple[str, list[int]]:
    """Normalize a text and return each character's offset in it.

    The result is in lower case, without accents, look-alikes and hidden characters.
    """
    flat: list[str] = []
    places: list[int] = []
    for run in _RUN.finditer(text):
        plain = run[0].lower().replace("'", " ") if run[0].isascii() else _plain(run[0])
        flat.append(plain)
        places += range(run.start(), run.end()) if run[0].isascii() else [run.start()] * len(plain)
    return "".join(flat), places


@lru_cache(maxsize=1024)
def _plain(character: str) -> str:
    if not visible(character):
        return ""
    folded = unicodedata.normalize("NFKD", character.translate(_LOOKALIKES)).translate(_LOOKALIKES).lower()
    return "".join(" " if each in "'’" else each for each in folded if not unicodedata.combining(each))


def _closed_up(text: str) -> str:
    """«i g n o r e  a l l» as words, where wider gaps tell them apart."""
    return re.sub(r"(?<=\b\w)[ ._*-](?=\w\b)", "", text[:400])


def _decoded(token: str) -> str:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _spaced_sentences(text: str) -> Iterator[Span]:
    """Yield the sentences, those as one between which there is no white space: an order may lie across them."""
    start = 0
    for sentence, following in pairwise(split_sentences(text)):
        if text[sentence.end - 1].isspace() or text[sentence.end - 1] >= _CJK:
            yield Span(start, sentence.end)
            start = following.start
    if text:
        yield Span(start, len(text))


def _sentences(text: str, found: list[Span]) -> Iterator[Span]:
    goes_on = False
    for sentence in _spaced_sentences(text):
        holds = any(span.start < sentence.end and sentence.start < span.end for span in found)
        words = text[sentence.start : sentence.end]
        if holds or (goes_on and FOLLOWING.match(_flat(words)[0])):
            yield Span(sentence.start, sentence.start + len(words.rstrip()))
            goes_on = True
        else:
            goes_on = False


def _joined(spans: Iterator[Span]) -> list[Span]:
    joined: list[Span] = []
    for span in spans:
        if joined and span.start <= joined[-1].end + 1:
            joined[-1] = Span(joined[-1].start, span.end)
        else:
            joined.append(span)
    return joined
