"""Which results are used and which come first."""

from __future__ import annotations

import pytest

from crag.search.base import WebResult
from crag.search.choosing import Sites, chosen, listed


def results(*urls: str) -> list[WebResult]:
    return [WebResult(url, url, "text") for url in urls]


def urls(found: list[WebResult]) -> list[str]:
    return [result.url for result in found]


def test_wikipedia_comes_first_and_the_rest_keeps_its_order() -> None:
    found = chosen(results("https://a.com/1", "https://b.com/2", "https://en.wikipedia.org/wiki/Anvil"), Sites())
    assert urls(found) == ["https://en.wikipedia.org/wiki/Anvil", "https://a.com/1", "https://b.com/2"]


def test_denied_sites_and_their_subdomains_are_never_used() -> None:
    sites = Sites(deny=("bad.com",), allow=("bad.com", "a.com"))
    found = chosen(results("https://bad.com/", "https://www.bad.com/x", "https://x.bad.com", "https://a.com/"), sites)
    assert urls(found) == ["https://a.com/"]


def test_with_a_list_of_allowed_sites_no_other_is_used() -> None:
    found = chosen(results("https://a.com/", "https://not-a.com/", "https://docs.a.com/x"), Sites(allow=("a.com",)))
    assert urls(found) == ["https://a.com/", "https://docs.a.com/x"]


def test_a_page_that_comes_twice_is_used_once() -> None:
    found = chosen(results("https://a.com/x", "https://a.com/x/", "https://a.com/x#part"), Sites())
    assert urls(found) == ["https://a.com/x"]


def test_what_is_no_address_is_left_out() -> None:
    assert chosen(results("javascript:alert(1)", "file:///etc/passwd", ""), Sites()) == []


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("wikipedia.org", ("wikipedia.org",)),
        ("https://www.A.com/x, *.b.org  c.cn，d.de", ("a.com", "b.org", "c.cn", "d.de")),
        ("a.com,a.com", ("a.com",)),
        ("  ", ()),
    ],
)
def test_a_list_of_sites_is_read_as_people_write_it(typed: str, found: tuple[str, ...]) -> None:
    assert listed(typed) == found
