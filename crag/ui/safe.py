"""Text of documents, answers and file names made inert: as HTML, and as the Markdown of labels and messages."""

from __future__ import annotations

import html
import re

WORD_JOINER = "\u2060"
"""Invisible, breaks no line: what stands before it no longer reads as `https:`, `:material/…:` or `www.`."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_READ_AFTER_PARSING = re.compile(r"(?<=[:@])(?=\\?[\w/+-])|(?<=www)(?=\\\.)", re.IGNORECASE)
"""Before a word or a slash; a colon at the end of a phrase needs nothing."""


def clean(text: str) -> str:
    """Without control characters, direction overrides (they reorder what is read) and lone surrogates."""
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def in_html(text: str) -> str:
    """For the inside of an element or of a quoted attribute: nothing in it can be markup."""
    return html.escape(clean(text), quote=True)


def of_document(text: str) -> str:
    """Text of a passage or strip, as HTML: a pipe in the cell of a table is written as it is on the page."""
    return in_html(text.replace("\\|", "|"))


def link(url: str, text: str) -> str:
    """`text` as HTML, linked to `url` where that is http or https; it opens apart and tells nothing of this page."""
    if not re.match(r"https?://", url, re.IGNORECASE):
        return in_html(text)
    there = in_html(url)
    apart = "target='_blank' rel='noopener noreferrer nofollow'"
    return f"<a class='crag-link' href='{there}' title='{there}' {apart}>{in_html(text)}</a>"


def in_markdown(text: str) -> str:
    """For one line of Streamlit's Markdown: every sign shows as itself.

    Backslashes stop Markdown, LaTeX, HTML and directives such as `:red[…]`; what Streamlit replaces after parsing
    (bare addresses, `:material/…:`, emoji codes) is broken up by word joiners.
    """
    escaped = _PUNCTUATION.sub(r"\\\1", " ".join(clean(text).split()))
    return _READ_AFTER_PARSING.sub(WORD_JOINER, escaped)
