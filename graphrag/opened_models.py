"""The models that the settings name: for meaning, for ranking, for words."""

import asyncio
from dataclasses import dataclass
from functools import cached_property

from langchain_core.language_models import BaseChatModel

from graphrag.causal_graph.model_extraction import ModelExtractor
from graphrag.causal_graph.spacy_pipelines import SpacyRecognizer, open_recognizer
from graphrag.chat_models import EXTRACTIVE, NamedModel, beginning_with, open_chat_model, open_fallbacks
from graphrag.embeddings.bundled import BundledEmbeddings
from graphrag.embeddings.cached import cached
from graphrag.embeddings.registry import EmbeddingModel, EmbeddingRegistry, load_registry
from graphrag.errors import InvalidSettings
from graphrag.extractive_answers.chat_model import ExtractiveChatModel
from graphrag.guarded_chat_model import GuardedChatModel, in_background
from graphrag.load import Effort
from graphrag.models import Collection
from graphrag.protocols import Reranker
from graphrag.query_transformation.refinement import Refiner
from graphrag.rerankers.bundled import BundledReranker
from graphrag.rerankers.cross_encoder import CrossEncoderReranker
from graphrag.rerankers.opening import join_judges, open_cross_encoder, open_judges
from graphrag.settings import GenerationConfig
from graphrag.stores.opened import Stores


@dataclass(frozen=True)
class OpenedModels(Stores):
    """Each opens itself at its first use."""

    @cached_property
    def embeddings(self) -> EmbeddingRegistry:
        return load_registry(self.settings.embeddings_config)

    @cached_property
    def reranker(self) -> Reranker:
        """Where a model judges, the ones after it stand in when it fails. Raises InvalidSettings."""
        judges = open_judges(
            self.settings,
            cross_encoder=self.cross_encoder,
            chat_model=lambda: self._within(self.settings.chat_first_token_seconds, purpose="reranking"),
        )
        return join_judges(judges, self.settings, self.embeddings)

    @cached_property
    def _local_reranker(self) -> Reranker:
        return join_judges(open_judges(self.settings, cross_encoder=self.cross_encoder), self.settings, self.embeddings)

    def reranker_of(self, collection: Collection, effort: Effort = Effort.FULL) -> Reranker:
        """Under high load the bundled one, which needs nothing."""
        if effort is not Effort.FULL:
            return self._bundled_reranker
        return self.reranker if self.may_read(collection) else self._local_reranker

    @cached_property
    def _bundled_reranker(self) -> Reranker:
        return BundledReranker()

    @cached_property
    def cross_encoder(self) -> CrossEncoderReranker | None:
        """Raises InvalidSettings."""
        return open_cross_encoder(self.settings)

    @cached_property
    def chat_model(self) -> BaseChatModel:
        return open_chat_model(self.settings) if self.settings.chat_model else self.extractive_chat_model

    @cached_property
    def chat_models(self) -> tuple[NamedModel, ...]:
        """In the order in which they are asked for an answer; the last one needs nothing. Raises InvalidSettings."""
        first = NamedModel(self.settings.chat_model or EXTRACTIVE, self.chat_model)
        quoting = NamedModel(EXTRACTIVE, self.extractive_chat_model)
        fallbacks = [*open_fallbacks(self.settings), quoting]
        return (first,) if first.model is quoting.model else (first, *fallbacks)

    @cached_property
    def judge_model(self) -> NamedModel | None:
        """That judges answers in evaluations; None: there is none. Raises InvalidSettings."""
        name = self.settings.judge_model or self.settings.chat_model
        if name is None:
            return None
        known = {named.name: named for named in self.chat_models}
        return known.get(name) or NamedModel(name, open_chat_model(self.settings, name, variable="RAG_JUDGE_MODEL"))

    @cached_property
    def extractive_chat_model(self) -> ExtractiveChatModel:
        return ExtractiveChatModel()

    @cached_property
    def refiner(self) -> Refiner | None:
        """None where no model is to refine what the rules understand of a question."""
        if not (self.settings.chat_model and self.settings.query_refinement):
            return None
        seconds = self.settings.transform_timeout_seconds
        model = self._within(seconds, purpose="refining")
        # The guard comes first: it learns of the slowness. The other limit is for who waits for a turn.
        return Refiner(model, cache=self.cache, timeout_seconds=seconds + 0.2)

    def _within(self, seconds: float, *, purpose: str) -> BaseChatModel:
        model = self.chat_model
        return model.within(seconds, purpose=purpose) if isinstance(model, GuardedChatModel) else model

    @cached_property
    def background_chat_models(self) -> tuple[NamedModel, ...]:
        """As documents are ingested and evaluations answered with them: people's calls come first."""
        return tuple(NamedModel(named.name, in_background(named.model)) for named in self.chat_models)

    @property
    def background_chat_model(self) -> BaseChatModel:
        return self.background_chat_models[0].model

    @cached_property
    def bundled_embeddings(self) -> BundledEmbeddings:
        return BundledEmbeddings()

    @cached_property
    def relation_extractor(self) -> ModelExtractor | None:
        """One a process: its budget is the run's. Raises InvalidSettings."""
        if not self.settings.graph_max_calls:
            return None
        if not self.settings.chat_model:
            raise InvalidSettings("RAG_GRAPH_MAX_CALLS needs RAG_CHAT_MODEL: the model that finds relations.")
        return ModelExtractor(self.background_chat_model, self.cache, self.settings.graph_max_calls)

    @cached_property
    def name_recognizer(self) -> SpacyRecognizer | None:
        """None: rules alone find names. Raises MissingExtra or InvalidSettings."""
        return open_recognizer(self.settings.spacy_pipelines)

    @property
    def name_pipelines(self) -> tuple[str, ...]:
        return self.name_recognizer.pipelines if self.name_recognizer else ()

    async def embedding_model(self, collection: Collection) -> EmbeddingModel:
        """Raises EmbeddingModelUnavailable."""
        registry = await asyncio.to_thread(lambda: self.embeddings)
        return cached(registry.get(collection.embedding_model), cache=self.cache, owner_id=collection.owner_id)

    def may_read(self, collection: Collection) -> bool:
        """Whether the service's chat model is given the collection's questions and documents for all that is not the
        answer: not where the collection has another model of its own.
        """
        config, _ = self.generation_config(collection)
        return beginning_with(config.chat_model, self.chat_models)[0][0] is self.chat_models[0]

    def generation_config(self, collection: Collection | None) -> tuple[GenerationConfig, list[str]]:
        """The service's values, then the collection's; one that is not valid is passed over, with a warning."""
        return self.settings.generation.overridden(collection.generation_config if collection else {})
