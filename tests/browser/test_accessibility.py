"""Every state of the page as axe-core sees it, and as pictures: nothing serious stands in anybody's way."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import pytest
import tour
from browsing import ARTIFACTS, ROOT, Browsing, build, folders
from PIL import Image

axe_playwright = pytest.importorskip("axe_playwright_python.sync_playwright")

pytestmark = pytest.mark.browser

GRAVE = ("serious", "critical")
WIDTHS = (1280, 420)
HEIGHT = 900
COLOURS = 160
"""Of a picture's palette: small, and enough for a page."""


def still(browsing: Browsing) -> None:
    """Nothing is drawn any more, and nothing fades in: text that fades has no contrast yet."""
    browsing.settled()
    browsing.page.wait_for_function(
        "document.getAnimations().every(one => one.playState !== 'running' || one.effect.getTiming().iterations > 1)"
    )


def grave(browsing: Browsing, state: str) -> list[str]:
    """What axe-core finds serious, a line each."""
    only = {"resultTypes": ["violations"]}
    found = axe_playwright.Axe().run(browsing.page, options=only).response["violations"]
    return [
        f"{state}: {rule['id']}: {node['html'][:200]} {[check['message'] for check in node['any'][:1]]}"
        for rule in found
        if rule["impact"] in GRAVE
        for node in rule["nodes"]
    ]


def in_view(page: Any) -> None:
    """Scrolls to what the state is about: the panel that is open with its answer's tools, else the top."""
    page.evaluate(
        """() => {
        const open = document.querySelector('.stChatMessage [class*=st-key-open-]');
        const pills = open && open.closest('.stChatMessage').querySelector('[data-testid=stButtonGroup]');
        const main = document.querySelector('[data-testid=stAppScrollToBottomContainer], [data-testid=stMain]');
        if (pills) pills.scrollIntoView({block: 'start'});
        if (main) main.scrollTop = pills ? Math.max(0, main.scrollTop - 90) : 0;
        }"""
    )


def taken(browsing: Browsing, name: str, folder: Path) -> None:
    """A picture in each width, of few colours."""
    page = browsing.page
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": HEIGHT})
        browsing.settled()
        in_view(page)
        page.wait_for_timeout(300)
        picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        picture.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(
            folder / f"{name}-{width}.png", optimize=True
        )
    page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHT})


def test_axe_finds_nothing_serious_in_the_states_that_everybody_sees(browsing: Browsing, tmp_path: Path) -> None:
    found, seen = [], []
    with tour.world(tmp_path) as world:
        tour.a_pdf(tmp_path / "Files" / "karnholm.pdf", *tour.KARNHOLM)
        build(folders(tmp_path))
        for state in tour.main_states(world, browsing):
            still(browsing)
            found += grave(browsing, state)
            seen.append(state)
    assert len(seen) >= 8
    assert found == []
    assert browsing.foreign() == []


@pytest.mark.full
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_state_and_each_has_its_picture(
    browsing: Browsing, tmp_path: Path, scheme: str
) -> None:
    """With CRAG_IMAGES, a folder, the pictures go there: all of the light page, the main ones of the dark page."""
    named = os.environ.get("CRAG_IMAGES")
    folder = (ROOT / named) if named else ARTIFACTS / "states"
    folder.mkdir(parents=True, exist_ok=True)
    browsing.page.emulate_media(color_scheme=scheme)
    found, seen = [], []
    with tour.world(tmp_path) as world:
        for scene in tour.SCENES:
            for state in scene(world, browsing):
                if state != "running":
                    still(browsing)
                found += grave(browsing, state)
                seen.append(state)
                if scheme == "light":
                    taken(browsing, state, folder)
                elif state in tour.MAIN:
                    taken(browsing, f"{state}-dark", folder)
    assert len(seen) == len(set(seen)) > 40
    assert set(seen) >= tour.MAIN
    assert found == []
    assert browsing.foreign() == []
