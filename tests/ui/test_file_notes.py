"""What reading says of a file is said in Chinese on the Chinese page."""

from __future__ import annotations

import re

import numpy as np
import pytest

from crag.errors import PdfError
from crag.knowledge_base.file_kinds import not_a_pdf
from crag.knowledge_base.health import DOUBTFUL, EMPTY, HEALTHY, Reading
from crag.knowledge_base.opening import PdfHead
from crag.knowledge_base.page_text import PageFacts, PageText
from crag.knowledge_base.usability import verdict
from crag.text import is_cjk
from crag.ui.texts.files import SENTENCES, translated


def a_page(
    number: int, health: str = HEALTHY, text: str = "The harbour was dredged in spring.", **facts: object
) -> PageText:
    nothing = np.zeros((0, 2), np.int32), np.zeros((0, 4), np.float32)
    return PageText(number, text, (), *nothing, 595, 842, 0, health, PageFacts(**facts))  # type: ignore[arg-type]


def warnings() -> list[str]:
    pages = [
        a_page(1, reading=Reading.READ),
        a_page(2, reading=Reading.READ),
        a_page(3, reading=Reading.UNSURE),
        a_page(4, EMPTY, "", reading=Reading.NOTHING),
        a_page(5, EMPTY, "", reading=Reading.FOREIGN),
        a_page(6, EMPTY, "", reading=Reading.OFF),
        a_page(7, EMPTY, "", reading=Reading.LOST, notes=("It is damaged (xref): fetch or export the file again.",)),
        a_page(8, EMPTY, ""),
        a_page(9, DOUBTFUL),
    ]
    return verdict(pages, 3, PdfHead(9, [], repaired=True))


def refusals() -> list[str]:
    found = []
    for reading in (Reading.NOTHING, Reading.FOREIGN, Reading.OFF, Reading.NOT_NEEDED):
        with pytest.raises(PdfError) as refused:
            verdict([a_page(1, EMPTY, "", reading=reading)], 0, PdfHead(1, [], repaired=False))
        found.append(str(refused.value))
    return found


def test_warnings_and_refusals_are_said_in_chinese() -> None:
    kinds = [b"", b"\0\0", b"plain text", b"PK\x03\x04", b"\x01\x02", b"%PDF-1.4", b"<html>"]
    for sentence in [*warnings(), *refusals(), *map(not_a_pdf, kinds)]:
        chinese = translated(sentence, "zh")
        assert any(map(is_cjk, chinese)), sentence
        assert translated(sentence, "en") == sentence


def test_pages_are_named_as_chinese_names_them() -> None:
    assert translated("Pages 3-5, 9 were read by OCR.", "zh") == "第 3-5、9 页由 OCR 读取。"
    assert translated("No text on pages 1, 3 and 12 more.", "zh") == "第 1、3 页等（另有 12 页）没有文字。"


def test_what_is_quoted_of_a_file_stays_as_it_is() -> None:
    note = "It carries attachments that are not read: {x} %s prices.xlsx."
    assert translated(note, "zh") == "含有未读取的附件：{x} %s prices.xlsx。"
    assert translated("A sentence of tomorrow.", "zh") == "A sentence of tomorrow."


def test_a_reason_inside_a_sentence_is_said_in_chinese_too() -> None:
    note = "MinerU did not read it, the built-in parser did: a file with a password is not sent."
    assert translated(note, "zh") == "MinerU 未能读取，已由内置解析器读取：受密码保护的文件不会发送。"


def test_chinese_names_nothing_that_english_does_not() -> None:
    for english, chinese in SENTENCES.items():
        assert set(re.findall(r"\{\w+\}", chinese)) <= set(re.findall(r"\{\w+\}", english)), english
