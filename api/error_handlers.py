"""Every error leaves in one format, worded for a person in Spanish, French or English."""

from typing import Any

from babel import Locale, negotiate_locale
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from api.observability import identity_headers
from graphrag.errors import CausewayError
from graphrag.language import ANSWER_LANGUAGES
from graphrag.telemetry import log

STATUS = {
    "invalid_question": 400,
    "invalid_filter": 400,
    "invalid_request": 422,
    "not_found": 404,
    "collection_not_found": 404,
    "document_not_found": 404,
    "conversation_not_found": 404,
    "message_not_found": 404,
    "stream_not_found": 404,
    "too_many_streams": 429,
    "quota_exceeded": 409,
    "unreadable_document": 400,
    "invalid_settings": 400,
    "file_unavailable": 503,
    "embedding_model_unavailable": 503,
    "database_unavailable": 503,
    "retrieval_unavailable": 503,
    "model_unavailable": 502,
    "model_interrupted": 502,
}
MESSAGES = {
    "empty": {
        "es": "La pregunta está vacía: escriba una.",
        "fr": "La question est vide : écrivez-en une.",
        "en": "The question is empty: write one.",
    },
    "too_long": {
        "es": "La pregunta es demasiado larga: como máximo {limit} caracteres.",
        "fr": "La question est trop longue : {limit} caractères au maximum.",
        "en": "The question is too long: at most {limit} characters.",
    },
    "control_characters": {
        "es": "La pregunta contiene caracteres de control: quítelos.",
        "fr": "La question contient des caractères de contrôle : retirez-les.",
        "en": "The question holds control characters: remove them.",
    },
    "unknown_filter": {
        "es": "No existe el filtro «{key}». Los filtros conocidos están en «details.known».",
        "fr": "Le filtre « {key} » n'existe pas. Les filtres connus sont dans « details.known ».",
        "en": "There is no filter “{key}”. The known ones are in details.known.",
    },
    "filter_value": {
        "es": "El filtro «{key}» admite un texto o una lista de textos.",
        "fr": "Le filtre « {key} » accepte un texte ou une liste de textes.",
        "en": "The filter “{key}” takes a text or a list of texts.",
    },
    "filter_date": {
        "es": "El filtro «{key}» admite una fecha como 2025-03-31.",
        "fr": "Le filtre « {key} » accepte une date comme 2025-03-31.",
        "en": "The filter “{key}” takes a date such as 2025-03-31.",
    },
    "collection_not_found": {
        "es": "No existe la colección «{name}». Elija una de «details.known» o cree una con: causeway ingest RUTA --collection NOMBRE",
        "fr": "La collection « {name} » n'existe pas. Choisissez-en une dans « details.known » ou créez-en une : causeway ingest CHEMIN --collection NOM",
        "en": "There is no collection “{name}”. Choose one of details.known, or make one: causeway ingest PATH --collection NAME",
    },
    "document_not_found": {
        "es": "No existe el documento «{document}». Vea los que hay: GET /api/v1/documents",
        "fr": "Le document « {document} » n'existe pas. Voyez ceux qui existent : GET /api/v1/documents",
        "en": "There is no document “{document}”. See those that there are: GET /api/v1/documents",
    },
    "conversation_not_found": {
        "es": "No existe la conversación «{conversation}». Vea las que hay: GET /api/v1/conversations",
        "fr": "La conversation « {conversation} » n'existe pas. Voyez celles qui existent : GET /api/v1/conversations",
        "en": "There is no conversation “{conversation}”. See those that there are: GET /api/v1/conversations",
    },
    "message_not_found": {
        "es": "En esta conversación no existe ese mensaje, o no es de la clase que se pide: «{message_id}». Vea los que hay: GET /api/v1/conversations/…",
        "fr": "Ce message n'existe pas dans cette conversation, ou n'est pas du type demandé : « {message_id} ». Voyez ceux qui existent : GET /api/v1/conversations/…",
        "en": "There is no such message in this conversation, or it is not of the kind asked for: “{message_id}”. See those that there are: GET /api/v1/conversations/…",
    },
    "stream_not_found": {
        "es": "Esta respuesta ya no se puede retomar. Repita la pregunta.",
        "fr": "Cette réponse ne peut plus être reprise. Reposez la question.",
        "en": "This answer can no longer be resumed. Ask again.",
    },
    "too_many_streams": {
        "es": "Hay demasiadas respuestas en curso ({limit} como máximo): espere a que termine una.",
        "fr": "Trop de réponses sont en cours ({limit} au maximum) : attendez que l'une d'elles se termine.",
        "en": "Too many answers are being written (at most {limit}): wait for one to end.",
    },
    "quota_exceeded": {
        "es": "La colección «{collection}» admite {limit} documentos: borre alguno o use otra colección.",
        "fr": "La collection « {collection} » admet {limit} documents : supprimez-en ou utilisez une autre collection.",
        "en": "The collection “{collection}” takes {limit} documents: delete some, or use another collection.",
    },
    "unreadable_document": {
        "es": "El archivo no tiene nombre: envíelo con uno.",
        "fr": "Le fichier n'a pas de nom : envoyez-le avec un nom.",
        "en": "The file has no name: send it with one.",
    },
    "invalid_settings": {
        "es": "Ese valor no es válido: {reason}",
        "fr": "Cette valeur n'est pas valide : {reason}",
        "en": "That value is not valid: {reason}",
    },
    "file_unavailable": {
        "es": "El archivo original no está disponible: súbalo de nuevo o reinténtelo en unos segundos.",
        "fr": "Le fichier d'origine n'est pas disponible : envoyez-le à nouveau ou réessayez dans quelques secondes.",
        "en": "The original file is not available: upload it again, or try in a few seconds.",
    },
    "embedding_model_unavailable": {
        "es": "El modelo de embeddings «{model}» de la colección no está cargado: añádalo a la configuración de embeddings.",
        "fr": "Le modèle d'embeddings « {model} » de la collection n'est pas chargé : ajoutez-le à la configuration des embeddings.",
        "en": "The collection's embedding model “{model}” is not loaded: add it to the embeddings configuration.",
    },
    "database_unavailable": {
        "es": "La base de datos no responde. Inténtelo de nuevo en unos segundos.",
        "fr": "La base de données ne répond pas. Réessayez dans quelques secondes.",
        "en": "The database does not answer. Try again in a few seconds.",
    },
    "retrieval_unavailable": {
        "es": "La búsqueda no está disponible. Inténtelo de nuevo en unos segundos.",
        "fr": "La recherche n'est pas disponible. Réessayez dans quelques secondes.",
        "en": "Search is not available. Try again in a few seconds.",
    },
    "model_unavailable": {
        "es": "El modelo no responde. Inténtelo de nuevo en unos segundos.",
        "fr": "Le modèle ne répond pas. Réessayez dans quelques secondes.",
        "en": "The model does not answer. Try again in a few seconds.",
    },
    "model_interrupted": {
        "es": "El modelo se interrumpió a mitad de la respuesta. Repita la pregunta.",
        "fr": "Le modèle s'est interrompu au milieu de la réponse. Reposez la question.",
        "en": "The model stopped in mid-answer. Ask again.",
    },
    "invalid_request": {
        "es": "La petición no es válida: {reason}",
        "fr": "La requête n'est pas valide : {reason}",
        "en": "The request is not valid: {reason}",
    },
    "not_found": {
        "es": "Aquí no hay nada: vea las rutas en /docs.",
        "fr": "Il n'y a rien ici : voyez les routes dans /docs.",
        "en": "There is nothing here: see the routes in /docs.",
    },
    "internal_error": {
        "es": "Error interno. Indique el identificador {request_id} a quien administra el servicio.",
        "fr": "Erreur interne. Donnez l'identifiant {request_id} à qui administre le service.",
        "en": "Internal error. Give the identifier {request_id} to whoever runs the service.",
    },
}


def request_language(request: Request) -> str:
    """The first of Accept-Language that we speak; es by default."""
    header = request.headers.get("accept-language", "")
    weighted = sorted((_quality(entry) for entry in header.split(",") if entry.strip()), key=lambda pair: -pair[0])
    preferred = [tag.split("-")[0].lower() for quality, tag in weighted if quality > 0]
    chosen = negotiate_locale(preferred, list(ANSWER_LANGUAGES))
    return Locale.parse(chosen).language if chosen else ANSWER_LANGUAGES[0]


def _quality(entry: str) -> tuple[float, str]:
    tag, _, parameter = entry.strip().partition(";")
    try:
        return float(parameter.strip().removeprefix("q=")) if parameter else 1.0, tag.strip()
    except ValueError:
        return 0.0, tag.strip()


def describe_error(exc: Exception, request: Request) -> tuple[int, dict[str, Any]]:
    """HTTP status and body. Details are those of our own errors: a stranger's error may hold anything."""
    request_id = request.state.request_id
    if isinstance(exc, CausewayError):
        code, details = exc.code, dict(exc.details)
        if code not in STATUS:
            code, details = "internal_error", {}
    else:
        code, details = "internal_error", {}
    if code == "internal_error":
        log.error("request failed", error=repr(exc), exc_info=exc)
    return STATUS.get(code, 500), _body(code, details, request, request_id)


def _body(code: str, details: dict[str, Any], request: Request, request_id: str) -> dict[str, Any]:
    key = details.get("reason", code) if code in {"invalid_question", "invalid_filter"} else code
    message = MESSAGES[key][request_language(request)].format(**{**details, "request_id": request_id})
    return {"error": {"code": code, "message": message, "details": details, "request_id": request_id}}


def _field_and_message(error: dict[str, Any]) -> tuple[str, str]:
    path = () if error["type"] == "json_invalid" else error["loc"][1:]  # there it is a position in the text
    return ".".join(str(part) for part in path), error["msg"]


def install(app: FastAPI) -> None:
    @app.exception_handler(CausewayError)
    async def causeway_error(request: Request, exc: CausewayError) -> JSONResponse:
        status, body = describe_error(exc, request)
        return JSONResponse(body, status)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, exc: RequestValidationError) -> JSONResponse:
        found = dict.fromkeys(
            _field_and_message(error) for error in exc.errors()
        )  # every reader of the body reports it
        reason = "; ".join(f"{field}: {message}".removeprefix(": ") for field, message in found)
        details = {"reason": reason, "errors": [{"field": field, "message": message} for field, message in found]}
        return JSONResponse(_body("invalid_request", details, request, request.state.request_id), 422)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, exc: HTTPException) -> JSONResponse:
        code = "not_found" if exc.status_code == 404 else "invalid_request"
        body = _body(code, {"reason": str(exc.detail)}, request, request.state.request_id)
        return JSONResponse(body, exc.status_code, headers=exc.headers)

    @app.exception_handler(ClientDisconnect)
    async def client_left(request: Request, exc: ClientDisconnect) -> Response:
        return Response(status_code=499)  # for the log only: nobody reads it

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, exc: Exception) -> JSONResponse:
        status, body = describe_error(exc, request)
        # Answered outside of all middleware, and raised again: the server then cuts the connection, and a client
        # that was not told would send its next question into it.
        headers = identity_headers(request.state.request_id) | {"Connection": "close"}
        return JSONResponse(body, status, headers=headers)
