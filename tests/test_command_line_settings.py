"""The command line knows what was changed on the page; a variable goes before it, and nothing of it stops a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from crag.cli.settings import changes_told, settings_of_the_person
from crag.history.preferences import Preferences
from crag.history.store import FILE, Store

KEY = "sk-secret-4711-abcd"


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Preferences:
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path))
    return Preferences(Store(tmp_path / FILE))


def test_what_was_changed_on_the_page_counts_where_no_variable_is_set(
    kept: Preferences, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_K", "5")
    for name, value in (("k", 6), ("quotes", 1), ("llm_provider", "deepseek"), ("deepseek_api_key", KEY)):
        kept.put(name, value)
    found = settings_of_the_person()
    assert (found.k, found.quotes, found.llm_provider) == (5, 1, "deepseek")
    assert found.deepseek_api_key.get_secret_value() == KEY
    said = " ".join(finding.text for finding in changes_told())
    assert "quotes=1" in said
    assert "deepseek_api_key is remembered" in said
    assert "here the variable counts: CRAG_K" in said
    assert KEY not in said


def test_what_cannot_be_used_is_told_and_left_out(kept: Preferences, capsys: pytest.CaptureFixture[str]) -> None:
    kept.put("llm_provider", "deepseek")
    kept.put("quotes", 2)
    found = settings_of_the_person()
    assert (found.llm_provider, found.quotes) == ("embedded", 2)
    assert "Who writes the answer: DeepSeek needs a key" in capsys.readouterr().err
    assert [finding.ok for finding in changes_told()] == [True, False]


def test_a_damaged_file_of_settings_stops_no_command(
    kept: Preferences, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / FILE).write_bytes(b"no database" * 1000)
    assert settings_of_the_person().k == 8
    assert "is left out" in capsys.readouterr().err
    assert not changes_told()[0].ok


def test_without_changes_nothing_is_said_and_no_file_is_made(kept: Preferences, tmp_path: Path) -> None:
    assert settings_of_the_person().k == 8
    assert changes_told() == []
    assert not (tmp_path / FILE).exists()
