"""The settings that a turn is kept with: those that make its answer what it is, and never a key or an address."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from pydantic import ValidationError, create_model

from config import Settings

log = logging.getLogger(__name__)

PER_TURN: Final = (
    *("llm_provider", "llm_model", "ollama_llm", "llm_thinking", "llm_max_tokens", "llm_context"),
    *("evaluator", "grader_provider", "grader_model", "history_turns", "hyde"),
    *("k", "fusion_constant", "upper", "lower", "strip_threshold", "top_strips", "quotes"),
    *("web", "web_provider", "web_results", "web_depth", "web_topic", "web_raw_content"),
    *("web_time_range", "web_pages"),
    *("web_prefer_domains", "web_allow_domains", "web_deny_domains"),
)

FREEDOM: Final = ("off", "ask", "auto")
"""How freely the web is searched, by CRAG_WEB."""

_FIELDS: Any = {name: (Settings.model_fields[name].annotation, Settings.model_fields[name]) for name in PER_TURN}
_Kept = create_model("_Kept", **_FIELDS)


def kept(settings: Settings) -> dict[str, Any]:
    """Those of `PER_TURN`, as JSON takes them."""
    return settings.model_dump(mode="json", include=set(PER_TURN))


def under(present: Settings, found: Mapping[str, Any]) -> Settings:
    """`present` with what was kept of a turn. What is not known, or no longer valid, stays as it is now; the web is
    asked no more freely than now."""
    known = {name: found[name] for name in PER_TURN if name in found}
    try:
        fits = _Kept.model_validate(known)
    except ValidationError as error:
        wrong = {str(problem["loc"][0]) for problem in error.errors()}
        log.warning("kept settings are not used: %s", ", ".join(sorted(wrong)))
        known = {name: value for name, value in known.items() if name not in wrong}
        fits = _Kept.model_validate(known)
    changed = {name: getattr(fits, name) for name in known}
    changed["web"] = min(changed.get("web", present.web), present.web, key=FREEDOM.index)
    if changed.get("lower", present.lower) > changed.get("upper", present.upper):
        changed = {name: value for name, value in changed.items() if name not in ("lower", "upper")}
    return present.model_copy(update=changed)
