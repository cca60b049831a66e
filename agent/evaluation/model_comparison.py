"""Embedding models compared on a collection's golden cases."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agent.evaluation.golden_run import rank_documents
from agent.evaluation.metrics import mean, measure
from graphrag.embeddings.registry import EmbeddingModel
from graphrag.models import Collection
from graphrag.models.evaluation import GoldenCase
from graphrag.services import Services

WEIGHTS = (0.2, 0.35, 0.5, 0.65, 0.8)  # of vectors beside full text
DECIDING = ("mrr@10", "hit@10", "ndcg@10")  # the first tells which is better; then the next


@dataclass(frozen=True, slots=True)
class WeightedModel:
    """An embedding model, the weight of its vectors beside full text, and the means of the metrics of `METRICS`."""

    model: str
    vector_weight: float
    metrics: Mapping[str, float]

    @property
    def quality(self) -> tuple[float, ...]:
        return tuple(self.metrics[name] for name in DECIDING)


async def compare_models(
    collection: Collection, models: Sequence[EmbeddingModel], cases: Sequence[GoldenCase], *, services: Services
) -> AsyncIterator[WeightedModel]:
    """Measure each model, whose vectors the collection holds, at its own weight and at each of WEIGHTS."""
    pipeline = services.retrieval.measured()
    for model in models:
        searched = replace(collection, embedding_model=model.id)
        for weight in dict.fromkeys([model.fusion_weight, *WEIGHTS]):
            config, _ = services.collections.retrieval_config(collection, {"vector_weight": weight})
            values = []
            for case in cases:
                answer = await rank_documents(
                    case.query,
                    pipeline=pipeline,
                    collection=searched,
                    config=config,
                    name=lambda document: str(document.id),
                )
                values.append(measure(answer.ranking, {str(each): 1 for each in case.relevant_document_ids}))
            yield WeightedModel(model.id, weight, mean(values))
