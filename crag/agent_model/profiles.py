"""From a spec to a pydantic-ai model with the profile that its provider needs, and how it is asked for an object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from crag.agent_model.base import ModelSpec

if TYPE_CHECKING:
    from pydantic_ai.models import Model

Mode = Literal["native", "prompted", "tool"]
"""How an object is asked for: constrained by its JSON schema, described in the prompt, or as a tool call."""

DASHSCOPE = {
    "china": "https://dashscope.aliyuncs.com/compatible-mode/v1",
    "international": "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
}


@dataclass(frozen=True)
class Built:
    """A model of pydantic-ai and how to ask it."""

    model: Model
    mode: Mode
    settings: dict[str, Any]
    """Sent with every call, besides what the call itself sets."""


def build(spec: ModelSpec) -> Built:
    """The model of `spec`. Nothing is sent yet. Raises ConfigurationError where the spec cannot be used."""
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    key = spec.key.get_secret_value() or None
    profile = OpenAIModelProfile(
        default_structured_output_mode="native",
        supports_json_schema_output=True,
        native_output_requires_schema_in_instructions=True,
        supports_inline_system_prompts=False,
        openai_chat_supports_multiple_system_messages=False,
        openai_chat_supports_max_completion_tokens=False,
    )
    provider = OpenAICompatibleProvider(spec.provider, base_url=spec.url, api_key=key)
    return Built(OpenAIChatModel(spec.model, provider=provider, profile=profile), "native", {})
