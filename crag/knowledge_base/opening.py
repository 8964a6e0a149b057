"""Opens one PDF: with its password, repaired where that helps, or with a sentence that says what is wrong with it."""

from __future__ import annotations

import importlib
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from crag.errors import LockedPdfError, PdfError
from crag.knowledge_base.file_kinds import not_a_pdf

_LINEARIZED = re.compile(rb"/Linearized\b[^>]{0,200}?/N\s+(\d{1,7})\b")
_SHOWN_NAMES = 5

DYNAMIC_FORM = "It is a dynamic (XFA) form that shows its text only in Adobe Reader: print it to PDF there."


@dataclass(frozen=True, slots=True)
class PdfHead:
    """What is known after opening: number of pages, the outline (page, title, level), whether the file was repaired."""

    pages: int
    outline: list[tuple[int, str, int]]
    repaired: bool
    notes: list[str] = field(default_factory=list)
    """Sentences for the user about the file as a whole."""
    inside: str = ""
    """Of a portfolio, which is a wrapper around other files: what to do with them, as a sentence."""


def mupdf() -> Any:
    """PyMuPDF, loaded on first use (0.6 s); its own annotations are partial, hence Any."""
    return importlib.import_module("pymupdf")


def open_document(path: Path, password: SecretStr | None = None) -> Any:
    """An unlocked pymupdf.Document, its page tree rebuilt where it was lost. Raises PdfError, LockedPdfError."""
    pymupdf = mupdf()
    try:
        if str(path).isprintable():
            document = pymupdf.open(str(path), filetype="pdf")
        else:  # MuPDF wants names in UTF-8; on Linux a name may be any bytes
            document = pymupdf.open(stream=path.read_bytes(), filetype="pdf")
    except pymupdf.EmptyFileError:
        raise PdfError("The file is empty (0 bytes): copy or download it again.") from None
    except MemoryError:
        raise PdfError("Opening it needs more memory than allowed: split or re-export the file.") from None
    except Exception:  # MuPDF's errors have no common base
        raise PdfError(not_a_pdf(_beginning(path))) from None
    if not document.is_pdf:
        document.close()
        raise PdfError(not_a_pdf(_beginning(path)))
    if document.needs_pass and not (password and _unlocked(document, password.get_secret_value())):
        document.close()
        raise LockedPdfError(_WRONG if password else _LOCKED)
    return _salvaged(document)


_PROTECTED = "It is protected by a password: "
_LOCKED = (
    _PROTECTED + "give it on the file's page in Knowledge base, or build with `python -m crag build --password FILE`, "
    "which asks for it."
)
_WRONG = "The password that was given does not open it: check capitals and keyboard layout, and give it again."


def wants_password(error: str | None) -> bool:
    """Whether this is why a file could not be opened: it was locked, or the password did not fit."""
    return error is not None and (error == _WRONG or error.startswith(_PROTECTED))


def read_head(path: Path, password: SecretStr | None = None, outline: bool = True) -> PdfHead:
    """Opens the file and counts its pages. Raises PdfError with the reason why it cannot be indexed."""
    document = open_document(path, password)
    try:
        pages = _page_count(document)
        if pages == 0:
            raise PdfError("It is damaged or cut off, no page could be recovered: fetch or export the file again.")
        _refuse_dynamic_form(document)
        repaired = bool(document.is_repaired) or document.name == _REBUILT
        notes = [*_missing(path, pages, repaired), *_forbidden(document)]
        return PdfHead(pages, _outline(document) if outline else [], repaired, notes, _inside(document))
    finally:
        document.close()


def brief(error: Exception) -> str:
    """The first 80 characters of an error on one line."""
    return " ".join(str(error).split())[:80]


# --- passwords --------------------------------------------------------------------------------------------------


def _unlocked(document: Any, password: str) -> bool:
    return any(document.authenticate(one) for one in _spellings(password))


def _spellings(password: str) -> Iterator[str]:
    """The password as typed, composed and compatible (RFC 4013, for AES-256), and as the UTF-8 that some writers put
    into older files, where the standard asks for one byte per character."""
    seen = set()
    for one in (
        password,
        unicodedata.normalize("NFC", password),
        unicodedata.normalize("NFKC", password),
        password.encode("utf-8", "surrogatepass").decode("latin-1"),
    ):
        if one not in seen:
            seen.add(one)
            yield one


def _forbidden(document: Any) -> Iterator[str]:
    """Copying is forbidden by a request in the file that anybody may ignore: indexing for one's own use is told."""
    if document.permissions & mupdf().PDF_PERM_COPY == 0:
        yield "Its author forbids copying its text: it is indexed for your own use, do not pass its text on."


# --- damage -----------------------------------------------------------------------------------------------------

_REBUILT = "rebuilt"


def _salvaged(document: Any) -> Any:
    """The document itself, or where its page tree leads to no page, a copy whose tree names every page object left."""
    if _has_a_page(document):
        return document
    try:
        rebuilt = _rebuilt(document)
    except Exception:  # whatever else is broken in it: nothing is gained, and nothing lost
        return document
    if rebuilt is None or not _has_a_page(rebuilt):
        return document
    document.close()
    return rebuilt


def _has_a_page(document: Any) -> bool:
    try:
        return bool(document.page_count) and document[0] is not None
    except Exception:  # the list of pages is damaged
        return False


def _rebuilt(document: Any) -> Any | None:
    """In the order of object numbers, which is the order of pages for most writers."""
    pages = [xref for xref in range(1, document.xref_length()) if _key(document, xref, "Type") == "/Page"]
    catalog = document.pdf_catalog()
    if not pages or not catalog:
        return None
    tree = document.get_new_xref()
    kids = " ".join(f"{page} 0 R" for page in pages)
    document.update_object(tree, f"<</Type/Pages/Count {len(pages)}/Kids[{kids}]>>")
    for page in pages:
        document.xref_set_key(page, "Parent", f"{tree} 0 R")
    document.xref_set_key(catalog, "Pages", f"{tree} 0 R")
    return mupdf().open(_REBUILT, document.tobytes(encryption=mupdf().PDF_ENCRYPT_NONE), filetype="pdf")


def _key(document: Any, xref: int, key: str) -> str:
    try:
        return str(document.xref_get_key(xref, key)[1])
    except Exception:  # an object that cannot be read is no page
        return ""


def _page_count(document: Any) -> int:
    """A count that the file only claims is not believed beyond what can be a page. Raises PdfError."""
    try:
        pages = int(document.page_count)
    except Exception as error:
        raise PdfError(f"Its list of pages is damaged ({brief(error)}): export or print it to PDF again.") from None
    return min(pages, int(document.xref_length()))


def _missing(path: Path, pages: int, repaired: bool) -> Iterator[str]:
    """Files made for the web name their number of pages at the very beginning, which a download that broke off has."""
    found = _LINEARIZED.search(_beginning(path)) if repaired else None
    if found and (declared := int(found[1])) > pages:
        yield f"It is cut off or damaged: {pages} of its {declared} pages could be recovered, fetch the file again."


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(4096)


# --- what is no ordinary document -------------------------------------------------------------------------------


def _refuse_dynamic_form(document: Any) -> None:
    if _key(document, document.pdf_catalog(), "NeedsRendering") == "true":
        raise PdfError(DYNAMIC_FORM)


def _outline(document: Any) -> list[tuple[int, str, int]]:
    try:
        return [(page, title, level) for level, title, page in document.get_toc() if page >= 1]
    except Exception:  # headings are found without it
        return []


def _inside(document: Any) -> str:
    try:
        if _key(document, document.pdf_catalog(), "Collection") in ("", "null"):
            return ""
        names = [str(name) for name in document.embfile_names()]
    except Exception:
        return ""
    if not names:
        return ""
    shown = ", ".join(names[:_SHOWN_NAMES]) + (f" and {len(names) - _SHOWN_NAMES} more" if len(names) > 5 else "")
    return (
        f"It is a portfolio, a wrapper around other files ({shown}): "
        "save these from it into the folder to have them read."
    )
