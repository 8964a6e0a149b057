"""Characters: what of a PDF's text is kept, and how line ends are joined."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain

from crag.text import is_cjk

_NORMALISED_TAGS = ("<wide>", "<narrow>", "<font>", "<noBreak>", "<isolated>", "<initial>", "<medial>", "<final>")
_WIDE_KEPT = frozenset("！（），．：；？～［］｛｝｜＂＇")
"""Full-width punctuation is how Chinese is written; only letters, digits and signs become narrow."""
_JOINERS = "\u200c\u200d"
_LEADERS = re.compile(r"(?:[.·‧․⋅_…⋯‥]\s?){4,}|[⋯…]{2,}")
LEADER_CHARS = frozenset(".·‧․⋅_…⋯‥-–—")
_HYPHENS = "-\u2010\u2011\u00ad"
_LETTERS = re.compile(r"[^\W\d_]+")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-\u2010\u2011][^\W\d_]+)+")
_HYPHEN_PREFIXES = frozenset({"self", "well", "non", "ex", "all", "half"})


@lru_cache(maxsize=65536)
def _character(char: str) -> str:
    """The character as it is kept: "" drops it; compatibility forms become plain where no meaning is lost.

    Superscripts, fractions, circled and squared signs stay: "6½" must not become "61/2", nor "m²" "m2".
    """
    category = unicodedata.category(char)
    code = ord(char)
    if category in ("Zs", "Zl", "Zp") or char in "\t\n\r\x0b\x0c":
        return " "
    if code in (0xF0B7, 0xF0A7, 0xF0D8):  # bullets of the Symbol and Wingdings fonts
        return "•"
    if category in ("Cc", "Cs", "Co", "Cn") or (category == "Cf" and char not in _JOINERS):
        return ""
    if char == "\ufffd":
        return ""
    tag = unicodedata.decomposition(char).partition(" ")[0]
    ligature = 0xFB00 <= code <= 0xFB4F or 0x2E80 <= code <= 0x2FDF
    if (tag in _NORMALISED_TAGS and char not in _WIDE_KEPT) or ligature:
        return unicodedata.normalize("NFKC", char)
    return char


def clean_word(word: str) -> str:
    """A word of the PDF in canonical form; "" where nothing readable is left. A final soft hyphen becomes "-"."""
    if word.isascii() and word.isprintable():
        return _LEADERS.sub("…", word) if len(word) > 3 else word
    hyphen = "-" if len(word) > 1 and word[-1] == "\u00ad" else ""
    text = "".join(map(_character, word)) + hyphen
    return " ".join(_LEADERS.sub("…", unicodedata.normalize("NFC", text)).split())


def is_leader(word: str) -> bool:
    """Whether the word only leads the eye to a page number, as in a table of contents."""
    return all(char in LEADER_CHARS for char in word)


def vocabulary(texts: Iterable[str]) -> Counter[str]:
    """How often each word, and each hyphenated word, stands in `texts`, lower-cased."""
    hyphens = tuple(_HYPHENS)
    lowered = " ".join(text for text in texts if not text.endswith(hyphens)).lower()
    return Counter(chain(_LETTERS.findall(lowered), _HYPHENATED.findall(lowered)))


def joint(left: str, right: str, words: Counter[str]) -> tuple[bool, str]:
    """How two words at a line end are joined: (whether the hyphen at the end of `left` goes, what stands between).

    A hyphen stays where the document itself writes the word with it ("Self-" + "corrective").
    """
    if not left or not right:
        return False, ""
    if left[-1] in _HYPHENS and len(left) > 1 and left[-2].isalnum():
        return _drops_hyphen(left[:-1], right, words), ""
    if left[-1] in "/\u2013" and len(left) > 1:
        return False, ""
    return False, "" if is_unspaced(left[-1]) or is_unspaced(right[0]) else " "


def _drops_hyphen(stem: str, right: str, words: Counter[str]) -> bool:
    head, tail = _LETTERS.findall(stem), _LETTERS.match(right)
    if not head or tail is None or not stem[-1].isalpha() or not right[0].islower():
        return False
    first, second = head[-1].lower(), tail.group().lower()
    joined, hyphenated = words[first + second], words[f"{first}-{second}"]
    if joined or hyphenated:
        return joined >= hyphenated
    if first in _HYPHEN_PREFIXES or "-" in stem:
        return False
    return not (len(first) > 3 and len(second) > 3 and words[first] and words[second])


@lru_cache(maxsize=16384)
def is_unspaced(char: str) -> bool:
    """Han, kana and their punctuation: written without spaces (hangul is not)."""
    if char < "\u2e80" or "\uac00" <= char <= "\ud7af":
        return False
    return is_cjk(char) or "\u3000" <= char <= "\u303f" or "\uff01" <= char <= "\uff65"
