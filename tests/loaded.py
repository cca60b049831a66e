"""What a service reads from disk before it answers: once, by the process that the others are forked from."""

from graphrag.embeddings.e5 import open_tokenizer
from graphrag.embeddings.word_vectors import WordVectors
from graphrag.extractive_answers import short_answers
from graphrag.linguistics import language, lexicon
from graphrag.query_transformation import tasks
from graphrag.query_transformation.phrases import load_question_grammars

for load in (
    language.load,
    lexicon.load,
    load_question_grammars,
    tasks.load,
    short_answers.load,
    open_tokenizer,  # the models begin threads, which no fork has
    WordVectors().load_for_questions,
):
    load()
