"""Every response of the app carries the headers under which the page cannot reach another host."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

import app_streamlit
from crag.ui.security import CONTENT_SECURITY_POLICY, HEADERS, SecurityHeaders

ROOT = Path(__file__).resolve().parents[2]


def client() -> TestClient:
    async def home(request: object) -> PlainTextResponse:
        return PlainTextResponse("x", headers={"X-Frame-Options": "ALLOWALL"})

    return TestClient(SecurityHeaders(Starlette(routes=[Route("/", home)])))


@pytest.mark.parametrize("path", ["/", "/missing"])
def test_pages_and_errors_carry_every_header_once(path: str) -> None:
    headers = client().get(path).headers
    for name, value in HEADERS:
        assert headers.get_list(name.decode()) == [value.decode()]


def test_the_policy_names_no_host_but_this_machine() -> None:
    allowed = {part for directive in CONTENT_SECURITY_POLICY.split("; ") for part in directive.split()[1:]}
    assert allowed <= {
        "'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "'wasm-unsafe-eval'", "data:", "blob:",
        "ws://127.0.0.1:*", "ws://localhost:*",
    }  # fmt: skip


def test_the_app_serves_the_page_behind_the_headers() -> None:
    assert app_streamlit.app.script_path == ROOT / "crag" / "ui" / "page.py"
    assert app_streamlit.app.script_path.is_file()


def test_the_server_listens_on_this_machine_alone_and_reports_nothing() -> None:
    options = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert options["server"]["address"] == "127.0.0.1"
    assert options["server"]["allowedHosts"] == ["localhost", "127.0.0.1"]
    assert options["browser"]["gatherUsageStats"] is False
    assert options["client"]["showErrorDetails"] == "none"
