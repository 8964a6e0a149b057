"""For all tests: nobody's own corrections and calibrations take part, and none are left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _own_things_apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CRAG_DATA_DIR", str(tmp_path_factory.mktemp("own") / ".crag"))
        yield


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit's AppTest leaves its script as `__main__`, which a process that is spawned later would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main
