"""The work of the Evaluate page as jobs: it goes on when the page is left, and is found again after a reload."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from config import Settings
from crag.runtime import Job
from crag.ui.settings import person
from crag.ui.state import Process

if TYPE_CHECKING:
    from crag.assembly import House
    from crag.evaluation.calibration import Suggestion
    from crag.evaluation.golden_runs import Asked
    from crag.history.golden import Golden, Goldens

RUN: Final = "golden"
SUGGEST: Final = "golden-suggestion"
_lock = threading.Lock()


@dataclass(frozen=True)
class Suggested:
    """What the runs speak for. `key` names them and what is in force; `found` is None while it is worked out."""

    key: str
    found: Suggestion | None = None


def store_of(process: Process) -> Goldens:
    """The golden questions of this process."""
    from crag.history.golden import Goldens

    return Goldens(process.store)


def run(process: Process, chosen: Sequence[Golden]) -> None:
    """Asks the chosen questions as a job, with what holds now; while one runs, nothing is begun beside it."""
    from crag.evaluation.golden_runs import run_golden

    store = store_of(process)
    with _lock, process.at_work() as house:
        settings = person.of(process).settings
        if running(process) is None:
            process.runtime.start(RUN, lambda job: run_golden(house, settings, store, chosen, job.stopping))


def running(process: Process) -> Job[Asked] | None:
    """The run that goes on now."""
    job = process.runtime.latest(RUN)
    return job if job is not None and job.running else None


def suggestion(process: Process, house: House, settings: Settings) -> Job[Suggested]:
    """The job that works out what the last runs speak for; begun where there is none for them yet."""
    key = _key(process, house, settings)
    with _lock:
        job = process.runtime.latest(SUGGEST)
        if job is not None and (job.running or (job.events and job.events[0].key == key)):
            return job
        return process.runtime.start_blocking(SUGGEST, lambda _: _suggest(process, house, settings, key))


def _suggest(process: Process, house: House, settings: Settings, key: str) -> Iterator[Suggested]:
    from crag.evaluation.calibrating import in_force, suggested
    from crag.evaluation.golden_runs import labelled
    from crag.evaluation.utility import Weights

    yield Suggested(key)
    rows = labelled(house, settings, store_of(process))
    yield Suggested(key, suggested(rows, in_force(house, settings), settings.top_strips, Weights()))


def _key(process: Process, house: House, settings: Settings) -> str:
    """Of everything that a suggestion depends on."""
    from crag.evaluation.calibrating import in_force
    from crag.evaluation.golden import sha256_of
    from crag.evaluation.golden_runs import swept_under_of

    store = store_of(process)
    runs = {id_: [answer.created, answer.asked, answer.swept_under] for id_, answer in store.answered().items()}
    now = [
        in_force(house, settings).model_dump(mode="json"),
        settings.top_strips,
        dict(swept_under_of(house, settings)),
        sha256_of(store.all()),
    ]
    return hashlib.sha256(json.dumps([runs, now], sort_keys=True).encode()).hexdigest()
