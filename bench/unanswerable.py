"""Questions that the documents do not answer although they come near: SQuAD 2, and XQuAD without the gold paragraph.

    python -m bench.unanswerable --data DIR [--part squad2 --part hard] [--language en] [--limit N] [--all]

**squad2**: the paragraphs of `squad2_part_en.jsonl` (SQuAD 2.0: unanswerable questions were written by people, to look
answerable from their paragraph) as one PDF per article, all paragraphs in; its answerable and unanswerable questions
through the real pipeline without the web. A false answer is any answer to an unanswerable question.
**hard**: every XQuAD question is asked once while its own paragraph is missing from its article and all the others
are there. The paragraphs are dropped in five groups, the n-th of every article: so five knowledge bases per language,
really built. The string of the gold answer may still stand elsewhere; how often it does in a document that was found
is printed. Held-out articles only, unless `--all`; squad2 is one family with XQuAD, so an evaluator that was trained
on it has seen its rows. Shares with 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from itertools import groupby
from pathlib import Path

from bench._answers import action_lines, answer_lines, chosen, drawn, holds_answer, line, question_arguments, quoted
from bench._xquad import Paragraph, Question, paragraphs, read_jsonl
from bench.decisions import Asked, ask_all
from bench.xquad_pdfs import file_name, render
from config import Settings, load_settings

GROUPS = 5


def settings_in(place: Path) -> Settings:
    """The product as it is, without the web, on a knowledge base of its own."""
    return load_settings(files_dir=place / "Files", chroma_dir=place / "chroma_db", data_dir=place, web_provider="none")


def render_articles(every: list[Paragraph], language: str, out: Path) -> dict[str, str]:
    """One PDF per article with these paragraphs; file name by article."""
    out.mkdir(parents=True)
    names = {}
    for article, group in groupby(every, key=lambda paragraph: paragraph.article):
        members = list(group)
        names[article] = file_name(article, members[0].title, language)
        render(members, out / names[article])
    return names


# --- SQuAD 2 --------------------------------------------------------------------------------------------------------


def squad2(args: argparse.Namespace, folder: Path) -> None:
    """Builds, asks and reports."""
    rows = read_jsonl(args.data / "squad2_part_en.jsonl")
    texts = {row["paragraph_id"]: row["passage"] for row in rows}
    every = [Paragraph(id_, _article(id_), _article(id_), texts[id_]) for id_ in sorted(texts)]
    answerable = {row["id"]: row["answerable"] for row in rows}
    asking = [
        Question(r["id"], _article(r["paragraph_id"]), r["paragraph_id"], r["question"], tuple(r["answers"]))
        for r in rows
    ]
    place = folder / "squad2"
    names = render_articles(every, "en", place / "Files")
    found = asyncio.run(ask_all(settings_in(place), drawn(asking, args.limit), names))
    print(f"squad2: {len(found)} questions about {len(every)} paragraphs in {len(names)} PDFs")
    yes = [asked for asked in found if answerable[asked.question.id]]
    no = [asked for asked in found if not answerable[asked.question.id]]
    action_lines("answerable", [asked.trace for asked in yes], look=-1)
    answer_lines("answerable", [(asked.question, quoted(asked.trace)) for asked in yes])
    action_lines("unanswerable", [asked.trace for asked in no], look=-1)
    line("unanswerable: false answer", sum(asked.trace.covered for asked in no), len(no))


def _article(paragraph: str) -> str:
    return paragraph.rpartition("_")[0]


# --- the gold paragraph is missing ----------------------------------------------------------------------------------


def hard(language: str, args: argparse.Namespace, folder: Path) -> None:
    """Builds five knowledge bases, asks each the questions of the paragraphs that it lacks, and reports."""
    every = paragraphs(args.data, language)
    group_of = {
        paragraph.id: number % GROUPS
        for _, members in groupby(every, key=lambda paragraph: paragraph.article)
        for number, paragraph in enumerate(members)
    }
    asking, found = chosen(args, language), list[Asked]()
    for group in range(GROUPS):
        mine = [question for question in asking if group_of[question.paragraph] == group]
        if mine:
            place = folder / f"{language}{group}"
            names = render_articles([p for p in every if group_of[p.id] != group], language, place / "Files")
            found += asyncio.run(ask_all(settings_in(place), mine, names))
    print(f"hard, {language}: {len(found)} questions, each with its gold paragraph missing and its neighbours there")
    for look, label in ((0, "first look"), (-1, "final")):
        action_lines(f"judged, {label}", [asked.trace for asked in found], look)
    line("false answer", sum(asked.trace.covered for asked in found), len(found))
    there = [asked for asked in found if any(holds_answer(asked.question, d.text) for d in asked.trace.documents)]
    line("the answer's string stands in a document all the same", len(there), len(found))
    line("of these, answered", sum(asked.trace.covered for asked in there), len(there))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    question_arguments(parser)
    parser.add_argument("--part", choices=("squad2", "hard"), action="append", help="repeatable; default both")
    args = parser.parse_args()
    parts = args.part or ["squad2", "hard"]
    with tempfile.TemporaryDirectory() as folder:
        if "squad2" in parts:
            squad2(args, Path(folder))
        if "hard" in parts:
            for language in args.language or ("en", "zh"):
                hard(language, args, Path(folder))


if __name__ == "__main__":
    main()
