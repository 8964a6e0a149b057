"""The settings of MinerU: nothing is chosen by accident, and what is missing is named."""

from __future__ import annotations

import pytest

from config import load_settings
from crag.errors import ConfigurationError


def test_mineru_needs_the_address_of_a_service() -> None:
    with pytest.raises(ConfigurationError, match="set CRAG_MINERU_URL"):
        load_settings(parser="mineru")
    with pytest.raises(ConfigurationError, match="CRAG_MINERU_URL: this is no address"):
        load_settings(parser="mineru", mineru_url="ftp://host")
    assert load_settings(parser="mineru", mineru_url="http://127.0.0.1:8000/").mineru_url == "http://127.0.0.1:8000"


def test_an_address_alone_does_not_choose_mineru() -> None:
    assert load_settings(mineru_url="http://127.0.0.1:8000").parser == "builtin"
