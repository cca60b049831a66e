"""How much of a model's context a text takes, counted without asking anybody."""

from functools import lru_cache

from graphrag.embeddings.bundled import BundledEmbeddings


def count_tokens(text: str) -> int:
    """By the tokenizer of the bundled embeddings: Llama 2's, of 32,000 entries. Those of the models that answer know
    four to eight times as many and cut a text into fewer: it is never too few for them.

    The models' own would be fetched from the network (tiktoken) or are a request (Gemini); Ollama tells none.
    """
    return _tokenizer().count_tokens([text])[0]


@lru_cache(maxsize=1)
def _tokenizer() -> BundledEmbeddings:
    return BundledEmbeddings()
