"""Settings: every CRAG_* variable with its default, range and help, once. Read by the entries and by assembly."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from crag.errors import ConfigurationError
from crag.schema import Thresholds

ROOT = Path(__file__).resolve().parent


def _cache_home() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "crag"


class Settings(BaseSettings):
    """A frozen set of options. Unknown CRAG_* variables are ignored; a bad value is named with its range."""

    model_config = SettingsConfigDict(env_prefix="CRAG_", frozen=True, extra="ignore")

    files_dir: Path = Field(ROOT / "Files", description="Folder with your PDFs (subfolders included).")
    chroma_dir: Path = Field(ROOT / "chroma_db", description="Folder of the index: vectors, lexical index, catalog.")
    data_dir: Path = Field(ROOT / ".crag", description="Folder of your own things: corrected grades, calibrations.")
    cache_dir: Path = Field(
        default_factory=_cache_home,
        description="Folder of the converted embedding model and of what OCR read (at most 500 MB).",
    )

    embedding_provider: Literal["embedded"] = Field("embedded", description="Who makes the vectors.")
    llm_provider: Literal["embedded"] = Field("embedded", description="Who writes the answer: `embedded` quotes.")
    evaluator: Literal["lightweight", "cross-encoder"] = Field(
        "lightweight", description="Who grades documents and strips."
    )
    grader_model: str = Field(
        "",
        description="Model of the cross-encoder that grades.",
        json_schema_extra={"range": "a folder or hub name"},
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

    web: Literal["off", "auto"] = Field(
        "auto", description="Whether the web is searched where your documents do not suffice; needs a provider."
    )
    web_results: Annotated[int, Field(ge=1, le=20)] = Field(5, description="Results asked for per web search.")
    tavily_api_key: SecretStr = Field(
        SecretStr(""), validation_alias="tavily_api_key", description="Key for Tavily; used with its provider alone."
    )
    tavily_url: str = Field("https://api.tavily.com", description="Address of Tavily's service.")
    web_provider: Literal["none", "tavily"] = Field(
        "none", description="Who searches the web: the query leaves this machine."
    )

    watch: Literal["off", "on"] = Field(
        "off", description="Whether the page looks for changes in the folder of PDFs, and offers a build."
    )
    parse_timeout: Annotated[float, Field(gt=0, le=3600)] = Field(
        20.0, description="Seconds that reading a page of a PDF may take before the page is left out."
    )
    ocr: Literal["off", "auto", "force"] = Field(
        "auto", description="Pages read from their pictures: none, those without usable text, or all."
    )
    max_upload_mb: Annotated[int, Field(ge=1, le=2000)] = Field(200, description="Largest PDF that can be uploaded.")
    threads: Annotated[int, Field(ge=0, le=64)] = Field(0, description="Threads of the embedding engine; 0: all cores.")
    language: Literal["auto", "en", "zh"] = Field("auto", description="Language of the page; `auto`: the browser's.")

    @field_validator("tavily_url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        if not re.fullmatch(r"https?://[^\s/@]+(/\S*)?", url):
            raise ValueError("this is no address that begins with https:// or http://")
        return url

    @field_validator("web_provider")
    @classmethod
    def _has_its_key(cls, provider: str, info: ValidationInfo) -> str:
        key = info.data.get("tavily_api_key")
        if provider == "tavily" and not (key and key.get_secret_value().strip()):
            raise ValueError("tavily needs a key, set TAVILY_API_KEY")
        return provider

    @model_validator(mode="after")
    def _thresholds_are_ordered(self) -> Settings:
        self.thresholds  # noqa: B018 - raises where lower > upper
        return self

    @property
    def thresholds(self) -> Thresholds:
        return Thresholds(upper=self.upper, lower=self.lower, strip=self.strip_threshold, top_strips=self.top_strips)


def load_settings(**overrides: object) -> Settings:
    """Settings from the environment and `overrides`. Raises ConfigurationError naming variable and mend."""
    try:
        return Settings(**overrides)  # type: ignore[arg-type]
    except ValidationError as error:
        first = error.errors()[0]
        name = "CRAG_" + "_".join(str(part) for part in first["loc"]).upper() if first["loc"] else "The thresholds"
        what = first["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"{name}: {what}. Correct it or leave it unset for the default.") from None
