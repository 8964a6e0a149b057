"""External knowledge (paper, section 4.5): what a search found, made into documents like those of the files."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote, urlsplit, urlunsplit

from crag.refinement import decompose
from crag.schema import Document, Span, Strip
from crag.search.base import WebResult
from crag.text import visible

LONGEST_TEXT: Final = 4000
"""Characters of one result that are used; what is longer is cut at the last white space before."""
LONGEST_TITLE: Final = 200
LONGEST_DATE: Final = 40
LONGEST_URL: Final = 2000

_SPACES = re.compile(r"[^\S\n]+")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_UNSAFE = re.compile(r"[\s\"'<>`\\^{|}]")


def documents_of(results: Sequence[WebResult]) -> tuple[Document, ...]:
    """The usable results as documents, in the given order: with an http(s) address and some text, equal texts once.

    Everything in them is foreign: text, title and date come without controls and marks that no reader sees, and no
    longer than 4000, 200 and 40 characters. A document is "page 1" of its address, with the strips of its text.
    """
    found: dict[str, Document] = {}
    for result in results:
        url, text = address(result.url), _text(result.text)
        if url is not None and text and text not in found:
            found[text] = _document(url, text, result)
    return tuple(found.values())


def address(url: str) -> str | None:
    """`url` as it may be shown and linked to: http or https, a host, nobody's name or password; None for any other."""
    url = url.strip()
    if len(url) > LONGEST_URL or _UNSAFE.search(url) or visible(url) != url:
        return None
    try:
        parts = urlsplit(url)
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            return None
        parts.port  # noqa: B018 - raises where it is no number
    except ValueError:
        return None
    path, query, fragment = (quote(part, safe="%/:=&?~#+!$,;@()*[]-._") for part in parts[2:])
    return urlunsplit((parts.scheme.lower(), parts.netloc, path, query, fragment))


def host(url: str) -> str:
    """The host of an address, as people name a site."""
    return (urlsplit(url).hostname or url).removeprefix("www.")


def _document(url: str, text: str, result: WebResult) -> Document:
    identity = hashlib.sha256(f"{url}\n{text}".encode()).hexdigest()
    return Document(
        id=f"web-{identity[:24]}",
        content=f"web-{identity}",
        files=(url,),
        text=text,
        heading=_line(result.title, LONGEST_TITLE),
        spans=(Span(page=1, start=0, end=len(text)),),
        strips=tuple(_placed(text)),
        url=url,
        published=_line(result.published or "", LONGEST_DATE) or None,
    )


def _placed(text: str) -> Iterator[Strip]:
    """The strips of `text` with their spans in it. They differ from it in white space alone, so what is no white
    space finds them."""
    at = [place for place, char in enumerate(text) if not char.isspace()]
    solid = "".join(text[place] for place in at)
    begin = 0
    for strip in decompose(text):
        own = "".join(strip.text.split())
        begin = solid.index(own, begin)
        start, end = at[begin], at[begin + len(own) - 1] + 1
        starts_line = begin == 0 or "\n" in text[at[begin - 1] : start]
        begin += len(own)
        span = Span(page=1, start=start, end=end)
        yield Strip(id=f"web-{strip.id}", text=strip.text, spans=(span,), starts_line=starts_line)


def _text(text: str) -> str:
    """Cleaned and cut; paragraphs stay apart by one empty line."""
    text = visible(text.replace("\r\n", "\n").replace("\r", "\n"))
    text = _BLANK_LINES.sub("\n\n", "\n".join(_SPACES.sub(" ", line).strip() for line in text.split("\n"))).strip()
    if len(text) <= LONGEST_TEXT:
        return text
    head = text[: LONGEST_TEXT + 1]
    at = max(head.rfind(" "), head.rfind("\n"))
    return head[: at if at > LONGEST_TEXT // 2 else LONGEST_TEXT].rstrip()


def _line(text: str, longest: int) -> str:
    text = " ".join(visible(text).split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
