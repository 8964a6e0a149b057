"""The way in: `streamlit run app_streamlit.py` serves the page behind its security headers."""

from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

from crag.ui import state
from crag.ui.security import SecurityHeaders

app = st.App(
    Path(__file__).parent / "crag" / "ui" / "page.py",
    lifespan=state.lifespan,
    middleware=[Middleware(SecurityHeaders)],
)
