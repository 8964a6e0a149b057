"""`@name` in a question: the file that is meant, or what it could mean. Pure."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

MOST: Final = 6
"""So many candidates are named."""
SHORTEST: Final = 2
"""Characters of a name that is followed by other text without a space."""

_NAMED = re.compile(
    r"(?<![A-Za-z0-9_.@])@(?:\"([^\"\n]+)\"|“([^”\n]+)”|「([^」\n]+)」|([^\s@\"“”「」,;!?，。；！？、：]+))"
)
"""Behind a letter it is the address of a person."""
_ENDS: Final = ".,;:!?，。；：！？"
_QUOTES: Final = str.maketrans(dict.fromkeys('"“”「」', "'"))
"""A name stands between quotation marks, so those inside of it are written as apostrophes."""


@dataclass(frozen=True)
class Unclear:
    """A name that no file has, or several; `candidates` are paths that could be meant, the likeliest first."""

    written: str
    """As it stands in the question, with its `@`."""
    several: bool
    candidates: tuple[str, ...]


@dataclass(frozen=True)
class Narrowed:
    """A question without its `@`, and the paths that it names; with `unclear` it is not to be asked yet."""

    question: str
    files: tuple[str, ...] = ()
    unclear: Unclear | None = None


def narrowed(text: str, paths: Sequence[str]) -> Narrowed:
    """Resolves every `@name` of `text` among `paths`.

    A single name at the beginning or the end only says where to look and is left out; others become the file's
    name. `@"two words"` names a file with spaces. Upper and lower case, and `.pdf`, do not matter.
    """
    files: dict[str, None] = {}
    made, at = "", 0
    named = list(_NAMED.finditer(text))
    for match in named:
        said = next(group for group in match.groups() if group is not None)
        found, rest = _resolved(said, paths, quoted=match[4] is None)
        if len(found) != 1:
            return Narrowed(text, (), Unclear(match[0], len(found) > 1, tuple(found or _near(said, paths))[:MOST]))
        files.setdefault(found[0])
        outer = not text[: match.start()].strip() or not (rest + text[match.end() :]).strip(f" \n\t{_ENDS}")
        made += text[at : match.start()] + ("" if outer and len(named) == 1 else _stem(found[0])) + rest
        at = match.end()
    question = " ".join((made + text[at:]).split())
    return Narrowed(re.sub(rf"\s+(?=[{_ENDS}])", "", question) if files else text, tuple(files))


def naming(path: str) -> str:
    """How this file and no other is named in a question."""
    return f'@"{_written(path)}"'


def _resolved(said: str, paths: Sequence[str], *, quoted: bool) -> tuple[list[str], str]:
    """The paths that fit best, and what follows the name without a space ("@报告里" names 报告)."""
    if exact := [path for path in paths if _written(path) == said]:
        return exact[:1], ""
    for fits in (_is_path, _is, _begins, _holds):
        if found := [path for path in paths if fits(_plain(said), path)]:
            return found, ""
    for end in range(len(said) - 1, SHORTEST - 1, -1) if not quoted else ():
        if found := [path for path in paths if _is(_plain(said[:end]), path)]:
            return found, said[end:]
    return [], ""


def _is_path(name: str, path: str) -> bool:
    return name == _plain(path)


def _is(name: str, path: str) -> bool:
    return name in (_plain(path), _plain(_base(path)), _plain(_stem(path)))


def _begins(name: str, path: str) -> bool:
    return _plain(_base(path)).startswith(name)


def _holds(name: str, path: str) -> bool:
    return name in _plain(path)


def _near(said: str, paths: Sequence[str]) -> list[str]:
    """What is written alike; nothing is: the first files."""
    stems: dict[str, str] = {_plain(_stem(path)): path for path in paths}
    alike = difflib.get_close_matches(_plain(said.removesuffix(".pdf")), stems, n=MOST, cutoff=0.5)
    key: Callable[[str], str] = str.casefold
    return [stems[stem] for stem in alike] or sorted(paths, key=key)


def _base(path: str) -> str:
    return path.rpartition("/")[2]


def _stem(path: str) -> str:
    base = _base(path)
    return base[:-4] if base.lower().endswith(".pdf") else base


def _written(path: str) -> str:
    """On one line and without quotation marks."""
    return " ".join(path.translate(_QUOTES).split())


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", _written(text)).casefold()
