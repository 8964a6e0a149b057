"""The evidence on the page: opened from a citation, paged through, and honest where the page cannot be shown."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import CORRECT, INCORRECT, Stage, answered, events, html, open_panel

from crag.cited import cited_strips
from crag.events import Finished
from crag.ui.panels import on_page


def turn_id(at: AppTest) -> str:
    return next(button.key for button in at.button if button.key and button.key.endswith("-next")).split("-")[1]


def infos(at: AppTest) -> str:
    return "\n".join(info.value for info in at.info)


def test_a_click_on_a_citation_shows_its_page_with_the_strips(stage: Stage) -> None:
    at = answered(stage)
    chip = next(button for button in at.button if button.key and button.key.startswith("cited-"))
    assert "dense passage retrieval" in chip.label
    at = chip.click().run()
    assert not at.exception
    shown = html(at)
    assert "src='data:image/png;base64," in shown
    assert "alt='Page 1 of dense passage retrieval.pdf'" in shown
    assert "crag-mark crag-mark-cited" in shown
    assert "title='cited · 1.00'" in shown
    assert "crag-key-cited" in shown


def test_every_source_and_every_other_document_can_be_chosen(stage: Stage) -> None:
    at = open_panel(answered(stage), "on_page")
    options = at.selectbox[0].options
    assert options[0].startswith("[1] ")
    assert any("(not used)" in option for option in options)
    at = at.selectbox[0].select_index(len(options) - 1).run()
    assert not at.exception
    shown = html(at)
    assert "crag-mark-cited" not in shown
    assert "crag-mark-dropped" in shown, "what was dropped is shown too"
    assert "crag-item-dropped" in shown


def test_the_file_can_be_paged_through_and_the_source_brings_back(stage: Stage) -> None:
    at = open_panel(answered(stage), "on_page")
    which = turn_id(at)
    assert at.button(key=f"sheet-{which}-previous").disabled
    at = at.button(key=f"sheet-{which}-next").click().run()
    assert any(m.value == "Page 2 of 31" for m in at.markdown)
    assert "No strip of this answer stands on this page." in html(at)
    at = at.selectbox[0].select_index(1).run()
    page = at.selectbox[0].options[1].rpartition(" ")[2]
    assert any(m.value == f"Page {page} of 31" for m in at.markdown), "another source opens at its own page"


def test_a_larger_zoom_makes_the_page_wider_than_its_frame(stage: Stage) -> None:
    at = open_panel(answered(stage), "on_page")
    assert "style='width:100%;" in html(at)
    zoom = next(group for group in at.get("button_group") if group.key and group.key.startswith("zoom-"))
    assert f"style='width:{595 * 96 / 72 * 2:.0f}px;" in html(zoom.set_value("200").run())


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("changed", "has changed since it was read"),
        ("gone", "no longer there"),
        ("locked", "protected by a password"),
        ("slow", "took too long"),
        ("broken", "cannot be drawn"),
    ],
)
def test_where_there_is_no_image_the_reason_and_the_text_are_shown(stage: Stage, reason: str, said: str) -> None:
    stage.base.pages.fails = reason
    at = open_panel(answered(stage), "on_page")
    assert said in infos(at)
    assert "<img" not in html(at)
    assert "batch size of 128" in html(at)


def test_a_file_that_left_the_index_still_shows_its_text(stage: Stage) -> None:
    stage.base.pages.gone = True
    at = open_panel(answered(stage), "on_page")
    assert "no longer there" in infos(at)
    assert "batch size of 128" in html(at)


def test_strips_of_another_reading_are_not_drawn_where_they_may_not_belong(stage: Stage) -> None:
    stage.base.pages.anew = True
    at = open_panel(answered(stage), "on_page")
    assert "read anew since" in infos(at)
    assert "crag-mark " not in html(at)
    assert "<img" in html(at)


def test_without_sources_the_nearest_documents_can_be_looked_at(stage: Stage) -> None:
    stage.turn = events(INCORRECT, [0.28, 0.11])
    at = open_panel(answered(stage), "on_page")
    assert "(not used)" in at.selectbox[0].options[0]
    assert "crag-mark-dropped" in html(at)


def test_places_name_sources_first_and_each_page_once() -> None:
    last = events([0.91, 0.74, 0.2])[-1]
    assert isinstance(last, Finished)
    found = on_page.places(last.trace)
    assert [place.n for place in found] == [1, 2, None]
    assert len({(place.content, place.page) for place in found}) == len(found)


def test_a_page_leads_to_itself_in_the_knowledge_base_and_keeps_the_conversation(stage: Stage) -> None:
    at = open_panel(answered(stage), "on_page")
    link = next(link for link in at.main.get("page_link") if link.label == "In the knowledge base")
    assert link.proto.query_string.count("&") == 2
    assert "f=dense" in link.proto.query_string
    assert "p=1" in link.proto.query_string
    assert "c=" in link.proto.query_string


def test_only_the_strips_that_are_quoted_count_as_cited() -> None:
    [finished] = [event for event in events(CORRECT) if isinstance(event, Finished)]
    trace = finished.trace
    source = next(source for source in trace.sources if source.n == trace.citations[0].n)
    kept = [strip for strip in trace.strips if strip.id in source.strips]
    one, other = (kept[0], kept[0].model_copy(update={"id": "other", "text": "Kept, but not quoted."}))
    trace = trace.model_copy(
        update={
            "strips": (one, other),
            "sources": (source.model_copy(update={"strips": (one.id, other.id)}),),
            "answer": f"From your documents:\n\n“{one.text}” [{source.n}]",
        }
    )
    assert cited_strips(trace) == {one.id}
    reworded = trace.model_copy(update={"answer": f"It is so [{source.n}]."})
    assert cited_strips(reworded) == {one.id, other.id}, "no single one can be told"


def test_the_password_of_a_protected_file_can_be_given_where_its_page_is_missing(stage: Stage) -> None:
    stage.base.pages.fails = "locked"
    at = open_panel(answered(stage), "on_page")
    (field,) = [one for one in at.text_input if one.key and one.key.startswith("password-")]
    field.input("open sesame")
    (give,) = [one for one in at.button if one.key and one.key.startswith("password-give")]
    at = give.click().run()
    assert not at.exception
    assert list(stage.base.passwords.values()) == ["open sesame"]
    stage.base.pages.fails = None
    at = at.run()
    assert "src='data:image/png;base64," in html(at)
    assert "sesame" not in html(at)
