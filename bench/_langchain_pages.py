"""LangChain's PyMuPDF loader and splitter, timed: file names on stdin, one JSON line per file on stdout.

Runs in the environment of `peers-requirements.txt`, started by `parsing_speed.py`; it knows nothing of the product.
"""

from __future__ import annotations

import json
import sys
import time

from langchain_community.document_loaders import PyMuPDFLoader
from langchain_text_splitters import RecursiveCharacterTextSplitter

CHUNK, OVERLAP = 500, 50


def main() -> None:
    splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK, chunk_overlap=OVERLAP)
    for line in sys.stdin:
        start, processor = time.perf_counter(), time.process_time()
        pages = PyMuPDFLoader(line.rstrip("\n")).load()
        chunks = splitter.split_documents(pages)
        taken = time.perf_counter() - start, time.process_time() - processor
        print(json.dumps([*taken, len(pages), len(chunks)]), flush=True)


if __name__ == "__main__":
    main()
