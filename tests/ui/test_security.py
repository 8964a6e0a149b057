"""Every response of the app carries the headers under which the page cannot reach another host."""

from __future__ import annotations

import logging
import tomllib
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket, WebSocketDisconnect

import app_streamlit
from crag.ui import quiet
from crag.ui.security import CONTENT_SECURITY_POLICY, HEADERS, SecurityHeaders

ROOT = Path(__file__).resolve().parents[2]


def client() -> TestClient:
    async def home(request: object) -> PlainTextResponse:
        return PlainTextResponse("x", headers={"X-Frame-Options": "ALLOWALL"})

    async def stream(socket: WebSocket) -> None:
        await socket.accept()
        await socket.close()

    routes = [Route("/", home), WebSocketRoute("/stream", stream)]
    return TestClient(SecurityHeaders(Starlette(routes=routes)))


def opens(headers: dict[str, str]) -> bool:
    try:
        with client().websocket_connect("/stream", headers=headers):
            return True
    except WebSocketDisconnect:
        return False


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({"host": "localhost:8501", "origin": "http://localhost:8501"}, True),
        ({"host": "localhost:8501", "origin": "http://LOCALHOST:8501"}, True),
        ({"host": "localhost:8501"}, True),
        ({"host": "localhost:8501", "origin": "http://localhost:3000"}, False),
        ({"host": "localhost:8501", "origin": "http://127.0.0.1:8501"}, False),
        ({"host": "localhost:8501", "origin": "https://evil.example"}, False),
        ({"host": "localhost:8501", "origin": "null"}, False),
    ],
)
def test_a_websocket_of_another_origin_is_refused(headers: dict[str, str], taken: bool) -> None:
    assert opens(headers) is taken


def test_one_message_alone_is_kept_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    quiet.install()
    logger = logging.getLogger("streamlit.runtime.app_session")
    logger.setLevel(logging.INFO)
    logger.addHandler(caplog.handler)
    logger.info("The fragment with id %s does not exist anymore - it might have been removed.", "f")
    logger.info("Something else")
    logger.removeHandler(caplog.handler)
    assert {record.message for record in caplog.records} == {"Something else"}


@pytest.mark.parametrize("path", ["/", "/missing"])
def test_pages_and_errors_carry_every_header_once(path: str) -> None:
    headers = client().get(path).headers
    for name, value in HEADERS:
        assert headers.get_list(name.decode()) == [value.decode()]


def test_the_policy_names_no_host_but_this_machine() -> None:
    allowed = {part for directive in CONTENT_SECURITY_POLICY.split("; ") for part in directive.split()[1:]}
    assert allowed <= {
        "'self'", "'none'", "'unsafe-inline'", "'unsafe-eval'", "'wasm-unsafe-eval'", "data:", "blob:",
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
