"""Settings: every CRAG_* variable with its default, range and help, once. Read by the entries and by assembly."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from crag.errors import ConfigurationError
from crag.schema import Thresholds

ROOT = Path(__file__).resolve().parent

LlmProvider = Literal["embedded", "dashscope", "ollama", "openai", "deepseek", "llamacpp", "pydantic-ai"]
WebProvider = Literal[
    "none", "tavily", "duckduckgo", "brave", "exa", "serper", "serpapi", "google", "firecrawl", "searxng"
]


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crag"


def _web_key(name: str, service: str) -> Any:
    return Field(
        SecretStr(""),
        validation_alias=f"{name}_api_key",
        description=f"Key for {service}; used with its provider alone.",
    )


class Unfit(ValueError):
    """A value that cannot be used; the text names the variable. `code` says what is wrong with the setting `name`
    (empty: the one that is validated), `values` what the sentence about it needs."""

    def __init__(self, code: str, name: str, text: str, **values: str) -> None:
        super().__init__(text)
        self.code, self.name, self.values = code, name, values


class Settings(BaseSettings):
    """A frozen set of options. Unknown CRAG_* variables are ignored; a bad value is named with its range."""

    model_config = SettingsConfigDict(env_prefix="CRAG_", frozen=True, extra="ignore")

    files_dir: Path = Field(ROOT / "Files", description="Folder with your PDFs (subfolders included).")
    chroma_dir: Path = Field(ROOT / "chroma_db", description="Folder of the index: vectors, lexical index, catalog.")
    data_dir: Path = Field(
        ROOT / ".crag", description="Folder of your own things: conversations, corrected grades, calibrations."
    )
    cache_dir: Path = Field(
        default_factory=_cache_home,
        description="Folder of the converted embedding model and of what OCR read (at most 500 MB).",
    )

    llm_provider: LlmProvider = Field(
        "embedded", description="Who writes the answer; `embedded` quotes and needs no model."
    )
    llm_model: str = Field(
        "",
        description="Model that writes the answer; empty: qwen3-max for dashscope, deepseek-chat for deepseek, "
        "CRAG_OLLAMA_LLM for ollama.",
        json_schema_extra={"range": "its name; a GGUF file for llamacpp; `provider:model` for pydantic-ai"},
    )
    evaluator: Literal["lightweight", "llm", "cross-encoder"] = Field(
        "lightweight", description="Who grades documents and strips."
    )
    grader_provider: Literal["", "dashscope", "ollama", "openai", "deepseek", "llamacpp", "pydantic-ai"] = Field(
        "", description="Whose model grades where the evaluator is `llm`; empty: CRAG_LLM_PROVIDER."
    )
    grader_model: str = Field(
        "",
        description="Model that grades: of the evaluator `llm` (empty: the one that writes) or `cross-encoder`.",
        json_schema_extra={"range": "its name; a folder or hub name for cross-encoder"},
    )
    dashscope_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias=AliasChoices("dashscope_api_key", "dash_api_key"),
        description="Key for DashScope; `DASH_API_KEY` is read as well. Used with its provider alone.",
    )
    dashscope_region: Literal["china", "international"] = Field(
        "china", description="Which of DashScope's two services your key is for."
    )
    dashscope_url: str = Field("", description="Another address of DashScope, up to `/compatible-mode/v1`.")
    ollama_url: str = Field("http://127.0.0.1:11434", description="Address of Ollama's server.")
    ollama_llm: str = Field(
        "qwen3:4b",
        description="Ollama's model that writes or grades where none is named.",
        json_schema_extra={"range": "its name"},
    )
    ollama_embed: str = Field(
        "nomic-embed-text", description="Ollama's model for the vectors.", json_schema_extra={"range": "its name"}
    )
    openai_api_key: SecretStr = Field(
        SecretStr(""), validation_alias="openai_api_key", description="Key for an OpenAI-compatible server, if it asks."
    )
    openai_api_base: str = Field(
        "https://api.openai.com/v1",
        validation_alias="openai_api_base",
        description="Address of any OpenAI-compatible server (vLLM, LM Studio, llama.cpp, OpenAI).",
    )
    deepseek_api_key: SecretStr = Field(
        SecretStr(""),
        validation_alias="deepseek_api_key",
        description="Key for DeepSeek; used with its provider alone.",
    )
    deepseek_url: str = Field("https://api.deepseek.com", description="Address of DeepSeek.")
    llm_thinking: Literal["off", "on"] = Field(
        "off", description="Whether a model that can think first does so before it writes; it never does to grade."
    )
    llm_max_tokens: Annotated[int, Field(ge=16, le=100_000)] = Field(
        1500, description="At most so many tokens of an answer; a longer one is cut, and marked as cut."
    )
    llm_context: Annotated[int, Field(ge=0, le=10_000_000)] = Field(
        0, description="Tokens that fit into the model's window; 0: as the server says or as is known of it, else 8192."
    )
    llm_timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        60.0, description="Seconds that one call of a model may take, or keep silent while it streams."
    )
    llm_retries: Annotated[int, Field(ge=0, le=10)] = Field(
        2, description="So often a call that failed for a passing reason is repeated."
    )
    llm_concurrency: Annotated[int, Field(ge=1, le=256)] = Field(
        16, description="Calls of one provider that run at the same time, over all questions."
    )
    price_in: Annotated[float, Field(ge=0, le=1e6)] = Field(
        0.0, description="What a million tokens cost that the model reads, for the costs that are shown; 0: unknown."
    )
    price_out: Annotated[float, Field(ge=0, le=1e6)] = Field(0.0, description="... that the model writes.")
    embedding_price: Annotated[float, Field(ge=0, le=1e6)] = Field(
        0.0, description="... that an embedding service reads."
    )
    currency: str = Field("USD", max_length=8, description="What these prices are in.")
    history_turns: Annotated[int, Field(ge=0, le=50)] = Field(
        6, description="Earlier questions and answers that a model sees to understand a follow-up."
    )
    hyde: Literal["off", "on"] = Field(
        "off", description="Whether a model drafts an answer that is searched for beside the question (HyDE)."
    )

    embedding_provider: Literal["embedded", "ollama", "dashscope", "openai"] = Field(
        "embedded", description="Who makes the vectors; another choice needs a rebuild."
    )
    embedding_model: str = Field(
        "",
        description="Model that makes them; empty: text-embedding-v4 for dashscope, text-embedding-3-small for openai, "
        "CRAG_OLLAMA_EMBED for ollama.",
        json_schema_extra={"range": "its name"},
    )
    embedding_dimension: Annotated[int, Field(ge=0, le=4096)] = Field(
        0, description="Numbers per vector where the model offers a choice; 0: its own."
    )

    k: Annotated[int, Field(ge=1, le=50)] = Field(8, description="Documents retrieved and graded per question.")
    fusion_constant: Annotated[int, Field(ge=1, le=1000)] = Field(
        60, description="Constant of reciprocal rank fusion: larger flattens the ranks."
    )
    upper: Annotated[float, Field(ge=0, le=1)] = Field(0.7, description="A score from here on is relevant.")
    lower: Annotated[float, Field(ge=0, le=1)] = Field(0.3, description="A score below is irrelevant.")
    strip_threshold: Annotated[float, Field(ge=0, le=1)] = Field(0.5, description="A strip is kept from here on.")
    top_strips: Annotated[int, Field(ge=1, le=100)] = Field(
        8, description="At most so many strips are kept, of the files and of the web each."
    )
    quotes: Annotated[int, Field(ge=1, le=20)] = Field(3, description="At most so many strips are quoted.")

    web: Literal["off", "ask", "auto"] = Field(
        "auto",
        description="Whether the web is searched where your documents do not suffice: never, after you have seen the "
        "query, or at once; needs a provider.",
    )
    web_provider: WebProvider = Field("none", description="Who searches the web: the query leaves this machine.")
    web_results: Annotated[int, Field(ge=1, le=20)] = Field(5, description="Results asked for per web search.")
    web_url: str = Field(
        "", description="Another address of the provider's service; for searxng the one of your instance."
    )
    tavily_api_key: SecretStr = _web_key("tavily", "Tavily")
    tavily_url: str = Field("https://api.tavily.com", description="Address of Tavily's service.")
    brave_api_key: SecretStr = _web_key("brave", "Brave Search")
    exa_api_key: SecretStr = _web_key("exa", "Exa")
    serper_api_key: SecretStr = _web_key("serper", "Serper")
    serpapi_api_key: SecretStr = _web_key("serpapi", "SerpAPI")
    google_api_key: SecretStr = _web_key("google", "Google's Programmable Search")
    google_cse_id: str = Field(
        "", validation_alias="google_cse_id", description="Id of your search engine at Google's Programmable Search."
    )
    firecrawl_api_key: SecretStr = _web_key("firecrawl", "Firecrawl")
    web_depth: Literal["basic", "advanced"] = Field(
        "basic", description="How deep Tavily searches; advanced costs more."
    )
    web_topic: Literal["general", "news", "finance"] = Field("general", description="What Tavily searches in.")
    web_raw_content: Literal["off", "on"] = Field(
        "off",
        description="Whether Tavily gives the text of each page, of which the first 4000 characters are used, in "
        "place of extracts.",
    )
    web_time_range: Literal["any", "day", "week", "month", "year"] = Field(
        "any", description="How old results may be; a question for what is new sets it by itself."
    )
    web_prefer_domains: str = Field(
        "wikipedia.org",
        description="Sites whose results come first, with commas between them.",
        json_schema_extra={"range": "sites"},
    )
    web_allow_domains: str = Field(
        "", description="The only sites that are used; empty: all.", json_schema_extra={"range": "sites"}
    )
    web_deny_domains: str = Field("", description="Sites that are never used.", json_schema_extra={"range": "sites"})
    web_pages: Literal["off", "on"] = Field(
        "on", description="Whether pages are fetched where a provider gives no text of them."
    )
    web_cache_hours: Annotated[float, Field(ge=0, le=24 * 365)] = Field(
        24.0, description="Hours for which the results of a query are kept and used again; 0: not kept."
    )
    web_daily_searches: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        0, description="At most so many searches a day; 0: no limit."
    )
    web_price: Annotated[float, Field(ge=0, le=1e6)] = Field(
        0.0, description="What a search costs, in CRAG_CURRENCY, for the costs that are shown."
    )

    watch: Literal["off", "on"] = Field(
        "off", description="Whether the page looks for changes in the folder of PDFs, and offers a build."
    )
    parse_timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        20.0, description="Seconds that reading a page of a PDF may take before the page is left out."
    )
    parser: Literal["builtin", "mineru"] = Field(
        "builtin", description="Who reads the PDFs; `mineru` sends each to your MinerU service (version 3)."
    )
    mineru_url: str = Field("", description="Address of your MinerU service; needed where it is the parser.")
    mineru_timeout: Annotated[float, Field(gt=0, le=86_400)] = Field(
        600.0, description="Seconds that MinerU may take for a file before the built-in parser reads it."
    )
    ocr: Literal["off", "auto", "force"] = Field(
        "auto", description="Pages read from their pictures: none, those without usable text, or all."
    )
    max_upload_mb: Annotated[int, Field(ge=1, le=2000)] = Field(200, description="Largest PDF that can be uploaded.")
    threads: Annotated[int, Field(ge=0, le=64)] = Field(0, description="Threads of the embedding engine; 0: all cores.")
    language: Literal["auto", "en", "zh"] = Field("auto", description="Language of the page; `auto`: the browser's.")

    @field_validator(
        "tavily_url", "dashscope_url", "ollama_url", "openai_api_base", "deepseek_url", "web_url", "mineru_url"
    )
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        """Paths are added to it; a name, a password or a key in it would be shown wherever the address is."""
        if url and not re.fullmatch(r"https?://[^\s/@?#]+(/[^\s?#]*)?", url):
            told = "this is no address that begins with https:// or http:// and has neither @ nor ? nor # in it"
            raise Unfit("address", "", told)
        return url.rstrip("/")

    @model_validator(mode="after")
    def _providers_have_what_they_need(self) -> Settings:
        for name, provider in (
            ("llm_provider", self.llm_provider),
            ("grader_provider", self._grading_provider()),
            ("embedding_provider", self.embedding_provider),
        ):
            if provider in ("dashscope", "deepseek") and not self._key(f"{provider}_api_key"):
                raise _lacks_key(name, provider)
        for name, provider, model in (
            ("llm_model", self.llm_provider, self.llm_model),
            ("grader_model", self._grading_provider(), self.grader_model or self.llm_model),
        ):
            if provider in ("openai", "llamacpp", "pydantic-ai") and not model:
                text = f"CRAG_{name.upper()}: {provider} needs the name of a model, set it"
                raise Unfit("needs_model", name.replace("model", "provider"), text, provider=provider)
        if self.evaluator == "llm" and self._grading_provider() == "embedded":
            text = "CRAG_EVALUATOR: llm needs a model, set CRAG_GRADER_PROVIDER or CRAG_LLM_PROVIDER"
            raise Unfit("needs_judge", "evaluator", text)
        if self.hyde == "on" and self.llm_provider == "embedded":
            raise Unfit("needs_drafter", "hyde", "CRAG_HYDE: it needs a model that drafts, set CRAG_LLM_PROVIDER")
        return self

    @model_validator(mode="after")
    def _web_provider_has_what_it_needs(self) -> Settings:
        name = f"{self.web_provider}_api_key"
        if name in type(self).model_fields and not self._key(name):
            raise _lacks_key("web_provider", self.web_provider)
        if self.web_provider == "google" and not self.google_cse_id:
            text = "CRAG_WEB_PROVIDER: google needs the id of your search engine, set GOOGLE_CSE_ID"
            raise Unfit("needs_engine", "web_provider", text)
        if self.web_provider == "searxng" and not self.web_url:
            text = "CRAG_WEB_PROVIDER: searxng needs the address of your instance, set CRAG_WEB_URL"
            raise Unfit("needs_instance", "web_provider", text)
        return self

    @model_validator(mode="after")
    def _mineru_has_an_address(self) -> Settings:
        if self.parser == "mineru" and not self.mineru_url:
            text = "CRAG_PARSER: mineru needs the address of your service, set CRAG_MINERU_URL"
            raise Unfit("needs_service", "parser", text)
        return self

    def _grading_provider(self) -> str:
        """Whose model grades; empty where none does."""
        return (self.grader_provider or self.llm_provider) if self.evaluator == "llm" else ""

    def _key(self, name: str) -> str:
        key: SecretStr = getattr(self, name)
        return key.get_secret_value().strip()

    @model_validator(mode="after")
    def _thresholds_are_ordered(self) -> Settings:
        self.thresholds  # noqa: B018 - raises where lower > upper
        return self

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(upper=self.upper, lower=self.lower, strip=self.strip_threshold, top_strips=self.top_strips)


def _lacks_key(name: str, provider: str) -> Unfit:
    text = f"CRAG_{name.upper()}: {provider} needs a key, set {provider.upper()}_API_KEY"
    return Unfit("needs_key", name, text, provider=provider)


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment and `overrides`. Raises ConfigurationError naming variable and mend."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        what = first["msg"].removeprefix("Value error, ")
        if first["loc"]:
            what = f"CRAG_{'_'.join(str(part) for part in first['loc']).upper()}: {what}"
        elif not what.startswith("CRAG_"):  # what Thresholds refuses
            what = f"The thresholds: {what}"
        raise ConfigurationError(f"{what}. Correct it or leave it unset for the default.") from None
