"""Sentences that are made or kept in English, said in Chinese: each is a pattern with places for what it quotes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

_NUMBERS: Final = r"pages? \d[\d, -]*(?: and \d+ more)?"
_PLACE: Final = re.compile(r"\\\{(\w+)\\\}")


class Translation:
    """`translation(sentence, language)`: in Chinese for `zh`, else as it is; so too where the sentence is unknown.

    `sentences` goes from English to Chinese; the first that fits counts. `{…}` stands for anything, which is translated
    in its turn; `{word}` for what has no blanks, `{numbers}` and `{Numbers}` for "page 3" or "pages 3-5, 9", `{causes}`
    for several sentences with "; " between them.
    """

    def __init__(self, sentences: Mapping[str, str]) -> None:
        self._patterns = [(_pattern(english), chinese) for english, chinese in sentences.items()]
        self._chinese = lru_cache(2048)(self._found)

    def __call__(self, sentence: str, language: str) -> str:
        return self._chinese(sentence) if language == "zh" else sentence

    def _found(self, sentence: str) -> str:
        for pattern, chinese in self._patterns:
            if found := pattern.fullmatch(sentence):
                return chinese.format_map({name: self._value(name, text) for name, text in found.groupdict().items()})
        return sentence

    def _value(self, name: str, text: str) -> str:
        match name.lower():
            case "numbers":
                return _pages(text)
            case "causes":
                return "；".join(self._chinese(cause) for cause in text.split("; "))
            case _:
                return self._chinese(text)


def _pattern(english: str) -> re.Pattern[str]:
    return re.compile(_PLACE.sub(_group, re.escape(english)), re.DOTALL)


def _group(place: re.Match[str]) -> str:
    name = place[1]
    inside = {"numbers": f"[Pp]{_NUMBERS[1:]}", "word": r"\S+?"}.get(name.lower(), ".*?")
    return f"(?P<{name}>{inside})"


def _pages(numbers: str) -> str:
    more = re.search(r" and (\d+) more$", numbers)
    listed = re.sub(r" and \d+ more$", "", numbers).split(" ", 1)[1].replace(", ", "、")
    return f"第 {listed} 页" + (f"等（另有 {more[1]} 页）" if more else "")
