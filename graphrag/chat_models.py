"""The generating model, by name: "provider:model" through LangChain, which every provider's package plugs into."""

from langchain_core.language_models import BaseChatModel

from graphrag.errors import InvalidSettings, MissingExtra
from graphrag.settings import Settings

EXTRAS = {"google_genai": "google", "ollama": "ollama"}  # provider → the extra that holds its package


def open_chat_model(settings: Settings) -> BaseChatModel:
    """Raises InvalidSettings for a name that no provider knows or a missing key, MissingExtra for a missing package."""
    from langchain.chat_models import init_chat_model

    name = settings.chat_model or ""
    provider = name.partition(":")[0]
    try:
        return init_chat_model(name, timeout=settings.chat_timeout_seconds, max_retries=settings.chat_max_retries)
    except ImportError as exc:
        extra = EXTRAS.get(provider)
        way_out = f"pip install 'causeway[{extra}]'" if extra else "an installed provider, such as openai:…"
        raise MissingExtra(f"RAG_CHAT_MODEL={name} needs: {way_out}") from exc
    except Exception as exc:  # each vendor checks its key and arguments with errors of its own
        raise InvalidSettings(f"RAG_CHAT_MODEL={name}: {' '.join(str(exc).split())}") from exc
