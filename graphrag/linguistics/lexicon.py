"""Words by their meaning in three languages: opposites, synonyms, people and bodies."""

import re
from functools import lru_cache
from importlib.resources import files

from graphrag.linguistics.language import fold

_OPPOSITE_MOST_LONGER = 7  # letters
_OPPOSITE_SHORTEST = 3


@lru_cache(maxsize=1)
def _opposites() -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    """Whole words, and beginnings of words (those with a *); a line is a concept, a side and its words."""
    whole: dict[str, tuple[str, int]] = {}
    begun: dict[str, tuple[str, int]] = {}
    for line in files("graphrag.linguistics").joinpath("opposites.txt").read_text(encoding="utf-8").splitlines():
        concept, side, *words = line.split()
        for word in words:
            (begun if word.endswith("*") else whole).setdefault(word.rstrip("*"), (concept, 1 if side == "+" else -1))
    return whole, begun


@lru_cache(maxsize=50_000)
def opposite_of(word: str) -> tuple[str, int] | None:
    """The pair that a word is of, and its side of it."""
    whole, begun = _opposites()
    folded = fold(word)
    if folded in whole:
        return whole[folded]
    for length in range(len(folded), _OPPOSITE_SHORTEST - 1, -1):
        if len(folded) - length <= _OPPOSITE_MOST_LONGER and (found := begun.get(folded[:length])):
            return found
    return None


# meanings.txt has a meaning a line. A word that ends in * stands for all that begin so, and are not much longer.
_MOST_LONGER = 5  # letters
_SHORTEST = 3


@lru_cache(maxsize=1)
def _synonyms() -> tuple[dict[str, set[int]], dict[str, set[int]]]:
    whole: dict[str, set[int]] = {}
    begun: dict[str, set[int]] = {}
    text = files("graphrag.linguistics").joinpath("meanings.txt").read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines()):
        for word in line.split():
            (begun if word.endswith("*") else whole).setdefault(fold(word.rstrip("*")), set()).add(number)
    return whole, begun


@lru_cache(maxsize=50_000)
def meanings(word: str) -> frozenset[int]:
    """Return the meanings of the longest entry that a folded word begins with."""
    whole, begun = _synonyms()
    found = set(whole.get(word, ()))
    for length in range(len(word), _SHORTEST - 1, -1):
        if len(word) - length <= _MOST_LONGER and word[:length] in begun:
            return frozenset(found | begun[word[:length]])
    return frozenset(found)


_PEOPLE = frozenset(
    """
    abuela abuelo alcalde alcaldesa alumna alumno amiga amigo arquitecta arquitecto becaria becario capitan casero
    chofer cliente clienta cocinera companera companero cunada cunado doctor doctora duena dueno enfermera enfermero
    esposa esposo guardia hermana hermano hija hijo huesped ingeniera ingeniero inquilina inquilino jefa jefe joven
    juez jueza madre maestra maestro marido medica medico mujer nieta nieto nina nino notario novia novio padre parroco
    primo profesor profesora sobrina sobrino socia socio suegra suegro tia tio vecina vecino viuda yerno
    ami amie architecte avocat avocate beau-pere capitaine chef cousin cousine cure docteur eleve employe employee
    enfant epouse etudiant etudiante femme fille fils frere gendre grand-mere grand-pere greffier infirmiere infirmier
    ingenieur juge maire mari medecin mere neveu niece notaire oncle patron patronne pere prefet proprietaire salarie
    salariee soeur stagiaire syndic tante veuve voisin voisine
    aunt boy brother captain chair chairman chairwoman child clerk client cook cousin customer daughter doctor driver
    editor father friend gardener girl grandfather grandmother guest husband judge keeper landlord landlady lawyer man
    manager mayor mentor mother neighbour neighbor nephew niece nurse officer owner plumber president priest
    pupil secretary sister solicitor son student supplier surgeon teacher tenant trainee treasurer tutor uncle vicar
    vet widow wife winner woman worker baker builder buyer seller carpenter carrier caterer coach contractor dealer
    designer director employer farmer glazier grocer insurer lender borrower mechanic miller painter
    partner photographer printer publisher referee roofer shareholder shepherd vendor weaver
    """.split()
)
_BODIES = frozenset(
    """
    agencia aseguradora asociacion ayuntamiento banco banda clinica club colegio comision comite compania
    comunidad conservatorio consejo consejeria cooperativa diputacion editorial empresa equipo escuela fabrica
    federacion fiscalia fundacion gobierno hospital instituto junta juzgado laboratorio ministerio museo naviera
    parroquia policia sindicato sociedad taller tribunal universidad
    agence assurance association banque clinique college comite commission commune communaute compagnie
    conseil cooperative ecole editeur entreprise equipe etat federation fondation gouvernement hopital mairie
    ministere musee parquet police prefecture region societe syndicat universite usine
    agency airline association authority band bank board brewery choir church club college commission committee
    company cooperative council court department federation festival firm foundation government hospital
    institute insurer ministry museum orchestra parish police school society team theatre trust union university
    """.split()
)
_CALLINGS = {
    "es": re.compile(r"(?:[aeit]dor|[cs]tor|ista)(?:a|as|es|s)?$|(?:let|ader|in|art|ot|en|ch)er[oa]s?$"),
    "fr": re.compile(
        r"(?:t|s|d|l|n|ch)(?:eur|euse|rice)s?$|(?:n|t|ss|l|rr|m|ch)i(?:er|ere)s?$|istes?$|[ct]ien(?:ne)?s?$"
    ),
    "en": re.compile(r"(?:ist|ician|keeper|holder|maker|owner)s?$"),
}
_THINGS = frozenset(
    "moteur hauteur longueur largeur valeur couleur chaleur ordinateur secteur capteur compteur ascenseur refrigerateur"
    " tracteur detecteur radiateur aspirateur congelateur serveur convecteur dossier papier chantier cahier quartier"
    " metier premier dernier grenier fichier atelier ordenador motor sector factor lista vista revista pista"
    " contador congelador ascensor radiador aspirador generador comedor corredor tractor".split()
)


def is_actor(word: str, language: str) -> bool:
    """Return whether a folded word denotes a person or a body that acts."""
    if word in _THINGS or word.removesuffix("s") in _THINGS:
        return False
    if {word, word.removesuffix("s"), word.removesuffix("es")} & (_PEOPLE | _BODIES):
        return True
    calling = _CALLINGS.get(language)
    return calling is not None and calling.search(word) is not None
