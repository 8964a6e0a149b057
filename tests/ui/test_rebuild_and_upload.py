"""What the page shows of a rebuild and of uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from ui_stage import (
    ADDED,
    INDEXED,
    Stage,
    ended,
    html,
    labels,
    messages,
)

from crag.errors import BuildLockedError, CragError
from crag.events import BuildFinished, BuildStarted, FileChange, FileFinished, FileProgress, FileRow, FileState
from crag.ui import state


def build_script(error: str | None = None, **end: Any) -> list[Any]:
    return [
        BuildStarted(changes=(FileChange(path="bad.pdf", state=FileState.ADDED), ADDED)),
        FileFinished(row=FileRow(path="bad.pdf", content="b", error=error), index=1, files=2),
        FileProgress(path="new.pdf", index=2, files=2, stage="reading", done=8, total=40, pages_per_second=31.4),
        BuildFinished(version=2, published=True, files=1, failed=int(bool(error)), seconds=3.0, **end),
    ]


def captions(at: AppTest) -> str:
    return "\n".join(caption.value for caption in at.caption)


def start_build(stage: Stage, error: str | None = "needs a password: remove it", **end: Any) -> AppTest:
    stage.base.change_list = [ADDED]
    stage.base.script = build_script(error, **end)
    at = stage.page()
    at.button(key="rebuild").click().run()
    job = state.process().runtime.latest("build")
    assert job is not None
    for _, _ in zip(range(3), job.follow(timeout=5), strict=False):
        pass
    return at.run()


def test_a_running_build_shows_file_stage_speed_and_results_as_they_come(stage: Stage) -> None:
    at = start_build(stage)
    bar = at.get("progress")[0].proto
    assert "2 of 2" in bar.text.replace("\\", "")
    assert "new.pdf" in bar.text.replace("\\", "")
    assert 50 <= bar.value < 100
    assert "reading page 8 of 40 · 31.4 pages/s" in "".join(caption.value for caption in at.caption)
    assert "needs a password: remove it" in html(at)
    assert not at.chat_input[0].disabled, "questions can be asked while a build runs"


def test_a_finished_build_keeps_each_files_result_in_sight(stage: Stage) -> None:
    at = start_build(stage)
    stage.base.goes_on.set()
    at = ended(at, "build")
    assert "needs a password: remove it" in html(at)
    assert any("1 failed" in expander.label for expander in at.expander)
    assert not any(expander.proto.expanded for expander in at.expander)
    assert not at.get("progress")


def test_a_finished_build_says_what_its_vectors_took_of_a_service(stage: Stage) -> None:
    at = start_build(stage, tokens=12_345, cost=0.0024)
    stage.base.goes_on.set()
    said = "".join([*(e.label for e in ended(at, "build").expander), captions(at)])
    assert "12,345 tokens for vectors · 0.0024 USD" in said


def test_a_cancelled_build_asks_whether_to_publish_what_is_finished(stage: Stage) -> None:
    at = start_build(stage)
    at.button(key="build-cancel").click().run()
    stage.base.staged_count = 1
    at = ended(at, "build")
    assert "Publish them" in labels(at)
    at.button(key="publish").click().run()
    at = ended(at, "build")
    assert stage.base.staged_count == 0
    assert "Publish them" not in labels(at)
    assert "1 file published" in captions(at)


def test_a_cancelled_build_does_not_count_what_failed_as_finished(stage: Stage) -> None:
    at = start_build(stage)
    at.button(key="build-cancel").click().run()
    labels_of = [expander.label for expander in ended(at, "build").expander]
    assert "Rebuild cancelled, 0 finished · 1 failed" in labels_of


def test_that_a_build_was_cancelled_is_put_away_once_another_process_has_published(stage: Stage) -> None:
    at = start_build(stage)
    at.button(key="build-cancel").click().run()
    at = ended(at, "build")
    assert any(expander.label.startswith("Rebuild cancelled") for expander in at.expander)
    stage.base.published = 2
    at.run()
    assert not any(expander.label.startswith("Rebuild cancelled") for expander in at.expander)


def test_finished_files_of_a_cancelled_build_can_be_kept(stage: Stage) -> None:
    stage.base.staged_count = 2
    at = stage.page()
    at.button(key="keep-staged").click().run()
    assert "Publish them" not in labels(at)
    assert stage.base.staged_count == 2


def test_a_build_that_fails_says_why(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(cancel: Any) -> Any:
        raise CragError("The disk is full: make room.")
        yield

    monkeypatch.setattr(stage.base, "build", fails)
    stage.base.change_list = [ADDED]
    at = stage.page()
    at.button(key="rebuild").click().run()
    at = ended(at, "build")
    assert "The disk is full" in messages(at)
    stage.base.change_list = []
    assert "The disk is full" not in messages(at.run()), "everything is up to date"
    stage.base.change_list = [ADDED]
    assert "The disk is full" not in messages(at.run())


def test_a_build_elsewhere_is_no_failure_and_its_message_goes(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(cancel: Any) -> Any:
        raise BuildLockedError("Process 7 is building: wait until it has finished.")
        yield

    def infos() -> str:
        return "".join(info.value for info in at.info)

    monkeypatch.setattr(stage.base, "build", refused)
    stage.base.change_list = [ADDED]
    at = stage.page()
    at.button(key="rebuild").click().run()
    at = ended(at, "build")
    assert "Another process is building" in infos()
    assert not at.error
    at.button(key="refresh").click().run()
    assert "Another process is building" not in infos()
    at.button(key="rebuild").click().run()
    at = ended(at, "build")
    assert "Another process is building" in infos()
    stage.base.row_list = [INDEXED, FileRow(path="new.pdf", content="n", passages=1)]
    at.run()
    assert "Another process is building" not in infos()


def test_an_upload_is_filed_once_and_told_about(stage: Stage, tmp_path: Path) -> None:
    at = stage.page()
    at.get("file_uploader")[0].upload("paper.pdf", b"%PDF-1.7 a", "application/pdf").run()
    assert (tmp_path / "Files" / "paper.pdf").read_bytes() == b"%PDF-1.7 a"
    (tmp_path / "Files" / "paper.pdf").unlink()
    at.run()
    assert not (tmp_path / "Files" / "paper.pdf").exists(), "a rerun does not file it again"
    assert "is added" in "".join(caption.value for caption in at.caption)


def test_several_uploads_get_one_line_and_one_for_each_problem(stage: Stage) -> None:
    at = stage.page()
    good = [(f"{n}.pdf", b"%PDF-1.7 a", "application/pdf") for n in range(3)]
    at.get("file_uploader")[0].set_value([*good, ("x.pdf", b"<html>", "application/pdf")]).run()
    assert "3 files added: rebuild to ask them." in captions(at)
    assert len(at.error) == 1


def test_a_taken_name_is_asked_about(stage: Stage, tmp_path: Path) -> None:
    files = tmp_path / "Files"
    files.mkdir()
    (files / "paper.pdf").write_bytes(b"%PDF-1.7 mine")
    at = stage.page()
    at.get("file_uploader")[0].upload("paper.pdf", b"%PDF-1.7 other", "application/pdf").run()
    assert (files / "paper.pdf").read_bytes() == b"%PDF-1.7 mine"
    at.button(key="conflict-0-keep both").click().run()
    assert (files / "paper.pdf").read_bytes() == b"%PDF-1.7 mine"
    assert (files / "paper (2).pdf").read_bytes() == b"%PDF-1.7 other"
    at.get("file_uploader")[0].upload("paper.pdf", b"%PDF-1.7 third", "application/pdf").run()
    at.button(key="conflict-0-replace").click().run()
    assert (files / "paper.pdf").read_bytes() == b"%PDF-1.7 third"


def test_what_is_no_pdf_is_refused_with_the_reason(stage: Stage, tmp_path: Path) -> None:
    at = stage.page()
    at.get("file_uploader")[0].upload("page.pdf", b"<html>", "application/pdf").run()
    assert "is not a PDF" in messages(at)
    assert not (tmp_path / "Files" / "page.pdf").exists()
    assert INDEXED.path in html(at)


def test_a_build_that_ends_while_the_page_is_drawn_leaves_a_whole_page(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = start_build(stage)
    original = stage.base.rows

    def ends_meanwhile() -> list[FileRow]:
        stage.base.goes_on.set()
        job = state.process().runtime.latest("build")
        assert job is not None
        list(job.follow(timeout=5))
        return original()

    monkeypatch.setattr(stage.base, "rows", ends_meanwhile)
    at.run()
    assert not at.get("progress")
    assert "rebuild" in [button.key for button in at.button]


def test_an_index_that_is_made_anew_says_so(stage: Stage) -> None:
    gone = FileChange(path="old.pdf", state=FileState.REMOVED)
    stage.base.change_list = [gone]
    stage.base.script = [
        BuildStarted(changes=(gone,)),
        FileProgress(path="", index=1, files=1, stage="compacting", done=10, total=90),
        BuildFinished(version=1, published=True),
    ]
    at = stage.page()
    at = at.button(key="rebuild").click().run()
    assert not at.exception
    assert "10 of 90" in at.get("progress")[0].proto.text


def test_a_running_build_says_how_much_is_done_and_how_long_it_will_take(stage: Stage) -> None:
    stage.base.change_list = [ADDED]
    progress = FileProgress(
        path="new.pdf",
        index=1,
        files=1,
        stage="embedding",
        done=1,
        total=9,
        pages=30,
        passages=1200,
        seconds_left=200.0,
    )
    stage.base.script = [BuildStarted(changes=(ADDED,)), progress, BuildFinished(version=1, published=True)]
    at = stage.page()
    at = at.button(key="rebuild").click().run()
    said = "\n".join(caption.value for caption in at.caption)
    assert "so far 30 p., 1,200 passages" in said
    assert "about 3 min left" in said


def test_a_watched_folder_offers_a_rebuild_and_starts_none_by_itself(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_WATCH", "on")
    stage.base.changed = True
    stage.base.script = [BuildStarted(changes=()), BuildFinished(version=1, published=True)]
    stage.base.goes_on.set()
    at = stage.page()
    assert not at.exception
    assert "has changed since the last rebuild" in "".join(shown.value for shown in at.markdown)
    assert state.process().runtime.latest("build") is None
    at = at.button(key="rebuild-changed").click().run()
    assert not at.exception
    assert state.process().runtime.latest("build") is not None


def test_a_folder_is_not_watched_unless_asked_for(stage: Stage) -> None:
    stage.base.changed = True
    at = stage.page()
    assert "has changed since" not in "".join(shown.value for shown in at.markdown)


def test_a_file_says_how_many_pages_were_read_by_ocr(stage: Stage) -> None:
    stage.base.row_list = [FileRow(path="scan.pdf", content="s", pages=3, passages=4, ocr_pages=2)]
    assert "3 p. · 4 passages · 2 pages read by OCR" in html(stage.page())


def test_the_drop_area_speaks_chinese_where_the_page_does(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def styles(at: AppTest) -> str:
        return "\n".join(element.proto.body for element in at.get("html") if element.proto.body.startswith("<style>"))

    assert "upload" not in styles(stage.page()), "Streamlit's own words are English"
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    shown = styles(stage.page())
    assert "content: '选择文件'" in shown
    assert "每个最大 200 MB" in shown
