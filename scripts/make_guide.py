"""Makes Files/crag-guide.pdf from docs/guide/*.md: the same bytes from the same text, with PyMuPDF's own fonts."""

# mypy: allow-untyped-calls
from __future__ import annotations

import io
import sys
from pathlib import Path

import pymupdf
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "docs" / "guide"
GUIDE = ROOT / "Files" / "crag-guide.pdf"

TITLE = "The CRAG guide"
SUBTITLE = "A chatbot on your own PDFs that checks its evidence before it answers. Version 0.1"
PAGE = pymupdf.paper_rect("a4")
TEXT = pymupdf.Rect(64, 60, PAGE.x1 - 64, PAGE.y1 - 72)
FOOTER = pymupdf.Rect(TEXT.x0, PAGE.y1 - 56, TEXT.x1, PAGE.y1 - 12)
CSS = """
body { font-family: sans-serif; font-size: 10.5pt; line-height: 1.4; color: #1f2328; }
h1 { font-size: 19pt; line-height: 1.2; margin: 22pt 0 7pt 0; color: #16325c; }
h2 { font-size: 13pt; line-height: 1.25; margin: 13pt 0 4pt 0; color: #16325c; }
p { margin: 0 0 6.5pt 0; }
ol { margin: 0 0 6.5pt 0; }
li { margin: 0 0 3pt 0; }
code { font-family: monospace; font-size: 9.5pt; }
table { margin: 4pt 0 9pt 0; font-size: 9.5pt; }
th, td { padding: 3pt 8pt 3pt 0; border-top: 0.5pt solid #b8c0cc; vertical-align: top; text-align: left; }
.title { font-size: 30pt; line-height: 1.1; margin: 0 0 6pt 0; font-weight: bold; color: #16325c; }
.subtitle { font-size: 12pt; color: #57606a; margin: 0 0 8pt 0; }
.footer { font-size: 8.5pt; color: #57606a; text-align: right; }
"""


def parts() -> list[str]:
    """The guide's Markdown in the order of the chapters' file names; a chapter that opens with `---` opens a part."""
    text = "\n\n".join(path.read_text(encoding="utf-8") for path in sorted(CHAPTERS.glob("*.md")))
    return text.split("\n---\n")


def as_html(markdown: str) -> str:
    return str(MarkdownIt("commonmark").enable("table").render(markdown))


def render(bodies: list[str]) -> bytes:
    """A PDF of the parts, given as HTML: each on a fresh page, with page numbers and an outline of the headings."""
    head = f'<p class="title">{TITLE}</p><p class="subtitle">{SUBTITLE}</p>'
    buffer = io.BytesIO()
    writer = pymupdf.DocumentWriter(buffer)
    outline: list[list[object]] = []
    number = 0
    for body in [head + bodies[0], *bodies[1:]]:
        story = pymupdf.Story(body, user_css=CSS)
        more = 1
        while more:
            number += 1
            device = writer.begin_page(PAGE)
            more, _ = story.place(TEXT)
            story.element_positions(lambda at: _note(at, outline), {"page": number})
            story.draw(device)
            _draw_footer(device, number)
            writer.end_page()
    writer.close()
    return _finished(buffer.getvalue(), outline)


def _note(at: pymupdf.mupdf.FzStoryElementPosition, outline: list[list[object]]) -> None:
    """Adds a heading that starts on this page to the outline."""
    if at.heading in (1, 2) and at.open_close & 1 and at.text:
        outline.append([at.heading, at.text, at.page, at.rect[1]])


def _draw_footer(device: object, number: int) -> None:
    footer = pymupdf.Story(f'<p class="footer">{TITLE} · {number}</p>', user_css=CSS)
    footer.place(FOOTER)
    footer.draw(device)


def _finished(pdf: bytes, outline: list[list[object]]) -> bytes:
    """Outline and title added, fonts cut down to the letters used, nothing in it that differs from run to run."""
    with pymupdf.open("pdf", pdf) as document:
        document.set_toc(outline)
        document.set_metadata({"title": TITLE, "author": "The CRAG authors"})
        document.subset_fonts()
        return bytes(document.tobytes(garbage=4, deflate=True, no_new_id=True))


def main() -> int:
    """Writes the guide where its bytes have changed."""
    pdf = render([as_html(part) for part in parts()])
    if not GUIDE.is_file() or GUIDE.read_bytes() != pdf:
        GUIDE.write_bytes(pdf)
    print(f"{GUIDE.relative_to(ROOT)}: {len(pdf) // 1024} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
