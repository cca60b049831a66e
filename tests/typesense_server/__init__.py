"""A server over a real socket that follows Typesense's published API, version 30.1, more strictly than Typesense does.

By https://typesense.org/docs/30.1/api/ (collections, documents, search, vector-search, federated-multi-search and
api-errors), with the messages of its source. What is documented and not served here is refused, not ignored.
"""

from tests.model_server.behaviours import Fail, Garbage, Hang
from tests.typesense_server.serving import KEY, Cut, Saying, TypesenseServer

__all__ = ["KEY", "Cut", "Fail", "Garbage", "Hang", "Saying", "TypesenseServer"]
