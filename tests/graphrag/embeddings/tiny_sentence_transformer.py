"""A model of sentence-transformers with some thousand weights, made here: a text is the mean of its words."""

from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
from torch.nn.init import eye_, zeros_
from transformers import BertConfig, BertModel, BertTokenizer

WORDS = ("horno", "gas", "pieza", "fuga", "query", "passage", ":")
VOCABULARY = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS)
DIMENSIONS = 16


def save_sentence_transformer(folder: Path, *, prompts: dict[str, str] | None = None) -> Path:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    parts = folder.parent / f"{folder.name}-parts"
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=DIMENSIONS,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=24,
        hidden_dropout_prob=0,
        attention_probs_dropout_prob=0,
    )
    bert = BertModel(config)
    eye_(bert.embeddings.word_embeddings.weight.data)
    zeros_(bert.embeddings.position_embeddings.weight.data)
    bert.save_pretrained(parts)
    BertTokenizer(
        vocab={token: number for number, token in enumerate(VOCABULARY)}, model_max_length=24
    ).save_pretrained(parts)
    transformer = Transformer(str(parts))
    model = SentenceTransformer(modules=[transformer, Pooling(DIMENSIONS)], prompts=prompts)
    model.save(str(folder))
    return folder
