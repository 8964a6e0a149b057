"""The Knowledge base page: the table, the pages of a file with their health, and one page as it was cut."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash
from ui_stage import INDEXED, PAGE, Stage, ended, html, labels, messages

from crag.events import BuildFinished, FileRow
from crag.knowledge_base.page_text import PageFacts
from crag.ui import library, safe, state

BAD = FileRow(path="bad.pdf", content="", error="It is not a PDF.")
WARNED = FileRow(path="scan.pdf", content="s", pages=2, passages=3, ocr_pages=2, warnings=("Page 2 is empty.",))


def opened(stage: Stage, **query: str) -> AppTest:
    """The page after the house is open, at what the address names."""
    stage.page()
    at = AppTest.from_file(str(PAGE), default_timeout=20)
    at._page_hash = calc_hash("knowledge")
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception
    return at


def captions(at: AppTest) -> str:
    return "\n".join(caption.value for caption in at.caption)


def test_the_table_lists_the_worst_files_first(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, WARNED, BAD]
    at = opened(stage)
    table = at.dataframe[0].value
    assert list(table["file"]) == ["bad.pdf", "scan.pdf", "guide.pdf"]
    assert list(table["state"]) == ["not indexed", "indexed with warnings", "indexed"]
    assert list(table["warnings"]) == [1, 1, 0]
    assert table["size"][2] == 12_345
    assert "1 not indexed" in captions(at)
    assert "2 pages read by OCR" in captions(at)


def test_names_can_be_searched(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, WARNED]
    at = opened(stage)
    at = at.text_input(key="library-search").set_value("SCAN").run()
    assert list(at.dataframe[0].value["file"]) == ["scan.pdf"]
    at = at.text_input(key="library-search").set_value("nothing like it").run()
    assert "No file has a name like that." in captions(at)


def test_other_kinds_of_files_are_named_and_inert(stage: Stage) -> None:
    stage.base.ignored_list = ["notes.docx", "<img src=x>.txt"]
    shown = html(opened(stage))
    assert "notes.docx" in shown
    assert "&lt;img src=x&gt;.txt" in shown


def test_a_file_shows_its_pages_with_their_health_a_part_at_a_time(stage: Stage) -> None:
    stage.base.pages.facts = PageFacts(ocr=True, tables=2, columns=2)
    at = opened(stage, f="guide.pdf")
    shown = html(at)
    assert shown.count("<div class='crag-thumb'>") == 24, "31 pages are leafed through"
    assert "read by OCR" in shown
    assert "2 tables" in shown
    assert "2 columns" in shown
    assert "Page 24" in labels(at)
    assert "Page 25" not in labels(at)


def test_a_file_that_is_not_indexed_says_why(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, BAD]
    stage.base.pages.count = 0
    assert "It is not a PDF" in messages(opened(stage, f="bad.pdf")).replace("\\", "")


def test_without_images_the_health_is_still_there(stage: Stage) -> None:
    stage.base.pages.fails = "changed"
    stage.base.pages.health = "garbled"
    at = opened(stage, f="guide.pdf")
    assert any("has changed since" in info.value for info in at.info)
    assert "unreadable text" in html(at)


def test_a_click_on_a_page_shows_its_image_text_passages_and_strips(stage: Stage) -> None:
    at = opened(stage, f="guide.pdf")
    at = at.button(key="open-2").click().run()
    assert not at.exception
    assert at.query_params["p"] in ("2", ["2"])
    shown = html(at)
    assert "alt='Page 2 of guide.pdf'" in shown
    assert shown.count("crag-mark crag-mark-cut") >= 3
    assert "<b>Passage 2</b>" in shown
    assert "Training" in shown
    assert "1 passage, 3 strips" in shown
    assert "Training ran for 40 epochs" in at.code[0].value
    at = at.button(key="leaf-next").click().run()
    assert "alt='Page 3 of guide.pdf'" in html(at)
    at = at.button(key="back-to-file").click().run()
    assert "Page 1" in labels(at)
    at = at.button(key="back-to-files").click().run()
    assert len(at.dataframe) == 1


def test_an_address_of_a_page_that_is_not_there_shows_the_pages_of_the_file_and_leads_back(stage: Stage) -> None:
    at = opened(stage, f="guide.pdf", p="999")
    assert not at.error
    assert at.button(key="delete-file")
    at = at.button(key="back-to-files").click().run()
    assert len(at.dataframe) == 1
    assert len(opened(stage, f="../../etc/passwd", p="x").dataframe) == 1


def test_the_sidebar_leads_to_all_pages_and_keeps_the_rebuild(stage: Stage) -> None:
    at = opened(stage)
    assert [link.label for link in at.get("page_link")] == ["Chat", "Knowledge base", "Evaluate", "Settings"]
    assert "Rebuild" in labels(at)


def test_the_worst_come_first_whatever_their_names() -> None:
    twice = WARNED.model_copy(update={"path": "z.pdf", "warnings": ("a", "b")})
    assert [row.path for row in library.worst_first([INDEXED, WARNED, twice, BAD])] == [
        "bad.pdf",
        "z.pdf",
        "scan.pdf",
        "guide.pdf",
    ]


def test_a_file_is_read_again_with_the_ocr_that_was_chosen(stage: Stage) -> None:
    stage.base.row_list = [WARNED]
    at = opened(stage, f="scan.pdf")
    at = at.button(key="read-again").click().run()
    assert not at.exception
    ended(at, "build")
    assert stage.base.again == [("scan.pdf", None)]


def test_who_wants_a_file_read_again_while_a_build_runs_is_told_to_do_so_after_it(stage: Stage) -> None:
    stage.base.row_list = [WARNED]
    at = opened(stage, f="scan.pdf")
    stage.base.script = [BuildFinished(version=1, published=True, files=1)]
    state.process().build()
    at = at.button(key="read-again").click().run()
    assert any("a build is running" in warning.value for warning in at.warning)
    stage.base.goes_on.set()
    at = ended(at, "build")
    assert stage.base.again == []
    assert any("Read it again when it has finished" in warning.value for warning in at.warning)
    assert not any("a build is running" in warning.value for warning in at.run().warning)


def test_a_pipe_in_a_cell_is_shown_as_it_is_on_the_page() -> None:
    assert safe.of_document("| a \\| b | <i> |") == "| a | b | &lt;i&gt; |"


def test_a_file_is_deleted_after_a_second_question_that_names_it(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, WARNED]
    at = opened(stage, f="scan.pdf")
    at = at.button(key="delete-file").click().run()
    assert "the PDF itself is deleted" in "".join(shown.value for shown in at.markdown)
    assert "scan.pdf" in [row.path for row in stage.base.row_list]
    at = at.button(key="delete-yes").click().run()
    assert not at.exception
    assert [row.path for row in stage.base.row_list] == ["guide.pdf"]


def test_a_protected_file_takes_its_password_and_is_read_again(stage: Stage) -> None:
    locked = (
        "It is protected by a password: give it on the file's page in Knowledge base, or build with "
        "`python -m crag build --password FILE`, which asks for it."
    )
    stage.base.row_list = [FileRow(path="locked.pdf", content="", error=locked)]
    at = opened(stage, f="locked.pdf")
    at.text_input(key="password-locked.pdf").input("open sesame")
    at = at.button(key="password-give").click().run()
    assert not at.exception
    assert stage.base.passwords == {"locked.pdf": "open sesame"}
    assert stage.base.again == [("locked.pdf", None)]
    assert "sesame" not in html(at)


def test_the_size_of_the_index_is_said(stage: Stage) -> None:
    stage.base.row_list = [INDEXED]
    assert "the index takes 12.3 MB" in captions(opened(stage))


def test_a_chosen_way_of_ocr_is_taken_and_shown_as_the_files_own(stage: Stage) -> None:
    stage.base.row_list = [WARNED]
    at = opened(stage, f="scan.pdf")
    ways = at.get("button_group")[0]
    assert ways.label == "OCR, as usual: Auto"
    at = ways.set_value("force").run()
    at = at.button(key="read-again").click().run()
    at = ended(at, "build")
    assert stage.base.again == [("scan.pdf", "force")]
    assert at.get("button_group")[0].label == "OCR, for this file: Force"


def test_a_deletion_that_was_not_confirmed_is_forgotten(stage: Stage) -> None:
    stage.base.row_list = [INDEXED, WARNED]
    at = opened(stage, f="scan.pdf")
    at = at.button(key="delete-file").click().run()
    at = at.button(key="back-to-files").click().run()
    at.query_params["f"] = "scan.pdf"
    at = at.run()
    assert "Delete the PDF" not in labels(at)
