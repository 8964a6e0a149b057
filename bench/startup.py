"""Start of the app to a usable page with a built index, and its memory after ten questions, in a real browser.

    python -m bench.startup [--runs 3] [--pdfs DIR]

The guide (and the PDFs in DIR) are indexed first, in a temporary folder. A page is usable when a question can be typed.
Memory is the resident size of the app's own process, after ten questions in two languages.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import sync_playwright

from config import ROOT
from scripts.find_browser import find

QUESTIONS = (
    "How many documents does CRAG retrieve for a question by default?",
    "What does the badge Ambiguous mean?",
    "Where is the index stored?",
    "Which PDFs cannot be read?",
    "What is a strip?",
    "What is the capital of Mongolia?",
    "默认情况下每个问题检索多少个文档？",
    "索引存放在哪个文件夹？",
    "上阈值是多少？",
    "《红楼梦》的作者是谁？",
)
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
)


def start(environment: dict[str, str]) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app_streamlit.py", "--server.port", str(port)]
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return server, f"http://127.0.0.1:{port}"


def until_healthy(address: str) -> None:
    while True:
        try:
            with urllib.request.urlopen(f"{address}/_stcore/health", timeout=1):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.02)


def ask(page: Any, question: str) -> None:
    """Types a question and waits until its answer stands there and another can be typed."""
    before = page.get_by_test_id("stChatMessage").count()
    area = page.get_by_test_id("stChatInputTextArea")
    area.fill(question)
    area.press("Enter")
    page.wait_for_function(
        "n => document.querySelectorAll('[data-testid=stChatMessage]').length >= n + 2"
        " && !document.querySelector('[data-testid=stChatInputTextArea]').disabled",
        arg=before,
        timeout=60_000,
    )
    page.wait_for_timeout(500)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pdfs", type=Path, help="folder of further PDFs")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        files = Path(folder, "Files")
        files.mkdir()
        for pdf in [ROOT / "Files" / "crag-guide.pdf", *(args.pdfs.glob("*.pdf") if args.pdfs else [])]:
            shutil.copy(pdf, files)
        own = {"CHROMA": str(Path(folder, "chroma_db")), "DATA": str(Path(folder, "own")), "FILES": str(files)}
        environment = {**os.environ, **{f"CRAG_{name}_DIR": path for name, path in own.items()}}
        subprocess.run([sys.executable, "-m", "crag", "build"], cwd=ROOT, env=environment, check=True)
        browser = driver.chromium.launch(executable_path=str(find()), args=FLAGS)
        seconds = []
        for run in range(args.runs):
            page = browser.new_page()
            begun = time.perf_counter()
            server, address = start(environment)
            until_healthy(address)
            page.goto(address)
            page.locator("[data-testid=stChatInputTextArea]:enabled").wait_for(timeout=120_000)
            seconds.append(time.perf_counter() - begun)
            if run == args.runs - 1:
                for question in QUESTIONS:
                    ask(page, question)
                resident = psutil.Process(server.pid).memory_info().rss / 1e6
            page.close()
            server.terminate()
            server.wait()
        print(f"start to a usable page: median {statistics.median(seconds):.1f} s of {[round(s, 1) for s in seconds]}")
        print(f"resident memory after {len(QUESTIONS)} questions: {resident:.0f} MB")


if __name__ == "__main__":
    main()
