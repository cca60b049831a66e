"""Reasons why a file could not be ingested, worded for a person."""

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import Request

from api.errors import request_language
from api.schemas.documents import Cause
from graphrag.errors import DatabaseFull, DatabaseUnavailable, IndexingUnavailable

CAUSES = {
    "unsupported": {
        "es": "No se leen archivos de este tipo. Guárdelo como pdf, docx, odt, pptx, xlsx, csv, html, md o txt.",
        "fr": "Ce type de fichier n'est pas lu. Enregistrez-le en pdf, docx, odt, pptx, xlsx, csv, html, md ou txt.",
        "en": "Files of this type are not read. Save it as pdf, docx, odt, pptx, xlsx, csv, html, md or txt.",
    },
    "encoding": {
        "es": "No se reconoce la codificación de caracteres del archivo: guárdelo en UTF-8.",
        "fr": "L'encodage du fichier n'est pas reconnu : enregistrez-le en UTF-8.",
        "en": "The file's character encoding is not known: save it as UTF-8.",
    },
    "empty": {
        "es": "El archivo no contiene texto.",
        "fr": "Le fichier ne contient pas de texte.",
        "en": "The file holds no text.",
    },
    "too_large": {
        "es": "El archivo es demasiado grande: divídalo, o suba el límite del servicio.",
        "fr": "Le fichier est trop volumineux : divisez-le, ou relevez la limite du service.",
        "en": "The file is too large: split it, or raise the service's limit.",
    },
    "encrypted": {
        "es": "El archivo está protegido con contraseña: guárdelo sin ella.",
        "fr": "Le fichier est protégé par un mot de passe : enregistrez-le sans.",
        "en": "The file is protected by a password: save it without one.",
    },
    "scanned": {
        "es": "El archivo no tiene capa de texto: sus páginas son imágenes. Pásele antes un reconocimiento de caracteres (OCR).",
        "fr": "Le fichier n'a pas de couche de texte : ses pages sont des images. Passez-le d'abord à la reconnaissance de caractères (OCR).",
        "en": "The file has no text layer: its pages are images. Run character recognition (OCR) on it first.",
    },
    "damaged": {
        "es": "El archivo está dañado: ábralo con su programa y guárdelo de nuevo.",
        "fr": "Le fichier est endommagé : ouvrez-le avec son programme et enregistrez-le à nouveau.",
        "en": "The file is damaged: open it with its program and save it again.",
    },
    "timeout": {
        "es": "Leer el archivo lleva demasiado tiempo: divídalo, o suba el límite del servicio.",
        "fr": "La lecture du fichier prend trop de temps : divisez-le, ou relevez la limite du service.",
        "en": "Reading the file takes too long: split it, or raise the service's limit.",
    },
    "duplicate": {
        "es": "Llegó dos veces en la misma carga.",
        "fr": "Il est venu deux fois dans le même envoi.",
        "en": "It came twice in the same upload.",
    },
    "cancelled": {"es": "Se canceló.", "fr": "Annulé.", "en": "It was cancelled."},
    "embedding": {
        "es": "El modelo de embeddings no aceptó todos los fragmentos: reinténtelo.",
        "fr": "Le modèle d'embeddings n'a pas accepté tous les fragments : réessayez.",
        "en": "The embedding model did not take all of its chunks: try again.",
    },
    "file_unavailable": {
        "es": "No se encuentra el archivo original: súbalo de nuevo.",
        "fr": "Le fichier d'origine est introuvable : envoyez-le à nouveau.",
        "en": "The original file can't be found: upload it again.",
    },
    "internal": {
        "es": "Error interno al procesarlo: reinténtelo; si persiste, consulte el registro del servicio.",
        "fr": "Erreur interne pendant le traitement : réessayez ; si elle persiste, voyez le journal du service.",
        "en": "An internal error while it was processed: try again; if it stays, see the service's log.",
    },
}


def cause_of(reason: str, request: Request) -> Cause | None:
    known = CAUSES.get(reason, CAUSES["internal"])
    return Cause(code=reason, message=known[request_language(request)]) if reason else None


@contextmanager
def told_as_indexing() -> Iterator[None]:
    """Raises IndexingUnavailable in place of DatabaseUnavailable."""
    try:
        yield
    except DatabaseFull:
        raise
    except DatabaseUnavailable as exc:
        raise IndexingUnavailable(
            "Nothing is indexed while the database is away: send it again.", **exc.details
        ) from exc
