"""robots.txt as RFC 9309 reads it: own group before that of all, the longest rule, wildcards, and no surprise."""

from __future__ import annotations

import time

import pytest

from crag.search.robots import allows

SITE = "https://site.example"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        ("", "/a", True),
        ("User-agent: *\nDisallow: /", "/a", False),
        ("User-agent: *\nDisallow:", "/a", True),
        ("User-agent: *\nAllow: /\nDisallow: /private", "/private/a", False),  # the longest counts, not the first
        ("User-agent: *\nDisallow: /\nAllow: /open", "/open/a", True),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", True),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf", False),
        ("User-agent: *\nDisallow: /*.pdf$", "/x/y.pdf?page=1", True),
        ("User-agent: *\nDisallow: /private*/", "/private-2/a", False),
        ("User-agent: *\nDisallow: /a$", "/a/b", True),
        ("User-agent: *\nDisallow: /a*b*c$", "/a1b2c", False),
        ("User-agent: *\nDisallow: /ab*bc$", "/abc", True),
        ("User-agent: *\nDisallow: /*?session", "/a?session=1", False),
        ("User-agent: *\nDisallow: /caf%C3%A9", "/caf%c3%a9/a", False),
        ("User-agent: *\nDisallow: /café", "/caf%C3%A9/a", False),
        ("User-agent: other\nDisallow: /", "/a", True),
        ("User-agent: Crag-Chatbot/1.0 (+x)\nDisallow: /\n\nUser-agent: *\nDisallow:", "/a", False),
        ("User-agent: *\nDisallow: /\n\nUser-agent: crag-chatbot\nDisallow: /b", "/a", True),
        ("User-agent: one\nUser-agent: crag-chatbot\nCrawl-delay: 5\nDisallow: /a # here", "/a", False),
        ("User-agent: crag-chatbot\nDisallow: /a\nUser-agent: x\nDisallow: /\nUser-agent: crag-chatbot\nDisallow: /b",
         "/b", False),
        ("Disallow: /", "/a", True),
        ("\ufeffuser-AGENT : *\r\nDISALLOW : /a\r\n", "/a", False),
    ],
)  # fmt: skip
def test_a_page_is_fetched_only_where_the_rules_let_it(rules: str, path: str, allowed: bool) -> None:
    assert allows(rules, SITE + path) is allowed


@pytest.mark.parametrize("rules", ["User-agent: *\nDisallow: //[", "User-agent: *\nCrawl-delay: ²", "\x00:\x00", ":::"])
def test_rules_that_make_no_sense_forbid_nothing(rules: str) -> None:
    assert allows(rules, f"{SITE}/a")


def test_rules_full_of_wildcards_cost_no_time() -> None:
    start = time.perf_counter()
    assert allows("User-agent: *\n" + f"Disallow: /{'*a' * 200}$\n" * 1000, f"{SITE}/{'a' * 150}")
    assert time.perf_counter() - start < 2
