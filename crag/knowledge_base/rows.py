"""How pages, passages and vectors are written into the catalog's rows, and read back."""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from pydantic import TypeAdapter

from crag.knowledge_base import lexical_index
from crag.knowledge_base.records import Reading, Vectors
from crag.knowledge_base.tables import page, passage
from crag.schema import Span, Strip

SPANS: TypeAdapter[tuple[Span, ...]] = TypeAdapter(tuple[Span, ...])
STRIPS: TypeAdapter[tuple[Strip, ...]] = TypeAdapter(tuple[Strip, ...])


def pack(vector: Vectors) -> bytes:
    """float16, half the size; what is stored anywhere has passed through it, so restored vectors are the same."""
    return np.asarray(vector, np.float16).tobytes()


def unpack(blob: bytes) -> Vectors:
    """The vector, brought to length 1 again."""
    vector = np.frombuffer(blob, np.float16).astype(np.float32)
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-6), np.float32)


def word_boxes(blob: bytes) -> tuple[npt.NDArray[np.int32], Vectors]:
    """(offsets `[start, end)` in the page's text, shape (n, 2); boxes x0, y0, x1, y1 in points, shape (n, 4))."""
    raw = zlib.decompress(blob)
    n = len(raw) // 24
    offsets = np.frombuffer(raw, np.int32, n * 2).reshape(-1, 2)
    return offsets, np.frombuffer(raw, np.float32, n * 4, n * 8).reshape(-1, 4)


def store_reading(connection: sa.Connection, content_id: int, reading: Reading, vectors: Vectors) -> None:
    """Writes the pages, passages and words of a content; `vectors` has one row per passage."""
    pages = [
        {
            "content_id": content_id,
            "number": one.number,
            "text": one.text,
            "width": one.width,
            "height": one.height,
            "rotation": one.rotation,
            "health": one.health,
            "words": zlib.compress(one.offsets.tobytes() + one.boxes.tobytes(), 1),
            "facts": one.facts.model_dump_json(exclude_defaults=True),
        }
        for one in reading.pages
    ]
    connection.execute(sa.insert(page), pages)
    first = int(connection.scalar(sa.select(sa.func.coalesce(sa.func.max(passage.c.row), 0))) or 0) + 1
    passages = [
        {
            "row": first + number,
            "id": one.id,
            "content_id": content_id,
            "number": one.number,
            "text": one.text,
            "heading": one.heading,
            "spans": SPANS.dump_json(one.spans).decode(),
            "strips": STRIPS.dump_json(one.strips).decode(),
            "vector": pack(vectors[number]),
        }
        for number, one in enumerate(reading.passages)
    ]
    connection.execute(sa.insert(passage), passages)
    lexical_index.add(
        connection, [(first + n, one.text, one.heading, reading.names) for n, one in enumerate(reading.passages)]
    )
