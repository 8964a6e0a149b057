"""What settings lead to, on the real engine and an empty index."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from config import load_settings
from crag.assembly import House, open_house
from crag.errors import EmptyIndexError


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    (tmp_path / "Files").mkdir()
    made = open_house(load_settings(files_dir=tmp_path / "Files", chroma_dir=tmp_path / "chroma_db"))
    yield made
    made.close()


def test_an_empty_index_neither_stops_opening_nor_warming_up(house: House) -> None:
    house.warm_up()
    with pytest.raises(EmptyIndexError), house.knowledge_base.snapshot():
        pass


def test_each_turn_gets_the_settings_it_was_asked_under(house: House) -> None:
    parts = house.parts(load_settings(k=3, upper=0.9, quotes=1, top_strips=2))
    assert parts.k == 3
    assert parts.thresholds.upper == 0.9
    assert parts.thresholds.top_strips == 2
    assert parts.generator.quotes == 1  # type: ignore[attr-defined]
    assert house.parts(load_settings()).k == 8
