"""Words, language and sentences: the one place that knows how English and Chinese are cut."""

from __future__ import annotations

import itertools
import re
import unicodedata

import sentencex

CJK = (
    r"\u2e80-\u2fdf\u3005\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
)
"""Scripts written without spaces that a reader searches by characters, as the inside of a character class."""

_RUN = re.compile(rf"[{CJK}]+|[^\W_{CJK}]+")
_CJK_CHAR = re.compile(rf"[{CJK}]")
_WORD = re.compile(rf"[^\W\d_{CJK}]+")
_CJK_STOP = re.compile(r"([。！？!?][”’」』）)\]]*+)(?=\S)")


_UNSEEN = re.compile(
    r"[\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]"
)


def visible(text: str) -> str:
    """Without what no reader sees: zero-width and direction marks, controls, halves of characters (surrogates)."""
    return _UNSEEN.sub("", text)


def normalise(text: str) -> str:
    """NFKC, lower case: the form in which words are compared."""
    return unicodedata.normalize("NFKC", text).lower()


def is_cjk(text: str) -> bool:
    """Whether `text` is one or more characters of a script written without spaces."""
    return bool(text) and all(_CJK_CHAR.match(char) for char in text)


def language(text: str) -> str:
    """`zh` where at least as many Han, kana or hangul characters stand as words of other scripts, otherwise `en`.

    So a Chinese question with English terms is Chinese, and an English one about a Chinese word is English.
    """
    cjk = len(_CJK_CHAR.findall(text))
    return "zh" if cjk and cjk >= len(_WORD.findall(text)) else "en"


def tokens(text: str) -> list[str]:
    """Lower-cased words, and overlapping character bigrams of CJK runs (a lone character stands for itself)."""
    found: list[str] = []
    for match in _RUN.finditer(normalise(text)):
        run = match.group()
        if _CJK_CHAR.match(run):
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        else:
            found.append(run)
    return found


def sentences(text: str) -> list[tuple[int, int]]:
    """Code-point ranges `(start, end)` of the sentences of `text`, in order, without surrounding white space.

    sentencex (Wikimedia) finds the boundaries; Chinese stops that it passes over, because a Latin letter or a
    closing quote follows, end a sentence too.
    """
    lang = language(text)
    ranges: list[tuple[int, int]] = []
    position = 0
    for piece in sentencex.segment(lang, text):
        start, position = position, position + len(piece)
        cuts = [start]
        if lang == "zh":
            cuts += [start + match.end() for match in _CJK_STOP.finditer(piece)]
        cuts.append(position)
        for a, b in itertools.pairwise(cuts):
            while a < b and text[a].isspace():
                a += 1
            while b > a and text[b - 1].isspace():
                b -= 1
            if a < b:
                ranges.append((a, b))
    return ranges


def counted(n: int, noun: str) -> str:
    """ "1 question", "2 questions"."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
