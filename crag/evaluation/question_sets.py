"""Question sets: what is asked, what is expected and where the answer stands; as JSONL or CSV files."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from crag.errors import QuestionSetError
from crag.evaluation.matching import searchable
from crag.schema import Action, Frozen
from crag.text import language, visible

Row = Mapping[str, Any]

COLUMNS = ("question", "expected", "action", "file", "page", "answers", "answer", "id", "set", "language", "note")
"""What is read; other columns are ignored. `action` is another name of `expected`, `answer` of `answers`."""

_PAGE = re.compile(r"0*([1-9][0-9]{0,8})(?:\.0*)?")
"""A page as people and tables write it: spreadsheets and data frames make 1.0 of 1."""
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""What a cell begins with that a spreadsheet would work out as a formula, had it no apostrophe before it."""


class Question(Frozen):
    """One question of a set. All but the question itself may be unknown."""

    id: str
    question: str
    language: Literal["en", "zh"]
    set: str
    """Name of the set: the file's stem unless a column says otherwise."""
    expected: Action | None = None
    file: str | None = None
    """Path below Files/, or base name, of the PDF that holds the answer."""
    page: int | None = None
    """1-based physical page of `file`."""
    answers: tuple[str, ...] = ()
    """Strings any of which an answer holds."""
    note: str = ""
    """For people alone."""

    @property
    def answerable(self) -> bool | None:
        """Whether the knowledge base covers it, as far as its row tells: no where INCORRECT is expected, yes where
        CORRECT is, or where answers or a file are given."""
        if self.expected is Action.INCORRECT:
            return False
        return True if self.answers or self.file or self.expected is Action.CORRECT else None


def read_questions(path: Path) -> list[Question]:
    """The questions of a `.jsonl` or `.csv` file (UTF-8, with or without BOM), in their order.

    Without an id a question is named by the hash of its text, so that a row keeps its id when others come and go.
    Raises QuestionSetError naming file, line and mend.
    """
    try:
        return parse_questions(path, path.read_bytes())
    except FileNotFoundError:
        raise QuestionSetError(f"{path} does not exist: give the path of a question set (.jsonl or .csv).") from None
    except OSError as error:
        raise QuestionSetError(f"{path} cannot be read ({error.strerror}): give a file that can.") from None


def parse_questions(path: Path, data: bytes) -> list[Question]:
    """Likewise of the bytes of a file; `path` names it and its form."""
    text = _text(path, data)
    kind = path.suffix.lower()
    if kind not in (".jsonl", ".csv"):
        raise QuestionSetError(f"{path} is neither .jsonl nor .csv: save the questions in one of these forms.")
    rows = _csv_rows(path, text) if kind == ".csv" else _json_rows(path, text)
    found: list[Question] = []
    lines: dict[str, int] = {}
    implied: Counter[str] = Counter()
    for line, row in rows:
        question = _question(path, line, row)
        if not _text_of(row.get("id")):
            implied[question.id] += 1
            if implied[question.id] > 1:
                question = question.model_copy(update={"id": f"{question.id}-{implied[question.id]}"})
        if question.id in lines:
            raise _bad(path, line, f"repeats the id {question.id!r} of line {lines[question.id]}", "give it its own")
        lines[question.id] = line
        found.append(question)
    if not found:
        raise QuestionSetError(f"{path} holds no question: write one per line.")
    return found


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise QuestionSetError(f"{path} is not UTF-8 (byte {error.start}): save it with that encoding.") from None


def _json_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip():
            continue
        try:
            row = json.loads(written)
        except (ValueError, RecursionError):
            raise _bad(path, line, "is no JSON", 'write {"question": "…"} on one line') from None
        if not isinstance(row, dict):
            raise _bad(path, line, "is no JSON object", 'write {"question": "…"} on one line')
        yield line, {str(key).strip().lower(): value for key, value in row.items()}


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, Row]]:
    first = text.partition("\n")[0].strip().lower()
    names = ([name.strip().strip('"') for name in first.split(other)] for other in ";\t" if other in first)
    if any("question" in found for found in names):
        raise _bad(path, 1, "does not separate its cells by commas", "save it with the comma as the separator")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if "question" not in header:
            raise _bad(path, 1, "has no column named question", f"name the columns, of {', '.join(COLUMNS)}")
        for cells in reader:
            line = reader.line_num
            if len(cells) > len(header):
                raise _bad(path, line, "has more cells than the header", "put cells with commas in double quotes")
            if any(cell.strip() for cell in cells):
                yield line, _cells(header, [_without_apostrophe(cell) for cell in cells])
    except csv.Error as error:
        raise _bad(path, reader.line_num, f"is no CSV ({error})", "correct its quotes") from None


def _cells(header: list[str], cells: list[str]) -> Row:
    """One CSV row; columns of answers may be repeated, and a cell may hold several, separated by `|`."""
    row: dict[str, Any] = {"answers": []}
    for name, cell in zip(header, cells, strict=False):
        if name in ("answers", "answer"):
            row["answers"] += cell.split("|")
        else:
            row[name] = cell
    return row


def _question(path: Path, line: int, row: Row) -> Question:
    text = _text_of(row.get("question"))
    if not visible(text).strip():
        raise _bad(path, line, "has no question", "write one under `question`")
    file = _text_of(row.get("file")) or None
    page = _page(path, line, row.get("page"))
    if page is not None and file is None:
        raise _bad(path, line, f"names page {page} without a file", "name the file under `file`")
    return Question(
        id=_text_of(row.get("id")) or hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12],
        question=text,
        language=_language(path, line, row.get("language"), text),
        set=_text_of(row.get("set")) or path.stem,
        expected=_expected(path, line, _text_of(row.get("expected")) or _text_of(row.get("action"))),
        file=file,
        page=page,
        answers=_answers(path, line, row),
        note=_text_of(row.get("note")),
    )


def _text_of(value: object) -> str:
    """A cell as text without surrounding white space; what is no text or number counts as empty."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode().strip()
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _expected(path: Path, line: int, name: str) -> Action | None:
    if not name:
        return None
    try:
        return Action(name.upper())
    except ValueError:
        raise _bad(path, line, f"expects {name!r}", f"write {', '.join(Action)}, or leave it empty") from None


def _page(path: Path, line: int, value: object) -> int | None:
    if value is None or value == "":
        return None
    written = _PAGE.fullmatch(_text_of(value))
    if written is None:
        raise _bad(path, line, f"has the page {value!r}", "write a whole number, 1 for the first page of the file")
    return int(written[1])


def _language(path: Path, line: int, value: object, text: str) -> Literal["en", "zh"]:
    given = _text_of(value).lower() or language(text)
    if given == "en":
        return "en"
    if given == "zh":
        return "zh"
    raise _bad(path, line, f"has the language {value!r}", "write en or zh, or leave it empty")


def _answers(path: Path, line: int, row: Row) -> tuple[str, ...]:
    found: list[str] = []
    for name in ("answers", "answer"):
        value = row.get(name)
        values = value if isinstance(value, list) else [] if value is None else [value]
        if any(not isinstance(answer, str | int | float) or isinstance(answer, bool) for answer in values):
            raise _bad(path, line, f"has {name} that are no texts", 'write a text, or a list like ["42", "forty-two"]')
        found += [answer for answer in map(_text_of, values) if answer]
    for answer in found:
        if not searchable(answer):
            raise _bad(path, line, f"has the answer {answer!r} without letter or digit", "give words to look for")
    return tuple(dict.fromkeys(found))


def _bad(path: Path, line: int, what: str, mend: str) -> QuestionSetError:
    return QuestionSetError(f"{path}, line {line}, {what}: {mend}.")


WRITTEN = ("question", "expected", "file", "page", "answers", "note")
"""The columns that are written: what a person knows of a question."""


def as_jsonl(questions: Iterable[Question]) -> str:
    """The questions as a file that `read_questions` reads; what is unknown is left out."""
    rows = (question.model_dump(mode="json", include=set(WRITTEN), exclude_defaults=True) for question in questions)
    lines = (json.dumps({name: row[name] for name in WRITTEN if name in row}, ensure_ascii=False) for row in rows)
    return "".join(f"{line}\n" for line in lines)


def as_csv(questions: Iterable[Question]) -> str:
    """Likewise as a table, in which a spreadsheet finds no formula. Answers stand in one cell with `|` between them;
    in an answer, where it means nothing to the search for it, `|` becomes a blank."""
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(WRITTEN)
    for question in questions:
        row = question.model_dump(mode="json", include=set(WRITTEN))
        row["answers"] = "|".join(answer.replace("|", " ") for answer in question.answers)
        writer.writerow(["" if row[name] is None else _as_text(str(row[name])) for name in WRITTEN])
    return written.getvalue()


def _as_text(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _without_apostrophe(cell: str) -> str:
    """The cell as it was before `_as_text`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell
