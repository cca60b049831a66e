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
        "es": "«{}» contiene texto que parece dar instrucciones a un modelo de lenguaje: se trata como una cita y no se siguen.",
        "fr": "« {} » contient du texte qui semble donner des instructions à un modèle de langage : il est traité comme une citation, sans les suivre.",
        "en": "“{}” contains text that seems to give instructions to a language model: it is treated as a quotation and not followed.",
    },
    "status_retrieve": {
        "es": "Buscando en los documentos…",
        "fr": "Recherche dans les documents…",
        "en": "Searching the documents…",
    },
    "status_traverse": {
        "es": "Buscando cadenas causales…",
        "fr": "Recherche des chaînes causales…",
        "en": "Finding causal chains…",
    },
    "status_rerank": {
        "es": "Reordenando los resultados…",
        "fr": "Reclassement des résultats…",
        "en": "Reranking the results…",
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
        "es": "El modelo tarda más de lo habitual; tiempo máximo de espera: {seconds} s.",
        "fr": "Le modèle met plus de temps que d'habitude ; attente maximale : {seconds} s.",
        "en": "The model is taking longer than usual; maximum wait: {seconds} s.",
    },
    "status_verify": {
        "es": "Verificando las citas…",
        "fr": "Vérification des citations…",
        "en": "Verifying the citations…",
    },
    "degraded_transform": {
        "es": "La pregunta se analizó de forma simplificada.",
        "fr": "La question a été analysée de façon simplifiée.",
        "en": "The question was analysed in a simplified way.",
    },
    "degraded_fulltext": {
        "es": "La búsqueda de texto completo no estaba disponible.",
        "fr": "La recherche plein texte n'était pas disponible.",
        "en": "Full-text search was unavailable.",
    },
    "degraded_vector": {
        "es": "La búsqueda semántica no estaba disponible.",
        "fr": "La recherche sémantique n'était pas disponible.",
        "en": "Semantic search was unavailable.",
    },
    "degraded_chunkenizer": {
        "es": "El servicio externo de documentos no respondió: solo se buscó en los documentos locales.",
        "fr": "Le service externe de documents n'a pas répondu : seuls les documents locaux ont été consultés.",
        "en": "The external document service did not respond: only local documents were searched.",
    },
    "degraded_traverse": {
        "es": "Las cadenas causales no estaban disponibles.",
        "fr": "Les chaînes causales n'étaient pas disponibles.",
        "en": "Causal chains were unavailable.",
    },
    "degraded_graph": {
        "es": "La expansión por grafo no estaba disponible: la respuesta se basa solo en la búsqueda.",
        "fr": "L'extension par le graphe n'était pas disponible : la réponse repose uniquement sur la recherche.",
        "en": "Graph expansion was unavailable: the answer relies on the search alone.",
    },
    "degraded_rerank": {
        "es": "Los resultados no se reordenaron.",
        "fr": "Les résultats n'ont pas été reclassés.",
        "en": "The results were not reranked.",
    },
    "degraded_expand": {
        "es": "Los pasajes se leyeron sin su contexto.",
        "fr": "Les passages ont été lus sans leur contexte.",
        "en": "The passages were read without their context.",
    },
    "degraded_generate": {
        "es": "El modelo de lenguaje no respondió: la respuesta cita frases de los documentos.",
        "fr": "Le modèle de langage n'a pas répondu : la réponse cite des phrases des documents.",
        "en": "The language model did not respond: the answer quotes sentences of the documents.",
    },
    "degraded_generate_other_model": {
        "es": "El modelo de lenguaje principal no respondió: se utilizó otro.",
        "fr": "Le modèle de langage principal n'a pas répondu : un autre a été utilisé.",
        "en": "The primary language model did not respond: another one was used.",
    },
    "degraded_verify": {
        "es": "Las citas no se pudieron verificar.",
        "fr": "Les citations n'ont pas pu être vérifiées.",
        "en": "The citations could not be verified.",
    },
    "degraded_time": {
        "es": "Se agotó el tiempo: se omitieron algunos pasos.",
        "fr": "Le temps imparti est écoulé : certaines étapes ont été omises.",
        "en": "Time ran out: some steps were skipped.",
    },
    "degraded_load": {
        "es": "El servicio está muy ocupado: la búsqueda se hizo de forma simplificada.",
        "fr": "Le service est très sollicité : la recherche a été simplifiée.",
        "en": "The service is busy: the search was simplified.",
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
