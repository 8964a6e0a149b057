"""What an answer's text looks like as HTML."""

from __future__ import annotations

from crag.ui.answer_text import as_html
from crag.ui.marks import Look
from crag.ui.texts import Texts


def test_rows_of_a_quoted_table_become_a_table_with_its_citation_behind() -> None:
    shown = as_html("From your documents:\n\n“| item | value |\n|---|---|\n| PLT | 149 |\n|  |  |” [1]")
    assert shown == (
        "From your documents:\n<table class='crag-quoted'><tr><td>item</td><td>value</td></tr>"
        "<tr><td>PLT</td><td>149</td></tr></table>[1]"
    )


def test_other_lines_stay_lines_and_nothing_is_markup() -> None:
    text = "“A sentence with a | pipe.” [1]\n\n“| one row only |” [2]\n<b>bold</b>"
    shown = as_html(text)
    assert "<table" not in shown
    assert shown == "“A sentence with a | pipe.” [1]\n\n“| one row only |” [2]\n&lt;b&gt;bold&lt;/b&gt;"
    assert "<td>&lt;img src=x&gt;|x</td>" in as_html("| <img src=x>\\|x | b |\n| c | d |")


def test_a_quote_that_ends_with_a_table_leads_to_its_source_and_the_next_quote_stands_apart() -> None:
    look = Look("turn", {1: "checks.pdf p. 1"}, (), Texts("en"))
    shown = as_html("“Checks by state\n| State | Permit |\n| Alabama | 18,870 |” [1]\n\n“Another quote.” [1]", look)
    table, behind = shown.split("</table>")
    assert table.startswith("“Checks by state<table"), "the quotation mark stays where the quote begins"
    assert behind.startswith("” <a "), "the marker is a link, behind the mark that ends the quote"
    assert ">[1]</a>\n\n“Another quote.”" in behind
