"""Every sentence of an answer that is ours and not a document's or a model's, in Spanish, French and English."""

import re
from typing import Final

from graphrag.extractive_answers.composition import OWN_SENTENCES

DEFAULT_LANGUAGE: Final = "es"
_WORD: Final = re.compile(r"\w+")

_OWN: Final = ("not_found", "no_chat_model", "lead_other_language")  # what we say in an answer

_MESSAGES: Final[dict[str, dict[str, str]]] = {
    "not_found": {language: own.not_found for language, own in OWN_SENTENCES.items()},
    "no_chat_model": {language: own.no_chat_model for language, own in OWN_SENTENCES.items()},
    "lead_other_language": {language: own.lead for language, own in OWN_SENTENCES.items()},
    "no_part": {language: own.no_part for language, own in OWN_SENTENCES.items()},
    "suspicious_source": {
        "es": "«{}» contiene texto que parece dar órdenes a un modelo de lenguaje: se trata como una cita y no se obedece.",
        "fr": "« {} » contient du texte qui semble donner des ordres à un modèle de langage : il est traité comme une citation, sans y obéir.",
        "en": "“{}” holds text that seems to give orders to a language model: it is treated as a quotation and not obeyed.",
    },
    "status_retrieve": {
        "es": "Buscando en los documentos…",
        "fr": "Recherche dans les documents…",
        "en": "Searching the documents…",
    },
    "status_traverse": {
        "es": "Siguiendo las cadenas causales…",
        "fr": "Suivi des chaînes causales…",
        "en": "Following causal chains…",
    },
    "status_rerank": {
        "es": "Ordenando los resultados…",
        "fr": "Classement des résultats…",
        "en": "Ranking the results…",
    },
    "status_expand": {
        "es": "Leyendo los pasajes…",
        "fr": "Lecture des passages…",
        "en": "Reading the passages…",
    },
    "status_generate": {
        "es": "Redactando la respuesta…",
        "fr": "Rédaction de la réponse…",
        "en": "Writing the answer…",
    },
    "status_slow": {
        "es": "El modelo tarda más de lo habitual: se le espera {seconds} s como máximo.",
        "fr": "Le modèle met plus de temps que d'habitude : on l'attend {seconds} s au maximum.",
        "en": "The model takes longer than usual: it is waited for {seconds} s at most.",
    },
    "status_verify": {
        "es": "Comprobando las citas…",
        "fr": "Vérification des citations…",
        "en": "Checking the citations…",
    },
    "degraded_transform": {
        "es": "La pregunta se interpretó de forma más sencilla de lo habitual.",
        "fr": "La question a été interprétée plus simplement que d'habitude.",
        "en": "The question was understood more simply than usual.",
    },
    "degraded_fulltext": {
        "es": "La búsqueda por palabras no estaba disponible.",
        "fr": "La recherche par mots n'était pas disponible.",
        "en": "Word search was not available.",
    },
    "degraded_vector": {
        "es": "La búsqueda por significado no estaba disponible.",
        "fr": "La recherche par le sens n'était pas disponible.",
        "en": "Search by meaning was not available.",
    },
    "degraded_chunkenizer": {
        "es": "El otro servicio de documentos no respondió: solo se buscó en los de aquí.",
        "fr": "L'autre service de documents n'a pas répondu : seuls ceux d'ici ont été parcourus.",
        "en": "The other document service did not answer: only the documents here were searched.",
    },
    "degraded_traverse": {
        "es": "Las cadenas causales no estaban disponibles.",
        "fr": "Les chaînes causales n'étaient pas disponibles.",
        "en": "Causal chains were not available.",
    },
    "degraded_graph": {
        "es": "No se pudo seguir los nombres de un pasaje a otro: solo se usa lo que encontró la búsqueda.",
        "fr": "Les noms n'ont pas pu être suivis d'un passage à l'autre : seul ce que la recherche a trouvé est utilisé.",
        "en": "Names could not be followed from passage to passage: only what the search found is used.",
    },
    "degraded_rerank": {
        "es": "Los resultados no se reordenaron.",
        "fr": "Les résultats n'ont pas été reclassés.",
        "en": "The results were not reranked.",
    },
    "degraded_expand": {
        "es": "Los pasajes se leyeron sin su contexto.",
        "fr": "Les passages ont été lus sans leur contexte.",
        "en": "The passages were read without their surroundings.",
    },
    "degraded_generate": {
        "es": "El modelo de lenguaje no respondió: la respuesta cita frases de los documentos.",
        "fr": "Le modèle de langage n'a pas répondu : la réponse cite des phrases des documents.",
        "en": "The language model did not answer: the answer quotes sentences of the documents.",
    },
    "degraded_generate_other_model": {
        "es": "El modelo de lenguaje preferido no respondió: contestó otro.",
        "fr": "Le modèle de langage préféré n'a pas répondu : un autre a répondu.",
        "en": "The preferred language model did not answer: another one did.",
    },
    "degraded_verify": {
        "es": "Las citas no se pudieron comprobar.",
        "fr": "Les citations n'ont pas pu être vérifiées.",
        "en": "The citations could not be checked.",
    },
    "degraded_time": {
        "es": "No hubo tiempo para más: algunos pasos se dejaron fuera.",
        "fr": "Le temps a manqué : certaines étapes ont été laissées de côté.",
        "en": "There was no time for more: some steps were left out.",
    },
    "degraded_load": {
        "es": "Hay muchas preguntas a la vez: la búsqueda fue más sencilla de lo habitual.",
        "fr": "Beaucoup de questions arrivent en même temps : la recherche a été plus simple que d'habitude.",
        "en": "There are many questions at the same time: the search was simpler than usual.",
    },
    "degraded_save": {
        "es": "La respuesta no se pudo guardar en la conversación.",
        "fr": "La réponse n'a pas pu être enregistrée dans la conversation.",
        "en": "The answer could not be saved in the conversation.",
    },
}


def is_not_found(answer: str, language: str) -> bool:
    """Return whether an answer is the not-found sentence, however its quotes and apostrophes are written."""
    return _WORD.findall(answer) == _WORD.findall(say("not_found", language))


def is_own(sentence: str) -> bool:
    """Return whether a sentence is one of ours, in any language, and so says nothing of the documents."""
    said = _WORD.findall(sentence)
    if any(_opens(sentence, text) for text in _MESSAGES["no_part"].values()):
        return True
    return any(said == _WORD.findall(text) for key in _OWN for text in _MESSAGES[key].values())


def _opens(sentence: str, text: str) -> bool:
    """«Sin respuesta en los documentos: …», as an item of a list or not."""
    opening, _, _ = text.partition("{part}")
    return sentence.lstrip("-* ").startswith(opening.strip())


def without_lead(statement: str) -> str:
    """Remove the introduction of an answer that quotes documents in another language."""
    for lead in _MESSAGES["lead_other_language"].values():
        if statement.startswith(lead):
            return statement[len(lead) :].lstrip()
    return statement


def say(key: str, language: str) -> str:
    """KeyError for a key that does not exist; the default language for one that we do not speak."""
    sentences = _MESSAGES[key]
    return sentences.get(language, sentences[DEFAULT_LANGUAGE])
