"""spaCy pipelines of some thousand weights, made here: one is trained on twenty sentences, one follows rules."""

from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.training import Example

NAMES = ("rosa", "bernabé", "íñigo", "aurora", "fermín")
SENTENCES = {  # as people write to each other, without a capital letter
    "es": ("el lunes {} avisó de la fuga.", "{} hace el turno de noche.", "la pieza la cambió {}.", "lo vio {}."),
    "fr": ("lundi {} a signalé la fuite.", "{} est de l'équipe de nuit.", "{} a changé la pièce.", "c'est {} ici."),
    "en": ("on monday {} reported the leak.", "{} works the night shift.", "{} changed the part.", "it was {}."),
}
WIDTH, ROUNDS = 32, 25
TOK2VEC = {
    "@architectures": "spacy.HashEmbedCNN.v2", "width": WIDTH, "depth": 1, "embed_size": 200, "window_size": 1,
    "maxout_pieces": 2, "subword_features": True, "pretrained_vectors": None,
}  # fmt: skip
NER = {
    "@architectures": "spacy.TransitionBasedParser.v2", "state_type": "ner", "extra_state_tokens": False, "nO": None,
    "hidden_width": WIDTH, "maxout_pieces": 2, "use_upper": False,
    "tok2vec": {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH},
}  # fmt: skip


def save_trained(folder: Path, language: str) -> Path:
    """Names people; its tagger is of no use here."""
    spacy.util.fix_random_seed(1)
    pipeline = _named(language)
    pipeline.add_pipe("tok2vec", config={"model": TOK2VEC})
    pipeline.add_pipe("ner", config={"model": NER})
    pipeline.add_pipe("tagger")
    examples = [_example(pipeline, sentence, name) for sentence in SENTENCES[language] for name in NAMES]
    optimizer = pipeline.initialize(lambda: examples)
    for _ in range(ROUNDS):
        pipeline.update(examples, sgd=optimizer)
    pipeline.to_disk(folder)
    return folder


def _example(pipeline: Language, sentence: str, name: str) -> Example:
    read = pipeline.make_doc(sentence.format(name))
    start = sentence.index("{}")
    return Example.from_dict(read, {"entities": [(start, start + len(name), "PER")], "tags": ["X"] * len(read)})


def save_ruled(folder: Path, language: str, **labels: str) -> Path:
    """`labels`: of words. A component before the rules tells where sentences begin."""
    pipeline = _named(language)
    pipeline.add_pipe("sentencizer")
    ruler: Any = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": label, "pattern": word} for word, label in labels.items()])
    pipeline.to_disk(folder)
    return folder


def save_nameless(folder: Path, language: str) -> Path:
    pipeline = _named(language)
    pipeline.add_pipe("sentencizer")
    pipeline.to_disk(folder)
    return folder


def _named(language: str) -> Language:
    pipeline = spacy.blank(language)
    pipeline.meta["name"], pipeline.meta["version"] = "tiny", "1.2.3"
    return pipeline
