"""README.md tells the truth about options, commands and files."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from config import Settings, load_settings
from crag.errors import ConfigurationError

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FREE = ("a folder", "a name", "its name", "sites")
"""Ranges that take any text."""
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/architecture.md"]


@pytest.fixture(scope="module")
def options() -> ModuleType:
    spec = importlib.util.spec_from_file_location("options_table", ROOT / "scripts" / "options_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows() -> dict[str, tuple[str, str]]:
    """Variable -> (default, range) as the README has them."""
    found = re.findall(r"^\| `(CRAG_\w+)` \| (?:`(.*?)`)? \| (.*?) \|", README, re.MULTILINE)
    return {variable: (default, limits) for variable, default, limits in found}


def test_the_two_commands_come_first() -> None:
    first = [line for line in README.splitlines() if line.strip()][2:4]
    assert [line.split("#")[0].strip() for line in first] == ["make run", "make test"]


def test_the_table_of_options_is_that_of_the_settings(options: ModuleType) -> None:
    assert options.BEGIN + options.table() + options.END in README, "run `make options`"
    named = {options.variable(name) for name in Settings.model_fields}
    assert set(rows()) == {name for name in named if name.startswith("CRAG_")}
    assert {name for name in named if f"| `{name}` |" not in README} == set()


def test_the_table_does_not_depend_on_the_machine(options: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere/else")
    assert options.table() in README


def test_a_variable_with_its_default_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = load_settings()
    for variable, (default, limits) in rows().items():
        if not limits.startswith("a folder"):
            monkeypatch.setenv(variable, default)
    assert load_settings() == usual


@pytest.mark.parametrize("variable", [name for name, (_, span) in rows().items() if not span.startswith(FREE)])
def test_a_value_beyond_the_range_is_refused_by_name(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(variable, "100000000")
    with pytest.raises(ConfigurationError, match=variable):
        load_settings()


def test_the_command_line_has_the_commands_and_flags_that_are_described() -> None:
    described = re.findall(r"^python -m crag (\w+)(.*?)(?:#|$)", README, re.MULTILINE)
    commands = ["build", "files", "delete", "ask", "grade", "eval", "calibrate", "doctor"]
    assert [command for command, _ in described] == commands
    for command, line in described:
        done = subprocess.run(
            [sys.executable, "-m", "crag", command, "--help"], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        told = set(re.findall(r"--[a-z-]+", line))
        assert set(re.findall(r"--[a-z-]+", done.stdout)) - {"--help"} == told, command


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_to_files_lead_somewhere(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = {target for target in re.findall(r"\]\(([^)#]+)", text) if "://" not in target}
    assert [target for target in sorted(targets) if not (ROOT / name).parent.joinpath(target).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_that_is_named_exists(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`|=\S+ )make ([a-z-]+)", text, re.MULTILINE))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert named
    assert named <= targets
