"""The guide in Files/: it is the PDF of its source, readable by people and by CRAG itself."""

from __future__ import annotations

import html
import importlib.util
import re
import unicodedata
from pathlib import Path
from types import ModuleType

import pymupdf
import pytest

from config import Settings

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_guide", ROOT / "scripts" / "make_guide.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def guide(maker: ModuleType) -> pymupdf.Document:
    return pymupdf.open(maker.GUIDE)


def letters(text: str) -> str:
    """Text without white space and signs, so that line breaks do not count."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text))


def source_text(maker: ModuleType) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", " ".join(maker.as_html(part) for part in maker.parts())))


def pages_text(guide: pymupdf.Document, footer: float) -> str:
    """The text of all pages in reading order, without what stands below `footer` (points from the top)."""
    blocks = [block for page in guide for block in page.get_text("blocks") if block[1] < footer]
    return "\n".join(block[4] for block in blocks)


def test_the_committed_guide_has_the_text_of_its_source_in_reading_order(
    maker: ModuleType, guide: pymupdf.Document
) -> None:
    head = letters(maker.TITLE + maker.SUBTITLE)
    # list numbers are drawn, not written, in the source
    numbered = re.sub(r"<li>", "<li>#", " ".join(maker.as_html(part) for part in maker.parts()))
    items = iter(range(1, 100))
    numbered = re.sub("<li>#", lambda _: f"<li>{next(items)} ", numbered)
    wanted = letters(html.unescape(re.sub(r"<[^>]+>", " ", numbered)))
    assert letters(pages_text(guide, maker.FOOTER.y0)) == head + wanted, "run `make guide`"


def test_the_guide_is_made_the_same_twice(maker: ModuleType) -> None:
    bodies = [maker.as_html(part) for part in maker.parts()]
    assert maker.render(bodies) == maker.render(bodies)


def test_the_guide_embeds_its_fonts_and_numbers_its_pages(maker: ModuleType, guide: pymupdf.Document) -> None:
    assert 6 <= len(guide) <= 12
    for number, page in enumerate(guide, 1):
        assert f"{maker.TITLE} · {number}" in page.get_text()
        assert all(guide.extract_font(font[0])[3] for font in page.get_fonts())


def test_the_outline_names_every_chapter(maker: ModuleType, guide: pymupdf.Document) -> None:
    chapters = [line[2:] for part in maker.parts() for line in part.splitlines() if line.startswith("# ")]
    assert [title for level, title, _ in guide.get_toc() if level == 1] == chapters


def test_no_heading_stands_alone_at_the_foot_of_a_page(guide: pymupdf.Document) -> None:
    for page in guide:
        *_, last, _footer = [block for block in page.get_text("dict")["blocks"] if block["type"] == 0]
        assert max(span["size"] for line in last["lines"] for span in line["spans"]) < 12, page.number + 1


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_guide_tells_the_defaults_that_the_app_has(maker: ModuleType, language: str) -> None:
    text = source_text(maker)
    chinese = text[text.index("中文指南") :]
    told = chinese if language == "zh" else text[: -len(chinese)]
    settings = Settings()
    sentences = {
        "en": (
            f"the {settings.k} passages that fit the question best",
            f"the upper one at {settings.upper} and the lower one at {settings.lower}",
            f"the strip threshold of {settings.strip_threshold}",
            f"At most {settings.top_strips} strips are kept",
            f"quotes at most {settings.quotes} strips",
            f"1 / ({settings.fusion_constant} + rank)",
            f"{settings.k * 2} instead of {settings.k}",
            f"at most {settings.parse_timeout:.0f} seconds",
            f"at most {settings.max_upload_mb} MB",
        ),
        "zh": (
            f"检索 {settings.k} 个文档",
            f"上阈值为 {settings.upper}，下阈值为 {settings.lower}",
            f"片段分数不低于 {settings.strip_threshold}",
            f"最多保留 {settings.top_strips} 个",
            f"最多引用 {settings.quotes} 个片段",
        ),
    }
    assert [sentence for sentence in sentences[language] if sentence not in told] == []


def test_every_variable_the_guide_names_exists(maker: ModuleType) -> None:
    named = set(re.findall(r"CRAG_[A-Z_]+", source_text(maker)))
    assert named <= {f"CRAG_{name.upper()}" for name in Settings.model_fields}
