"""What the model was given that wrote the answer: byte for byte as it was sent, coloured by where each part is from."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from crag.agent_model.tokens import count
from crag.schema import Origin, Trace
from crag.ui import safe
from crag.ui.clicks import copy_button
from crag.ui.texts import Texts

ROLES = ("system", "user")


def draw(trace: Trace, t: Texts) -> None:
    """Nothing where no model was asked to write."""
    if not trace.sent:
        return
    st.markdown(f"**{t('sent')}**")
    st.caption(safe.in_markdown(length(trace, t)))
    st.html(legend(trace, t))
    st.html("".join(_message(trace, role, t) for role in ROLES))
    st.html(copy_button("".join(part.text for part in trace.sent), t("copy_sent"), t("copied")))


def length(trace: Trace, t: Texts) -> str:
    """In tokens as the model's server counts them, where it does, else about how many; unescaped."""
    counted = [call.tokens_in for call in trace.calls if call.role == "generate" and call.tokens_in is not None]
    characters = sum(len(part.text) for part in trace.sent)
    if counted:
        return t("sent_tokens", tokens=counted[-1], n=characters, model=_model(trace))
    return t("sent_tokens_about", tokens=_about(trace), n=characters, model=_model(trace))


def _model(trace: Trace) -> str:
    """Who was asked to write; where it failed, not the generator that stood in."""
    asked = [call.model for call in trace.calls if call.role == "generate"]
    return asked[-1] if asked else trace.generator


def _about(trace: Trace, origin: Origin | None = None) -> int:
    return sum(count(part.text) for part in trace.sent if origin in (None, part.origin))


def legend(trace: Trace, t: Texts) -> str:
    """Each origin in its colour, by name, with about how many tokens it has."""
    present = [origin for origin in Origin if any(part.origin is origin for part in trace.sent)]
    keys = "".join(
        f"<span class='crag-from crag-from-{origin}'><b>{safe.in_html(t(f'origin_{origin}'))}</b> "
        f"{safe.in_html(t('about_tokens', n=_about(trace, origin)))}</span>"
        for origin in present
    )
    return f"<div class='crag-legend'>{keys}</div>"


def _message(trace: Trace, role: str, t: Texts) -> str:
    """One message as a block; a screen reader hears where each part begins."""
    parts = [part for part in trace.sent if part.role == role]
    shown = "".join(
        f"<span class='crag-from-{origin}'><span class='crag-spoken'>{safe.in_html(t(f'origin_{origin}'))}: </span>"
        f"{safe.in_html(''.join(part.text for part in group))}</span>"
        for origin, group in groupby(parts, key=lambda part: part.origin)
    )
    name = safe.in_html(t(f"message_{role}"))
    return f"<div class='crag-sent' tabindex='0' role='group' aria-label='{name}'><small>{name}</small>{shown}</div>"
