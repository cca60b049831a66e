"""Every knob, by theme, checked at start. Only the doors (API, command line, Studio) make one from the environment."""

import os
import reprlib
import unicodedata
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, Literal, Self, TypeGuard, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    PositiveFloat,
    PositiveInt,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import EnvSettingsSource, NoDecode, SettingsError

from graphrag.config.answering import ChatConfig, EvaluationConfig, ProposalLimits, SearchConfig, provider_and_model
from graphrag.config.service import (
    AccessLimits,
    AuthenticationConfig,
    DatabaseLimits,
    LoadLimits,
    Observation,
    StorageConfig,
    StreamLimits,
)
from graphrag.errors import InvalidSettings, MissingExtra, install_command
from graphrag.models import Chunking, FulltextRanking, Fusion, Strategy
from graphrag.models.graph import LINK_THRESHOLD

PACKAGES: Mapping[Chunking, str] = {
    "llama_index_sentence": "llama_index.core",
    "llama_index_semantic": "llama_index.core",
    "langchain_recursive": "langchain_text_splitters",
}


def processors() -> int:
    """Return one a core."""
    return os.cpu_count() or 1


def check_splitter(chunking: Chunking | None) -> None:
    """Raises MissingExtra where the strategy is that of a package that is not installed."""
    if not has_splitter(chunking):
        raise MissingExtra.of(str(chunking), install_command("splitters"))


def has_splitter(chunking: Chunking | None) -> bool:
    package = PACKAGES.get(chunking) if chunking else None
    try:
        return package is None or find_spec(package) is not None
    except ModuleNotFoundError:  # of the package that holds this one
        return False


class CollectionConfig(BaseModel):
    """Knobs that a collection can have values of its own for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Validate these values alone, as stored with a collection. Raises InvalidSettings."""
        try:
            return cls.model_validate(values).model_dump(include=set(values))
        except ValidationError as exc:
            first = exc.errors()[0]
            wrong = f"{'.'.join(map(str, first['loc']))}: {first['msg']}. Known: {', '.join(cls.model_fields)}."
            raise InvalidSettings(wrong, reason=wrong) from exc

    def overridden(self, values: Mapping[str, Any]) -> tuple[Self, list[str]]:
        """Return the configuration with these values; an invalid one is ignored with a warning."""
        config, warnings = self, []
        for name, value in values.items():
            try:
                config = type(self).model_validate(config.model_dump() | {name: value})
            except ValidationError as exc:
                shown = name if name in type(self).model_fields else reprlib.repr(name)
                warnings.append(f"{shown}={reprlib.repr(value)} is not used: {exc.errors()[0]['msg']}")
        return config, warnings


class RetrievalConfig(CollectionConfig):
    """Retrieval, configurable per service, collection and request."""

    strategy: Literal["auto"] | Strategy = Field(
        default="auto", description="Full text, vectors (semantic) or both; auto: selected by the question"
    )
    fulltext_ranking: FulltextRanking = Field(
        default="bm25",
        description="Scoring of full text; ts_rank_cd is PostgreSQL's own; index: by `RAG_INDEX` if it ranks "
        "words, else bm25",
    )
    fusion: Fusion | None = Field(
        default=None,
        description="Fusion of both rankings: by standardised scores, or by ranks (RRF); unset: as in the "
        "embedding model's entry",
    )
    rrf_k: int = Field(
        default=60,
        ge=1,
        le=10_000,
        description="k in RRF's 1 / (k + rank): smaller values favour the first places",
    )
    vector_weight: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Weight of vectors, with the rest for full text; unset: as in the embedding model's entry",
    )
    candidates_per_leg: int = Field(default=50, ge=1, le=1000, description="Candidates from each of the two searches")
    rerank: bool = Field(default=True, description="Rerank the hits")
    rerank_candidates: int = Field(default=30, ge=1, le=200, description="Hits to rerank")
    graph: bool = Field(
        default=True, description="Find further passages through the names they share, for questions that need it"
    )
    link_threshold: float = Field(
        default=LINK_THRESHOLD,
        ge=0,
        le=1,
        description="Confidence from which a causal chain goes from one document to another; 1: chains of one document",
    )
    chunkenizer: bool = Field(default=True, description="Search the service at `CHUNKENIZER_API_URL` as well")
    top_k: int = Field(default=10, ge=1, le=1000, description="Hits returned by a search")
    window_sentences: int = Field(default=2, ge=0, le=50, description="Sentences read on each side of those that match")
    least_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="For simple questions, hits below this share of the best score are dropped",
    )
    least_coverage: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="For simple questions, a hit is read from its first to its last sentence that holds this share of "
        "what its best sentence holds of the question's words; 0: whole",
    )
    parent_chars: int = Field(
        default=0,
        ge=0,
        le=20_000,
        description="Length of the section returned around a hit; 0: use `RAG_WINDOW_SENTENCES`",
    )

    @property
    def candidates(self) -> int:
        """Number of chunks that each retriever is asked for, and that the search returns at most."""
        return max(self.candidates_per_leg, self.top_k)


class ParsingLimits(BaseModel):
    """Limits of one document's preparation (parsing, chunking, extraction), in a process of its own."""

    model_config = ConfigDict(frozen=True)

    seconds: PositiveFloat = Field(default=60, description="Time limit of preparing one document for its embedding")
    memory_bytes: PositiveInt = Field(default=2_000_000_000, description="Memory limit of preparing one document")
    processes: PositiveInt = Field(default_factory=processors, description="Documents prepared at the same time")
    pages: PositiveInt = Field(default=5_000, description="Maximum pages of a PDF")
    characters: PositiveInt = Field(default=30_000_000, description="Maximum characters of a file's text")
    chunks: PositiveInt = Field(default=20_000, description="Maximum chunks of a document")
    archive_bytes: PositiveInt = Field(
        default=256_000_000, description="Maximum size of a compressed file (docx, xlsx, …) once unpacked"
    )
    archive_entry_bytes: PositiveInt = Field(
        default=128_000_000, description="Maximum size of an entry of a compressed file once unpacked"
    )
    archive_ratio: PositiveInt = Field(
        default=200, description="Maximum compression ratio of a file; legitimate files reach 38"
    )
    inner_files: PositiveInt = Field(default=500, description="Maximum files in an archive or a message")
    inner_depth: PositiveInt = Field(
        default=2, description="Maximum depth of files in files: an archive in an archive is 2"
    )
    picture_pixels: PositiveInt = Field(default=60_000_000, description="Maximum pixels of a picture")
    recognition_seconds: NonNegativeFloat = Field(
        default=300, description="Further time for recognising text in a file's pictures (OCR); 0: don't"
    )


class IngestionConfig(CollectionConfig):
    """Chunking and indexing, configurable per service and collection."""

    chunking: Chunking = Field(default="auto", description="Chunking strategy; auto: selected by the text")
    chunk_tokens: int = Field(default=512, ge=1, le=8_000, description="Maximum tokens per chunk")
    chunk_overlap_tokens: int = Field(default=50, ge=0, le=1_000, description="Tokens shared with the next chunk")
    child_tokens: int = Field(default=128, ge=16, le=8_000, description="Tokens of a child chunk (parent_child)")
    parent_child_chars: int = Field(
        default=2_000, ge=200, le=20_000, description="Characters of the parent returned instead of a child chunk"
    )
    contextual_embeddings: bool = Field(
        default=False, description="The chat model describes each chunk's context in its document: one call per chunk"
    )
    keywords: Literal["phrases", "embeddings"] = Field(
        default="phrases",
        description="A document's keywords: its most frequent phrases, or those closest to it by the collection's "
        "embedding model",
    )
    time_to_live_hours: float | None = Field(
        default=None, gt=0, le=1_000_000, description="Hours after which a document expires; unset: never"
    )

    @field_validator("chunking")
    @classmethod
    def _installed(cls, chunking: Chunking) -> Chunking:
        try:
            check_splitter(chunking)
        except MissingExtra as exc:
            raise ValueError(str(exc)) from exc
        return chunking


class GenerationConfig(CollectionConfig):
    """Answers, configurable per service and collection."""

    chat_model: str | None = Field(
        default=None,
        description='Chat model, as "provider:model" (openai, ollama or google_genai); unset: extractive answers. '
        'For a collection: one of the service\'s models, or "extractive"',
    )
    system_prompt: str = Field(
        default="", max_length=4_000, description="Instructions that follow the built-in rules in the prompt"
    )

    @field_validator("chat_model", mode="before")
    @classmethod
    def _is_of_the_service(cls, name: object, info: ValidationInfo) -> object:
        """Check the service's own; a collection names one of these, or `extractive`."""
        return provider_and_model(name) if info.context else name

    @field_validator("system_prompt")
    @classmethod
    def _printable(cls, text: str) -> str:
        if any(unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t" for character in text):
            raise ValueError("it has control characters")
        return text


class IngestionLimits(BaseModel):
    """Limits of ingestion."""

    max_file_bytes: PositiveInt = Field(default=100_000_000, description="Maximum size of a file")
    max_documents: PositiveInt = Field(
        default=10_000, description="Maximum documents of a collection, over HTTP; the command line has no limit"
    )
    embedding_batch_size: PositiveInt = Field(default=100, description="Texts embedded per call")
    parsing: ParsingLimits = ParsingLimits()
    graph_max_calls: NonNegativeInt = Field(
        default=0,
        description="Maximum chunks per process from which the chat model extracts causal relations; 0: rules only",
    )
    spacy_pipelines: Annotated[tuple[str, ...] | None, NoDecode] = Field(
        default=None,
        description="spaCy pipelines for named entities (needs the extra `linguistics`), one per language: "
        "packages or folders, separated by commas; none: rules only; unset: the standard ones that "
        "are installed",
    )
    worker: bool = Field(default=True, description="`causeway serve` runs background jobs itself")
    worker_jobs: PositiveInt = Field(
        default=4,
        description="Concurrent background jobs per process; no owner has all of them, nor have bulk loads",
    )

    @field_validator("spacy_pipelines", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        names = tuple(filter(None, map(str.strip, value.split(","))))
        return () if names == ("none",) else names or None


READING: dict[str, Any] = {"case_sensitive": False, "env_prefix": "RAG_", "env_nested_delimiter": "__"}


class Settings(BaseModel):
    """Tree of all settings, by theme: `settings.retrieval.top_k`.

    Each name occurs in one theme only: variables, and values given by name, need no theme.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    storage: StorageConfig = Field(default_factory=StorageConfig)
    authentication: AuthenticationConfig = Field(default_factory=AuthenticationConfig)
    access: AccessLimits = Field(default_factory=AccessLimits)
    generation: GenerationConfig = Field(default_factory=GenerationConfig)
    chat: ChatConfig = Field(default_factory=ChatConfig)
    streams: StreamLimits = Field(default_factory=StreamLimits)
    retrieval: RetrievalConfig = Field(default_factory=RetrievalConfig)
    search: SearchConfig = Field(default_factory=SearchConfig)
    ingestion: IngestionConfig = Field(default_factory=IngestionConfig)
    ingestion_limits: IngestionLimits = Field(default_factory=IngestionLimits)
    load: LoadLimits = Field(default_factory=LoadLimits)
    database: DatabaseLimits = Field(default_factory=DatabaseLimits)
    evaluation: EvaluationConfig = Field(default_factory=EvaluationConfig)
    proposals: ProposalLimits = Field(default_factory=ProposalLimits)
    observability: Observation = Field(default_factory=Observation)

    @classmethod
    def themes(cls) -> dict[str, type[BaseModel]]:
        """Return the themes' classes, in the order of the reference page."""
        return {name: cast(type[BaseModel], field.annotation) for name, field in cls.model_fields.items()}

    @classmethod
    def from_environment(cls, **values: Any) -> Self:
        """Read the variables `RAG_…`, and the few with a name of their own; `values`, by name, outrank them.

        Raises InvalidSettings that names the variable, in one line.
        """
        try:
            read = {name: EnvSettingsSource(cast(Any, theme), **READING)() for name, theme in cls.themes().items()}
        except SettingsError as exc:  # of a variable that holds several settings, which the error quotes
            variable = f"{READING['env_prefix']}{str(exc).split(chr(34))[1].upper()}"
            raise InvalidSettings(f"{variable}: it is not valid JSON; set its parts one by one: {variable}__…") from exc
        return cls._of(read, values)

    def changed(self, **values: Any) -> Self:
        """Return these settings with other values, by name. Raises InvalidSettings."""
        return self._of({name: dict(getattr(self, name)) for name in self.themes()}, values)

    @classmethod
    def _of(cls, tree: dict[str, dict[str, Any]], values: Mapping[str, Any]) -> Self:
        for name, value in values.items():
            theme = next((theme for theme, model in cls.themes().items() if name in model.model_fields), "")
            if not theme:
                raise InvalidSettings(f"There is no setting {name!r}.")
            tree[theme].pop(variable_of(cls.themes()[theme], name), None)
            tree[theme][name] = value
        try:
            return cls.model_validate(tree, context={"of_the_service": True})
        except ValidationError as exc:
            first = exc.errors()[0]
            theme, name, *inner = (str(part) for part in first["loc"])
            model = cls.themes()[theme]
            name = next(field for field in model.model_fields if name in (field, variable_of(model, field)))
            message = first["msg"].removeprefix("Value error, ")
            is_secret = "SecretStr" in str(model.model_fields[name].annotation)
            given = "" if is_secret else f" (given: {first['input']!r})"
            is_nested = is_theme(model.model_fields[name].annotation)
            parts = map(str.upper, inner if is_nested else ())
            variable = READING["env_nested_delimiter"].join([variable_of(model, name), *parts])
            raise InvalidSettings(f"{variable}: {message}{given}") from exc


def is_theme(annotation: object) -> TypeGuard[type[BaseModel]]:
    """Return whether a setting holds several: `RAG_PARSING__SECONDS`."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def variable_of(theme: type[BaseModel], name: str, prefix: str = READING["env_prefix"]) -> str:
    """Return the environment variable of a setting."""
    return str(theme.model_fields[name].validation_alias or f"{prefix}{name.upper()}")
