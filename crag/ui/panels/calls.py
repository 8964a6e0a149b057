"""The calls of models of a turn: role, model, tokens, first token, seconds, cost, and what went wrong."""

from __future__ import annotations

import streamlit as st

from crag.schema import ModelCall, Trace
from crag.ui import safe
from crag.ui.money import money
from crag.ui.texts import Texts
from crag.ui.texts.told import translated

COLUMNS = ("role", "model", "tokens_in", "tokens_out", "first_token", "seconds_taken", "cost")
NUMBERS = COLUMNS[2:]
UNKNOWN = "–"


def draw(trace: Trace, texts: Texts) -> None:
    repeats = sum(call.repeat for call in trace.calls)
    said = texts("calls", n=len(trace.calls) - repeats)
    st.markdown(f"**{said}**" + (f" :small[{texts('calls_repeats', n=repeats)}]" if repeats else ""))
    head = "".join(_cell(name, safe.in_html(texts(f"call_{name}")), "th scope='col'") for name in COLUMNS)
    rows = "".join(_row(call, trace.currency, texts) for call in trace.calls)
    label = safe.in_html(texts("calls_alt"))
    st.html(
        f"<div class='crag-wide'><table class='crag-calls' aria-label='{label}'>"
        f"<thead><tr>{head}</tr></thead>{rows}</table></div>"
    )


def _row(call: ModelCall, currency: str, texts: Texts) -> str:
    """One call; what went wrong stands in a row of its own below."""
    said = {
        "role": texts(f"call_role_{call.role}"),
        "model": call.model,
        "tokens_in": UNKNOWN if call.tokens_in is None else f"{call.tokens_in:,}",
        "tokens_out": UNKNOWN if call.tokens_out is None else f"{call.tokens_out:,}",
        "first_token": UNKNOWN if call.first_token is None else texts("seconds_exact", n=call.first_token),
        "seconds_taken": texts("seconds_exact", n=call.seconds),
        "cost": UNKNOWN if call.cost is None else money(call.cost, currency),
    }
    row = f"<tr>{''.join(_cell(name, safe.in_html(text)) for name, text in said.items())}</tr>"
    notes = [texts("call_repeat")] if call.repeat else []
    notes += [translated(call.error, texts.language)] if call.error else []
    if notes:
        kind = "crag-failed" if call.error else ""
        row += (
            f"<tr class='crag-call-note {kind}'><td colspan='{len(COLUMNS)}'>{safe.in_html(' '.join(notes))}</td></tr>"
        )
    return row


def _cell(name: str, text: str, tag: str = "td") -> str:
    kind = " class='crag-number'" if name in NUMBERS else ""
    return f"<{tag}{kind}>{text}</{tag.split()[0]}>"
