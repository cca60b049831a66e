"""The three languages, a file each."""

from graphrag.query_transformation.grammars.english import ENGLISH
from graphrag.query_transformation.grammars.french import FRENCH
from graphrag.query_transformation.grammars.spanish import SPANISH
from graphrag.query_transformation.phrases import QuestionGrammar

GRAMMARS: dict[str, QuestionGrammar] = {grammar.language: grammar for grammar in (SPANISH, FRENCH, ENGLISH)}
