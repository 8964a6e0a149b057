"""The table of options in README.md, made from config.Settings: prints it, or with `--write` puts it in its place."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from config import Settings  # noqa: E402 - a script does not see the project's folder by itself
from crag.options import variable  # noqa: E402

README = ROOT / "README.md"
BEGIN, END = "<!-- options: make options -->\n", "<!-- /options -->\n"


def table() -> str:
    """One row per field of Settings: variable, default, range, meaning."""
    rows = ["| Variable | Default | Range | Meaning |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = _default(field)
        cells = (f"`{variable(name)}`", f"`{default}`" if default else "", _range(field), field.description or "")
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _default(field: FieldInfo) -> str:
    """As a reader writes it: folders from the project's or the home folder, whatever machine this runs on."""
    set_here = os.environ.pop("XDG_CACHE_HOME", None)
    try:
        value: Any = field.get_default(call_default_factory=True, validated_data={})
    finally:
        if set_here is not None:
            os.environ["XDG_CACHE_HOME"] = set_here
    if not isinstance(value, Path):
        return str(value)
    for base, prefix in ((ROOT, ""), (Path.home(), "~/")):
        if value.is_relative_to(base):
            return prefix + value.relative_to(base).as_posix()
    return value.as_posix()


def _range(field: FieldInfo) -> str:
    if choices := [str(choice) for choice in get_args(field.annotation)]:
        return ", ".join(f"`{choice}`" for choice in choices)
    if isinstance(field.json_schema_extra, dict) and "range" in field.json_schema_extra:
        return str(field.json_schema_extra["range"])
    if field.annotation is SecretStr:
        return "a secret"
    limits = {
        name: getattr(part, name) for part in field.metadata for name in ("ge", "gt", "le", "lt") if hasattr(part, name)
    }
    if not limits:
        return "a folder" if field.annotation is Path else ""
    low = f"{limits['ge']:g}" if "ge" in limits else f"above {limits['gt']:g}"
    return f"{low} to {limits['le']:g}"


def main(arguments: list[str]) -> int:
    """`options_table.py [--write]`."""
    if "--write" not in arguments:
        print(table(), end="")
        return 0
    before, _, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + table() + END + after, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
