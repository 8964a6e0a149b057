"""XQuAD for the benches: rows, folds by article, cached vectors, intervals."""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import random
import re
import tempfile
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crag.embedding.base import Embedder, Vectors
from crag.evaluation.metrics import interval as interval
from crag.evaluation.metrics import share as share
from crag.idf import STOP_WORDS, cut
from crag.schema import Document
from crag.text import tokens


@dataclass(frozen=True)
class Paragraph:
    id: str
    article: str
    title: str
    text: str


@dataclass(frozen=True)
class Question:
    id: str
    article: str
    paragraph: str
    text: str
    answers: tuple[str, ...]


def read_jsonl(path: Path) -> list[dict]:
    """All rows; a missing file is said with what to do."""
    if not path.is_file():
        raise SystemExit(f"{path} is missing: give the folder with the data by --data or CRAG_DATA.")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def paragraphs(data: Path, language: str) -> list[Paragraph]:
    rows = read_jsonl(data / f"xquad_paragraphs_{language}.jsonl")
    return [Paragraph(r["paragraph_id"], r["article_id"], r["title"], r["text"]) for r in rows]


def questions(data: Path, language: str) -> list[Question]:
    rows = read_jsonl(data / f"xquad_{language}.jsonl")
    return [Question(r["id"], r["article_id"], r["paragraph_id"], r["question"], tuple(r["answers"])) for r in rows]


def data_argument(parser: argparse.ArgumentParser) -> None:
    """`--data DIR`, by default the folder named by CRAG_DATA."""
    known = os.environ.get("CRAG_DATA")
    parser.add_argument(
        "--data", type=Path, default=known and Path(known), required=not known, help="folder of the data"
    )


def plain(text: str) -> str:
    """Without white space and case, NFKC: how answers and passages are compared."""
    return re.sub(r"\s+", "", unicodedata.normalize("NFKC", text)).lower()


def holds_answer(question: Question, text: str) -> bool:
    return any(plain(answer) in plain(text) for answer in question.answers)


def half_of(articles: Iterable[str], seed: int) -> frozenset[str]:
    """The half of the articles that is in the index; the questions of the others are not covered."""
    ordered = sorted(set(articles))
    return frozenset(random.Random(seed).sample(ordered, len(ordered) // 2))


def fold_of(article: str, folds: int = 5) -> int:
    """The article's fold: every paragraph and question of an article, in all languages, falls in the same one."""
    return int(hashlib.sha256(article.encode()).hexdigest(), 16) % folds


class CachedEmbedder:
    """An embedder whose vectors are kept in a folder between runs of a bench."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.embedder = embedder
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / (hashlib.sha256(embedder.fingerprint.encode()).hexdigest()[:16] + ".npz")
        self.known: dict[str, Vectors] = {}
        if self.path.exists():
            with np.load(self.path) as stored:
                self.known = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))

    @property
    def fingerprint(self) -> str:
        return self.embedder.fingerprint

    @property
    def dimension(self) -> int:
        return self.embedder.dimension

    def embed_query(self, text: str) -> Vectors:
        key = _key("q", text)
        if key not in self.known:
            self.known[key] = self.embedder.embed_query(text)
        return self.known[key]

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        keys = [_key("p", text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self.known}
        if missing:
            self.known.update(zip(missing, self.embedder.embed_passages(list(missing.values())), strict=True))
        return np.stack([self.known[key] for key in keys]) if keys else np.zeros((0, self.dimension), np.float32)

    def save(self) -> None:
        """Writes all vectors as half precision; safe against a kill in the middle."""
        temporary = self.path.with_suffix(".tmp.npz")
        np.savez(temporary, keys=list(self.known), vectors=np.stack(list(self.known.values())).astype(np.float16))
        temporary.replace(self.path)


def _key(kind: str, text: str) -> str:
    return kind + hashlib.sha256(text.encode()).hexdigest()[:24]


# --- an index in memory: the real loader, chunker and fusion, without a database ----------------------------------


def documents_of(data: Path, language: str) -> dict[str, list[Document]]:
    """The passages of each article (by its id), as the real loader and chunker cut them from its PDF."""
    from bench.xquad_pdfs import render_all
    from crag.knowledge_base.chunker import chunk
    from crag.knowledge_base.page_text import compose
    from crag.knowledge_base.pdf_loader import read_head, read_pages

    found: dict[str, list[Document]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for article, name in render_all(data, Path(folder), language).items():
            path = Path(folder, name)
            pages = compose(read_pages(path, 0, read_head(path).pages))
            found[article] = [
                Document(files=(name,), **{key: getattr(passage, key) for key in type(passage).model_fields})
                for passage in chunk(f"{article}-{language}", "bench", pages)
            ]
    return found


class MemoryIndex:
    """A `crag.retrieval.Searchable` over documents: exact cosine and BM25 (k1 1.2, b 0.75)."""

    def __init__(self, documents: Sequence[Document], vectors: Vectors) -> None:
        self._documents = {document.id: document for document in documents}
        self._ids, self._vectors = list(self._documents), vectors
        counts = [Counter(cut(token) for token in tokens(document.text)) for document in documents]
        self._lengths = np.array([sum(count.values()) for count in counts], dtype=float)
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, count in enumerate(counts):
            for word, n in count.items():
                self._postings[word].append((row, n))

    def contents(self, files: Collection[str]) -> dict[str, str]:
        return {doc.file: doc.content for doc in self._documents.values() if doc.file in files}

    def dense(self, vector: Vectors, n: int, contents: Collection[str] | None = None) -> list[str]:
        ranked = [self._ids[row] for row in np.argsort(-(self._vectors @ vector), kind="stable")]
        return self._within(ranked, contents)[:n]

    def _within(self, ids: Sequence[str], contents: Collection[str] | None) -> list[str]:
        return [one for one in ids if contents is None or self._documents[one].content in contents]

    def bm25(self, question: str) -> np.ndarray:
        """The score of every document, in the order in which they were given; 0 where no word is shared."""
        scores = np.zeros(len(self._ids))
        size = 1.2 * (0.25 + 0.75 * self._lengths / max(1.0, self._lengths.sum() / max(1, len(self._ids))))
        for word in {cut(token) for token in tokens(question) if token not in STOP_WORDS}:
            found = self._postings.get(word, [])
            weight = math.log(1 + (len(self._ids) - len(found) + 0.5) / (len(found) + 0.5))
            for row, count in found:
                scores[row] += weight * count * 2.2 / (count + size[row])
        return scores

    def lexical(self, question: str, n: int, contents: Collection[str] | None = None) -> list[str]:
        scores = self.bm25(question)
        ranked = [self._ids[row] for row in np.argsort(-scores, kind="stable") if scores[row] > 0]
        return self._within(ranked, contents)[:n]

    def documents(self, ids: Sequence[str]) -> list[Document]:
        return [self._documents[id_] for id_ in ids]
