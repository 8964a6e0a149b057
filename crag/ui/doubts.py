"""Below an answer: its sentences that are not held by what they cite, each with its source and the reason."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from crag.schema import CheckedSentence, Trace
from crag.ui import safe
from crag.ui.marks import KINDS, kind_of
from crag.ui.panels import web
from crag.ui.texts import Texts


def draw(trace: Trace, t: Texts) -> None:
    """Folded; nothing where every sentence is held."""
    doubtful = [sentence for sentence in trace.check.sentences if kind_of(sentence)]
    if doubtful:
        with st.expander(summary(trace, t), icon=":material/rule:", key=f"doubts-{trace.turn_id}"):
            st.html(f"<ul class='crag-list'>{''.join(_item(trace, sentence, t) for sentence in doubtful)}</ul>")


def summary(trace: Trace, t: Texts) -> str:
    """How many there are of each kind."""
    counts = Counter(kind_of(sentence) for sentence in trace.check.sentences)
    return " · ".join(t(f"doubts_{kind}", n=counts[kind]) for kind in KINDS if counts[kind])


def _item(trace: Trace, sentence: CheckedSentence, t: Texts) -> str:
    kind = kind_of(sentence)
    word = safe.in_html(t(f"mark_{kind}"))
    said = safe.in_html(" ".join(sentence.text.replace("**", "").split()))
    notes = [*_sources(trace, sentence, t), reason(trace, sentence, t)]
    below = "".join(f"<div class='crag-note'>{safe.in_html(note)}</div>" for note in notes)
    return f"<li><small class='crag-doubt-word crag-word-{kind}'>{word}</small> {said}{below}</li>"


def _sources(trace: Trace, sentence: CheckedSentence, t: Texts) -> list[str]:
    """The sources that it cites, by number and place."""
    known = {citation.n: web.name_of(citation, t) for citation in trace.citations}
    named = [f"[{n}] {known[n]}" for n in sentence.cites if n in known]
    return [t("doubt_cites", sources="; ".join(named))] if named else []


def reason(trace: Trace, sentence: CheckedSentence, t: Texts) -> str:
    """Why it is not held: which numbers and words its sources lack; unescaped."""
    known = {source.n for source in trace.sources}
    if not sentence.cites:
        return t("doubt_uncited")
    if not known & set(sentence.cites):
        return t("doubt_no_source", numbers=", ".join(f"[{n}]" for n in sentence.cites))
    parts = []
    if sentence.numbers:
        parts.append(t("doubt_numbers", numbers=", ".join(sentence.numbers)))
    if sentence.foreign:
        parts.append(t("doubt_foreign"))
    elif sentence.words:
        parts.append(t("doubt_words", words=", ".join(f"“{word}”" for word in sentence.words)))
    return " ".join(parts) or t("doubt_other")
