"""Health of a page: whether its text layer can be read and trusted, and whether its picture has to be read instead."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from enum import StrEnum
from typing import Literal

from crag.idf import cut, is_known
from crag.knowledge_base.clean import LEADER_CHARS
from crag.knowledge_base.pdf_loader import RawPage
from crag.text import is_cjk, tokens

OcrMode = Literal["off", "auto", "force"]

HEALTHY, EMPTY, IMAGE, GARBLED, DOUBTFUL = "text", "empty", "image", "garbled", "doubtful"


_LITTLE = 20
"""Readable characters; a page with fewer is taken for one without text where it shows a picture."""
_MANY_LETTERS = 200
_TRUSTED = 0.8
"""A hidden text layer with this share of known words is believed. Good ones in other languages have less: for them the
page's picture decides."""
_AGREES = 0.85
_ROW = re.compile(r"(.)\1{9,}")
_TEXT_PER_ROW = 10
"""Letters and digits for each row of dots, on average."""
_MIXED = 0.4
"""Share of a page that pictures cover and text does not, from which on the pictures are searched for text."""


class Need(StrEnum):
    """Why a page's picture is read."""

    WHOLE = "whole"
    """Its text layer is missing or noise, or the user wants it."""
    FILL = "fill"
    """Some of its lines are noise."""
    MIXED = "mixed"
    """Large pictures stand beside its text."""
    CHECK = "check"
    """Its hidden text layer does not look like words."""


class Reading(StrEnum):
    """What came of reading a page's picture."""

    NOT_NEEDED = ""
    READ = "read"
    UNSURE = "unsure"
    """Read, but many characters may be wrong."""
    NOTHING = "nothing"
    """There is a picture, but no text was found on it."""
    BLANK = "blank"
    """The page shows nothing at all."""
    FOREIGN = "foreign"
    """Text was found but could not be made out: probably a script outside the model."""
    FAILED = "failed"
    OFF = "off"
    """It would have been needed."""
    LOST = "lost"
    """The page itself could not be read, neither its text nor its picture."""


def health_of(page: RawPage) -> str:
    """How far the page's text layer can be trusted; lines without a character map are noise."""
    words = mapped_words(page)
    readable = sum(map(str.isalnum, "".join(words)))
    lost = unmapped(page)
    if readable < _LITTLE and lost:
        return GARBLED
    if page.images > 0.01 and readable < _LITTLE:
        return IMAGE
    if is_garbled(words):
        return GARBLED
    if not readable:
        return EMPTY
    return DOUBTFUL if max(lost, unreadable(words)) > 0.02 else HEALTHY


def need_of(page: RawPage, mode: OcrMode) -> Need | None:
    """Whether the page's picture shall be read, and why; None where its text layer does."""
    if mode == "off" or page.laid_out:
        return None
    if mode == "force" or health_of(page) in (IMAGE, EMPTY, GARBLED):
        return Need.WHOLE
    if unmapped(page) > 0.02:
        return Need.FILL
    if page.hidden > 0.5 and page.images > 0.3:
        return Need.CHECK if known_share(page.words) < _TRUSTED else None
    if page.images >= _MIXED and page.images - _covered(page) >= _MIXED:
        return Need.MIXED
    return None


def mapped_words(page: RawPage) -> list[str]:
    """The words of lines whose characters are known."""
    if not any(line.unmapped for line in page.lines):
        return page.words
    return [word for line in page.lines if not line.unmapped for word in page.words[line.start : line.end]]


def unmapped(page: RawPage) -> float:
    """Share of the characters that stand on lines without a character map, [0, 1]."""
    total = sum(map(len, page.words))
    lost = sum(len(word) for line in page.lines if line.unmapped for word in page.words[line.start : line.end])
    return lost / total if total else 0.0


def garble_of(page: RawPage) -> float:
    """Share of unreadable characters of the text layer, [0, 1]."""
    return max(unmapped(page), unreadable(page.words)) if page.garble is None else page.garble


def _covered(page: RawPage) -> float:
    """Share of the page that its lines of text cover, [0, 1]."""
    area = 0.0
    for line in page.lines:
        boxes = page.boxes[line.start : line.end]
        width, height = boxes[:, 2:].max(axis=0) - boxes[:, :2].min(axis=0)
        area += float(width * height)
    return min(1.0, area / (page.width * page.height or 1.0))


def known_share(words: Iterable[str]) -> float:
    """Share of the words of three and more letters, and of Chinese bigrams, that the idf table knows, [0, 1]."""
    found = [token for token in tokens(" ".join(words)) if (len(token) >= 3 or is_cjk(token)) and token.isalpha()]
    return sum(is_known(cut(token)) for token in found) / len(found) if found else 0.0


def is_better(read: Sequence[str], layer: Sequence[str]) -> bool:
    """Whether what OCR read shall stand in place of a hidden text layer: they differ, and it holds more known words."""
    known = Counter(tokens(" ".join(read)))
    counts = Counter(tokens(" ".join(layer)))
    agreement = (counts & known).total() / (counts.total() or 1)
    return agreement < _AGREES and known_share(read) > known_share(layer) + 0.03


def unreadable(words: Iterable[str]) -> float:
    """Share of characters that carry no meaning: controls, private use, unassigned, U+FFFD; [0, 1]."""
    counts = Counter("".join(_without_leaders(words)))
    return _share(counts, _is_bad)


def _share(counts: Counter[str], test: Callable[[str], bool]) -> float:
    total = counts.total()
    return sum(n for char, n in counts.items() if test(char)) / total if total else 0.0


def _is_bad(char: str) -> bool:
    return char == "\ufffd" or (unicodedata.category(char) in ("Cc", "Cs", "Co", "Cn") and char not in "\t\n\r")


def _without_leaders(words: Iterable[str]) -> list[str]:
    """The words without dots that lead the eye, whose font has no character map: long rows of one unreadable sign
    among text that can be read. A page that is lost as a whole has them too, and keeps them."""
    kept = list(words)
    rows = [match for word in kept for match in _ROW.finditer(word) if _is_bad(match[1])]
    if not rows or sum(map(str.isalnum, "".join(kept))) < _TEXT_PER_ROW * len(rows):
        return kept
    return [_ROW.sub(lambda match: "" if _is_bad(match[1]) else match[0], word) for word in kept]


def is_garbled(words: Collection[str]) -> bool:
    """Whether the text layer is noise: a tenth unreadable, letters shifted, bytes swapped, or a jumble of scripts."""
    words = _without_leaders(words)
    counts = Counter("".join(words))
    if not counts:
        return False
    if _share(counts, _is_bad) > 0.1:
        return True
    signs = Counter({char: n for char, n in counts.items() if char not in LEADER_CHARS})
    if signs.total() >= 100 and _share(signs, lambda char: char.isalnum() or not char.isascii()) < 0.4:
        return True  # codes of a font without a character map: mostly punctuation
    foreign = Counter({char: n for char, n in counts.items() if ord(char) > 0xFF and not char.isspace()})
    if foreign.total() >= 10 and _share(foreign, lambda char: ord(char) & 0xFF == 0) > 0.6:
        return True  # "M" read as U+4D00: UTF-16 with its bytes swapped
    if is_shifted(words):
        return True
    scripts: Counter[str] = Counter()
    for char, n in counts.items():
        if char.isalpha():
            scripts[_script(char)] += n
    letters = scripts.total()
    large = [name for name, n in scripts.items() if n >= 0.01 * letters]
    return letters >= 40 and len(large) >= 4 and scripts["RARE"] >= 0.05 * letters


def _script(char: str) -> str:
    if "\u0180" <= char <= "\u02ff":
        return "RARE"  # Latin Extended-B, phonetic and modifier letters
    return unicodedata.name(char, "?").split()[0].split("-")[0]


def is_shifted(words: Collection[str]) -> bool:
    """Whether the text is Latin with every letter moved by one number ("7KH" for "The"): hardly a word is known as it
    stands, and most are once moved back."""
    text = " ".join(words)
    counts = Counter(text.lower())
    letters = Counter({char: n for char, n in counts.items() if "a" <= char <= "z"})
    if letters.total() < _MANY_LETTERS or _share(letters, lambda char: char in "aeiou") > 0.3:
        return False
    if _known(text) > 0.3:
        return False
    return any(_known("".join(map(_moved(shift), text))) > 0.6 for shift in range(-40, 41) if shift)


def _moved(shift: int) -> Callable[[str], str]:
    return lambda char: char if char == " " else chr(max(0, ord(char) + shift))


def _known(text: str) -> float:
    """Share of the longer Latin words that are known."""
    found = [token for token in tokens(text) if len(token) >= 3 and token.isascii() and token.isalpha()]
    return sum(is_known(cut(token)) for token in found) / len(found) if found else 0.0
