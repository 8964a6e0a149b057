"""What the page shows of the web: whether it was asked, what it gave, and every quote with its address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button
from ui_stage import AMBIGUOUS, CORRECT, INCORRECT, LIMITS, Stage, answered, document, events, html, open_panel

from crag.events import Finished, Graded, Retrieved, Rewritten, Searched, TurnEvent
from crag.refinement import ledger, recompose, select
from crag.schema import Citation, Document, DocumentGrade, Grade, GradedDocument, WebSearched
from crag.search.base import WebResult
from crag.search.external import documents_of
from crag.ui import safe
from crag.ui.progress import turn_view

HOSTILE = '<img src="http://evil.example/p"> ![x](http://evil.example/p) <script>alert(1)</script>'
FOUND = documents_of(
    [
        WebResult(
            "https://art.example/mona?a=1&b=2", "Batch sizes & more", "A batch size of 256 was used.", "2024-05-01"
        ),
        WebResult("https://www.odd.example/", HOSTILE, f"Nothing of use stands here. {HOSTILE}"),
    ]
)
SENT = WebSearched(provider="tavily", query="batch size", time="2026-01-02T03:04:05+00:00", results=2)


def _grade(found: Document, score: float | None) -> DocumentGrade:
    grade = Grade(score=score)
    return DocumentGrade(document=grade, strips=(grade,) * len(found.strips))


def with_web(scores: list[float | None], web_scores: tuple[float, ...] = (0.9, 0.1)) -> list[TurnEvent]:
    """A turn of these documents for which the web was searched."""
    *before, last = events(scores)
    assert isinstance(last, Finished)
    trace = last.trace
    grades = [_grade(found, score) for found, score in zip(FOUND, web_scores, strict=True)]
    web = tuple(GradedDocument.of(d, g.document, LIMITS) for d, g in zip(FOUND, grades, strict=True))
    own = [_grade(found, found.score) for found in trace.documents]
    both = [*trace.documents, *web]
    strips = select(both, ledger(both, [*own, *grades]), LIMITS, trace.action)
    knowledge = recompose(strips)
    citations = tuple(Citation(**{n: getattr(s, n) for n in Citation.model_fields}) for s in knowledge.sources)
    changed = {
        "web_gate": "auto",
        "web": SENT,
        "web_documents": web,
        "strips": strips,
        "knowledge": knowledge.text,
        "sources": knowledge.sources,
        "citations": citations,
    }
    return [*before, Finished(trace=trace.model_copy(update=changed))]


def panel_names(stage: Stage) -> list[str]:
    return list(answered(stage).get("button_group")[0].options)


def captions(at: object) -> str:
    return "\n".join(caption.value for caption in at.caption)  # type: ignore[attr-defined]


def chips(at: AppTest) -> list[Button]:
    return [button for button in at.button if (button.key or "").startswith("cited-")]


def test_a_quote_from_the_web_has_a_chip_that_opens_what_was_read_with_its_address_and_date(stage: Stage) -> None:
    stage.turn = with_web(INCORRECT)
    at = answered(stage)
    (chip,) = chips(at)
    assert chip.label.replace("\\", "").startswith("**[1]** Batch sizes & more · art.example")
    assert "crag-link" not in html(at), "nothing leads away before it is opened"
    shown = html(chip.click().run())
    assert "<a class='crag-link' href='https://art.example/mona?a=1&amp;b=2'" in shown
    assert "target='_blank' rel='noopener noreferrer nofollow'" in shown
    assert "Read 2026-01-02 03:04 UTC" in shown
    assert "Published 2024-05-01" in shown
    assert "A batch size of 256 was used." in shown


def test_files_and_web_pages_are_cited_by_buttons_in_the_order_of_their_numbers(stage: Stage) -> None:
    stage.turn = with_web(AMBIGUOUS)
    labels = [chip.label for chip in chips(answered(stage))]
    assert [label.replace("\\", "")[:7] for label in labels] == ["**[1]**", "**[2]**"]
    assert "art.example" in labels[1].replace("\\", "")


def test_of_several_web_sources_the_one_that_is_clicked_is_shown(stage: Stage) -> None:
    stage.turn = with_web(INCORRECT, (0.9, 0.8))
    at = chips(answered(stage))[1].click().run()
    shown = html(at)
    assert "https://www.odd.example/" in shown
    assert "<img" not in shown
    assert "<script" not in shown


def test_the_documents_panel_shows_the_web_apart_with_query_provider_and_time(stage: Stage) -> None:
    stage.turn = with_web(AMBIGUOUS)
    at = open_panel(answered(stage), "documents")
    said = captions(at).replace(safe.WORD_JOINER, "").replace("\\", "")
    assert "“batch size” was sent to tavily on Jan 2, 2026 3:04 AM UTC. 2 results came back" in said
    local, web = html(at).split("<table class='crag-documents'")[1:3]
    assert local.count("<tr class=") == 4
    assert "crag-link" not in local
    assert web.count("<tr class=") == 2
    assert "<small>art.example · May 1, 2024</small>" in web
    assert "<small>odd.example</small>" in web


def test_hostile_text_of_a_page_is_inert_everywhere(stage: Stage) -> None:
    stage.turn = with_web(INCORRECT)
    for panel in ("documents", "refined_context", "second_look"):
        shown = html(open_panel(answered(stage), panel))
        assert "evil.example" in shown
        assert "<img" not in shown
        assert "<script" not in shown


def test_strips_of_the_web_are_marked_and_come_last(stage: Stage) -> None:
    stage.turn = with_web(AMBIGUOUS)
    at = open_panel(answered(stage), "refined_context")
    sections = html(at).split("<section class='")[1:]
    assert [section.startswith("crag-page crag-web") for section in sections[-2:]] == [True, True]
    assert not any("crag-web" in section for section in sections[:-2])
    assert "<span class='crag-origin'>From the web</span>" in sections[-1]
    assert at.code[0].value.rstrip().endswith("A batch size of 256 was used.")
    assert "of each kind" in captions(at)


def test_the_web_panel_is_named_by_what_happened(stage: Stage) -> None:
    stage.turn = with_web(INCORRECT)
    assert {"Documents 3 + 2 web", "Web 2"} <= set(panel_names(stage))


def test_a_failed_search_says_so_with_the_sentence(stage: Stage) -> None:
    *before, last = with_web(AMBIGUOUS)
    assert isinstance(last, Finished)
    failed = SENT.model_copy(update={"results": None, "error": "Tavily could not be reached: check your network."})
    update = {"web": failed, "web_documents": ()}
    stage.turn = [*before, Finished(trace=last.trace.model_copy(update=update))]
    at = answered(stage)
    assert "Web failed" in at.get("button_group")[0].options
    assert "could not be reached" in captions(open_panel(at, "second_look")).replace("\\", "")


def test_a_web_that_was_not_needed_is_told_from_one_that_is_off(stage: Stage) -> None:
    assert "Web off" in panel_names(stage)
    *before, last = events(CORRECT)
    assert isinstance(last, Finished)
    stage.turn = [*before, Finished(trace=last.trace.model_copy(update={"web_gate": "auto"}))]
    at = answered(stage)
    assert "Web not needed" in at.get("button_group")[0].options
    assert "nothing was sent" in captions(open_panel(at, "second_look"))


def test_a_running_search_is_told() -> None:
    so_far: list[TurnEvent] = [
        Retrieved(query="q", documents=(document(0),)),
        Rewritten(query="q", provider="tavily"),
    ]
    assert turn_view(so_far).doing == "searching"
    view = turn_view([*so_far, Searched(**dict(SENT), documents=FOUND)])
    assert (view.steps[-1], view.doing) == (("searched", 2), "grading")
    graded = GradedDocument.of(FOUND[0], Grade(score=0.5), LIMITS)
    assert turn_view([*so_far, Graded(documents=(graded,))]).doing == "refining"


def test_only_http_addresses_become_links() -> None:
    assert safe.link("javascript:alert(1)", "a<b") == "a&lt;b"
    quoted = safe.link("https://a.example/?x=' onclick='alert(1)", "a")
    assert "onclick='" not in quoted
    assert quoted.count("'") == 10, "five attributes"
    assert "<" not in safe.link("https://a.example/", "<b>").split(">", 1)[1].removesuffix("</a>")
