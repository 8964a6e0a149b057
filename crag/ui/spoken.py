"""What a screen reader gets beyond the visible page: the page's name, its language, and what is happening."""

from __future__ import annotations

import json

import streamlit as st

from crag.text import language
from crag.ui import safe
from crag.ui.texts import Texts


def begin(t: Texts) -> None:
    """The heading of the page, and the region whose changes are read aloud; it stays, only its text changes."""
    _run(
        f"document.documentElement.lang = {_literal(t.language)}",
        "<h1>CRAG</h1><div id='crag-live' role='status'></div>",
    )


def say(text: str, once: str = "") -> None:
    """Puts `text` into the live region; what is said once is not repeated under the same id."""
    script = f"const live = document.getElementById('crag-live'); if (live) live.textContent = {_literal(text)}"
    _run(_once("cragSaid", once, script) if once else f"{{{script}}}")


def show_newest(turn: str) -> None:
    """Brings the newest question into view, once: Streamlit scrolls by itself only where the page is at its end."""
    script = "[...document.querySelectorAll('.crag-question')].at(-1)?.scrollIntoView({block: 'start'})"
    _run(_once("cragShown", turn, script))


def _once(name: str, value: str, script: str) -> str:
    return f"if (window.{name} !== {_literal(value)}) {{window.{name} = {_literal(value)}; {script}}}"


def in_its_language(text: str, kind: str, tag: str = "div") -> str:
    """Foreign text as an inert element that says in which language it is to be read."""
    return f"<{tag} class='crag-text {kind}' lang='{language(text)}'>{safe.in_html(text)}</{tag}>"


def _run(script: str, hidden: str = "") -> None:
    st.html(f"<div class='crag-hidden'>{hidden}</div><script>{script}</script>", unsafe_allow_javascript=True)


def _literal(text: str) -> str:
    """A string of JavaScript that cannot end the script element."""
    return json.dumps(safe.clean(text)).replace("<", "\\u003c")
