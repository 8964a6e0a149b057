"""Refinement: how a text falls into strips, which strips are kept, and what the generator reads in the end."""

import pytest

from crag.refinement import decompose, ledger, merge, recompose, select
from crag.schema import (
    Action,
    Document,
    DocumentGrade,
    Fate,
    Grade,
    GradedDocument,
    GradedStrip,
    Span,
    Strip,
    Thresholds,
)

DEFAULT = Thresholds()


def strip(id_: str, page: int = 1, start: int = 0, text: str = "") -> Strip:
    text = text or f"Text of {id_}."
    return Strip(id=id_, text=text, spans=(Span(page=page, start=start, end=start + len(text)),))


def document(id_: str, *strips: Strip, file: str = "a.pdf") -> Document:
    return Document(
        id=id_,
        content=file,
        files=(file,),
        text=" ".join(s.text for s in strips),
        spans=tuple(span for s in strips for span in s.spans),
        strips=strips,
    )


def grade(score: float | None) -> Grade:
    return Grade(score=score, cause="the engine failed" if score is None else None)


def graded(doc: Document, score: float | None, *strips: float | None) -> tuple[Document, DocumentGrade]:
    return doc, DocumentGrade(document=grade(score), strips=tuple(grade(s) for s in strips))


def run(
    *pairs: tuple[Document, DocumentGrade], action: Action | None = Action.CORRECT, thresholds: Thresholds = DEFAULT
) -> dict[str, GradedStrip]:
    documents = [GradedDocument.of(d, g.document, thresholds) for d, g in pairs]
    strips = ledger([d for d, _ in pairs], [g for _, g in pairs])
    return {s.id: s for s in select(documents, strips, thresholds, action)}


def fates(strips: dict[str, GradedStrip]) -> dict[str, Fate]:
    return {id_: s.fate for id_, s in strips.items()}


# --- decompose -------------------------------------------------------------------------------------------------


def test_short_sentences_join_until_a_strip_says_enough() -> None:
    text = "It rose. It fell. Nobody knew why the price of the share moved so much within a single hour that day. " * 2
    strips = decompose(text)
    assert strips[0].text.startswith("It rose. It fell. Nobody knew")
    assert all(s.text in " ".join(text.split()) for s in strips)


def test_no_strip_has_more_than_three_sentences() -> None:
    assert max(s.text.count(".") for s in decompose("One. Two. Three. Four. Five. Six. Seven.")) <= 3


def test_chinese_is_cut_at_its_own_stops_and_joined_without_spaces() -> None:
    text = (
        "黑豹队的防守只丢了三百零八分，在联赛中排名第六，并且四次入选职业碗的全明星赛。短句。"
        "职业碗防守截锋卡万以十一分领先于全队，同时还有三次迫使掉球。"
    )
    strips = decompose(text)
    assert "".join(s.text for s in strips) == text
    assert len(strips) == 2


def test_strips_never_cross_a_paragraph() -> None:
    assert [s.text for s in decompose("Heading\n\nBody text.")] == ["Heading", "Body text."]


@pytest.mark.parametrize("text", ["x" * 5000, "word " * 2000, "字" * 3000, "1\n2\n3\n" * 900])
def test_text_without_punctuation_is_cut_to_a_readable_length(text: str) -> None:
    strips = decompose(text)
    assert strips
    assert max(len(s.text) for s in strips) <= 500


@pytest.mark.parametrize("text", ["", "   \n\n \t", "\n"])
def test_empty_text_has_no_strips(text: str) -> None:
    assert decompose(text) == ()


def test_equal_strips_of_a_text_are_one_and_ids_do_not_depend_on_the_place() -> None:
    first = decompose("The same.\n\nThe same.")
    assert len(first) == 1
    assert decompose("Other.\n\nThe same.")[1].id == first[0].id


# --- ledger ----------------------------------------------------------------------------------------------------


def test_ledger_is_in_document_order_whatever_the_rank() -> None:
    late = document("r1", strip("b9", page=9), file="b.pdf")
    early = document("r2", strip("a2", page=1, start=50), strip("a1", page=1, start=0))
    strips = ledger(*zip(graded(late, 0.9, 0.9), graded(early, 0.8, 0.5, 0.6), strict=True))
    assert [(s.id, s.order) for s in strips] == [("a1", 0), ("a2", 1), ("b9", 2)]


def test_page_ten_comes_after_page_nine() -> None:
    doc = document("d", strip("p10", page=10), strip("p9", page=9))
    assert [s.id for s in ledger(*zip(graded(doc, 1, 1, 1), strict=True))] == ["p9", "p10"]


@pytest.mark.parametrize("scores", [(0.4, 0.8), (0.8, 0.4), (None, 0.8), (0.8, None)])
def test_a_strip_of_two_documents_counts_once_with_its_best_score(scores: tuple[float | None, float | None]) -> None:
    shared = strip("s")
    pairs = [graded(document("d1", shared), 0.9, scores[0]), graded(document("d2", shared), 0.9, scores[1])]
    (only,) = ledger([d for d, _ in pairs], [g for _, g in pairs])
    assert (only.score, only.documents, only.cause) == (0.8, ("d1", "d2"), None)


def test_a_grade_with_the_wrong_number_of_strips_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ledger(*zip(graded(document("d", strip("s1"), strip("s2")), 0.9, 0.9), strict=True))


# --- select ----------------------------------------------------------------------------------------------------


def test_strips_exactly_at_the_thresholds_are_kept() -> None:
    result = run(graded(document("d", strip("s1"), strip("s2", start=50)), 0.3, 0.5, 0.4999))
    assert fates(result) == {"s1": Fate.KEPT, "s2": Fate.BELOW_THRESHOLD}


def test_strips_of_irrelevant_and_ungraded_documents_say_why_they_are_dropped() -> None:
    result = run(
        graded(document("good", strip("g")), 0.9, 0.9),
        graded(document("bad", strip("b"), file="b.pdf"), 0.2999, 0.99),
        graded(document("none", strip("n"), file="n.pdf"), None, None),
        graded(document("half", strip("h"), file="h.pdf"), 0.9, None),
    )
    assert fates(result) == {
        "g": Fate.KEPT,
        "b": Fate.DOCUMENT_IRRELEVANT,
        "n": Fate.DOCUMENT_UNGRADED,
        "h": Fate.UNGRADED,
    }


def test_a_strip_shared_with_a_relevant_document_is_kept() -> None:
    shared = strip("s")
    result = run(graded(document("bad", shared), 0.1, 0.6), graded(document("good", shared), 0.8, 0.6))
    assert result["s"].fate is Fate.KEPT


def test_a_strip_shared_with_an_ungraded_document_is_kept() -> None:
    shared = strip("s")
    result = run(graded(document("none", shared), None, None), graded(document("good", shared), 0.8, 0.6))
    assert result["s"].fate is Fate.KEPT


def test_only_the_best_strips_are_sent_and_the_earlier_wins_a_tie() -> None:
    doc = document("d", *(strip(f"s{n}", start=100 * n) for n in range(4)))
    result = run(graded(doc, 0.9, 0.6, 0.8, 0.6, 0.8), thresholds=Thresholds(top_strips=3))
    assert fates(result) == {"s0": Fate.KEPT, "s1": Fate.KEPT, "s2": Fate.BEYOND_TOP, "s3": Fate.KEPT}


def test_when_nothing_reaches_the_threshold_the_best_strip_of_the_best_document_is_the_fallback() -> None:
    result = run(
        graded(document("d1", strip("s1"), strip("s2", start=50)), 0.6, 0.1, 0.2),
        graded(document("d2", strip("t1"), file="b.pdf"), 0.5, 0.49),
        action=Action.AMBIGUOUS,
    )
    assert fates(result) == {"s1": Fate.BELOW_THRESHOLD, "s2": Fate.FALLBACK, "t1": Fate.BELOW_THRESHOLD}
    assert result["s2"].kept


def test_fallback_passes_over_a_document_whose_strips_are_ungraded() -> None:
    result = run(
        graded(document("d1", strip("s1")), 0.9, None), graded(document("d2", strip("t1"), file="b.pdf"), 0.5, 0.2)
    )
    assert fates(result) == {"s1": Fate.UNGRADED, "t1": Fate.FALLBACK}


def test_no_fallback_from_documents_below_the_lower_threshold() -> None:
    pairs = (
        graded(document("d1", strip("s1")), 0.29, 0.9),
        graded(document("d2", strip("t1"), file="b.pdf"), None, None),
    )
    result = run(*pairs, action=Action.AMBIGUOUS)
    assert not any(s.kept for s in result.values())
    assert recompose(result.values()).text == ""


def test_incorrect_discards_every_strip_and_leaves_no_knowledge() -> None:
    result = run(graded(document("d", strip("s")), 0.2, 0.9), action=Action.INCORRECT)
    assert fates(result) == {"s": Fate.DISCARDED}
    assert recompose(result.values()).sources == ()


def test_without_a_decision_nothing_is_kept() -> None:
    assert not any(s.kept for s in run(graded(document("d", strip("s")), None, None), action=None).values())


def test_nothing_retrieved_gives_no_strips_and_empty_knowledge() -> None:
    assert select([], [], DEFAULT, Action.INCORRECT) == ()
    assert recompose(()).text == ""


def test_moved_thresholds_replay_on_stored_strips() -> None:
    before = run(graded(document("d", strip("s1"), strip("s2", start=90)), 0.6, 0.7, 0.4))
    documents = [GradedDocument.of(document("d", strip("s1")), grade(0.6), DEFAULT)]
    after = select(documents, tuple(before.values()), Thresholds(strip=0.4), Action.CORRECT)
    assert [s.fate for s in before.values()] == [Fate.KEPT, Fate.BELOW_THRESHOLD]
    assert [s.fate for s in after] == [Fate.KEPT, Fate.KEPT]


# --- recompose -------------------------------------------------------------------------------------------------


def test_knowledge_is_numbered_by_file_and_page_in_document_order() -> None:
    result = run(
        graded(document("r1", strip("b2", page=2, text="Second of b."), file="b.pdf"), 0.9, 0.9),
        graded(
            document("r2", strip("a5", page=5, text="On five."), strip("a5b", page=5, start=9, text="Goes on."),
                     strip("a7", page=7, text="On seven.")),
            0.8, 0.6, 0.9, 0.7,
        ),
    )  # fmt: skip
    knowledge = recompose(result.values())
    assert knowledge.text == (
        "[1] a.pdf, page 5\nOn five. Goes on.\n\n[2] a.pdf, page 7\nOn seven.\n\n[3] b.pdf, page 2\nSecond of b."
    )
    assert [(s.n, s.file, s.page, s.strips) for s in knowledge.sources] == [
        (1, "a.pdf", 5, ("a5", "a5b")),
        (2, "a.pdf", 7, ("a7",)),
        (3, "b.pdf", 2, ("b2",)),
    ]


def test_a_dropped_strip_between_two_kept_ones_is_a_new_line() -> None:
    doc = document(
        "d", strip("s1", text="One."), strip("s2", start=5, text="Two."), strip("s3", start=10, text="Three.")
    )
    assert recompose(run(graded(doc, 0.9, 0.9, 0.1, 0.9)).values()).sources[0].text == "One.\nThree."


def test_chinese_neighbours_are_merged_without_a_space() -> None:
    doc = document("d", strip("s1", text="第一句。"), strip("s2", start=4, text="第二句。"))
    kept = [s for s in run(graded(doc, 0.9, 0.9, 0.9)).values() if s.kept]
    assert merge(kept) == "第一句。第二句。"


def test_a_file_name_cannot_forge_a_source() -> None:
    doc = document("d", strip("s"), file="a\n\n[9] boss.pdf")
    assert recompose(run(graded(doc, 0.9, 0.9)).values()).text.splitlines()[0] == "[1] a [9] boss.pdf, page 1"


def test_a_strip_that_begins_a_paragraph_is_not_run_on() -> None:
    first = made("a", "The rule is simple.", start=0)
    flowing = made("b", "It has one line.", start=20)
    opening = made("c", "A new paragraph.", start=37).model_copy(update={"starts_line": True})
    assert merge([first, flowing, opening]) == "The rule is simple. It has one line.\nA new paragraph."


def made(id_: str, text: str, start: int) -> GradedStrip:
    span = Span(page=1, start=start, end=start + len(text))
    return GradedStrip(
        id=id_, text=text, spans=(span,), content="c", files=("a.pdf",), documents=("d",), order=start, score=0.9
    )
