"""Hostile text in a real browser with no security policy to help: no request leaves, and it reads as written."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browsing import ROOT, Browsing, served

pytestmark = pytest.mark.browser

SCRIPT = """
import sys
sys.path.insert(0, {root!r})
import streamlit as st
from crag.ui.safe import in_html, in_markdown

sink = {sink!r}
hostile = [
    f"![x]({{sink}}/image)",
    f"![x][r] [r]: {{sink}}/reference",
    f"<img src={{sink}}/img onerror=alert(1)> <link rel=stylesheet href={{sink}}/css>",
    f'"><img src="{{sink}}/attribute"><svg onload=fetch("{{sink}}/svg")>',
    f"</div><style>@import url({{sink}}/style)</style><iframe src={{sink}}/frame></iframe>",
    f"$\\\\includegraphics{{{{{{sink}}/latex}}}}$ :material/home: :smile: :red[x] {{sink}}/bare www.evil.example",
]
for i, text in enumerate(hostile):
    st.html(f"<div class='foreign' title='{{in_html(text)}}'>{{in_html(text)}}</div>")
    safe = in_markdown(text)
    st.markdown(safe)
    st.caption(safe)
    st.error(safe)
    st.progress(0.5, text=safe)
    st.button(safe, key=f"b{{i}}")
    st.expander(safe)
if st.query_params.get("control"):
    st.markdown(f"![x]({{sink}}/control)")
st.text("the end")
"""


@pytest.fixture
def sink() -> Iterator[tuple[str, list[str]]]:
    """A server that writes down what it is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()


def test_nothing_in_foreign_text_makes_a_request_or_becomes_markup(
    browsing: Browsing, sink: tuple[str, list[str]], tmp_path: Path
) -> None:
    address, asked = sink
    script = tmp_path / "hostile.py"
    script.write_text(SCRIPT.format(root=str(ROOT), sink=address), encoding="utf-8")
    page = browsing.page
    own = {"STREAMLIT_SERVER_HEADLESS": "true", "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false"}
    with served(script, tmp_path, **own) as app:
        page.goto(app)
        page.get_by_text("the end").wait_for(timeout=30_000)
        browsing.settled()
        page.wait_for_timeout(1000)
        assert asked == []
        assert not [seen for seen in browsing.addresses if seen.startswith(address)]
        main = page.get_by_test_id("stMain").or_(page.locator("section.stMain")).first
        assert main.locator("img, iframe, svg[onload], .katex").count() == 0
        assert page.locator("[data-testid=stMarkdownContainer] a, .foreign a").count() == 0
        first = page.get_by_test_id("stMarkdown").first.inner_text().replace("\u2060", "")
        assert first == f"![x]({address}/image)"
        assert page.locator(".foreign").first.inner_text() == f"![x]({address}/image)"
        last = page.get_by_test_id("stMarkdown").filter(has_text="includegraphics").first.inner_text()
        assert ":material/home: :smile: :red[x]" in last.replace("\u2060", "")
        page.goto(f"{app}/?control=1")
        page.get_by_text("the end").wait_for(timeout=30_000)
        page.wait_for_timeout(1000)
        assert "/control" in asked, "the control must reach the server, or this test could not fail"
