"""What mends a model's failure, where its vendor and the failure tell."""

from graphrag.retrying import http_status, is_transient

KEYS = {"google_genai": "GOOGLE_API_KEY", "openai": "OPENAI_API_KEY"}
INVALID_KEY = "API_KEY_INVALID"  # Gemini says so with the status of a wrong question
NO_RIGHT, NO_SUCH_MODEL, TOO_MUCH = {401, 403}, 404, 429


def way_out(provider: str, model: str, error: Exception) -> str:
    """A sentence that follows the failure's words; "" where none is known."""
    status = http_status(error)
    if status in NO_RIGHT or INVALID_KEY in str(error):
        return f". Check {KEYS.get(provider, 'its key')}."
    if status == NO_SUCH_MODEL:
        return f". Run: ollama pull {model}." if provider == "ollama" else ". Check the model's name and its address."
    if status == TOO_MUCH:
        return ". Wait, or raise its quota."
    if provider == "ollama" and status is None and is_transient(error):
        return ". Is it there? Run: ollama serve; or correct its address."
    return ""
