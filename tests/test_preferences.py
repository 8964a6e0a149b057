"""Changed settings are kept per user, in a file for its owner alone, and a forgotten key leaves nothing behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from crag.database import writing
from crag.errors import HistoryError
from crag.history.preferences import Preferences
from crag.history.store import Store
from crag.history.tables import preferences

KEY = "sk-secret-4711-abcdefgh"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".crag" / "crag.db"


def holding(path: Path, text: str) -> list[str]:
    return [file.name for file in path.parent.iterdir() if text.encode() in file.read_bytes()]


def test_nothing_is_made_before_the_first_change(path: Path) -> None:
    kept = Preferences(Store(path))
    assert kept.all() == {}
    kept.remove("k")
    assert not path.parent.exists()


def test_changes_are_kept_across_openings_and_each_user_has_their_own(path: Path) -> None:
    store = Store(path)
    for name, value in (("k", 5), ("upper", 0.8), ("llm_model", "通义")):
        Preferences(store).put(name, value)
    Preferences(store).put("k", 9, user="ada")
    Preferences(store).put("k", 6)
    store.close()
    assert Preferences(Store(path)).all() == {"k": 6, "llm_model": "通义", "upper": 0.8}
    assert Preferences(Store(path)).all("ada") == {"k": 9}
    Preferences(Store(path)).remove("k", "upper")
    assert Preferences(Store(path)).all() == {"llm_model": "通义"}
    assert Preferences(Store(path)).all("ada") == {"k": 9}


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
def test_the_file_and_its_logs_are_for_their_owner_alone_also_one_that_was_not(path: Path) -> None:
    before = os.umask(0)
    try:
        path.parent.mkdir()
        path.touch(0o644)
        Preferences(Store(path)).put("openai_api_key", KEY)
        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}
    finally:
        os.umask(before)


def test_a_forgotten_or_replaced_key_stays_in_no_file(path: Path) -> None:
    kept = Preferences(Store(path))
    kept.put("openai_api_key", KEY)
    assert holding(path, KEY)
    kept.put("openai_api_key", "another-key-0815")
    kept.remove("openai_api_key")
    assert holding(path, KEY) == []
    assert holding(path, "another-key-0815") == []


def test_a_damaged_value_comes_as_it_is_and_a_damaged_file_as_a_sentence(path: Path) -> None:
    store = Store(path)
    with writing(store.engine()) as connection:
        connection.execute(sa.insert(preferences).values(user="local", name="k", value="{broken"))
    assert Preferences(store).all() == {"k": "{broken"}
    store.close()
    path.write_bytes(b"no database" * 1000)
    with pytest.raises(HistoryError, match="cannot be read"):
        Preferences(Store(path)).all()
