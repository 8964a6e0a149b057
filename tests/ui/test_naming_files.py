"""`@name` narrows a question to a file, or says what it could mean."""

from __future__ import annotations

import pytest

from crag.ui.naming_files import naming, narrowed

PATHS = ("papers/dpr.pdf", "Annual Report 2024.pdf", "annual report 2023.pdf", "检索增强.pdf", "colbert-v2.PDF")


@pytest.mark.parametrize(
    ("text", "question", "files"),
    [
        ("@dpr What is the batch size?", "What is the batch size?", ("papers/dpr.pdf",)),
        ("What is the batch size? @dpr.pdf", "What is the batch size?", ("papers/dpr.pdf",)),
        ("What is the batch size @DPR?", "What is the batch size?", ("papers/dpr.pdf",)),
        ("What does @dpr say of it?", "What does dpr say of it?", ("papers/dpr.pdf",)),
        ("What is @dpr's batch size?", "What is dpr's batch size?", ("papers/dpr.pdf",)),
        ("@papers/dpr.pdf sizes", "sizes", ("papers/dpr.pdf",)),
        ('@"Annual Report 2024" profit?', "profit?", ("Annual Report 2024.pdf",)),
        ("@“annual report 2023.pdf” profit?", "profit?", ("annual report 2023.pdf",)),
        (
            "@colbert and @dpr: which is older?",
            "colbert-v2 and dpr: which is older?",
            ("colbert-v2.PDF", "papers/dpr.pdf"),
        ),
        ("在@检索增强里批量大小是多少？", "在检索增强里批量大小是多少？", ("检索增强.pdf",)),
        ("@检索增强 批量大小是多少？", "批量大小是多少？", ("检索增强.pdf",)),
        ("@2024 profit", "profit", ("Annual Report 2024.pdf",)),
        ("Who is ida@dpr.example?", "Who is ida@dpr.example?", ()),
        ("costs 5 € @ 3 %", "costs 5 € @ 3 %", ()),
        ("no file named", "no file named", ()),
    ],
)
def test_a_name_that_one_file_has_narrows_the_question_to_it(text: str, question: str, files: tuple[str, ...]) -> None:
    found = narrowed(text, PATHS)
    assert (found.question, found.files, found.unclear) == (question, files, None)


def test_a_name_that_several_files_have_is_not_guessed() -> None:
    found = narrowed("@annual profit?", PATHS)
    assert found.unclear is not None
    assert (found.unclear.written, found.unclear.several) == ("@annual", True)
    assert found.unclear.candidates == ("Annual Report 2024.pdf", "annual report 2023.pdf")
    assert found.question == "@annual profit?", "it is kept as it was typed"
    assert found.files == ()


def test_a_name_that_no_file_has_names_what_is_written_alike_or_else_the_first_files() -> None:
    near = narrowed("@colbret sizes", PATHS).unclear
    assert near is not None
    assert near.candidates[0] == "colbert-v2.PDF"
    assert not near.several
    far = narrowed("@zzzzzz sizes", [f"{n:02}.pdf" for n in range(20, 0, -1)]).unclear
    assert far is not None
    assert far.candidates == tuple(f"{n:02}.pdf" for n in range(1, 7))


def test_an_exact_name_goes_before_one_that_only_begins_so() -> None:
    assert narrowed("@a sizes", ["ab.pdf", "a.pdf"]).files == ("a.pdf",)


def test_a_name_alone_leaves_no_question() -> None:
    assert narrowed("@dpr", PATHS).question == ""


@pytest.mark.parametrize(
    "path",
    [
        "x.pdf",
        "sub/x.pdf",
        "sub/X.pdf",
        'a "b" c.pdf',
        'all”"」.pdf',
        "two\nlines.pdf",
        "[x](y z).pdf",
        "<b>（中文）.pdf",
    ],
)
def test_a_file_that_was_chosen_is_meant_whatever_its_name(path: str) -> None:
    paths = ["x.pdf", "sub/x.pdf", "sub/X.pdf", 'a "b" c.pdf', 'all”"」.pdf', "two\nlines.pdf", "[x](y z).pdf"]
    found = narrowed(f"{naming(path)} How many?", [*paths, "<b>（中文）.pdf"])
    assert (found.question, found.files) == ("How many?", (path,))
