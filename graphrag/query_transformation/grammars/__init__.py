"""The three languages, a file each."""

from graphrag.query_transformation.grammar import Grammar
from graphrag.query_transformation.grammars.english import ENGLISH
from graphrag.query_transformation.grammars.french import FRENCH
from graphrag.query_transformation.grammars.spanish import SPANISH

GRAMMARS: dict[str, Grammar] = {grammar.language: grammar for grammar in (SPANISH, FRENCH, ENGLISH)}
