"""Vectors beside those of the index: of files that are not finished yet, and of an evaluator with its own embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa

from crag.database import writing
from crag.embedding.base import Embedder
from crag.knowledge_base.catalog import Catalog
from crag.knowledge_base.chunker import embedding_text
from crag.knowledge_base.records import Vectors
from crag.knowledge_base.rows import pack, unpack
from crag.knowledge_base.tables import LIVE, content, made_vector, own_vector, passage
from crag.schema import Document

_MANY = 500


def made_before(engine: sa.Engine, ids: Sequence[str]) -> dict[str, Vectors]:
    """What a service has made already for passages of an unfinished file, by passage id."""
    found: dict[str, Vectors] = {}
    with engine.connect() as connection:
        for start in range(0, len(ids), _MANY):
            query = sa.select(made_vector).where(made_vector.c.id.in_(ids[start : start + _MANY]))
            found.update((row.id, unpack(row.vector)) for row in connection.execute(query))
    return found


def keep_made(engine: sa.Engine, ids: Sequence[str], vectors: Vectors) -> None:
    """Keeps vectors, shape (ids, dimension), until their file is finished."""
    rows = [{"id": identity, "vector": pack(vector)} for identity, vector in zip(ids, vectors, strict=True)]
    with writing(engine) as connection:
        connection.execute(sa.insert(made_vector).prefix_with("OR REPLACE"), rows)


def forget_made(engine: sa.Engine, ids: Sequence[str] | None = None) -> None:
    """Their file is finished; None: all are."""
    with engine.connect() as connection:
        if connection.scalar(sa.select(made_vector.c.id).limit(1)) is None:
            return  # a build that finds little new writes little
    with writing(engine) as connection:
        if ids is None:
            connection.execute(sa.delete(made_vector))
        for start in range(0, len(ids or ()), _MANY):
            some = (ids or ())[start : start + _MANY]
            connection.execute(sa.delete(made_vector).where(made_vector.c.id.in_(some)))


def dimension_under(connection: sa.Connection, fingerprint: str | None = None) -> int | None:
    """Numbers per vector of the passages under an index fingerprint (None: of the live ones); None: there are none."""
    wanted = content.c.status == LIVE if fingerprint is None else content.c.fingerprint == fingerprint
    query = sa.select(sa.func.length(passage.c.vector)).join_from(passage, content).where(wanted).limit(1)
    size = connection.scalar(query)
    return None if size is None else int(size) // np.dtype(np.float16).itemsize


class OwnVectors:
    """`KnownVectors` of an evaluator whose `embedder` is not that of the index. What is indexed is embedded once."""

    def __init__(self, catalog: Catalog, embedder: Embedder) -> None:
        self._catalog, self._embedder = catalog, embedder

    def load(self, documents: Sequence[Document]) -> dict[str, npt.NDArray[np.float32]]:
        """The vectors of documents and strips by id. A document's covers its heading and text, as in the index.

        Documents of the index that have none get theirs now: raises EmbeddingError where they cannot.
        """
        wanted = [document.id for document in documents]
        wanted += [strip.id for document in documents for strip in document.strips]
        found: dict[str, Vectors] = {}
        live = content.c.status == LIVE
        with self._catalog.engine.connect() as connection:
            for start in range(0, len(wanted), _MANY):
                some = wanted[start : start + _MANY]
                stored = sa.select(own_vector.c.id, own_vector.c.vector).join_from(own_vector, content)
                mine = own_vector.c.id.in_(some) & (own_vector.c.embedding == self._embedder.fingerprint)
                found.update((row.id, unpack(row.vector)) for row in connection.execute(stored.where(mine, live)))
            indexed = sa.select(passage.c.id).join_from(passage, content)
            missing = [document for document in documents if document.id not in found and document.text.strip()]
            here = indexed.where(passage.c.id.in_([document.id for document in missing]), live)
            known = set(connection.scalars(here))
        fresh = [document for document in missing if document.id in known]
        if fresh:
            texts = [embedding_text(document.heading, document.text) for document in fresh]
            for document, vector in zip(fresh, self._embedder.embed_passages(texts), strict=True):
                found[document.id] = vector
                self.save(document.content, {document.id: vector})
        return found

    def save(self, content_sha256: str, strips: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Keeps vectors of one content by id; passed over where it is not indexed."""
        with writing(self._catalog.engine) as connection:
            query = sa.select(content.c.id).where(content.c.sha256 == content_sha256, content.c.status == LIVE)
            content_id = connection.scalar(query)
            if content_id is not None and strips:
                mine = {"content_id": content_id, "embedding": self._embedder.fingerprint}
                rows = [{**mine, "id": key, "vector": pack(vector)} for key, vector in strips.items()]
                connection.execute(sa.insert(own_vector).prefix_with("OR REPLACE"), rows)
