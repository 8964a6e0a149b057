"""The fixture `tavily`: a loopback server in Tavily's place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tavily_server import TavilyServer, serving


@pytest.fixture
def tavily() -> Iterator[TavilyServer]:
    with serving() as server:
        yield server
