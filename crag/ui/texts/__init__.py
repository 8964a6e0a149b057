"""Every text of the page, in English and Chinese; `one|many` is chosen by `n`. One module for each area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from crag.ui.texts import (
    asking,
    compare,
    conversation,
    conversations,
    evaluate,
    evidence,
    export,
    knowledge,
    models,
    options,
    replay,
    revision,
    settings,
)

LANGUAGES: Final = ("en", "zh")

CATALOG: Final[dict[str, tuple[str, str]]] = {
    **asking.TEXTS,
    **compare.TEXTS,
    **conversation.TEXTS,
    **conversations.TEXTS,
    **evaluate.TEXTS,
    **evidence.TEXTS,
    **export.TEXTS,
    **knowledge.TEXTS,
    **models.TEXTS,
    **options.TEXTS,
    **replay.TEXTS,
    **revision.TEXTS,
    **settings.TEXTS,
}


@dataclass(frozen=True)
class Texts:
    """The catalog in one language: `Texts("en")("stop")`."""

    language: str
    locale: str = ""
    """The browser's, `en-GB` say: how dates are written; empty: as usual in the language."""
    zone: str = ""
    """The person's time zone, `Europe/Vienna` say; empty: UTC."""

    def __call__(self, key: str, /, **values: object) -> str:
        """The text with `values` filled in, unescaped. Raises KeyError for an unknown key."""
        text = CATALOG[key][LANGUAGES.index(self.language)]
        if "|" in text:
            one, many = text.split("|")
            text = one if values.get("n") == 1 else many
        return text.format(**values) if values else text


def language_of(setting: str, locale: str | None) -> str:
    """The page's language: the setting, or with `auto` the browser's, English where it is neither."""
    if setting in LANGUAGES:
        return setting
    return "zh" if (locale or "").lower().startswith("zh") else "en"
