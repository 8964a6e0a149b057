"""Renders XQuAD (240 Wikipedia paragraphs in 48 articles, English and Chinese) into one PDF per article.

    python -m bench.xquad_pdfs --data DIR --out Files [--language en|zh|both] [--half SEED]

`--half SEED` renders only the half of the articles that the seed chooses, so that the questions of the others are
not covered. Real text layers, A4, two typefaces: what a user's own PDFs look like, with known answers.
"""

from __future__ import annotations

import argparse
import html
import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import pymupdf

from bench._xquad import Paragraph, data_argument, half_of, paragraphs

CSS = "body { font-family: serif; font-size: 10.5pt; line-height: 1.35 } h1 { font-size: 18pt } p { margin: 0 0 9pt 0 }"
PAGE = pymupdf.paper_rect("a4")
INSET = (64, 64, -64, -64)


def file_name(article: str, title: str, language: str) -> str:
    """`super_bowl_50.en.pdf`; the article id stands in where a title has no Latin letters."""
    stem = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_") or article
    return f"{stem}.{language}.pdf"


def render(article: Sequence[Paragraph], target: Path) -> int:
    """Writes one article as a PDF; returns its pages."""
    title = html.escape(article[0].title.replace("_", " "))
    body = "".join(f"<p>{html.escape(paragraph.text)}</p>" for paragraph in article)
    story = pymupdf.Story(html=f"<h1>{title}</h1>{body}", user_css=CSS)
    writer = pymupdf.DocumentWriter(str(target))
    pages, more = 0, True
    while more:
        device = writer.begin_page(PAGE)
        more, _ = story.place(PAGE + INSET)
        story.draw(device)
        writer.end_page()
        pages += 1
    writer.close()
    return pages


def render_all(data: Path, out: Path, language: str, only: frozenset[str] | None = None) -> dict[str, str]:
    """One PDF per article below `out`; returns file name by article id."""
    out.mkdir(parents=True, exist_ok=True)
    names = {}
    for article, group in groupby(paragraphs(data, language), key=lambda paragraph: paragraph.article):
        if only is None or article in only:
            members = list(group)
            names[article] = file_name(article, members[0].title, language)
            render(members, out / names[article])
    return names


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--language", choices=("en", "zh", "both"), default="both")
    parser.add_argument("--half", type=int, metavar="SEED")
    args = parser.parse_args()
    for language in ("en", "zh") if args.language == "both" else (args.language,):
        articles = {paragraph.article for paragraph in paragraphs(args.data, language)}
        only = None if args.half is None else half_of(articles, args.half)
        names = render_all(args.data, args.out, language, only)
        print(f"{language}: {len(names)} PDFs in {args.out}")


if __name__ == "__main__":
    main()
