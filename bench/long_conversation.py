"""A rerun of the page with a long conversation, in multiples of one with an empty one, timed in turns in the same run.

    python -m bench.long_conversation [--turns 200] [--conversations 100] [--runs 40]

The guide is indexed in a temporary folder and really asked. The conversation is opened from the store, as after a
restart; beside it stand others in the list. Streamlit's AppTest runs the page: what the browser does is not timed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path

from streamlit.testing.v1 import AppTest

from config import ROOT, load_settings
from crag.ui import state

QUESTIONS = ("What does the badge Ambiguous mean?", "Where is the index stored?", "上阈值是多少？", "What is a strip?")


def fill(turns: int, conversations: int) -> str:
    """Builds the index, asks, and returns the id of the long conversation."""
    process = state.process()
    list(process.open().follow())
    list(process.build().follow())
    settings, known = load_settings(), None
    for number in range(turns):
        conversation = process.ask(known, f"{QUESTIONS[number % len(QUESTIONS)]} ({number})", settings)
        known = conversation.id
        list(conversation.turns[-1].job.follow())
    for number in range(conversations):
        list(process.ask(None, f"{QUESTIONS[number % len(QUESTIONS)]} [{number}]", settings).turns[-1].job.follow())
    process.keeping.settle()
    assert known is not None
    return known


def page(conversation: str | None) -> tuple[AppTest, float]:
    """The page with this conversation, and the seconds of its first run."""
    at = AppTest.from_file(str(ROOT / "crag" / "ui" / "page.py"), default_timeout=120)
    if conversation:
        at.query_params[state.CONVERSATION] = conversation
    start = time.perf_counter()
    at.run()
    return at, time.perf_counter() - start


def rerun(at: AppTest) -> float:
    start = time.perf_counter()
    at.run()
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--conversations", type=int, default=100)
    parser.add_argument("--runs", type=int, default=40)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        own = {"CRAG_FILES_DIR": str(ROOT / "Files"), "CRAG_CHROMA_DIR": f"{folder}/chroma", "CRAG_DATA_DIR": folder}
        os.environ |= own
        known = fill(args.turns, args.conversations)
        size = (Path(folder) / "crag.db").stat().st_size
        state.process.clear()
        list(state.process().open().follow())
        page(None)
        empty, opening_empty = page(None)
        long, opening = page(known)
        assert not long.exception
        times = [(rerun(empty), rerun(long)) for _ in range(args.runs)]
        without, with_turns = (statistics.median(column) for column in zip(*times, strict=True))
        print(f"{args.turns} turns, {args.conversations} other conversations, {size / 1e6:.1f} MB kept")
        print(f"rerun: {with_turns / without:.2f} times that of an empty conversation ({1000 * without:.0f} ms)")
        print(f"first run, read from the store: {opening / opening_empty:.1f} times ({1000 * opening_empty:.0f} ms)")
        state.process.clear()


if __name__ == "__main__":
    main()
