"""The browser for the tests: a real one is taken, a stub that only pretends is passed over."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")


@pytest.fixture
def finder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """The script, seeing nothing of this machine but `tmp_path`."""
    spec = importlib.util.spec_from_file_location("find_browser", ROOT / "scripts" / "find_browser.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "PLACES", ())
    monkeypatch.setattr(module, "PLAYWRIGHT_CACHES", (str(tmp_path / "cache"),))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("CHROME_PATH", raising=False)
    return module


def put(path: Path, status: int) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\nexit {status}\n")
    path.chmod(0o755)
    return path


def test_a_stub_that_does_not_start_is_passed_over(finder: ModuleType, tmp_path: Path) -> None:
    put(tmp_path / "bin/chromium", 1)
    real = put(tmp_path / "bin/google-chrome", 0)
    assert finder.find() == real


def test_chrome_path_goes_before_what_is_found(
    finder: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path / "bin/chromium", 0)
    named = put(tmp_path / "mine/browser", 0)
    monkeypatch.setenv("CHROME_PATH", str(named))
    assert finder.find() == named


def test_the_newest_of_playwrights_own_is_taken(finder: ModuleType, tmp_path: Path) -> None:
    put(tmp_path / "cache/chromium-1200/chrome-linux64/chrome", 0)
    newest = put(tmp_path / "cache/chromium-1243/chrome-linux64/chrome", 0)
    assert finder.find() == newest


def test_without_any_the_reason_is_told(finder: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert finder.main([]) == 1
    assert "CHROME_PATH" in capsys.readouterr().err
