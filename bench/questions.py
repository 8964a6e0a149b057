"""Asks a list of questions whose outcome was written down before, and prints what was expected and what came.

    python -m bench.questions --pdfs DIR [--questions bench/twenty_questions.jsonl]

Indexes the guide and the PDFs that the questions name into a temporary folder. A row passes when the action is one
of the expected, the file and (where given) the page are cited, and the answer holds one of the answer strings.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import tempfile
from pathlib import Path

from config import ROOT, load_settings
from crag.assembly import House, answer_now, open_house
from crag.events import FileFinished, Finished
from crag.schema import Trace

HERE = Path(__file__).resolve().parent


async def trace_of(house: House, settings: object, question: str) -> Trace:
    async for event in answer_now(house, settings, question, "bench"):  # type: ignore[arg-type]
        if isinstance(event, Finished):
            return event.trace
    raise AssertionError("a turn ends with its trace")


def faults(row: dict, trace: Trace) -> list[str]:
    found = []
    if trace.action not in row["action"]:
        found.append(f"action {trace.action}, expected {' or '.join(row['action'])}")
    if row["file"]:
        cited = [(citation.file, citation.page) for citation in trace.citations]
        if row["file"] not in [file for file, _ in cited]:
            found.append(f"cites {cited}, expected {row['file']}")
        elif row["pages"] and not any(page in row["pages"] for file, page in cited if file == row["file"]):
            found.append(f"cites {cited}, expected page {row['pages']}")
        if not any(answer.lower() in trace.answer.lower() for answer in row["answers"]):
            found.append(f"no {row['answers']} in the answer")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--pdfs", type=Path, default=os.environ.get("CRAG_PDFS"), required="CRAG_PDFS" not in os.environ
    )
    parser.add_argument("--questions", type=Path, default=HERE / "twenty_questions.jsonl")
    args = parser.parse_args()
    rows = [json.loads(line) for line in args.questions.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as folder:
        files = Path(folder, "Files")
        files.mkdir()
        for name in sorted({row["file"] for row in rows if row["file"]}):
            shutil.copy(next(p / name for p in (ROOT / "Files", args.pdfs) if (p / name).exists()), files / name)
        settings = load_settings(files_dir=files, chroma_dir=Path(folder, "chroma_db"), data_dir=Path(folder))
        house = open_house(settings)
        for event in house.knowledge_base.build():
            if isinstance(event, FileFinished):
                print(event.row.path, event.row.pages, "pages", event.row.passages, "passages", event.row.error or "")
        passed = 0
        for row in rows:
            trace = asyncio.run(trace_of(house, settings, row["question"]))
            wrong = faults(row, trace)
            passed += not wrong
            best = max((document.score or 0.0 for document in trace.documents), default=0.0)
            cited = ", ".join(f"{citation.file} p. {citation.page}" for citation in trace.citations)
            print(f"{'ok  ' if not wrong else 'FAIL'} {row['question']}\n     {trace.action} {best:.2f} | {cited}")
            print(f"     {trace.answer[:300]!r}" + "".join(f"\n     ! {fault}" for fault in wrong))
        print(f"{passed} of {len(rows)} as expected")
        house.close()


if __name__ == "__main__":
    main()
