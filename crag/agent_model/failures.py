"""Why a model could not be asked, as a sentence for the user with its mend; and which failures pass by themselves.

The text of a foreign error is read here and never shown: it may hold the key, or what a document told the server.
"""

from __future__ import annotations

import random
from typing import Final
from urllib.parse import urlsplit

from crag.agent_model.base import ModelSpec
from crag.agent_model.profiles import address
from crag.errors import ModelError

LONGEST_WAIT: Final = 20.0
"""Seconds for which a server that asks for patience is waited for; where it asks for more, the user is told."""
FIRST_WAIT: Final = 0.5
"""Seconds before the first repetition; each further one waits twice as long."""
PASSING: Final = frozenset({408, 409, 429})
"""Statuses, besides those from 500 on, after which the same request may succeed."""
TOO_LONG: Final = (
    "context_length_exceeded",
    "exceed_context_size",
    "context size",
    "context window",
    "context length",
    "range of input length",
    "prompt is too long",
    "too many tokens",
    "reduce the length",
)
NO_MONEY: Final = ("arrearage", "insufficient balance", "insufficient_quota", "allocationquota", "freetieronly")
REFUSED_TEXT: Final = ("data_inspection_failed", "content_filter", "datainspectionfailed")

STOPPED: Final = "It was stopped before it was complete."
LENGTH: Final = "The answer reached the most tokens that it may have (CRAG_LLM_MAX_TOKENS)."
FILTERED: Final = "The server's content filter ended the answer."
ONLY_THOUGHT: Final = "The model thought, and wrote no answer."

_SERVERS: Final = {"dashscope": "DashScope", "ollama": "Ollama", "deepseek": "DeepSeek", "llamacpp": "llama.cpp"}
_KEYS: Final = {"dashscope": "DASHSCOPE_API_KEY", "openai": "OPENAI_API_KEY", "deepseek": "DEEPSEEK_API_KEY"}
_ADDRESSES: Final = {
    "dashscope": "CRAG_DASHSCOPE_URL",
    "ollama": "CRAG_OLLAMA_URL",
    "openai": "OPENAI_API_BASE",
    "deepseek": "CRAG_DEEPSEEK_URL",
}


def explained(error: BaseException, spec: ModelSpec) -> ModelError:
    """What the user reads of a call that failed, with its kind."""
    kind, text = _explained(error, spec)
    return ModelError(text, kind)


def _explained(error: BaseException, spec: ModelSpec) -> tuple[str, str]:
    from pydantic_ai import exceptions as ai

    server, said, status = server_of(spec), _said(error), _status(error)
    match error:
        case _ if is_too_long(error):
            return "too long", (
                f"The prompt is longer than the window of the model {spec.model}: lower CRAG_TOP_STRIPS or CRAG_K, or "
                "give the model a larger window."
            )
        case _ if isinstance(error, ai.ModelQuotaExceededError) or (status and any(w in said for w in NO_MONEY)):
            return "quota", f"{server} says that its quota or credit is used up: top it up, or choose another model."
        case _ if status and any(word in said for word in REFUSED_TEXT):
            return "refused", f"{server} refused the text by its content filter: ask in other words."
        case ai.ModelAuthenticationError():
            return "key", _key_refused(spec, server)
        case ai.ModelNotFoundError():
            return "missing", missing(spec)
        case ai.ModelRateLimitError():
            return "busy", f"{server} gets too many requests: {_when(error)}, or lower CRAG_LLM_CONCURRENCY."
        case TimeoutError() | ai.ModelTimeoutError() | ai.ModelRequestTimeout():
            seconds = f"{spec.timeout:g} seconds"
            return "silent", f"{server} gave no answer within {seconds}: raise CRAG_LLM_TIMEOUT, or try again."
        case ai.ModelConnectionError():
            return "unreachable", _not_reached(spec, server)
        case ai.ModelOverloadedError() | ai.ModelUnavailableError():
            return "busy", f"{server} is overloaded or not ready: {_when(error)}."
        case ai.ModelHTTPError() if status is not None and (status >= 500 or status in PASSING):
            return "other", f"{server} failed with status {status}: try again later, or see what it logs."
        case ai.ModelHTTPError():
            return "refused", f"{server} refused the request with status {status}: check {_what_to_check(spec)}."
        case ai.ModelAPIError():
            return "other", f"{server} broke off with an error: try again."
        case ai.UnexpectedModelBehavior():
            return "other", f"{server} sent what is no answer of a model: check {_what_to_check(spec)}."
    return "other", f"The model {spec.model} could not be asked ({type(error).__name__}): check {_what_to_check(spec)}."


def cut(error: BaseException, spec: ModelSpec) -> str:
    """Why a stream ended early, for the user."""
    from pydantic_ai import exceptions as ai

    if isinstance(error, TimeoutError | ai.ModelTimeoutError):
        return f"The model kept silent for {spec.timeout:g} seconds, so the answer ends here: ask again."
    if isinstance(error, ai.ModelConnectionError):
        return "The connection to the model was lost: ask again."
    if _unfinished(error):
        return "The model's answer ended without its end mark, so it may be incomplete: ask again."
    return f"The answer ends here. {explained(error, spec)}"


def pause(error: BaseException, again: int) -> float | None:
    """Seconds to wait before repetition number `again` (from 0) of a call that failed; None: it is not repeated."""
    from pydantic_ai import exceptions as ai

    if isinstance(error, ai.ModelQuotaExceededError | ai.ModelTimeoutError) or not isinstance(error, ai.ModelAPIError):
        return None
    status = _status(error)
    lost = isinstance(error, ai.ModelConnectionError | ai.ModelServerError | ai.ModelUnavailableError)
    if not (lost or _unfinished(error) or status in PASSING or (status or 0) >= 500):
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= LONGEST_WAIT else None
    return min(8.0, FIRST_WAIT * 2.0**again) * random.uniform(0.75, 1.0)  # noqa: S311 - spreads load, hides nothing


def is_too_long(error: BaseException) -> bool:
    """Whether the server refused the prompt for its length."""
    from pydantic_ai import exceptions as ai

    if isinstance(error, ai.ModelContextWindowExceededError):
        return True
    return _status(error) in (400, 413, 422) and any(word in _said(error) for word in TOO_LONG)


def refuses(error: BaseException) -> str | None:
    """What the server says when it refuses a request for another reason than its length, lower case; else None."""
    refused = _status(error) in (400, 422, 501) and not is_too_long(error)
    return _said(error) if refused and not any(word in _said(error) for word in (*NO_MONEY, *REFUSED_TEXT)) else None


def server_of(spec: ModelSpec) -> str:
    """`Ollama at http://127.0.0.1:11434`: who was asked."""
    parts = urlsplit(address(spec))
    name = _SERVERS.get(spec.provider, "The server" if parts.netloc else f"The provider of {spec.model}")
    return f"{name} at {parts.scheme}://{parts.netloc}" if parts.netloc else name


def missing(spec: ModelSpec, known: tuple[str, ...] = ()) -> str:
    """The server has no such model; `known` are those that it has."""
    if spec.provider == "ollama":
        return f"{server_of(spec)} has no model {spec.model}: run `ollama pull {spec.model}`."
    has = f" It has {', '.join(known[:5])}." if known else ""
    return f"{server_of(spec)} has no model {spec.model}: correct its name, or the address.{has}"


def _key_refused(spec: ModelSpec, server: str) -> str:
    mend = f"set {_KEYS[spec.provider]} to a valid one" if spec.provider in _KEYS else "check its key"
    if spec.provider == "dashscope" and not spec.url.startswith("http://"):
        mend += ", and CRAG_DASHSCOPE_REGION to the region that it is for"
    return f"{server} refused the key: {mend}."


def _not_reached(spec: ModelSpec, server: str) -> str:
    if spec.provider == "ollama":
        return f"{server} cannot be reached: start it (`ollama serve`), or correct CRAG_OLLAMA_URL."
    mend = f", or correct {_ADDRESSES[spec.provider]}" if spec.provider in _ADDRESSES else ""
    return f"{server} cannot be reached: see that it runs and that the network allows it{mend}."


def _when(error: BaseException) -> str:
    seconds = getattr(error, "retry_after", None)
    return f"try again in {max(1, round(seconds))} seconds" if seconds is not None else "try again in a minute"


def _what_to_check(spec: ModelSpec) -> str:
    if spec.provider == "openai":
        return "OPENAI_API_BASE (it usually ends in /v1) and CRAG_LLM_MODEL"
    return f"{_ADDRESSES[spec.provider]} and CRAG_LLM_MODEL" if spec.provider in _ADDRESSES else "CRAG_LLM_MODEL"


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _unfinished(error: BaseException) -> bool:
    return "finish_reason" in str(error) and not _status(error)


def _said(error: BaseException) -> str:
    """The server's own words, lower case; to look into, never to show."""
    return f"{getattr(error, 'body', '')} {getattr(error, 'provider_error_code', '')} {error}".lower()
