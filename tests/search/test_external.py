"""Search results as documents: cleaned, placed, each text once, and nothing but http and https."""

from __future__ import annotations

import pytest

from crag.search.base import WebResult
from crag.search.external import LONGEST_TEXT, LONGEST_TITLE, address, documents_of, host

URL = "https://example.org/anvils"
TEXT = (
    "The anvil weighs 50 kilograms in every test that was made.  It was forged in Graz.\n\n\n"
    "A second paragraph tells of hammers, which are lighter than any anvil by far, as everybody knows."
)


def test_a_result_becomes_a_document_with_its_address_title_and_strips() -> None:
    (document,) = documents_of([WebResult(URL, "All about\n anvils", TEXT, published="2024-05-01")])
    assert (document.url, document.file, document.page) == (URL, URL, 1)
    assert (document.heading, document.published) == ("All about anvils", "2024-05-01")
    assert len(document.strips) == 2
    for strip in document.strips:
        span = strip.spans[0]
        assert document.text[span.start : span.end] == strip.text
    assert document.strips[1].starts_line


@pytest.mark.parametrize(
    "text",
    [
        "First line of it\nsecond line. Then more!   And more; a   table\tcell.",
        "第一句话。第二句 话！还有 English 的句子。\n第二段。" * 9,
        "Same sentence here.\n\nSame sentence here.\n\nAnother one.",
        "word " * 700,
    ],
)
def test_every_strip_is_found_in_the_text_by_its_span(text: str) -> None:
    (document,) = documents_of([WebResult(URL, "", text)])
    ends = 0
    for strip in document.strips:
        span = strip.spans[0]
        assert document.text[span.start : span.end].split() == strip.text.split() or (
            "".join(document.text[span.start : span.end].split()) == "".join(strip.text.split())
        )
        assert ends <= span.start
        ends = span.end


def test_identities_follow_from_address_and_text() -> None:
    one, other = (documents_of([WebResult(url, "t", TEXT)])[0] for url in (URL, URL + "2"))
    again = documents_of([WebResult(URL, "another title", TEXT)])[0]
    assert (one.id, one.content) == (again.id, again.content)
    assert one.id != other.id
    assert one.content != other.content


def test_equal_and_empty_texts_are_dropped() -> None:
    results = [
        WebResult(URL, "", TEXT),
        WebResult(URL + "/copy", "", f" {TEXT}\n"),
        WebResult(URL, "empty", ""),
        WebResult(URL, "unseen", "\u200b\u202e\x00 \n"),
    ]
    assert [document.url for document in documents_of(results)] == [URL]


def test_what_no_reader_sees_is_gone_from_text_title_and_date() -> None:
    hostile = WebResult(URL, "a\x1b[31m\u202eb\nc", "x\x1b]0;y\x07\u2066z\ud800 \x85 end.", published="2024\u200b\n05")
    (document,) = documents_of([hostile])
    assert document.heading == "a[31mb c"
    assert document.text == "x]0;yz end."
    assert document.published == "2024 05"
    assert document.model_dump_json()


def test_long_text_and_title_are_cut() -> None:
    (document,) = documents_of([WebResult(URL, "t" * 900, "word " * 5000)])
    assert len(document.heading) == LONGEST_TITLE
    assert LONGEST_TEXT // 2 < len(document.text) <= LONGEST_TEXT
    assert document.text.endswith("word")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt://example.org/%0aalert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "ftp://example.org/x",
        "//example.org/x",
        "https://",
        "https:///path",
        "https://bank.example@evil.example/",
        "https://user:password@example.org/",
        "http://[::1",
        "http://example.org:port/",
        "https://example.org/a b",
        'https://example.org/"onmouseover="alert(1)',
        "https://example.org/<script>",
        "https://example.org/\u202egpj.exe",
        "https://example.org\\@evil.example/",
        "https://example.org/" + "x" * 3000,
        "",
    ],
)
def test_an_address_that_is_no_plain_http_address_is_dropped_with_its_text(url: str) -> None:
    assert address(url) is None
    assert documents_of([WebResult(url, "t", TEXT)]) == ()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://en.wikipedia.org/wiki/C%2B%2B_(x)?a=1&b=[2]#top", "https://en.wikipedia.org/wiki/C%2B%2B_(x)?a=1&b=[2]#top"),
        (" HTTPS://example.org:8443/ü ", "https://example.org:8443/%C3%BC"),
        ("http://[::1]/x", "http://[::1]/x"),
    ],
)  # fmt: skip
def test_a_plain_address_stays_as_it_is(url: str, shown: str) -> None:
    assert address(url) == shown


def test_a_site_is_named_by_its_host() -> None:
    assert host("https://www.example.org:8443/x") == "example.org"
