"""Files read by a MinerU service: its order, titles and tables become passages with their places on the page, and
where it fails the built-in parser reads the file and says so."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pymupdf
import pytest
from hashing import HashingEmbedder
from mineru_server import MinerUServer, a_block, a_page, a_table, serving
from scans import scanned
from small_pdfs import Write, built, of_kind, pdf_bytes, texts

from crag.knowledge_base import mineru as service
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.evidence import Rect, shown
from crag.knowledge_base.mineru import MinerU
from crag.knowledge_base.mineru_tables import Placed, grid_of, place
from crag.knowledge_base.pages import Page

OWN = "The lighthouse keeper wrote the weather down every evening before he lit the lamp."
SEEN = "Barley was weighed in the northern granary, and the clerk entered it into the ledger."
LINE = (72, 100, 520, 112)

Open = Callable[..., KnowledgeBase]


@pytest.fixture
def mineru() -> Iterator[MinerUServer]:
    with serving() as server:
        yield server


@pytest.fixture
def open_base(files: Path, tmp_path: Path, mineru: MinerUServer) -> Iterator[Open]:
    """Opens the knowledge base, which reads by MinerU."""
    opened: list[KnowledgeBase] = []

    def open_base(timeout: float = 20.0) -> KnowledgeBase:
        chosen = MinerU(mineru.url, timeout)
        opened.append(KnowledgeBase(files, tmp_path / "db", HashingEmbedder(), parse_timeout=30, mineru=chosen))
        return opened[-1]

    yield open_base
    for base in opened:
        base.close()


def rects(page: Page, text: str) -> tuple[Rect, ...]:
    start = page.words.text.index(text)
    return shown(page.words, [(start, start + len(text))])


def covers(outer: Rect, inner: tuple[float, float, float, float], slack: float = 1.0) -> bool:
    return all(outer[i] <= inner[i] + slack for i in (0, 1)) and all(outer[i] >= inner[i] - slack for i in (2, 3))


# --- what goes out ----------------------------------------------------------------------------------------------


def test_the_file_goes_out_under_a_neutral_name_with_the_documented_fields(
    mineru: MinerUServer, open_base: Open, write: Write
) -> None:
    path = write("contract of Ms Ochsner.pdf", OWN)
    mineru.pages = [a_page(1, a_block((SEEN, LINE)))]
    built(open_base())
    (request,) = mineru.requests
    assert request.path == "/file_parse"
    assert request.fields == {
        "backend": "pipeline",
        "parse_method": "auto",
        "return_md": "false",
        "return_middle_json": "true",
        "return_content_list": "true",
    }
    assert request.files == [("document.pdf", "application/pdf", path.read_bytes())]


@pytest.mark.parametrize(("ocr", "method"), [("off", "txt"), ("force", "ocr"), ("auto", "auto")])
def test_how_a_file_shall_be_read_reaches_mineru(
    mineru: MinerUServer, open_base: Open, write: Write, ocr: str, method: str
) -> None:
    write("a.pdf", OWN)
    mineru.pages = [a_page(1, a_block((SEEN, LINE)))]
    base = open_base()
    list(base.read_again("a.pdf", ocr))  # type: ignore[arg-type]
    assert mineru.requests[-1].fields["parse_method"] == method


def test_nothing_is_sent_where_the_built_in_parser_is_in_use(
    mineru: MinerUServer, base: KnowledgeBase, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MINERU_URL", mineru.url)
    write("a.pdf", OWN)
    built(base)
    assert (mineru.requests, mineru.health) == ([], 0)


def test_a_file_with_a_password_is_read_here_and_never_sent(
    mineru: MinerUServer, open_base: Open, write: Write
) -> None:
    write("locked.pdf", OWN, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="open", owner_pw="owner")
    base = open_base()
    built(base)
    assert base.rows()[0].error is not None
    assert "password" in base.rows()[0].error
    base.set_password("locked.pdf", "open")
    built(base)
    (row,) = base.rows()
    assert row.error is None
    assert "MinerU did not read it, the built-in parser did: a file with a password is not sent." in row.warnings
    assert mineru.requests == []


# --- what comes back --------------------------------------------------------------------------------------------


def test_text_comes_in_the_order_and_under_the_titles_of_mineru(
    mineru: MinerUServer, open_base: Open, write: Write
) -> None:
    write("a.pdf", OWN)
    more = [
        (f"In the year 18{n} the clerk found nothing missing.", (310, 16 * n - 40, 560, 16 * n - 28))
        for n in range(10, 20)
    ]
    mineru.pages = [
        a_page(
            1,
            a_block(("Harbours and ships", (72, 40, 300, 58)), kind="title", level=1),
            a_block(("Granaries", (72, 60, 200, 74)), kind="title", level=2),
            a_block((SEEN, (310, 100, 560, 112)), *more),
            a_block(("Ships carried it away in spring.", (72, 100, 280, 112))),
            aside=[a_block(("Annual report", (72, 20, 160, 30)), kind="header")],
        )
    ]
    base = open_base()
    built(base)
    page = base.pages.page("a.pdf", 1)
    lines = page.words.text.split("\n")
    assert lines[:3] == ["Annual report", "Harbours and ships", "Granaries"]
    assert lines[3].startswith(SEEN)
    assert lines[-1] == "Ships carried it away in spring."
    assert {passage.heading for passage in page.passages if SEEN in passage.text} == {"Harbours and ships › Granaries"}
    assert not page.row.facts.ocr


def test_a_scan_that_mineru_read_is_marked_where_its_line_stands(
    mineru: MinerUServer, open_base: Open, files: Path
) -> None:
    (files / "scan.pdf").write_bytes(scanned(pdf_bytes([OWN]), turn=0))
    mineru.pages = [a_page(1, a_block((SEEN, LINE)))]
    base = open_base()
    built(base)
    page = base.pages.page("scan.pdf", 1)
    assert page.row.facts.ocr
    assert "Page 1 was read by OCR." in base.rows()[0].warnings
    (rect,) = rects(page, SEEN)
    assert rect == pytest.approx(LINE, abs=0.1)
    (word,) = rects(page, "granary")
    assert LINE[0] < word.x0 < word.x1 < LINE[2]


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_words_are_marked_on_pages_that_are_shown_turned(
    mineru: MinerUServer, open_base: Open, files: Path, rotation: int
) -> None:
    document = pymupdf.open("pdf", scanned(pdf_bytes([OWN])))
    document[0].set_rotation(rotation)
    document.save(files / "turned.pdf")
    size = [842, 595] if rotation % 180 else [595, 842]
    mineru.pages = [a_page(1, a_block((SEEN, LINE), ("and closed the door.", (72, 116, 200, 128))), page_size=size)]
    base = open_base()
    built(base)
    page = base.pages.page("turned.pdf", 1)
    assert page.words.text == f"{SEEN[:-1]}. and closed the door."
    assert rects(page, SEEN)[0] == pytest.approx(LINE, abs=0.1)
    assert rects(page, "and closed the door.")[0] == pytest.approx((72, 116, 200, 128), abs=0.1)


GOODS = [["Goods", "Weight", "Port"], ["Barley", "120 t", "Danzig"], ["Tar", "35 t", "Riga"], ["Salt", "35 t", "Cadiz"]]
HTML = "<table>" + "".join(f"<tr>{''.join(f'<td>{c}</td>' for c in row)}</tr>" for row in GOODS) + "</table>"


def goods_pdf() -> bytes:
    """A table whose second row is far below the first, set as text."""
    document = pymupdf.open()
    page = document.new_page()
    for y, row in zip((100, 160, 180, 200), GOODS, strict=True):
        for x, text in zip((80, 240, 400), row, strict=True):
            page.insert_text((x, y), text, fontsize=11)
    data: bytes = document.tobytes()
    return data


def test_a_table_is_rows_under_its_column_names_and_each_cell_is_marked_where_it_stands(
    mineru: MinerUServer, open_base: Open, files: Path
) -> None:
    (files / "goods.pdf").write_bytes(goods_pdf())
    caption = a_block(("Table 3: Cargo", (80, 70, 200, 82)), kind="table_caption")
    mineru.pages = [a_page(1, a_table(HTML, (72, 85, 500, 210), caption))]
    base = open_base()
    built(base)
    page = base.pages.page("goods.pdf", 1)
    assert page.words.text.startswith(
        "Table 3: Cargo\n| Goods | Weight | Port |\n|---|---|---|\n| Barley | 120 t | Danzig |"
    )
    strips = [strip.text for passage in page.passages for strip in passage.strips]
    assert all("Goods" in strip and "Table 3: Cargo" in strip for strip in strips)
    with pymupdf.open(files / "goods.pdf") as document:
        for text in ("Danzig", "Salt", "Cadiz"):
            (rect,) = rects(page, text)
            (there,) = document[0].search_for(text)
            assert covers(rect, tuple(there), 2)
            assert covers(Rect(*there), rect, 2)
        salt = page.words.text.index("35 t", page.words.text.index("Salt"))
        (rect,) = shown(page.words, [(salt, salt + 4)])
        assert rect.y0 == pytest.approx(document[0].search_for("35 t")[1].y0, abs=2)


def test_cells_of_a_scanned_table_are_marked_in_their_part_of_it(
    mineru: MinerUServer, open_base: Open, files: Path
) -> None:
    (files / "goods.pdf").write_bytes(scanned(goods_pdf()))
    mineru.pages = [a_page(1, a_table(HTML, (72, 80, 500, 240)))]
    base = open_base()
    built(base)
    (rect,) = rects(base.pages.page("goods.pdf", 1), "Riga")
    assert covers(Rect(72 + 2 * 428 / 3, 160, 500, 200), rect)


def test_cells_over_rows_and_columns_are_named_in_each_of_them() -> None:
    grid = grid_of(
        "<table><tr><th rowspan=2>Port</th><th colspan='2'>Weight</th></tr><tr><td>in</td><td>out</td></tr>"
        "<tr><td>Riga</td><td>1</td><td>2</td></tr></table>"
    )
    assert grid is not None
    assert [[cell.text if cell else "" for cell in row] for row in grid.cells] == [
        ["Port", "Weight", "Weight"],
        ["Port", "in", "out"],
        ["Riga", "1", "2"],
    ]
    assert grid.header == 1


def test_equal_figures_go_to_the_cells_that_they_stand_in() -> None:
    grid = grid_of("<table><tr><td>a</td><td>7</td></tr><tr><td>b</td><td>7</td></tr></table>")
    assert grid is not None
    layer = [
        Placed(text, (x, y, x + 5, y + 10)) for text, x, y in (("7", 50, 40), ("a", 0, 0), ("7", 50, 0), ("b", 0, 40))
    ]
    place(grid, (0, 0, 60, 50), layer)
    assert [cell.words[0].box[1] for cell in grid.all] == [0, 0, 40, 40]


@pytest.mark.parametrize(
    "html", ["", "<table></table>", "<td colspan='9999999'>" * 300, "plain", "<table><tr></tr></table>"]
)
def test_html_that_is_no_table_gives_none(html: str) -> None:
    assert grid_of(html) is None


def test_a_page_that_mineru_leaves_out_is_read_here_and_named(
    mineru: MinerUServer, open_base: Open, write: Write
) -> None:
    write("a.pdf", OWN, OWN.replace("lamp", "fire"))
    mineru.pages = [a_page(1, a_block((SEEN, LINE)))]
    base = open_base()
    built(base)
    found = " ".join(texts(base))
    assert SEEN in found
    assert "before he lit the fire" in found
    assert "before he lit the lamp" not in found
    assert "MinerU has no text for page 2: it was read by the built-in parser." in base.rows()[0].warnings


def test_values_of_another_kind_cost_their_line_only(mineru: MinerUServer, open_base: Open, write: Write) -> None:
    write("a.pdf", OWN)
    odd = [None, 7, {"type": "text"}, {"type": "text", "lines": [{"spans": [{"bbox": "no", "content": "lost"}]}]}]
    odd += [a_block((7, (1, 2, 3, 4))), a_block(("inside out", (90, 90, 10, 10)))]  # type: ignore[arg-type]
    mineru.pages = [a_page(1, *odd, a_block((SEEN, LINE))), "no page", {"page_idx": "1"}]  # type: ignore[arg-type,list-item]
    base = open_base()
    built(base)
    assert base.pages.page("a.pdf", 1).words.text == SEEN


# --- when it fails ----------------------------------------------------------------------------------------------


def refuses(status: int, body: bytes) -> Callable[[MinerUServer], None]:
    def set_up(server: MinerUServer) -> None:
        server.status, server.body = status, body

    return set_up


def is_down(server: MinerUServer) -> None:
    server.url = "http://127.0.0.1:9"


FAILURES = [
    (is_down, "the service cannot be reached: start it, or correct CRAG_MINERU_URL."),
    (refuses(404, b'{"detail":"Not Found"}'), "which MinerU 4 has dropped: run MinerU 3 (`pip install 'mineru<4'`)"),
    (
        refuses(400, b'{"error":"Failed to load file: xref"}'),
        "the service refused the file (Failed to load file: xref).",
    ),
    (refuses(422, b'{"detail":[{"loc":["body","files"]}]}'), "the service refused the file."),
    (
        refuses(500, b'{"error":"Failed to process file: CUDA"}'),
        "HTTP status 500 (Failed to process file: CUDA): look at",
    ),
    (
        refuses(503, b'{"detail":"Server is at maximum capacity: 1."}'),
        "busy (Server is at maximum capacity: 1.): read the",
    ),
    (refuses(200, b"<!doctype html><title>Log in</title>"), "a web page came in place of its answer"),
    (refuses(200, b'{"backend":"pipeline","results":{"document":{"mid'), "its answer is cut off or no JSON"),
    (
        refuses(200, b'{"results":{"document":{"middle_json":"{\\"pdf_info\\": [{"}}}'),
        "its answer is cut off or no JSON",
    ),
    (refuses(200, b'{"results":{}}'), "its answer is not in the form of MinerU 3: check CRAG_MINERU_URL."),
    (refuses(200, b"[" * 100_000), "its answer is cut off or no JSON"),
]


@pytest.mark.parametrize(("set_up", "sentence"), FAILURES)
def test_where_mineru_fails_the_file_is_read_here_and_its_row_says_why(
    mineru: MinerUServer, open_base: Open, write: Write, set_up: Callable[[MinerUServer], None], sentence: str
) -> None:
    set_up(mineru)
    write("a.pdf", OWN)
    base = open_base()
    built(base)
    (row,) = base.rows()
    assert row.error is None
    assert texts(base) == {OWN}
    (warning,) = row.warnings
    assert warning.startswith("MinerU did not read it, the built-in parser did: ")
    assert sentence in warning


def test_a_service_that_stays_silent_is_given_up(mineru: MinerUServer, open_base: Open, write: Write) -> None:
    mineru.waits = threading.Event()
    write("a.pdf", OWN)
    base = open_base(timeout=1.0)
    built(base)
    assert texts(base) == {OWN}
    assert "it took longer than 1 s: raise CRAG_MINERU_TIMEOUT" in base.rows()[0].warnings[0]


def test_a_build_that_waits_for_mineru_can_be_cancelled(mineru: MinerUServer, open_base: Open, write: Write) -> None:
    mineru.waits = threading.Event()
    write("a.pdf", OWN)
    cancel = threading.Event()
    timer = threading.Timer(2.0, cancel.set)
    timer.start()
    last = list(open_base(timeout=25.0).build(cancel))[-1]
    assert last.kind == "build_finished"
    assert not last.published
    assert last.seconds < 15
    timer.join()


# --- what the index was made with -------------------------------------------------------------------------------


def test_another_version_of_mineru_means_a_rebuild_that_says_so(
    mineru: MinerUServer, open_base: Open, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("a.pdf", OWN)
    mineru.pages = [a_page(1, a_block((SEEN, LINE)))]
    built(open_base())
    assert [change.state for change in open_base().changes()] == ["unchanged"]
    mineru.version = "3.5.0"
    base = open_base()
    assert [change.state for change in base.changes()] == ["changed"]
    (started,) = of_kind(list(base.build()), "build_started")
    assert started.fresh
    mineru.version = None  # it cannot be asked
    assert [change.state for change in open_base().changes()] == ["unchanged"]
    assert len(mineru.requests) == 2


def test_the_version_is_asked_once_a_minute(mineru: MinerUServer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(service.time, "monotonic", lambda: now[0])
    version = service.MinerUVersion(MinerU(mineru.url, 5))
    assert [version.now(), version.now()] == ["3.4.4", "3.4.4"]
    assert mineru.health == 1
    now[0], mineru.version = 61.0, "3.5.0"
    assert version.now() == "3.5.0"


def test_an_index_of_the_built_in_parser_is_rebuilt_for_mineru(
    mineru: MinerUServer, base: KnowledgeBase, files: Path, tmp_path: Path, write: Write
) -> None:
    write("a.pdf", OWN)
    built(base)
    base.close()
    mineru.pages = [a_page(1, a_block((SEEN, LINE)))]
    other = KnowledgeBase(files, tmp_path / "chroma_db", HashingEmbedder(), mineru=MinerU(mineru.url, 20))
    (started,) = of_kind(list(other.build()), "build_started")
    assert started.fresh
    assert texts(other) == {SEEN}
    other.close()
