"""The catalog's tables. Their history is in `migrations/`; a test holds both together."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

STAGED, LIVE, DEAD = "staged", "live", "dead"
"""Status of a content: finished but invisible; published; to be deleted once no question reads it."""

state = Table(
    "state",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("embedding", String, nullable=False),
    Column("next_generation", Integer, nullable=False),
    Column("next_fingerprint", String, nullable=False),
    Column("sealed", String, nullable=False, server_default=""),
    Column("vectors", Integer, nullable=False, server_default="0"),
    Column("removed", Integer, nullable=False, server_default="0"),
)
"""One row: what is published, and the generation that is being built (0: none). `sealed` names the last session of
writing vectors that ended with catalog and index in step, when the index held `vectors` of them; `removed` counts those
that were removed from this generation, which keeps their room."""

content = Table(
    "content",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("fingerprint", String, nullable=False),
    Column("status", String(8), nullable=False),
    Column("pages", Integer, nullable=False),
    Column("passages", Integer, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("warnings", Text, nullable=False),
    Column("error", Text),
    Column("transient", Boolean, nullable=False),
    Column("ocr_pages", Integer, nullable=False, server_default="0"),
    Column("options", String, nullable=False, server_default=""),
    Column("revision", Integer, nullable=False, server_default="0"),
    UniqueConstraint("sha256", "fingerprint", "status"),
)
"""The bytes of a PDF as read under one index fingerprint; `error` where they cannot be indexed. `options` tells how it
was read where that is not the default ("ocr=force"), `revision` how often the same bytes were read before: both enter
the ids of its passages, so that a new reading lies beside the live one until it is published."""

file_option = Table(
    "file_option",
    metadata,
    Column("path", String, primary_key=True),
    Column("ocr", String(5), nullable=False),
)
"""How the user wants a path to be read: OCR "auto", "off" or "force"; no row means as usual."""

file = Table(
    "file",
    metadata,
    Column("path", String, primary_key=True),
    Column("content_id", Integer, ForeignKey("content.id")),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("error", Text),
    Index("file_content", "content_id"),
)
"""Published paths below Files/. Without content: the file could not even be opened, for `error`."""

staged_file = Table(
    "staged_file",
    metadata,
    Column("path", String, primary_key=True),
    Column("content_id", Integer, ForeignKey("content.id", ondelete="CASCADE")),
    Column("size", BigInteger, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("error", Text),
)
"""Paths that an unfinished build is done with."""

page = Table(
    "page",
    metadata,
    Column("content_id", Integer, ForeignKey("content.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("text", Text, nullable=False),
    Column("width", Float, nullable=False),
    Column("height", Float, nullable=False),
    Column("rotation", Integer, nullable=False),
    Column("health", String(16), nullable=False),
    Column("words", LargeBinary, nullable=False),
    Column("facts", Text, nullable=False, server_default="{}"),
)
"""Canonical text of a page; `words` is zlib of int32 offsets (n, 2) followed by float32 boxes (n, 4); `facts` is JSON
of `PageFacts`."""

passage = Table(
    "passage",
    metadata,
    Column("row", Integer, primary_key=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("content_id", Integer, ForeignKey("content.id", ondelete="CASCADE"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("heading", Text, nullable=False),
    Column("spans", Text, nullable=False),
    Column("strips", Text, nullable=False),
    Column("vector", LargeBinary, nullable=False),
    Index("passage_content", "content_id", "number"),
)
"""`vector` is float16; `row` is also the row of the lexical index."""

strip_vector = Table(
    "strip_vector",
    metadata,
    Column("content_id", Integer, ForeignKey("content.id", ondelete="CASCADE"), primary_key=True),
    Column("strip_id", String(32), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)

gone_vector = Table("gone_vector", metadata, Column("id", String(32), primary_key=True))
"""Ids of passages that were deleted here and whose vectors may still lie in the index: written in the transaction that
deletes them, cleared once the index has forgotten them."""

made_vector = Table(
    "made_vector",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("vector", LargeBinary, nullable=False),
)
"""Vectors that a service has made for passages of a file that is not staged yet, by passage id: a build that was
interrupted does not send their texts again."""

own_vector = Table(
    "own_vector",
    metadata,
    Column("content_id", Integer, ForeignKey("content.id", ondelete="CASCADE"), primary_key=True),
    Column("id", String(32), primary_key=True),
    Column("embedding", String, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)
"""Vectors of passages and strips by another embedding than the index has: the evaluator's, where it keeps its own."""
