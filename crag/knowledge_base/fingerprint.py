"""The index fingerprint: what an index is made with. Another one means that everything is read again."""

from __future__ import annotations

import re

from crag.embedding.base import Embedder
from crag.knowledge_base.chunker import CHUNKER_VERSION
from crag.knowledge_base.mineru import ADAPTER_VERSION, MinerUVersion
from crag.knowledge_base.ocr import OCR_VERSION
from crag.knowledge_base.pdf_loader import PARSER_VERSION

_MINERU = re.compile(r"\+mineru-([^|/]+)/")


def index_fingerprint(embedder: Embedder, parser: str = PARSER_VERSION) -> str:
    """What the index was made with: vectors, pages and passages of different fingerprints do not mix."""
    return f"{embedder.fingerprint}|{parser}|{OCR_VERSION}|{CHUNKER_VERSION}"


def parser_name(version: MinerUVersion | None, published: str) -> str:
    """The built-in parser, with MinerU's version where it reads; `version` None: it does not.

    Where MinerU cannot be asked its version stays the one of the `published` index fingerprint: that it is switched off
    for an hour is no reason to read everything again.
    """
    if version is None:
        return PARSER_VERSION
    known = version.now()
    if known is None:
        before = _MINERU.search(published)
        known = before[1] if before else "unknown"
    return f"{PARSER_VERSION}+mineru-{re.sub('[|/]', '_', known)}/{ADAPTER_VERSION}"
