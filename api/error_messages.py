"""The HTTP status of every error, and its wording for a person in Spanish, French and English."""

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
    "golden_case_not_found": 404,
    "evaluation_not_found": 404,
    "golden_case_exists": 409,
    "collection_exists": 409,
    "invalid_golden_case": 400,
    "invalid_cursor": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "precondition_failed": 412,
    "request_too_large": 413,
    "idempotency_conflict": 409,
    "rate_limited": 429,
    "too_many_streams": 429,
    "timeout": 504,
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
# By code, or by `details["reason"]` where REASONED says so.
REASONED = {"invalid_question", "invalid_filter", "idempotency_conflict"}
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
    "unauthorized": {
        "es": "Falta una clave válida: envíela como «Authorization: Bearer CLAVE». Quien administra el servicio las crea con: causeway keys create",
        "fr": "Il manque une clé valable : envoyez-la avec « Authorization: Bearer CLÉ ». Qui administre le service les crée avec : causeway keys create",
        "en": "A valid key is missing: send it as “Authorization: Bearer KEY”. Whoever runs the service makes them with: causeway keys create",
    },
    "forbidden": {
        "es": "Esta clave no tiene el permiso «{scope}»: use una que lo tenga.",
        "fr": "Cette clé n'a pas le droit « {scope} » : utilisez-en une qui l'a.",
        "en": "This key lacks the scope “{scope}”: use one that has it.",
    },
    "rate_limited": {
        "es": "Demasiadas peticiones: inténtelo de nuevo en {retry_after} s.",
        "fr": "Trop de requêtes : réessayez dans {retry_after} s.",
        "en": "Too many requests: try again in {retry_after} s.",
    },
    "request_too_large": {
        "es": "La petición es demasiado grande: como máximo {limit} bytes. Envíela en partes.",
        "fr": "La requête est trop volumineuse : {limit} octets au maximum. Envoyez-la en plusieurs fois.",
        "en": "The request is too large: at most {limit} bytes. Send it in parts.",
    },
    "timeout": {
        "es": "La búsqueda no terminó en {limit_ms} ms. Lo encontrado hasta entonces está en «details».",
        "fr": "La recherche n'a pas abouti en {limit_ms} ms. Ce qui a été trouvé jusque-là est dans « details ».",
        "en": "The search did not end within {limit_ms} ms. What was found until then is in details.",
    },
    "partial": {
        "es": "La búsqueda no terminó en {limit_ms} ms: falta lo que no se había encontrado hasta entonces.",
        "fr": "La recherche n'a pas abouti en {limit_ms} ms : ce qui n'avait pas été trouvé jusque-là manque.",
        "en": "The search did not end within {limit_ms} ms: what had not been found by then is missing.",
    },
    "invalid_cursor": {
        "es": "Ese cursor no es de esta lista: use el «next_cursor» de la página anterior, o empiece sin cursor.",
        "fr": "Ce curseur n'est pas de cette liste : utilisez le « next_cursor » de la page précédente, ou commencez sans curseur.",
        "en": "That cursor is not of this list: use the next_cursor of the page before, or begin without one.",
    },
    "precondition_failed": {
        "es": "Ha cambiado desde que lo leyó: léalo de nuevo y repita la petición con su ETag.",
        "fr": "Il a changé depuis votre lecture : relisez-le et répétez la requête avec son ETag.",
        "en": "It has changed since you read it: read it again, and repeat the request with its ETag.",
    },
    "reused": {
        "es": "Esa Idempotency-Key ya se usó para otra petición: use una nueva.",
        "fr": "Cette Idempotency-Key a déjà servi pour une autre requête : utilisez-en une nouvelle.",
        "en": "That Idempotency-Key was used for another request: use a new one.",
    },
    "running": {
        "es": "La petición con esa Idempotency-Key todavía se procesa: espere unos segundos y repítala.",
        "fr": "La requête avec cette Idempotency-Key est encore en cours : attendez quelques secondes et répétez-la.",
        "en": "The request with that Idempotency-Key is still under way: wait a few seconds, and repeat it.",
    },
    "collection_exists": {
        "es": "Ya existe la colección «{name}»: elija otro nombre.",
        "fr": "La collection « {name} » existe déjà : choisissez un autre nom.",
        "en": "There is a collection “{name}” already: choose another name.",
    },
    "golden_case_not_found": {
        "es": "No existe el caso de referencia «{case}». Vea los que hay: GET /api/v1/golden-cases",
        "fr": "Le cas de référence « {case} » n'existe pas. Voyez ceux qui existent : GET /api/v1/golden-cases",
        "en": "There is no golden case “{case}”. See those that there are: GET /api/v1/golden-cases",
    },
    "golden_case_exists": {
        "es": "Esa pregunta ya está en los casos de referencia: «{case}».",
        "fr": "Cette question est déjà dans les cas de référence : « {case} ».",
        "en": "That question is among the golden cases already: “{case}”.",
    },
    "invalid_golden_case": {
        "es": "El caso de referencia no es válido: {reason}",
        "fr": "Le cas de référence n'est pas valable : {reason}",
        "en": "The golden case is not valid: {reason}",
    },
    "evaluation_not_found": {
        "es": "No existe la evaluación «{run}». Vea las que hay: GET /api/v1/evaluations",
        "fr": "L'évaluation « {run} » n'existe pas. Voyez celles qui existent : GET /api/v1/evaluations",
        "en": "There is no evaluation “{run}”. See those that there are: GET /api/v1/evaluations",
    },
    "internal_error": {
        "es": "Error interno. Indique el identificador {request_id} a quien administra el servicio.",
        "fr": "Erreur interne. Donnez l'identifiant {request_id} à qui administre le service.",
        "en": "Internal error. Give the identifier {request_id} to whoever runs the service.",
    },
}
