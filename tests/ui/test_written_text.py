"""What a model has written is structured and stays inert."""

from __future__ import annotations

import re

import pytest

from crag.ui.written_text import as_html


def test_lists_bold_code_and_tables_are_shown_as_such() -> None:
    shown = as_html(
        "Two **sizes**:\n\n1. `128`\n2. 256\n\n- a\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```py\nx < 1 [1]\n```"
    )
    for part in (
        "<p>Two <strong>sizes</strong>:</p>",
        "<ol>",
        "<li><code>128</code></li>",
        "<ul>",
        "<th>a</th>",
        '<td style="text-align:right">2</td>',
        '<pre><code class="language-py">x &lt; 1 [1]\n</code></pre>',
    ):
        assert part in shown


def test_lines_stay_lines_and_headings_stand_below_the_question() -> None:
    assert as_html("one\ntwo") == "<p>one<br />\ntwo</p>\n"
    assert as_html("# Top\n\n##### Deep") == "<h3>Top</h3>\n<h6>Deep</h6>\n"
    assert "<h" not in as_html("no heading\n===").replace("<hr", "")


@pytest.mark.parametrize(
    "hostile",
    [
        "![x](http://evil.example/p)",
        "[click](http://evil.example/p)",
        "[click][1]\n\n[1]: http://evil.example/p",
        "<http://evil.example/p>",
        "http://evil.example/p",
        "<img src=http://evil.example/p onerror=alert(1)>",
        "<div>\n<script>alert(1)</script>\n</div>",
        "&lt;img src=x&gt;",
        '```"><img src=x>\ncode\n```',
        "| ![x](http://evil.example/p) | <b>x</b> |\n|---|---|\n| [a](javascript:alert(1)) | y |",
        "# <img src=x>\n\n> ![x](http://evil.example/p)\n\n- <iframe src=x>",
    ],
)
def test_nothing_in_it_loads_leads_away_or_becomes_markup(hostile: str) -> None:
    shown = as_html(hostile)
    tags = set(re.findall(r"<\s*/?([a-z0-9]+)", shown))
    allowed = {"p", "br", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "h3", "blockquote", "ul", "li"}
    assert tags <= allowed | {"cite"}
    assert not re.search(r"<[^>]*(?:href|src|on\w+)\s*=", shown)
    assert "evil.example" in shown or "evil" not in hostile, "what is not interpreted is shown"


def test_markers_are_set_apart_and_say_where_they_lead() -> None:
    shown = as_html("It is 128 [1], or 256 【2，3】.", {1: "dpr.pdf p. 5", 2: "it's.pdf p. 1"})
    assert "<cite class='crag-cite' title='dpr.pdf p. 5'>[1]</cite>" in shown
    assert "<cite class='crag-cite crag-cite-unknown' title='it&#x27;s.pdf p. 1'>【2，3】</cite>" in shown
    assert as_html("While it is written [9]") == "<p>While it is written <cite class='crag-cite'>[9]</cite></p>\n"
    assert "cite" not in as_html("`a[1]`", {})


@pytest.mark.parametrize("text", ["**名称：**说明", "的**“强调”**的", "- **一：**甲，**二：**乙", "重点：**“强调”**。"])
def test_bold_beside_chinese_signs_is_bold(text: str) -> None:
    shown = as_html(text)
    assert "*" not in shown
    assert shown.count("<strong>") == text.count("**") // 2
    assert "\u2060" not in shown


def test_what_breaks_off_is_shown_as_far_as_it_came() -> None:
    assert "<code>x = 1</code>" in as_html("```\nx = 1")
    assert "**half" in as_html("**half")
    assert "[1" in as_html("cut [1")
