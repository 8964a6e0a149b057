"""The report is one file that shows answer, sources and pages, runs nothing and loads nothing."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser

import pymupdf
import pytest

from crag.export.forms import Form, export, file_name
from crag.export.pictures import MOST, cited_pages, pictures_of
from crag.knowledge_base.base import KnowledgeBase
from crag.schema import Trace
from crag.ui.texts import Texts

EN, ZH = Texts("en"), Texts("zh")
HOSTILE = "</style><script>alert(1)</script><img src=x onerror=alert(1)> & \u202e"


class Tags(HTMLParser):
    """All elements with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def of(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


def report(trace: Trace, base: KnowledgeBase | None = None, t: Texts = EN) -> str:
    return export(Form.HTML, [trace], t, base.pages if base else None).decode()


def test_it_shows_decision_answer_sources_and_every_strip(trace: Trace) -> None:
    page = report(trace)
    assert trace.answer.split("“")[1].split("”")[0][:40] in page
    assert 'class="badge CORRECT">Correct</span>Best 0.92 reaches 0.70' in page
    assert "[1] island &lt;b&gt;.pdf p. 2" in page
    assert page.count('<div class="strip dropped') == sum(not strip.kept for strip in trace.strips)
    assert "Nothing was out of order" in page


def test_the_cited_page_is_an_image_in_the_file_itself_with_the_strip_marked(trace: Trace, base: KnowledgeBase) -> None:
    images = Tags(report(trace, base)).of("img")
    assert [image["alt"] for image in images] == ["Page 2 of island <b>.pdf"]
    kind, data = (images[0]["src"] or "").split(",")
    assert kind == "data:image/png;base64"
    drawn = pymupdf.Pixmap(base64.b64decode(data))
    blank = pymupdf.Pixmap(base.pages.image("island <b>.pdf", 2, 110))
    assert (drawn.width, drawn.height) == (blank.width, blank.height)
    greenish = sum(g > r + 20 and g > b + 10 for r, g, b in _pixels(drawn))
    assert greenish > 500
    assert not any(g > r + 20 and g > b + 10 for r, g, b in _pixels(blank))


def _pixels(pixmap: pymupdf.Pixmap) -> zip[tuple[int, int, int]]:
    samples = pixmap.samples
    return zip(samples[0::3], samples[1::3], samples[2::3], strict=True)


def test_it_runs_nothing_and_loads_nothing(trace: Trace, base: KnowledgeBase) -> None:
    page = report(trace, base)
    tags = Tags(page)
    assert "default-src 'none'" in page
    assert {tag for tag, _ in tags.found} & {"script", "link", "iframe", "object", "embed", "form", "base"} == set()
    assert [name for _, attributes in tags.found for name in attributes if name.startswith("on")] == []
    loads = [value or "" for _, attributes in tags.found for name, value in attributes.items() if name == "src"]
    assert all(value.startswith("data:image/png;base64,") for value in loads)
    assert "url(" not in page
    assert "@import" not in page


def test_foreign_text_stays_text_wherever_it_stands(trace: Trace) -> None:
    strips = tuple(strip.model_copy(update={"text": HOSTILE, "reason": HOSTILE}) for strip in trace.strips)
    documents = tuple(document.model_copy(update={"reason": HOSTILE}) for document in trace.documents)
    changed = dict.fromkeys(("question", "answer", "knowledge", "decision", "standalone", "cut", "error"), HOSTILE)
    hostile = trace.model_copy(
        update={**changed, "strips": strips, "documents": documents, "notices": (HOSTILE,), "generator": HOSTILE}
    )
    page = report(hostile)
    assert Tags(page).of("script") == []
    assert Tags(page).of("img") == []
    assert "\u202e" not in page, "no direction override reorders what is read"
    assert page.count("&lt;script&gt;") >= 10


def test_an_address_of_the_web_is_a_link_only_where_it_is_one(trace: Trace) -> None:
    for url, links in (("https://example.org/a?b=1&c", 1), ("javascript:alert(1)", 0)):
        source = trace.sources[0].model_copy(update={"url": url, "title": "Seen <i>outside</i>"})
        page = report(trace.model_copy(update={"sources": (source,)}))
        found = [link for link in Tags(page).of("a") if link["class"] == "crag-link"]
        assert len(found) == links
        assert all(link["rel"] == "noopener noreferrer nofollow" for link in found)
        assert "<i>" not in page


def test_it_says_why_a_page_is_not_shown(trace: Trace, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(base.pages), "path_of", lambda self, sha256: None)
    page = report(trace, base)
    assert Tags(page).of("img") == []
    assert "Page 2 of island" in page
    assert "no longer there" in page


def test_a_page_that_was_read_anew_is_shown_without_marks_and_says_so(trace: Trace, base: KnowledgeBase) -> None:
    moved = tuple(strip.model_copy(update={"documents": ("gone",)}) for strip in trace.strips)
    page = report(trace.model_copy(update={"strips": moved}), base)
    assert len(Tags(page).of("img")) == 1
    assert "read anew since" in page


def test_pages_beyond_the_first_ones_are_named_but_not_drawn(trace: Trace, base: KnowledgeBase) -> None:
    (key,) = cited_pages(trace)
    traces = [trace.model_copy(update={"turn_id": f"turn-{n}", "strips": ()}) for n in range(MOST + 2)]
    found = pictures_of(traces, base.pages)
    assert [picture.why_not for picture in found.values()][-3:] == [None, *["export_too_many_pages"] * 2]
    assert key[1] == 2


def test_a_conversation_is_one_file_with_all_its_answers(trace: Trace) -> None:
    page = export(Form.HTML, [trace, trace.model_copy(update={"question": "And when?"})], EN, whole=True).decode()
    assert page.count("<article") == 2
    assert "2 questions, exported on" in page
    assert "<title>Answers with their evidence</title>" in page


def test_it_speaks_chinese(trace: Trace) -> None:
    page = report(trace, t=ZH)
    assert '<html lang="zh">' in page
    assert ">正确</span>" in page
    assert "来源" in page
    shown = re.sub(r"<style>.*?</style>|lang=\"\w+\"", "", page, flags=re.DOTALL)
    assert "What to know" not in shown


def test_the_file_is_named_after_the_question(trace: Trace) -> None:
    named = trace.model_copy(update={"created": "2026-11-30T10:00:00+00:00"})
    assert file_name(Form.HTML, [named]) == "crag-2026-11-30-who-built-the-lighthouse-of-karnholm.html"
    chinese = named.model_copy(update={"question": "../批量大小 是多少？"})
    assert file_name(Form.JSON, [chinese]) == "crag-2026-11-30-批量大小-是多少.json"
