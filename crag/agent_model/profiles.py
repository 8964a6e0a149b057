"""From a spec to a pydantic-ai model with the profile that its provider needs, and how it is asked for an object."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import urlsplit

from crag.agent_model.base import ModelSpec, Provider
from crag.errors import ConfigurationError

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model
    from pydantic_ai.profiles import ModelProfile
    from pydantic_ai.profiles.openai import OpenAIModelProfile

Mode = Literal["native", "prompted"]
"""How an object is asked for: constrained by its JSON schema, or described in the prompt."""

DASHSCOPE: Final = {
    "china": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "international": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
}
OPENAI: Final = "https://api.openai.com/v1"
DEEPSEEK: Final = "https://api.deepseek.com"
OLLAMA: Final = "http://127.0.0.1:11434"
NO_KEY: Final = "none"
"""Sent where no key is set: the SDK would otherwise take one from the environment, meant for another server."""
NO_TAGS: Final = ("\x00", "\x00")
"""In place of `<think>`: pydantic-ai splits a stream at tags only where they come as chunks of their own; we do it."""
KIN: Final[dict[str, Provider]] = {"alibaba": "dashscope", "ollama": "ollama", "deepseek": "deepseek"}
"""Providers by pydantic-ai's names for them: it leaves their thinking on, and Ollama's answers without an end."""
CONNECT: Final = 10.0
"""Seconds to wait for a connection, where a call may take longer."""


@dataclass(frozen=True)
class Built:
    """A model of pydantic-ai and how to ask it."""

    model: Model
    mode: Mode
    quiet: dict[str, Any] = field(default_factory=dict)
    """Settings of every call that turn thinking off."""
    pondering: dict[str, Any] = field(default_factory=dict)
    """Settings of a call that may think first."""
    http: httpx2.AsyncClient | None = None
    """The connections, where they are ours to close."""


def address(spec: ModelSpec) -> str:
    """Up to the path of the OpenAI-compatible API; empty where pydantic-ai or a GGUF file decides."""
    match spec.provider:
        case "dashscope":
            return spec.url or DASHSCOPE["china"]
        case "deepseek":
            return spec.url or DEEPSEEK
        case "ollama":
            return f"{(spec.url or OLLAMA).rstrip('/').removesuffix('/v1')}/v1"
        case "openai":
            return spec.url or OPENAI
        case _:
            return spec.url


def build(spec: ModelSpec, url: str, key: str) -> Built:
    """The model of `spec` at `url`. Nothing is sent yet; slow the first time, since it imports the libraries.

    Raises ConfigurationError where the spec cannot be used.
    """
    if spec.provider == "pydantic-ai":
        return _named(spec)
    import httpx2
    from openai import AsyncOpenAI
    from pydantic_ai.models import create_async_httpx2_client
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    http = create_async_httpx2_client(timeout=httpx2.Timeout(spec.timeout, connect=min(CONNECT, spec.timeout)))
    client = AsyncOpenAI(base_url=url, api_key=key or NO_KEY, http_client=http, max_retries=0)
    if not is_openai(url):
        client.organization = client.project = None  # from the environment, and no business of another server
    provider = OpenAICompatibleProvider(spec.provider, openai_client=client, profile=_profile(spec, url))
    return Built(OpenAIChatModel(spec.model, provider=provider), _mode(spec, url), *_thinking(spec, url), http)


def _profile(spec: ModelSpec, url: str) -> ModelProfile:
    from pydantic_ai.profiles import merge_profile
    from pydantic_ai.providers.alibaba import AlibabaProvider
    from pydantic_ai.providers.deepseek import DeepSeekProvider
    from pydantic_ai.providers.ollama import OllamaProvider
    from pydantic_ai.providers.openai import OpenAIProvider

    profiles = {
        "dashscope": AlibabaProvider.model_profile,
        "deepseek": DeepSeekProvider.model_profile,
        "ollama": OllamaProvider.model_profile,
    }
    base = profiles.get(spec.provider, OpenAIProvider.model_profile)(spec.model)
    return merge_profile(base, _ours(spec, url))


def _mode(spec: ModelSpec, url: str) -> Mode:
    in_words = spec.provider in ("dashscope", "deepseek") or _is_ollama_cloud(spec, url)
    return "prompted" if in_words else "native"


def _ours(spec: ModelSpec, url: str) -> OpenAIModelProfile:
    """What is said of a model in place of pydantic-ai's own profile of it."""
    from pydantic_ai.profiles.openai import OpenAIModelProfile

    ours = OpenAIModelProfile(
        thinking_tags=NO_TAGS,
        openai_chat_streaming_requires_finish_reason=True,
        # One system message, in front: strict chat templates refuse more, and documents never become one.
        supports_inline_system_prompts=False,
        openai_chat_supports_multiple_system_messages=False,
    )
    if spec.provider == "pydantic-ai":
        return ours  # the rest it knows better
    ours["supports_json_schema_output"] = True
    ours["supports_json_object_output"] = spec.provider in ("dashscope", "deepseek")
    if not is_openai(url):
        # Others know `max_tokens` alone, may read `<|im_start|>` in a document as the real thing, and may use the
        # schema as a grammar without showing it to the model.
        ours["openai_chat_supports_max_completion_tokens"] = False
        ours["may_tokenize_special_tokens_in_content"] = True
        ours["native_output_requires_schema_in_instructions"] = True
    if spec.provider == "dashscope":
        ours["supports_thinking"] = True
    return ours


def _thinking(spec: ModelSpec, url: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings that turn thinking off, and those that let it be."""
    match spec.provider:
        case "dashscope":
            return {"extra_body": {"enable_thinking": False}}, {"extra_body": {"enable_thinking": True}}
        case "ollama":
            return {"openai_reasoning_effort": "none"}, {}
        case "deepseek":
            # deepseek-chat never thinks and deepseek-reasoner always does; the others ask for this field.
            if spec.model in ("deepseek-chat", "deepseek-reasoner"):
                return {}, {}
            return {"extra_body": {"thinking": {"type": "disabled"}}}, {"extra_body": {"thinking": {"type": "enabled"}}}
        case "llamacpp":
            return _template(thinking=False), _template(thinking=True)
        case _ if is_openai(url):
            return {"thinking": False}, {}
        case _:  # vLLM, LM Studio, llama.cpp; a public service may refuse a field that it does not know
            return (_template(thinking=False), _template(thinking=True)) if _is_near(url) else ({}, {})


def _template(*, thinking: bool) -> dict[str, Any]:
    return {"extra_body": {"chat_template_kwargs": {"enable_thinking": thinking}}}


def _named(spec: ModelSpec) -> Built:
    """Any model that pydantic-ai names; its key comes from that provider's own environment variable."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    try:
        model = infer_model(spec.model)
    except ImportError as error:
        package = (error.name or "").split(".")[0]
        raise ConfigurationError(
            f"The model {spec.model} needs a package that is not installed: run `pip install "
            f'"pydantic-ai-slim[{spec.model.partition(":")[0]}]"`' + (f" ({package} is missing)." if package else ".")
        ) from None
    except UserError as error:
        unknown = "unknown" in str(error).lower()
        mend = "write it as `provider:model`" if unknown else "set the key in that provider's own environment variable"
        raise ConfigurationError(f"pydantic-ai cannot make the model {spec.model}: {mend}.") from None
    return _as_ours(spec, model)


def _as_ours(spec: ModelSpec, model: Model) -> Built:
    """`model`, asked as its kin of ours is where it has one; else with what holds for every chat model."""
    from pydantic_ai.models.openai import OpenAIChatModel

    quiet, pondering, native = {"thinking": False}, dict[str, Any](), None
    if isinstance(model, OpenAIChatModel) and model.provider is not None:
        kin = KIN.get(spec.model.partition(":")[0])
        like, url = replace(spec, provider=kin or spec.provider, model=model.model_name), model.provider.base_url
        model = type(model)(model.model_name, provider=model.provider, profile=_ours(like, url))
        if kin is not None:
            quiet, pondering = _thinking(like, url)
            native = _mode(like, url) == "native"
    if native is None:
        native = model.profile.get("supports_json_schema_output", False)
    once = {"max_retries": 0}
    return Built(model, "native" if native else "prompted", {**quiet, **once}, {**pondering, **once})


def is_openai(url: str) -> bool:
    """Whether it is OpenAI's own service, and not another that speaks its language."""
    return (urlsplit(url).hostname or "") == "api.openai.com"


def _is_ollama_cloud(spec: ModelSpec, url: str) -> bool:
    """Ollama's cloud accepts a schema and does not keep to it (ollama/ollama#12362)."""
    host = urlsplit(url).hostname or ""
    return spec.provider == "ollama" and (spec.model.endswith("-cloud") or f".{host}".endswith(".ollama.com"))


def _is_near(url: str) -> bool:
    """Whether the server is on this machine or in its own network."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal"))
