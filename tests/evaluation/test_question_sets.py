"""A question set is read as its author means it, and what is wrong with one is said with file, line and mend."""

import json
from pathlib import Path

import pytest

from crag.errors import CragError, QuestionSetError
from crag.evaluation.question_sets import Question, read_questions
from crag.schema import Action


def written(folder: Path, name: str, text: str, encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def test_json_lines_and_csv_say_the_same(tmp_path: Path) -> None:
    rows = [
        {
            "question": "What is the flow rate?",
            "action": "correct",
            "file": "pump.pdf",
            "page": 2,
            "answers": ["42", "6"],
        },
        {"question": "水泵的流量是多少？", "answer": "四十二", "id": "zh-1", "set": "other", "remark": "ignored"},
        {"question": "What is x?", "language": "ZH", "expected": "Incorrect"},
    ]
    lines = "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    table = (
        "Question,Expected,file,page,answers,answer,id,set,remark,language\r\n"
        "What is the flow rate?,CORRECT,pump.pdf,2,42|6,,,,,\r\n"
        "水泵的流量是多少？,,,,,四十二,zh-1,other,ignored,\r\n"
        "\r\n"
        "What is x?,incorrect,,,,,,,,zh\r\n"
    )
    expected = [
        Question(
            id="8d3c81bb5a3c",
            question="What is the flow rate?",
            language="en",
            set="mine",
            expected=Action.CORRECT,
            file="pump.pdf",
            page=2,
            answers=("42", "6"),
        ),
        Question(id="zh-1", question="水泵的流量是多少？", language="zh", set="other", answers=("四十二",)),
        Question(id="b7c1", question="What is x?", language="zh", set="mine", expected=Action.INCORRECT),
    ]
    for name, text in (("mine.jsonl", lines), ("mine.csv", table)):
        for encoding in ("utf-8", "utf-8-sig"):
            found = read_questions(written(tmp_path, name, text, encoding))
            same = [
                want.model_copy(update={"id": got.id if want.id != "zh-1" else "zh-1"})
                for want, got in zip(expected, found, strict=True)
            ]
            assert found == same
            assert len({question.id for question in found}) == 3


def test_a_row_keeps_its_id_when_rows_before_it_come_and_go(tmp_path: Path) -> None:
    one = read_questions(written(tmp_path, "a.jsonl", '{"question": "b"}'))
    two = read_questions(written(tmp_path, "b.jsonl", '{"question": "a"}\n{"question": "b"}\n{"question": "b"}'))
    assert one[0].id == two[1].id
    assert two[2].id == f"{one[0].id}-2"


def test_a_column_of_answers_may_be_repeated_and_a_cell_may_hold_line_breaks(tmp_path: Path) -> None:
    path = written(tmp_path, "a.csv", 'question,answer,answer\n"two\nlines",one,two|three\nb,,\n')
    assert [question.answers for question in read_questions(path)] == [("one", "two", "three"), ()]


def test_a_page_that_a_spreadsheet_wrote_with_a_point_is_that_page(tmp_path: Path) -> None:
    table = written(tmp_path, "a.csv", "question,file,page\na;b,c.pdf,1.0\nb,c.pdf,12\n")
    lines = written(tmp_path, "a.jsonl", '{"question": "a", "file": "c.pdf", "page": 10.0}')
    assert [question.page for question in read_questions(table) + read_questions(lines)] == [1, 12, 10]


@pytest.mark.parametrize(
    ("fields", "answerable"),
    [
        ({}, None),
        ({"expected": "AMBIGUOUS"}, None),
        ({"expected": "CORRECT"}, True),
        ({"file": "a.pdf"}, True),
        ({"answers": ["x"]}, True),
        ({"answers": ["x"], "expected": "INCORRECT"}, False),
    ],
)
def test_answerable_is_said_by_the_row_and_never_guessed(tmp_path: Path, fields: dict, answerable: bool | None) -> None:
    path = written(tmp_path, "a.jsonl", json.dumps({"question": "q", **fields}))
    assert read_questions(path)[0].answerable is answerable


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.jsonl", '{"question": "a"}\n{"answers": ["x"]}', "a.jsonl, line 2, has no question"),
        ("a.jsonl", "not json", "line 1, is no JSON"),
        ("a.jsonl", '["question"]', "line 1, is no JSON object"),
        ("a.jsonl", "[" * 100_000, "line 1, is no JSON"),
        ("a.jsonl", '{"question": "a", "expected": "MAYBE"}', "expects 'MAYBE': write CORRECT, AMBIGUOUS, INCORRECT"),
        ("a.jsonl", '{"question": "a", "file": "b.pdf", "page": 0}', "has the page 0"),
        ("a.jsonl", '{"question": "a", "file": "b.pdf", "page": "two"}', "has the page 'two'"),
        ("a.jsonl", '{"question": "a", "page": 3}', "names page 3 without a file"),
        ("a.jsonl", '{"question": "a", "language": "fr"}', "has the language 'fr'"),
        ("a.jsonl", '{"question": "a", "answers": {"a": 1}}', "has answers that are no texts"),
        ("a.jsonl", '{"question": "a", "answers": ["—"]}', "without letter or digit"),
        ("a.jsonl", '{"question": "a", "id": "1"}\n{"question": "b", "id": 1}', "line 2, repeats the id '1' of line 1"),
        ("a.jsonl", "\n \n", "holds no question"),
        ("a.csv", "text,expected\na,CORRECT\n", "line 1, has no column named question"),
        ("a.csv", "question\na,b\n", "line 2, has more cells than the header"),
        ("a.csv", 'question\n"a"b\n', "line 2, is no CSV"),
        ("a.csv", "question;expected\na;CORRECT\n", "line 1, does not separate its cells by commas"),
        ("a.csv", '"Question"\t"expected"\r\n"a"\t"CORRECT"\r\n', "save it with the comma as the separator"),
        ("a.jsonl", '{"question": "a", "file": "b.pdf", "page": 1.5}', "has the page 1.5"),
        ("a.jsonl", '{"question": "a", "file": "b.pdf", "page": "0.0"}', "has the page '0.0'"),
        ("a.jsonl", '{"question": "\\u200b\\u0000"}', "has no question"),
        ("a.csv", "", "has no column named question"),
        ("a.csv", "question\n", "holds no question"),
        ("a.txt", "question\na\n", "neither .jsonl nor .csv"),
    ],
)
def test_what_is_wrong_is_said_with_its_place_and_its_mend(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(QuestionSetError) as caught:
        read_questions(written(tmp_path, name, text))
    assert said in str(caught.value)
    assert str(caught.value).endswith(".")
    assert ": " in str(caught.value)


def test_a_file_that_is_missing_or_in_another_encoding_is_said(tmp_path: Path) -> None:
    with pytest.raises(CragError, match="does not exist"):
        read_questions(tmp_path / "no.jsonl")
    with pytest.raises(CragError, match="is not UTF-8"):
        read_questions(written(tmp_path, "gbk.jsonl", '{"question": "流量"}', "gbk"))
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(CragError, match="cannot be read"):
        read_questions(tmp_path / "folder.csv")
