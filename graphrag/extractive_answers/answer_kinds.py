"""Answer types: the kind of thing that a question asks for, and the sentences that hold one it does not name itself."""

import re
from collections.abc import Callable, Set
from dataclasses import dataclass

from graphrag.linguistics.language import all_stop_words, fold, words

Shows = Callable[[str, Set[str]], bool]  # a sentence, the question's words without case and accents

_CAPITAL = "[A-ZÁÉÍÓÚÑÀÂÇÈÊÎÔÛŒ]"
_NAME = re.compile(rf"{_CAPITAL}\w+(?:[’'-]\w+)*")
_PLACE = re.compile(
    r"\b(?:en|al?|del?|desde|hacia|hasta|in|at|near|from|to|into|on|of|off|à|aux?|dans|vers|près de|sur|du|des"
    r"|[dl]['’])\s?"
    rf"(?:el |las? |los |the |les? |l['’])?({_CAPITAL}\w+)"
)
_DIGITS = re.compile(r"\d+(?:[.,\u00a0\u202f]\d+)*")
# Not "one", which is an article more often than a number.
_NUMERALS = frozenset(
    "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte treinta cuarenta cincuenta"
    " sesenta setenta ochenta noventa cien ciento mil millon millones mitad tercio ninguno ninguna"
    " deux trois quatre cinq sept huit neuf dix onze douze treize quatorze quinze seize vingt trente quarante cinquante"
    " soixante cent cents mille million millions milliard milliards moitie tiers"
    " two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen twenty thirty forty fifty"
    " sixty seventy eighty ninety hundred thousand billion dozen half third quarter zero none twice".split()
)
_MONEY = re.compile(
    r"[€£$]\s?\d|\d\s?(?:[€£$]|euros?\b|pounds?\b|livres\b|libras\b|dollars?\b|d[óo]lares\b)", re.IGNORECASE
)
_DATE = re.compile(
    r"\b\d{1,2}[/.-]\d{1,2}\b|\b\d{4}\b|\b\d{1,2}:\d{2}\b|\b\d{1,2} ?h ?\d{2}\b|\b\d0s\b|\baños \d0\b|\bannées \d0\b"
    r"|\b(?:ene(?:ro)?|feb(?:rero)?|marzo|abr(?:il)?|mayo|jun(?:io)?|jul(?:io)?|ago(?:sto)?|sept?(?:iembre)?"
    r"|oct(?:ubre)?"
    r"|nov(?:iembre)?|dic(?:iembre)?)\b"
    r"|\b(?:janv(?:ier)?|févr(?:ier)?|mars|avr(?:il)?|mai|juin|juil(?:let)?|août|septembre|octobre|novembre"
    r"|déc(?:embre)?)\b"
    r"|\b(?:jan(?:uary)?|february|march|apr(?:il)?|may|june|july|aug(?:ust)?|september|october|november"
    r"|dec(?:ember)?)\b"
    r"|\b(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)\b|\b(?:lun|mar|mercre|jeu|vendre|same)di\b"
    r"|\bdimanche\b"
    r"|\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\bsiglos? [xvi]+\b|\b[xvi]+e siècles?\b|\bcentur(?:y|ies)\b"
    r"|\b(?:primavera|verano|otoño|invierno|printemps|été|automne|hiver|spring|summer|autumn|winter)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\bdebid[oa] a\b|\bporque\b|\ba causa de\b|\ba ra[íi]z de\b|\bpor (?:lo que|eso|ello|culpa|falta)\b"
    r"|\bprovoc|\bcaus[óa]"
    r"|\bse deb[eií]|\bya que\b|\bpuesto que\b|\bcomo consecuencia\b|\ba consecuencia\b|\boriginó|\bllevó a\b"
    r"|\bimpidió\b"
    r"|\bà cause\b|\bparce qu|\ben raison\b|\bpuisqu|\bcar\b|\ba entraîné|\bprovoqu|\bc'est pourquoi\b"
    r"|\bfaute d|\bsuite à\b"
    r"|\bdonc\b|\bgrâce à\b|\bdû à\b|\bdue? à\b|\bsi bien qu|\bde sorte qu"
    r"|\bbecause\b|\bdue to\b|\bled to\b|\bas a (?:result|consequence)\b|\bso that\b|\btriggered\b|\bcaused\b|\bsince\b"
    r"|\btherefore\b|\bowing to\b|\bresult(?:ed|ing)? (?:in|from)\b|\bthat is why\b|, so\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\bno (?:se |ha |había |fue |tiene |tuvo )\w*|\btampoco\b|\bn[e'’] ?(?:s['’]|se )?\w+ pas\b|\bnor\b"
    r"|\b(?:was|were|is|did|does|has|had) not\b|n't\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    asks: re.Pattern[str]
    shows: Shows


def wanted_kinds(question: str) -> list[Kind]:
    return [kind for kind in _KINDS if kind.asks.search(question)]


def denies_reason(sentence: str) -> bool:
    return _NEGATED.search(sentence) is not None


def _is_new(found: str, asked: Set[str]) -> bool:
    return any(fold(word) not in asked for word in words(found))


def _has_number(sentence: str, asked: Set[str]) -> bool:
    found = {*_DIGITS.findall(sentence), *(_NUMERALS & {fold(word) for word in words(sentence)})}
    return bool(found - asked)


def _has_money(sentence: str, asked: Set[str]) -> bool:
    return _MONEY.search(sentence) is not None


def _has_date(sentence: str, asked: Set[str]) -> bool:
    return any(_is_new(found, asked) for found in _DATE.findall(sentence))


def _has_name(sentence: str, asked: Set[str]) -> bool:
    """A capital says little of a function word, which begins the sentence."""
    names = (fold(word) for found in _NAME.findall(sentence) for word in words(found))
    return any(name not in asked and name not in all_stop_words() for name in names)


def _has_place(sentence: str, asked: Set[str]) -> bool:
    return any(_is_new(found, asked) for found in _PLACE.findall(sentence))


def _has_reason(sentence: str, asked: Set[str]) -> bool:
    return _REASON.search(sentence) is not None and not denies_reason(sentence)


_KINDS = (
    Kind(
        "number",
        re.compile(
            r"\bcu[áa]nt[oa]s?\b|\bcombien\b|\bhow (?:many|much|long|far|often|old|large|big|tall|high|deep"
            r"|fast|heavy)\b"
            r"|\b(?:pourcentage|porcentaje|percent(?:age)?)\b|\bwhat (?:number|amount|proportion|fraction|size"
            r"|population)\b"
            r"|\b(?:quel(?:le)?|qué|cuál) (?:est |était |es |era |fue )?(?:las? |le |l['’]|el )?(?:nombre"
            r"|taille|population"
            r"|montant|distance|durée|âge|hauteur|superficie|températur\w*|vitesse|proportion|número|cantidad|población"
            r"|distancia|duración|edad|altura|velocidad|proporción)\b",
            re.IGNORECASE,
        ),
        _has_number,
    ),
    Kind(
        "money",
        re.compile(
            r"\bcost\b|\bpay\b|\bprice\b|\bcuesta\b|\bprecio\b|\bpenalización\b|\bpagar\b|\bcoûte|\bprix\b"
            r"|\bavoir\b",
            re.IGNORECASE,
        ),
        _has_money,
    ),
    Kind(
        "date",
        re.compile(
            r"\bcu[áa]ndo\b|\bquand\b|\bwhen\b|\b(?:fecha|date)\b|\b(?:quel(?:le)?s?|what|which|qué) (?:jour"
            r"|mois|an|année"
            r"|siècle|époque|période|moment|décennie|day|month|year|century|decade|time|día|mes|año|siglo|década|época"
            r"|momento)s?\b",
            re.IGNORECASE,
        ),
        _has_date,
    ),
    Kind(
        "person",
        # «qui» alone begins a clause as often as a question: «qu'est-ce qui», «la pièce qui».
        re.compile(
            r"\bqui[ée]n(?:es)?\b|\bwhom?\b|\bwhose\b|(?:^|[,;] ?|\b(?:à|a|de|par|avec|pour|chez|contre|sur"
            r"|selon|et) )qui\b",
            re.IGNORECASE,
        ),
        _has_name,
    ),
    Kind(
        "place",
        re.compile(
            r"\bd[óo]nde\b|\boù\b|\bwhere\b|\b(?:quel(?:le)?s?|what|which|qué|cuál) (?:es |est |is |was |era |fue )?"
            r"(?:las? |le |l['’]|el |the )?(?:ville|pays|lieu|endroit|région|continent|état|capitale|province"
            r"|île|city|country"
            r"|place|state|region|location|county|town|area|ciudad|país|lugar|región|estado|capital|provincia"
            r"|isla|condado"
            r"|zona)s?\b",
            re.IGNORECASE,
        ),
        _has_place,
    ),
    Kind(
        "reason",
        re.compile(
            r"\bpor qu[ée]\b|\bcausas?\b|\bmotivo|\braz[óo]n|\bqu[ée] (?:llevó|provocó|se deb)|\bpourquoi\b"
            r"|\braison\b|\bpoussé\b"
            r"|\bwhy\b|\bhow come\b|\breason\b|\bcause",
            re.IGNORECASE,
        ),
        _has_reason,
    ),
)
