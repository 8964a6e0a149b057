"""Applied calibrations: what was learnt, from what, and which one is active; JSON files outside the index."""

from __future__ import annotations

import math
import os
import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field, ValidationError

from crag.errors import HistoryError
from crag.schema import EvaluatorName, Frozen, Thresholds, Unit

ACTIVE: Final = "active"
"""Name of the file that holds the id of the active calibration; without it there is none."""
ID: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}-[0-9]+")
"""Ids are day and number; nothing else is taken for one, whatever a file says."""


class LogitMap(Frozen):
    """A recalibration of scores: `logit' = offset + slope * logit` (Platt, 1999). Monotone, 0 and 1 stay."""

    offset: float = 0.0
    slope: Annotated[float, Field(gt=0)] = 1.0

    def __call__(self, score: float) -> float:
        """The score in [0, 1] that a score in [0, 1] is mapped to."""
        if score in (0.0, 1.0):
            return score
        logit = self.offset + self.slope * math.log(score / (1 - score))
        return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))

    def inverse(self, score: float) -> float:
        """The score that is mapped to `score`."""
        return LogitMap(offset=-self.offset / self.slope, slope=1 / self.slope)(score)


class Numbers(Frozen):
    """What a calibration sets: the thresholds, and the maps that the scores pass before they are held to them."""

    upper: Unit
    lower: Unit
    strip: Unit
    document_map: LogitMap = LogitMap()
    strip_map: LogitMap = LogitMap()

    @classmethod
    def of(cls, thresholds: Thresholds, before: Numbers | None = None) -> Numbers:
        """The numbers of some thresholds, with the maps of `before`."""
        maps = {"document_map": before.document_map, "strip_map": before.strip_map} if before else {}
        return cls(upper=thresholds.upper, lower=thresholds.lower, strip=thresholds.strip, **maps)

    @property
    def maps_scores(self) -> bool:
        return self.document_map != LogitMap() or self.strip_map != LogitMap()


class Counts(Frozen):
    """How many labels there were, by kind."""

    answerable: int = 0
    uncovered: int = 0
    uncertain: int = 0
    """Questions that expect AMBIGUOUS."""
    unlabelled: int = 0
    failed: int = 0
    documents_relevant: int = 0
    documents_irrelevant: int = 0
    strips_relevant: int = 0
    strips_irrelevant: int = 0

    @property
    def questions(self) -> int:
        """Labelled questions."""
        return self.answerable + self.uncovered + self.uncertain


class Gain(Frozen):
    """Mean utility per labelled question before and after; the interval of the difference holds 95 %."""

    before: float
    after: float
    low: float
    high: float
    held_out: float | None = None
    """The difference on questions that the numbers were not chosen on; None where there are too few."""


class Calibration(Frozen):
    """One calibration with its provenance. `id`, `created` and `previous` are filled in when it is applied."""

    id: str = ""
    created: str = ""
    """UTC, ISO 8601."""
    previous: str | None = None
    """The calibration that was active before; None: the defaults."""
    evaluator: EvaluatorName
    """The evaluator as it is without the maps."""
    embedding: str
    """Fingerprint."""
    catalog_version: int
    files: int
    question_set: str
    question_sha256: str
    counts: Counts
    before: Numbers
    after: Numbers
    utility: Gain
    weights: dict[str, float]

    @property
    def day(self) -> str:
        return self.created[:10]


def folder_of(data_dir: Path) -> Path:
    """Where calibrations are kept."""
    return data_dir / "calibrations"


def apply(folder: Path, calibration: Calibration) -> Calibration:
    """Keeps a calibration as a file in `folder` and makes it the active one; returns it as it was kept.

    Whatever is damaged beside it stays as it is; only a folder in the place of `active` is a HistoryError.
    """
    _no_folder(folder / ACTIVE)
    try:
        previous = active_id(folder)
    except HistoryError:
        previous = None  # the pointer is written anew
    try:
        folder.mkdir(parents=True, exist_ok=True)
        now = datetime.now(UTC)
        taken = {path.stem for path in folder.glob("*.json")}
        number = next(n for n in range(1, len(taken) + 2) if f"{now:%Y-%m-%d}-{n}" not in taken)
        kept = calibration.model_copy(
            update={
                "id": f"{now:%Y-%m-%d}-{number}",
                "created": now.isoformat(timespec="seconds"),
                "previous": previous,
            }
        )
        _write(folder / f"{kept.id}.json", kept.model_dump_json(indent=2))
        _write(folder / ACTIVE, kept.id)
    except OSError as error:
        raise HistoryError(
            f"The calibration cannot be kept in {folder} ({error.strerror}): make room, or change its permissions."
        ) from None
    return kept


def active(folder: Path) -> Calibration | None:
    """The active calibration, None without one. Raises HistoryError where its file is missing or damaged."""
    id_ = active_id(folder)
    return None if id_ is None else _read(folder, id_)


def active_id(folder: Path) -> str | None:
    """Its id alone, whatever became of its file. Raises HistoryError where `active` holds no id."""
    _no_folder(folder / ACTIVE)
    try:
        id_ = (folder / ACTIVE).read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError):
        id_ = "?"
    if id_ and not ID.fullmatch(id_):
        raise HistoryError(
            f"{folder / ACTIVE} names no calibration: run `python -m crag calibrate --undo`, or delete that file."
        )
    return id_ or None


def applied(folder: Path) -> tuple[list[Calibration], list[Path]]:
    """(all that were ever applied, oldest first; the files that cannot be read as one, by name)."""
    found, damaged = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            found.append(_read(folder, path.stem))
        except HistoryError:
            damaged.append(path)
    return sorted(found, key=lambda calibration: (calibration.created, calibration.id)), damaged


def undo(folder: Path) -> tuple[str | None, str | None]:
    """Goes back to the calibration before the active one, or to the defaults; returns the ids (undone, active now).

    (None, None) where none was active. A calibration that cannot be read, or whose predecessor cannot, leads to the
    defaults.
    """
    _no_folder(folder / ACTIVE)
    undone = before = None
    try:
        undone = active_id(folder)
        before = _read(folder, undone).previous if undone else None
        if before is not None:
            _read(folder, before)
    except HistoryError:
        undone, before = undone or ACTIVE, None
    try:
        if before is None:
            (folder / ACTIVE).unlink(missing_ok=True)
        else:
            _write(folder / ACTIVE, before)
    except OSError as error:
        raise HistoryError(f"{folder / ACTIVE} cannot be changed ({error.strerror}): delete that file.") from None
    return undone, before


def _no_folder(path: Path) -> None:
    if path.is_dir():
        raise HistoryError(f"{path} is a folder, where a file belongs that names the active calibration: delete it.")


def _read(folder: Path, id_: str) -> Calibration:
    if not ID.fullmatch(id_):  # it may come from a file, and becomes part of a path
        raise HistoryError(f"A file in {folder} names a calibration by what is no id: delete that file.")
    try:
        return Calibration.model_validate_json((folder / f"{id_}.json").read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, ValidationError):
        raise HistoryError(
            f"The calibration {id_} in {folder} is missing or damaged: run `python -m crag calibrate --undo`, "
            "then calibrate again."
        ) from None


def _write(path: Path, text: str) -> None:
    """All of it or nothing, whatever happens meanwhile."""
    descriptor, aside = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise
