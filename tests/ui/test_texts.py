"""The catalog is complete, and the page says nothing that does not stand in it."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import string
from pathlib import Path

import pytest

from crag.events import FileState
from crag.schema import Action, Fate, Verdict
from crag.ui import texts
from crag.ui.texts import CATALOG, LANGUAGES, Texts, language_of
from crag.ui.upload import OnConflict, Outcome

UI = Path(__file__).resolve().parents[2] / "crag" / "ui"
EXPORT = UI.parent / "export"
SOURCES = [*sorted(UI.rglob("*.py")), *sorted(EXPORT.rglob("*.py"))]
SHOWS = {
    "badge", "button", "caption", "chat_input", "error", "expander", "file_uploader", "header", "info", "markdown",
    "pills", "progress", "segmented_control", "slider", "subheader", "success", "text", "title", "toast", "warning",
}  # fmt: skip
"""Calls of st whose first argument the user reads."""


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("key", CATALOG)
def test_every_text_is_there_in_both_languages_with_the_same_values(key: str) -> None:
    texts = CATALOG[key]
    assert len(texts) == len(LANGUAGES)
    assert all(text.strip() for text in texts)
    assert fields(texts[0]) == fields(texts[1])
    assert re.search(r"[\u4e00-\u9fff]", texts[1]) or not re.search("[a-z]{3}", re.sub("{.*?}", "", texts[1]))


def test_no_key_stands_in_two_areas() -> None:
    names = [module.name for module in pkgutil.iter_modules(texts.__path__)]
    modules = [importlib.import_module(f"crag.ui.texts.{name}") for name in names]
    areas = [module.TEXTS for module in modules if hasattr(module, "TEXTS")]
    assert sum(len(area) for area in areas) == len(CATALOG)


def asked_for() -> tuple[set[str], set[str]]:
    """What the page asks the catalog for: whole keys, and the beginnings of keys made by f-strings."""
    whole, beginnings = set(), set()
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not (isinstance(node, ast.Call) and node.args and ast.unparse(node.func) in ("t", "texts")):
                continue
            key = node.args[0]
            choices = [key.body, key.orelse] if isinstance(key, ast.IfExp) else [key]
            whole |= {c.value for c in choices if isinstance(c, ast.Constant)}
            beginnings |= {c.values[0].value for c in choices if isinstance(c, ast.JoinedStr)}  # type: ignore[attr-defined]
    for path in EXPORT.glob("*.jinja"):
        whole |= set(re.findall(r"\bt\('(\w+)'", path.read_text(encoding="utf-8")))
    return whole, beginnings


def test_every_key_that_the_page_asks_for_exists() -> None:
    whole, beginnings = asked_for()
    assert len(whole) > 60
    assert whole <= set(CATALOG)
    assert [start for start in beginnings if not any(key.startswith(start) for key in CATALOG)] == []


def test_no_text_is_left_over() -> None:
    whole, beginnings = asked_for()
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES if path.parent.name != "texts")
    values = {*Action, *Verdict, *FileState, *OnConflict}
    unused = [
        key
        for key in CATALOG
        if key not in whole | values and not key.startswith(tuple(beginnings)) and f'"{key}"' not in code
    ]
    assert unused == []


@pytest.mark.parametrize(
    "keys",
    [
        [*Action, *Verdict],
        [f"n_{state}" for state in FileState],
        [state for state in FileState if state is not FileState.UNCHANGED],
        [f"fate_{fate.name.lower()}" for fate in Fate if fate is not Fate.KEPT],
        [f"upload_{outcome}" for outcome in Outcome if outcome is not Outcome.CONFLICT],
        [choice for choice in OnConflict if choice is not OnConflict.ASK],
    ],
)
def test_every_value_that_can_be_shown_has_a_text(keys: list[str]) -> None:
    assert [key for key in keys if key not in CATALOG] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_text_for_the_user_stands_in_the_code(path: Path) -> None:
    literal = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not (isinstance(node, ast.Call) and ast.unparse(node.func) in {f"st.{name}" for name in SHOWS}):
            continue
        for argument in [
            *node.args[:1],
            *(k.value for k in node.keywords if k.arg in ("label", "help", "placeholder")),
        ]:
            said = " ".join(
                n.value
                for n in ([argument, *argument.values] if isinstance(argument, ast.JoinedStr) else [argument])
                if isinstance(n, ast.Constant) and isinstance(n.value, str)
            )
            if re.search(r"[A-Za-z\u4e00-\u9fff]{2}", re.sub(r":material/\w+:|:small|-badge", "", said)):
                literal.append(f"{node.lineno}: {said}")
    assert literal == []


def test_singular_and_plural_follow_n() -> None:
    assert Texts("en")("step_kept", n=1) == "kept 1 strip"
    assert Texts("en")("step_kept", n=2) == "kept 2 strips"


@pytest.mark.parametrize(
    ("setting", "locale", "language"),
    [
        ("auto", "zh-CN", "zh"),
        ("auto", "zh", "zh"),
        ("auto", "en-US", "en"),
        ("auto", None, "en"),
        ("zh", "en-US", "zh"),
    ],
)
def test_the_pages_language_is_the_setting_or_the_browsers(setting: str, locale: str | None, language: str) -> None:
    assert language_of(setting, locale) == language
