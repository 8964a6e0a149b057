"""What a rebuild will do with vectors, and whom it will send texts to: said before it starts."""

from __future__ import annotations

import streamlit as st

from crag.events import VectorsAhead
from crag.ui import safe
from crag.ui.texts import Texts


def draw(ahead: VectorsAhead, t: Texts) -> None:
    """Stands above the button that starts the rebuild."""
    said = []
    if ahead.before and ahead.before == ahead.after:
        said.append(t("ahead_version", n=ahead.passages))
    elif ahead.before:
        before, after = safe.in_markdown(ahead.before), safe.in_markdown(ahead.after)
        said.append(t("ahead_anew", before=before, after=after, n=ahead.passages))
    if ahead.destination:
        said.append(t("ahead_sent", destination=safe.in_markdown(ahead.destination)))
    with st.container(key="vectors-ahead"):
        st.info(" ".join(said), icon=":material/info:")
