"""The settings of the command line: CRAG_* variables, then what was changed on the page, then the defaults."""

from __future__ import annotations

from typing import Any

from config import Settings, load_settings
from crag.cli.console import errors
from crag.doctor import Finding
from crag.errors import CragError
from crag.history.preferences import Preferences
from crag.history.store import FILE, Store
from crag.options import option, variable
from crag.personal import as_secrets, on_the_command_line
from crag.ui.settings.wrong import told
from crag.ui.texts import Texts


def settings_of_the_person() -> Settings:
    """Raises ConfigurationError for a variable; a change of the page that cannot be used is told and left out."""
    environment = load_settings()
    try:
        found = on_the_command_line(environment, _changed(environment))
    except CragError as error:
        errors.print(f"What was changed on the page is left out: {error}")
        return environment
    for problem in found.left_out:
        errors.print(f"Left out of what was changed on the page: {told(problem, Texts('en'))}")
    return found.settings


def changes_told() -> list[Finding]:
    """For `doctor`: what counts of the page's changes, and what a variable goes before."""
    environment = load_settings()
    try:
        changed = _changed(environment)
    except CragError as error:
        return [Finding("settings", False, str(error))]
    found = on_the_command_line(environment, changed)
    findings = []
    if found.changed:
        values = ", ".join(_shown(name, changed[name]) for name in sorted(found.changed))
        findings.append(Finding("settings", True, f"changed on the page: {values}"))
    if hidden := sorted(set(changed) & environment.model_fields_set):
        names = ", ".join(variable(name) for name in hidden)
        findings.append(Finding("settings", True, f"changed on the page, but here the variable counts: {names}"))
    findings += [Finding("settings", False, told(problem, Texts("en"))) for problem in found.left_out]
    return findings


def _changed(environment: Settings) -> dict[str, Any]:
    store = Store(environment.data_dir / FILE)
    try:
        return as_secrets(Preferences(store).all())
    finally:
        store.close()


def _shown(name: str, value: Any) -> str:
    """A key is only named."""
    return f"{name} is remembered" if option(name).kind == "key" else f"{name}={value}"
