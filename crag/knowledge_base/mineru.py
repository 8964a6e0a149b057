"""MinerU's HTTP service (version 3): one PDF goes out, what it made of the pages comes back.

Wire format as in MinerU 3's `mineru/cli/fast_api.py` and its "output files" reference. Nothing is sent unless the user
has chosen this parser.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from crag.errors import PdfError

if TYPE_CHECKING:
    import httpx

    from crag.knowledge_base.health import OcrMode

ADAPTER_VERSION = "1"
"""Part of the index fingerprint: raise it whenever the same answer of MinerU would give other pages."""

_METHODS: Final = {"auto": "auto", "off": "txt", "force": "ocr"}
_NAME = "document"
"""The file goes out under this name: its own is nobody's business."""
_MOST_BYTES = 1 << 30
_HEALTH_SECONDS = 3.0
_VERSION_HOLDS = 60.0

_FORM = "its answer is not in the form of MinerU 3: check CRAG_MINERU_URL"
_NOT_THREE = (
    "the service has no /file_parse, which MinerU 4 has dropped: run MinerU 3 (`pip install 'mineru<4'`), "
    "or correct CRAG_MINERU_URL"
)


class MinerUError(PdfError):
    """MinerU did not read a file; the text is the second half of a sentence."""


@dataclass(frozen=True, slots=True)
class MinerU:
    """The service at `url`, which may take `timeout` seconds for a file."""

    url: str
    timeout: float


@dataclass
class MinerUVersion:
    """The version of the service, asked at most once a minute; thread-safe."""

    service: MinerU
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _known: str | None = None
    _asked: float | None = None

    def now(self) -> str | None:
        """None where the service cannot be asked, or does not say."""
        with self._lock:
            if self._asked is None or time.monotonic() - self._asked > _VERSION_HOLDS:
                self._known, self._asked = ask_version(self.service), time.monotonic()
            return self._known


def ask_version(service: MinerU) -> str | None:
    """What `GET /health` tells; None where it cannot be asked, or does not say."""
    import httpx

    try:
        answer = httpx.get(f"{service.url}/health", timeout=_HEALTH_SECONDS)
        version = answer.json().get("version") if answer.status_code == 200 else None
    except (httpx.HTTPError, ValueError, AttributeError):
        return None
    return version[:40] if isinstance(version, str) and version else None


def parse(path: Path, service: MinerU, ocr: OcrMode) -> list[Any]:
    """The pages of `middle_json` (`pdf_info`) of a PDF, as they come. Blocking. Raises MinerUError."""
    import httpx

    deadline = time.monotonic() + service.timeout
    form = {
        "backend": "pipeline",
        "parse_method": _METHODS[ocr],
        "return_md": "false",
        "return_middle_json": "true",
        "return_content_list": "true",
    }
    try:
        with path.open("rb") as file, httpx.Client(timeout=httpx.Timeout(service.timeout, connect=10.0)) as client:
            files = {"files": (f"{_NAME}.pdf", file, "application/pdf")}
            with client.stream("POST", f"{service.url}/file_parse", data=form, files=files) as answer:
                return _pages(answer.status_code, _body(answer, deadline))
    except httpx.TimeoutException:
        raise MinerUError(_too_long(service)) from None
    except (httpx.ConnectError, httpx.ProxyError):
        raise MinerUError("the service cannot be reached: start it, or correct CRAG_MINERU_URL") from None
    except httpx.HTTPError as error:
        raise MinerUError(f"the connection broke off ({type(error).__name__}): look at the service's log") from None
    except OSError as error:
        raise MinerUError(f"the file could not be sent ({error.strerror or error})") from None
    except _TooLongError:
        raise MinerUError(_too_long(service)) from None


class _TooLongError(Exception):
    """The answer was still coming when the time was up."""


def _too_long(service: MinerU) -> str:
    return f"it took longer than {service.timeout:g} s: raise CRAG_MINERU_TIMEOUT, or split the file"


def _body(answer: httpx.Response, deadline: float) -> bytes:
    parts, size = [], 0
    for part in answer.iter_bytes():
        size += len(part)
        if size > _MOST_BYTES:
            raise MinerUError("its answer is larger than 1 GB: split the file")
        if time.monotonic() > deadline:
            raise _TooLongError
        parts.append(part)
    return b"".join(parts)


def _pages(status: int, body: bytes) -> list[Any]:
    if status == 404:
        raise MinerUError(_NOT_THREE)
    if status != 200:
        raise MinerUError(_refusal(status, body))
    pages = _json(_middle(_json(body)))
    found = pages.get("pdf_info") if isinstance(pages, dict) else None
    if not isinstance(found, list):
        raise MinerUError(_FORM)
    return found


def _middle(answer: Any) -> str:
    """The JSON text of the one file that was asked for."""
    results = answer.get("results") if isinstance(answer, dict) else None
    one = results.get(_NAME) if isinstance(results, dict) else None
    middle = one.get("middle_json") if isinstance(one, dict) else None
    if not isinstance(middle, str):
        raise MinerUError(_FORM)
    return middle


def _json(text: bytes | str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        start = text[:200] if isinstance(text, str) else text[:200].decode("utf-8", "replace")
        if start.lstrip().startswith("<"):
            raise MinerUError("a web page came in place of its answer: check CRAG_MINERU_URL and your proxy") from None
        raise MinerUError("its answer is cut off or no JSON: look at the service's log") from None


def _refusal(status: int, body: bytes) -> str:
    """What the service says of its failure, which is data: shortened, on one line."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        answer = None
    said = answer.get("error") or answer.get("detail") if isinstance(answer, dict) else None
    why = f" ({' '.join(said.split())[:120]})" if isinstance(said, str) else ""
    if status == 503:
        return f"the service is busy{why}: read the file again later"
    if status in (400, 422):
        return f"the service refused the file{why}"
    return f"the service failed with HTTP status {status}{why}: look at its log"
