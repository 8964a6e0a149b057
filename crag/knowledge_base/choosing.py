"""Which files are meant by what a person types: a path, a part of a name, or a pattern such as `reports/*2024*`."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase

from crag.errors import QuestionError

_NEAR = 3


def choose(names: Sequence[str], paths: Sequence[str]) -> tuple[str, ...]:
    """The paths that any of `names` means, in the order of `paths`, whatever the case of letters.

    A name is a whole path; otherwise a part of the path, as it stands or in other code points for the same letters, or
    a pattern with `*`, `?` or `[…]` for the path or the file's name. Raises QuestionError for a name that means none,
    with the nearest.
    """
    chosen: set[str] = set()
    for name in names:
        found = [name] if name in paths else [path for path in paths if _means(_plain(name), _plain(path))]
        if not name.strip() or not found:
            raise QuestionError(f"No indexed file is called “{name}”{near(name, paths)}.")
        chosen.update(found)
    return tuple(path for path in paths if path in chosen)


def near(name: str, paths: Sequence[str]) -> str:
    """What follows "there is no such file": the paths that are spelled most alike, or how to list them."""
    by_name: dict[str, str] = {}
    for path in paths:
        by_name.setdefault(_stem(path), path)
        by_name.setdefault(_stem(path.rpartition("/")[2]), path)
    alike = difflib.get_close_matches(_stem(name), by_name, n=_NEAR)
    if not alike:
        return ": list the files with `python -m crag files`"
    return f": try {', '.join(dict.fromkeys(by_name[one] for one in alike))}"


def _stem(path: str) -> str:
    """The ending that all share makes nothing alike."""
    return path.casefold().removesuffix(".pdf")


def _means(name: str, path: str) -> bool:
    return name in path or fnmatchcase(path, name) or fnmatchcase(path.rpartition("/")[2], name)


def _plain(text: str) -> str:
    """macOS writes é of a file's name as two code points, the keyboard as one."""
    return unicodedata.normalize("NFC", text).casefold()
