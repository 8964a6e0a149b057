"""Which contents a build has to read, and how: decided from bytes already seen, from options, and from the catalog."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import SecretStr

from crag.events import FileRow
from crag.knowledge_base.health import OcrMode
from crag.knowledge_base.records import Held, Known

_STRENGTH: tuple[OcrMode, ...] = ("auto", "off", "force")


@dataclass(frozen=True, slots=True)
class Order:
    """A content that is to be read. `key` stands for the index fingerprint in the ids of its passages."""

    sha256: str
    ocr: OcrMode
    options: str
    revision: int
    key: str


def options_text(ocr: OcrMode) -> str:
    """As `content.options` has it."""
    return "" if ocr == "auto" else f"ocr={ocr}"


def wanted(options: Mapping[str, OcrMode], contents: Iterable[tuple[str, str]]) -> dict[str, OcrMode]:
    """sha256 -> how it is read, from (path, sha256) pairs; a content that is not named is read as usual.

    Equal files are one content and are read in one way: "force" goes before "off", "off" before "auto", and any of
    them before no option.
    """
    found: dict[str, OcrMode] = {}
    for path, sha256 in contents:
        if (ocr := options.get(path)) is not None:
            found[sha256] = max(found.get(sha256, ocr), ocr, key=_STRENGTH.index)
    return found


def tried_again(
    known: Mapping[str, Known], rows: Iterable[FileRow], passwords: Mapping[str, SecretStr]
) -> dict[str, Known]:
    """`known`, in which files that failed and for which there is a password now are to be read again."""
    failed = {row.path for row in rows if row.error is not None and row.path in passwords}
    return {path: replace(one, retry=True) if path in failed else one for path, one in known.items()}


@dataclass
class Plan:
    """What one build knows of contents. `ocr` tells how some are read, `usual` how all others; `again` names those that
    are read whatever is known. `decide` is asked in the order of the files, by one thread at a time."""

    fingerprint: str
    held: Sequence[Held]
    ocr: Mapping[str, OcrMode]
    usual: OcrMode = "auto"
    again: frozenset[str] = frozenset()
    passwords: Mapping[str, SecretStr] = field(default_factory=dict)
    """By sha256. A content that could be read without needs none: only failed ones are tried again for theirs."""
    ordered: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._by_content: dict[str, list[Held]] = {}
        for one in self.held:
            self._by_content.setdefault(one.sha256, []).append(one)

    def decide(self, sha256: str) -> Order | int | None:
        """An order to read it; the id of the content that has it; None where an earlier file has ordered it."""
        if sha256 in self.ordered:
            return None
        ocr = self.ocr.get(sha256, self.usual)
        options, known = options_text(ocr), self._by_content.get(sha256, [])
        if sha256 not in self.again:
            for one in known:
                tried_again = one.failed and sha256 in self.passwords
                if one.usable and one.options == options and not tried_again:
                    return one.id
        self.ordered.add(sha256)
        revision = 1 + max((one.revision for one in known), default=-1)
        key = "|".join([self.fingerprint, options, str(revision)]) if options or revision else self.fingerprint
        return Order(sha256, ocr, options, revision, key)
