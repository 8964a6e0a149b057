"""What a model has written is structured and stays inert."""

from __future__ import annotations

import re

import pytest

from crag.schema import CheckedSentence, Support
from crag.ui.marks import Look, marks_in, shown
from crag.ui.texts import Texts
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
    shown = as_html(hostile, look(hostile, (hostile.split("\n")[0], Support.WEAK, (1,))))
    shown = re.sub("<a class='crag-cite' href='#sources-turn' [^>]*>|</a>", "", shown)  # ours: it stays on the page
    tags = set(re.findall(r"<\s*/?([a-z0-9]+)", shown))
    allowed = {"p", "br", "pre", "code", "table", "thead", "tbody", "tr", "th", "td", "h3", "blockquote", "ul", "li"}
    assert tags <= allowed | {"cite", "span", "small"}
    assert not re.search(r"<[^>]*(?:href|src|on\w+)\s*=", shown)
    assert "evil.example" in shown or "evil" not in hostile, "what is not interpreted is shown"


def look(text: str, *doubtful: tuple[str, Support, tuple[int, ...]]) -> Look:
    sentences = [CheckedSentence(text=said, cites=cites, support=support) for said, support, cites in doubtful]
    places = {1: "dpr.pdf p. 5", 2: "it's.pdf p. 1"}
    return Look("turn", places, marks_in(shown(text), sentences), Texts("en"))


def test_markers_lead_to_their_source_and_one_without_a_source_is_told() -> None:
    text = "It is 128 [1], or 256 【2，3】."
    made = as_html(text, look(text))
    link = "<a class='crag-cite' href='#sources-turn' data-source='turn-{}' title='{}'>{}</a>"
    assert link.format(1, "dpr.pdf p. 5", "[1]") in made
    assert "【" + link.format(2, "it&#x27;s.pdf p. 1", "2") + "，" in made
    unknown = "<cite class='crag-cite crag-cite-unknown' title='No source has the number 3.'>3<sup>?</sup></cite>】"
    assert unknown in made
    assert as_html("While it is written [9]") == "<p>While it is written <cite class='crag-cite'>[9]</cite></p>\n"
    assert "cite" not in as_html("`a[1]`", look(""))


WEAK, NOT, HELD = Support.WEAK, Support.UNSUPPORTED, Support.SUPPORTED


def underlined(made: str) -> list[tuple[str, str]]:
    """(kind, text) of what is marked, runs of one sentence apart."""
    found = re.findall(r"<span class='crag-doubt crag-doubt-(\w+)'>(.*?)</span>", made)
    return [(kind, re.sub("<.*?>", "", text)) for kind, text in found]


def test_sentences_that_are_not_held_are_underlined_and_named_where_they_stand() -> None:
    text = "It is big [1]. It is 128 [1]. It is red [2]. It is new."
    made = as_html(
        text,
        look(text, ("It is big [1].", HELD, (1,)), ("It is 128 [1].", WEAK, (1,)), ("It is red [2].", NOT, (2,)),
             ("It is new.", NOT, ())),
    )  # fmt: skip
    assert underlined(made) == [
        ("weak", "It is 128 [1]."),
        ("unsupported", "It is red [2]."),
        ("uncited", "It is new."),
    ]
    assert made.count("crag-doubt-word") == 3
    assert ">weak</small> <span" in made
    assert "<p>It is big <a" in made


@pytest.mark.parametrize(
    ("text", "sentence", "runs"),
    [
        ("- **Size:** it is `128` [1].\n- Next.", "**Size:** it is `128` [1].", ["Size:", " it is ", " [1]."]),
        ("| a | b [1] |\n|---|---|\n| c | d [1] |", "| c | d [1] |", ["c", "d [1]"]),
        ("Same. Same.\n\nSame.", "Same.", ["Same."]),
        ("的**“强调”**的 [1]。", "的**“强调”**的 [1]。", ["的", "“强调”", "的 [1]。"]),
        ("> *It* was\n> so [1].", "*It* was", ["It", " was"]),
        ("```\nx = 1\n```\nx = 1 holds.", "x = 1 holds.", ["x = 1 holds."]),
    ],
)
def test_a_sentence_may_run_through_bold_cells_and_signs_and_is_named_once(
    text: str, sentence: str, runs: list[str]
) -> None:
    made = as_html(text, look(text, (sentence, WEAK, (1,))))
    assert underlined(made) == [("weak", run) for run in runs]
    assert made.count("crag-doubt-word") == 1
    assert re.sub("<small.*?</small>|<.*?>", "", made) == re.sub("<.*?>", "", as_html(text)), "nothing else is changed"


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
