"""What a file is that is called .pdf and is none, told by its first bytes."""

from __future__ import annotations

import re

_KINDS: tuple[tuple[bytes, str, str], ...] = (
    (rb"\x89PNG\r\n", "a picture (PNG)", "print it to PDF"),
    (rb"\xff\xd8\xff", "a picture (JPEG)", "print it to PDF"),
    (rb"GIF8[79]a", "a picture (GIF)", "print it to PDF"),
    (rb"II\*\0|MM\0\*", "a picture (TIFF)", "print it to PDF"),
    (rb"RIFF....WEBP", "a picture (WebP)", "print it to PDF"),
    (rb"BM.{4}\0{4}", "a picture (BMP)", "print it to PDF"),
    (rb"....ftyp(?:heic|heix|mif1|avif)", "a picture (HEIC or AVIF)", "print it to PDF"),
    (rb"PK\x03\x04.*?word/", "a Word document", "open it and export it as PDF"),
    (rb"PK\x03\x04.*?xl/", "an Excel workbook", "open it and export it as PDF"),
    (rb"PK\x03\x04.*?ppt/", "a PowerPoint presentation", "open it and export it as PDF"),
    (rb"PK\x03\x04.*?mimetypeapplication/epub", "an e-book (EPUB)", "open it and export it as PDF"),
    (rb"PK\x03\x04.*?opendocument", "an OpenDocument file", "open it and export it as PDF"),
    (rb"PK\x03\x04.*?\[Content_Types\]\.xml", "an Office document", "open it and export it as PDF"),
    (rb"PK\x03\x04|PK\x05\x06", "a ZIP archive", "unpack it and add the PDFs inside"),
    (rb"\x1f\x8b", "a compressed file (gzip)", "unpack it"),
    (rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07", "an archive", "unpack it and add the PDFs inside"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an older Office document", "open it and export it as PDF"),
    (rb"\{\\rtf", "a text document (RTF)", "open it and export it as PDF"),
    (rb"%!PS", "a PostScript file", "convert it to PDF"),
    (rb"AT&TFORM", "a DjVu document", "convert it to PDF"),
    (rb"(?i)\s*(?:<!--.*?-->\s*)?(?:<\?xml[^>]*>\s*)?<(?:!doctype\s+html|html|head|body)\b", "a web page (HTML)", ""),
    (rb"\s*<\?xml", "an XML file", "open it in its program and export it as PDF"),
)
_WEB_PAGE = "download the PDF itself, perhaps after signing in, or print the page to PDF"
_BOM = re.compile(rb"\xef\xbb\xbf|\xff\xfe|\xfe\xff")


def not_a_pdf(beginning: bytes) -> str:
    """A sentence about a file that cannot be opened as PDF; `beginning` is its first kilobytes."""
    if b"%PDF-" in beginning[:1024]:
        return (
            "It begins like a PDF, but it is not a PDF that can be read, or damaged beyond repair: "
            "export or download it again."
        )
    if not beginning.strip(b"\0"):
        return "It is not a PDF but only zeros, as an unfinished download leaves them: download it again."
    plain = _BOM.sub(b"", beginning, count=1) if beginning[:3] == b"\xef\xbb\xbf" else beginning
    for signature, kind, advice in _KINDS:
        if re.match(signature, plain, re.DOTALL):
            return f"It is not a PDF but {kind}: {advice or _WEB_PAGE}."
    if _is_text(plain):
        return "It is not a PDF but plain text: print it to PDF."
    return "It is not a PDF although its name says so: export or download it again as PDF."


def _is_text(beginning: bytes) -> bool:
    """Whether it can be shown: UTF-8, or UTF-16 with its mark, without control characters."""
    encoding = "utf-16" if beginning[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = beginning.decode(encoding, "ignore")
    shown = sum(char.isprintable() or char in "\t\r\n\f" for char in text)
    return bool(text) and shown == len(text) and len(text.encode(encoding, "ignore")) >= len(beginning) - 4
