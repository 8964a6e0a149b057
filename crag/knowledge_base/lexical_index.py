"""BM25 over FTS5 tables that lie in the catalog's database: written in its transactions, read in its snapshots."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable

import sqlalchemy as sa

from crag.idf import STOP_WORDS, without_function_words
from crag.knowledge_base.tables import LIVE
from crag.text import is_cjk, normalise, tokens

_IDENTIFIER = re.compile(r"[^\W_]+(?:[-_./:#+][^\W_]+)+")
"""A part number, a version, a file name: its pieces belong together."""

_SPARE = 20
"""So many more than are wanted are looked at first: staged and dead passages are passed over."""
_SCORE = "bm25(lexical, 1.0, 0.8, 0.4)"
"""Weights of text, heading, and names of the files."""
_BEST = sa.text(
    f"WITH best AS (SELECT rowid AS place, {_SCORE} AS score FROM lexical WHERE lexical MATCH :query "  # noqa: S608
    "ORDER BY score, place LIMIT :best) "
    "SELECT passage.id, content.status FROM best JOIN passage ON passage.row = best.place "
    "JOIN content ON content.id = passage.content_id ORDER BY best.score, best.place"
)
_WITHIN = sa.text(
    "SELECT passage.id FROM lexical JOIN passage ON passage.row = lexical.rowid "  # noqa: S608
    "JOIN content ON content.id = passage.content_id "
    "WHERE lexical MATCH :query AND content.status = :live "
    "AND content.sha256 IN (SELECT value FROM json_each(:contents)) "
    f"ORDER BY {_SCORE}, passage.row LIMIT :n"
)


def add(connection: sa.Connection, rows: Iterable[tuple[int, str, str, str]]) -> None:
    """Adds passages as (row of the passage table, text, heading, file names)."""
    values = [
        {"row": row, "body": _words(text), "heading": _words(heading), "file": _words(names)}
        for row, text, heading, names in rows
    ]
    if values:
        statement = "INSERT INTO lexical(rowid, body, heading, file) VALUES (:row, :body, :heading, :file)"
        connection.execute(sa.text(statement), values)


def rename(connection: sa.Connection, content_id: int, names: str) -> None:
    """Sets the file names of a content's passages."""
    statement = (
        "UPDATE lexical SET file = :file "
        "WHERE rowid IN (SELECT row FROM passage WHERE content_id = :content) AND file <> :file"
    )
    connection.execute(sa.text(statement), {"file": _words(names), "content": content_id})


def remove(connection: sa.Connection, content_id: int) -> None:
    """Forgets a content's passages; to be called before these are deleted."""
    statement = "DELETE FROM lexical WHERE rowid IN (SELECT row FROM passage WHERE content_id = :content)"
    connection.execute(sa.text(statement), {"content": content_id})


def search(connection: sa.Connection, question: str, n: int, contents: Collection[str] | None = None) -> list[str]:
    """Ids of the live passages that share words with the question, best BM25 first, at most `n`.

    `contents` (sha256) limits the search. A question without any word finds nothing.
    """
    query = match_expression(question)
    if not query or n < 1:
        return []
    values: dict[str, object] = {"query": query}
    if contents is not None:
        return list(
            connection.scalars(_WITHIN, values | {"contents": json.dumps(sorted(contents)), "live": LIVE, "n": n})
        )
    best = n + _SPARE
    while True:  # the best first, and only of these, whether they are live: a common word is in very many passages
        rows = connection.execute(_BEST, values | {"best": best}).all()
        found = [row.id for row in rows if row.status == LIVE][:n]
        if len(found) == n or len(rows) < best:
            return found
        best *= 4


def match_expression(question: str) -> str:
    """The question as an FTS5 query: quoted words joined by OR, identifiers such as ERR-4012 also as a phrase.

    Stop words are left out unless nothing else is there. A lone Chinese character finds the words it begins.
    """
    words = tokens(without_function_words(normalise(question)))
    telling = dict.fromkeys([word for word in words if word not in STOP_WORDS] or tokens(question))
    terms = [f'"{word}"*' if len(word) == 1 and is_cjk(word) else f'"{word}"' for word in telling]
    phrases = [" ".join(tokens(match.group())) for match in _IDENTIFIER.finditer(question)]
    terms += [f'"{phrase}"' for phrase in dict.fromkeys(phrases) if " " in phrase]
    return " OR ".join(terms)


def _words(text: str) -> str:
    return " ".join(tokens(text))
