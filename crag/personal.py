"""A person's settings: what they changed goes before the environment, the environment before the defaults. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from pydantic import SecretStr, ValidationError

from config import Settings, Unfit
from crag.errors import ConfigurationError
from crag.options import CHANGEABLE, option

Origin = Literal["here", "environment", "default"]

FORBIDS: Final = {"web": "off"}
"""What the environment sets as a policy: nobody can change it on the page."""
LONGEST_KEY: Final = 500
"""Characters."""


@dataclass(frozen=True)
class Problem:
    """Why a changed setting is left out; the page has a sentence for each `code`."""

    name: str
    """The setting that it stands beside."""
    code: str
    about: str = ""
    """The setting that would not work with it, where that is another one."""
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Resolved:
    """Valid settings, and what of the changes is not in them."""

    settings: Settings
    changed: frozenset[str] = frozenset()
    """The names of the changed settings that hold."""
    left_out: tuple[Problem, ...] = ()


def as_secrets(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What is stored, its keys so that they are not printed by accident."""
    return {
        name: SecretStr(value)
        if isinstance(value, str) and name in CHANGEABLE and option(name).kind == "key"
        else value
        for name, value in stored.items()
    }


def resolve(environment: Settings, changed: Mapping[str, Any]) -> Resolved:
    """`environment` with the changes that can be used, whatever was stored; never raises for a change."""
    base = _set_in(environment)
    kept = {name: value for name, value in changed.items() if name in CHANGEABLE}
    left_out = [Problem(name, "unknown") for name in changed if name not in kept]
    for name in [name for name in kept if _forbidden(base, name, kept[name])]:
        del kept[name]
        left_out.append(Problem(name, "forbidden"))
    while True:
        try:
            return Resolved(Settings(**base | kept), frozenset(kept), tuple(left_out))
        except ValidationError as error:
            if not kept:
                raise ConfigurationError("The settings of the environment do not go together.") from None
            for problem in _problems(error):
                name = problem.name if problem.name in kept else _culprit(base, kept)
                del kept[name]
                left_out.append(replace(problem, name=name, about=problem.name if problem.name != name else ""))


def on_the_command_line(environment: Settings, changed: Mapping[str, Any]) -> Resolved:
    """As `resolve`, but a variable that is set goes first: who writes one before a command means it."""
    return resolve(environment, {name: value for name, value in changed.items() if name not in _set_in(environment)})


def check(environment: Settings, name: str, value: Any) -> Problem | None:
    """What is wrong with a value by itself; None: it may be kept, even if it waits for another setting, a key say."""
    if option(name).kind == "key":
        return check_key(name, value)
    if _forbidden(_set_in(environment), name, value):
        return Problem(name, "forbidden")
    try:
        Settings(**_set_in(environment) | {name: value})
    except ValidationError as error:
        return next((problem for problem in _problems(error) if problem.name == name and problem.code in _ALONE), None)
    return None


def check_key(name: str, key: Any) -> Problem | None:
    """A key is sent in a header: visible ASCII characters."""
    fine = isinstance(key, str) and 0 < len(key) <= LONGEST_KEY and all("!" <= character <= "~" for character in key)
    return None if fine else Problem(name, "key")


def origin(name: str, environment: Settings, resolved: Resolved) -> Origin:
    """Where the present value of a setting comes from."""
    if name in resolved.changed:
        return "here"
    return "environment" if name in environment.model_fields_set else "default"


def wished(environment: Settings, changed: Mapping[str, Any]) -> dict[str, Any]:
    """Every setting that can be changed as the person wants it, also what is left out for now; keys as secrets."""
    values = {name: getattr(environment, name) for name in CHANGEABLE}
    for name, value in changed.items():
        if name in CHANGEABLE and check(environment, name, _plain(value)) is None:
            values[name] = SecretStr(_plain(value)) if option(name).kind == "key" else _typed(environment, name, value)
    return values


def _set_in(environment: Settings) -> dict[str, Any]:
    return {name: getattr(environment, name) for name in environment.model_fields_set}


def _forbidden(base: Mapping[str, Any], name: str, value: Any) -> bool:
    return name in FORBIDS and base.get(name) == FORBIDS[name] != value


def _plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _typed(environment: Settings, name: str, value: Any) -> Any:
    """A stored value as the settings hold it: 5 of a number with decimals is 5.0."""
    kind = type(getattr(environment, name))
    return kind(value) if kind in (int, float, str) else value


def _culprit(base: Mapping[str, Any], kept: Mapping[str, Any]) -> str:
    """The change without which the others can be used; the last one where none is to blame alone."""
    for name in kept:
        try:
            Settings(**{**base, **{other: value for other, value in kept.items() if other != name}})
        except ValidationError:
            continue
        return name
    return list(kept)[-1]


_ALONE: Final = ("address", "number", "choice", "long", "text", "above", "at_least", "at_most")
"""Codes of what is wrong with a value whatever the others are."""
_CODES: Final = {
    "literal_error": "choice",
    "string_too_long": "long",
    "string_type": "text",
    "greater_than": "above",
    "greater_than_equal": "at_least",
    "less_than_equal": "at_most",
}


def _problems(error: ValidationError) -> list[Problem]:
    """One for each field that is wrong by itself, else the one that does not go with the others. No values in them."""
    found: dict[str, Problem] = {}
    for each in error.errors(include_input=False, include_url=False):
        told = each.get("ctx", {})
        cause = told.get("error")
        name = str(each["loc"][0]) if each["loc"] else ""
        if isinstance(cause, Unfit):
            problem = Problem(name or cause.name, cause.code, values=cause.values)
        elif each["type"] == "value_error":
            problem = Problem("lower", "order")  # what Thresholds refuses
        else:
            code = _CODES.get(each["type"], "number")
            limit = next((f"{told[key]:g}" for key in ("ge", "gt", "le", "max_length") if key in told), "")
            problem = Problem(name, code, values={"limit": limit} if limit else {})
        found.setdefault(problem.name, problem)
    return list(found.values())
