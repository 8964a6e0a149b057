"""Reports keep secrets and machine to themselves, show hostile text inert, load nothing, and can be compared."""

import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, SecretStr
from traces import document, five, outcome, question

from config import load_settings
from crag.errors import QuestionSetError
from crag.evaluation.comparison import compare
from crag.evaluation.html_report import html_of
from crag.evaluation.report import Report, public, read_report, report_of, to_json
from crag.evaluation.running import Outcome
from crag.events import FileRow
from crag.schema import Action

HOSTILE = '<script>alert(1)</script> ![x](http://evil.example/a.png) <img src="http://evil.example/b.png"> \u202egnp'
HOUSE = SimpleNamespace(
    embedder=SimpleNamespace(fingerprint="hand-made 1"),
    knowledge_base=SimpleNamespace(rows=lambda: [FileRow(path="a.pdf", content="a", pages=2, passages=7)]),
)


def a_report(folder: Path, outcomes: list[Outcome]) -> Report:
    path = folder / "mine.jsonl"
    path.write_text("{}")
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    return report_of(outcomes, HOUSE, load_settings(), path.name, sha256)  # type: ignore[arg-type]


class Elements(HTMLParser):
    """Every tag with its attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_hostile_text_is_shown_inert_and_the_page_loads_nothing(tmp_path: Path) -> None:
    hostile = document(HOSTILE, file=f"{HOSTILE[:25]}.pdf")
    asked = question("q", question=HOSTILE, set=HOSTILE, expected=Action.INCORRECT)
    page = html_of(a_report(tmp_path, [outcome(asked, [(hostile, 0.9)]), *five()]))
    tags = Elements(page).tags
    assert {"script", "img", "link", "iframe", "object", "image", "use", "a"} & {tag for tag, _ in tags} == set()
    loading = {"src", "href", "xlink:href", "srcset", "data", "background", "poster"}
    assert [name for _, attributes in tags for name in attributes if name in loading or name.startswith("on")] == []
    assert "&lt;script&gt;alert(1)" in page
    assert "\u202e" not in page
    assert "url(" not in page
    assert "@import" not in page
    rest = page.replace("http://evil.example/", "")
    assert "http://" not in rest
    assert "https://" not in rest
    assert "default-src 'none'" in page


def test_every_plot_is_there_and_takes_its_colours_from_the_page(tmp_path: Path) -> None:
    page = html_of(a_report(tmp_path, five()))
    labels = re.findall(r'<svg role="img" aria-label="([^"]+)"', page)
    assert labels == [
        "Calibration curve",
        "Histogram of document scores by label",
        "Expected and triggered actions",
        "Milliseconds per stage",
    ]
    assert "currentColor" in page
    assert "var(--green)" in page
    assert "#0101" not in page
    assert "prefers-color-scheme: dark" in page


def test_a_question_without_labels_makes_a_report_too(tmp_path: Path) -> None:
    page = html_of(a_report(tmp_path, [outcome(question("q"), [(document("x"), 0.9)])]))
    assert "Failures (0)" in page
    assert "recall@1" not in page


def test_failures_come_by_kind_with_what_was_cited(tmp_path: Path) -> None:
    page = html_of(a_report(tmp_path, five()))
    kinds = ["Answered although not covered", "The answer was not retrieved", "The answer was lost in refinement"]
    places = [page.index(kind) for kind in kinds]
    assert places == sorted(places)
    assert "b.pdf, page 1" in page
    assert "Failures (3)" in page


def test_json_comes_back_as_it_was_and_says_what_it_was_made_of(tmp_path: Path) -> None:
    report = a_report(tmp_path, five())
    path = tmp_path / "report.json"
    path.write_text(to_json(report), encoding="utf-8")
    assert read_report(path) == report
    stored = json.loads(path.read_text(encoding="utf-8"))
    assert stored["schema"] == 1
    assert stored["embedding"] == "hand-made 1"
    assert stored["evaluator"] == {"name": "hand", "version": "1"}
    assert stored["counts"]["passages"] == 7
    row = stored["rows"][1]
    assert (row["action"], row["best"], row["hit_rank"], row["expected"]) == ("CORRECT", 0.8, 2, "CORRECT")


def test_secrets_and_folders_stay_out_of_a_report() -> None:
    class Given(BaseModel):
        upper: float = 0.7
        tavily_api_key: str = "tvly-secret"
        hidden: SecretStr = SecretStr("secret-too")
        tavily_url: str = "https://me:secret@search.example:8443/path?token=secret"
        files_dir: Path = Path("/home/me/Files")
        provider: str = "none"

    assert public(Given()) == {"upper": 0.7, "tavily_url": "search.example", "provider": "none"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "is no JSON"),
        ("[]", "is not a report of crag eval"),
        ("{}", "is not a report of crag eval"),
        ("null", "is not a report of crag eval"),
        ('{"schema": 2}', "has the schema 2, and this version reads 1"),
        ('{"schema": 1, "rows": []}', "is damaged at"),
    ],
)
def test_what_is_no_report_of_this_version_is_refused_in_a_sentence(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "old.json"
    path.write_text(text)
    with pytest.raises(QuestionSetError, match=said):
        read_report(path)
    with pytest.raises(QuestionSetError, match="cannot be read"):
        read_report(tmp_path / "missing.json")


def test_a_report_without_figures_is_damaged(tmp_path: Path) -> None:
    stored = json.loads(to_json(a_report(tmp_path, five())))
    path = tmp_path / "old.json"
    path.write_text(json.dumps(stored | {"groups": []}))
    with pytest.raises(QuestionSetError, match="is damaged at groups"):
        read_report(path)
    path.write_text(json.dumps({name: value for name, value in stored.items() if name != "notes"}))
    assert read_report(path).counts.questions == 5  # a report from before there were notes


def test_files_that_are_not_in_the_index_are_noted_and_change_no_figure(tmp_path: Path) -> None:
    names = ("no.pdf", "docs/a.pdf", "A/no.pdf", "no.pdf", "a.pdf")
    made = [outcome(question(f"q{n}", file=name), [(document("x"), 0.9)]) for n, name in enumerate(names)]
    report = a_report(tmp_path, made)
    assert report.notes == ("3 questions name files that are not in the index: no.pdf (ids q0, q3), A/no.pdf (id q2)",)
    assert ["file not in the index" in row.flags for row in report.rows] == [True, False, True, True, False]
    assert report.groups[0].metrics.shares["answerable_correct"].n == 5
    assert a_report(tmp_path, five()[:1]).notes == ()
    one = a_report(tmp_path, made[2:3])
    assert one.notes == ("1 question names a file that is not in the index: A/no.pdf (id q2)",)
    lost = outcome(question("q", file="no.pdf", page=1), [(document("x"), 0.1)])
    assert "file not in the index" in html_of(a_report(tmp_path, [lost]))


def test_a_page_beyond_the_end_of_its_file_is_noted(tmp_path: Path) -> None:
    made = [outcome(question(f"q{page}", file="a.pdf", page=page), [(document("x"), 0.9)]) for page in (1, 999)]
    report = a_report(tmp_path, made)
    assert report.notes == ("1 question names a page that is not in its file: page 999 of a.pdf (id q999)",)
    assert ["page not in the file" in row.flags for row in report.rows] == [False, True]


def changed() -> list[Outcome]:
    """Like `five`, but the second question's answer is kept and the fourth is answered although not covered."""
    found = five()
    right, other = document("It is 42."), document("Nothing here.")
    found[1] = outcome(found[1].question, [(right, 0.8), (other, 0.1)])
    found[3] = outcome(found[3].question, [(other, 0.75)])
    return found


def test_a_comparison_counts_pairs_and_names_the_questions_that_changed(tmp_path: Path) -> None:
    compared = compare(a_report(tmp_path, five()), a_report(tmp_path, changed()))
    overall = {change.name: change for change in compared.changes if change.language is None}
    match = overall["answer_match"]
    assert (match.pairs, match.gained, match.lost) == (3, 1, 0)
    assert match.difference == pytest.approx(1 / 3)
    assert match.p == 1.0
    assert (overall["false_answers"].gained, overall["refused_uncovered"].lost) == (1, 1)
    assert overall["mrr"].p is None
    assert overall["mrr"].difference == pytest.approx(1 / 6)
    assert [(row.id, row.old_match, row.new_match) for row in compared.questions] == [
        ("two", False, True),
        ("four", None, None),
    ]
    assert compared.warnings == ()
    assert {change.language for change in compared.changes} == {None, "en", "zh"}
    assert "Questions that changed (2)" in html_of(a_report(tmp_path, changed()), compared)


def test_a_comparison_warns_when_sets_or_wordings_differ(tmp_path: Path) -> None:
    new = five()[:4]
    new[0] = outcome(question("one", question="Another?", expected=Action.AMBIGUOUS), [(document("x"), 0.9)])
    said = " ".join(compare(a_report(tmp_path, five()), a_report(tmp_path, new)).warnings)
    assert "5 questions in the old report, 4 in the new one, 4 in both" in said
    assert "Same id but another wording: 1 question." in said
    assert "Expected otherwise than before: 1 question." in said
