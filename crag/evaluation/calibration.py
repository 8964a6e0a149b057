"""Calibration: from labelled questions to the thresholds of the highest utility, guarded against chance. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crag.calibrations import Counts, Gain, LogitMap, Numbers
from crag.evaluation.labelled import Labelled, counts, document_pairs, mapped, strip_pairs
from crag.evaluation.refit import refit
from crag.evaluation.sweep import Array, chosen, grid, held_out, smoothed
from crag.evaluation.utility import (
    ACTIONS,
    UNDECIDED,
    Weights,
    actions,
    refinement,
    worth_of_refinement,
    worths_of_steps,
)
from crag.schema import Action, Thresholds

FEW: Final = 30
"""Labelled questions below which a calibration is no more than a hint."""
FEW_OF_A_KIND: Final = 10
"""Labelled questions of a kind below which a threshold that depends on that kind is not moved."""
FEW_UNCOVERED: Final = (
    f"fewer than {FEW_OF_A_KIND} labelled questions are uncovered: only these tell how far down the upper "
    "threshold may go, so it cannot be learnt and is kept, and the lower one can only be lowered"
)
FEW_OF_BOTH: Final = (
    f"fewer than {FEW_OF_A_KIND} labelled questions are answerable or uncovered each, so the upper and the lower "
    "threshold are kept"
)
FEW_ANSWERABLE: Final = (
    f"fewer than {FEW_OF_A_KIND} labelled questions are answerable: only these tell how far up the lower "
    "threshold may go, so it cannot be learnt and is kept, and the upper one can only be raised"
)
RESAMPLES: Final = 2000


@dataclass(frozen=True)
class Effect:
    """What some numbers make of the labelled questions."""

    actions: Mapping[Action, Mapping[str, int]]
    """By expected action: how many questions trigger each action ("UNDECIDED" where nothing could be graded)."""
    answer_kept: tuple[int, int]
    """Questions whose refined context keeps a strip that answers, and those for which one was found."""
    dropped: float | None
    """Mean share of the found text that refinement drops; None without labelled strips."""


@dataclass(frozen=True)
class Moved:
    """A question whose action changes."""

    question: str
    expected: Action
    before: str
    after: str


@dataclass(frozen=True)
class Surface:
    """The mean utility of the actions for every pair of thresholds that was tried, on the scale of the new maps."""

    uppers: tuple[float, ...]
    lowers: tuple[float, ...]
    worth: Array
    """Shape (len(uppers), len(lowers)), smoothed as it is chosen by; where lower > upper it means nothing."""
    now: tuple[float, float]
    """Upper and lower threshold in force."""
    best: tuple[float, float]
    """The pair that was chosen, before it was held against chance."""


@dataclass(frozen=True)
class Suggestion:
    """What a calibration suggests, beside what is in force."""

    before: Numbers
    after: Numbers
    effect_before: Effect
    effect_after: Effect
    moved: tuple[Moved, ...]
    gain: Gain
    counts: Counts
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    surface: Surface

    @property
    def changes(self) -> bool:
        return self.before != self.after


def calibrate(rows: Sequence[Labelled], in_force: Numbers, top_strips: int, weights: Weights) -> Suggestion:
    """The thresholds (and maps) that labelled questions speak for; `rows` hold the evaluator's scores without a map.

    Upper and lower threshold are swept together in steps of 0.02 for the mean utility of the actions, then the
    strip threshold for that of refinement. Of all thresholds whose utility is within noise of the best (see
    `sweep.chosen`), those nearest to today's are taken, and only where the 95 % interval of the gain is
    above 0: chance alone moves nothing. With few questions of a kind, the threshold that holds the other kind back
    is kept. Raises ValueError where no row has an expected action.
    """
    found = counts(rows)
    judged = [row for row in rows if not row.failed and row.expected is not None]
    if not judged:
        raise ValueError("no question has an expected action")
    today, notes = _refitted([row for row in rows if not row.failed], in_force)
    scored = [mapped(row, today) for row in judged]
    swept = _sweep(scored, today, found, weights)
    swept_to = today.model_copy(update={"upper": swept.upper, "lower": swept.lower})
    acting, action_notes = _beyond_noise(judged, today, swept_to, top_strips, weights)
    strip, strip_notes = _strip_threshold(scored, thresholds(acting, top_strips), weights)
    refining = acting.model_copy(update={"strip": strip})
    picked, refined_notes = _beyond_noise(judged, acting, refining, top_strips, weights)
    after = _rounded(picked, today, in_force)
    worth_before = _worths(judged, in_force, top_strips, weights)
    worth_after = _worths(judged, after, top_strips, weights)
    low, high = _interval(worth_after - worth_before)
    means = float(worth_before.mean()), float(worth_after.mean())
    return Suggestion(
        before=in_force,
        after=after,
        effect_before=effect(judged, in_force, top_strips),
        effect_after=effect(judged, after, top_strips),
        moved=_moved(judged, in_force, after),
        gain=Gain(before=means[0], after=means[1], low=low, high=high, held_out=swept.held_out),
        counts=found,
        notes=(*notes, *swept.notes, *action_notes, *strip_notes, *refined_notes),
        warnings=_warnings(found),
        surface=swept.surface,
    )


def _refitted(rows: Sequence[Labelled], in_force: Numbers) -> tuple[Numbers, list[str]]:
    """(the numbers in force, carried over to the refitted scales so that they decide as before; what to say)."""
    documents = refit("document", document_pairs(rows), in_force.document_map)
    strips = refit("strip", strip_pairs(rows), in_force.strip_map)
    today = Numbers(
        upper=_carried(in_force.upper, in_force.document_map, documents.map),
        lower=_carried(in_force.lower, in_force.document_map, documents.map),
        strip=_carried(in_force.strip, in_force.strip_map, strips.map),
        document_map=documents.map,
        strip_map=strips.map,
    )
    return today, [documents.told, strips.told]


def _carried(threshold: float, before: LogitMap, after: LogitMap) -> float:
    return threshold if before == after else after(before.inverse(threshold))


def effect(rows: Sequence[Labelled], numbers: Numbers, top_strips: int) -> Effect:
    """What `numbers` make of rows that expect an action and hold the evaluator's scores without a map."""
    table: dict[Action, dict[str, int]] = {}
    kept: list[bool] = []
    shares: list[float] = []
    limits = thresholds(numbers, top_strips)
    for row in (mapped(row, numbers) for row in rows):
        assert row.expected is not None, "only rows that expect an action are judged"
        of_expected = table.setdefault(row.expected, {})
        triggered = _triggered(row, numbers)
        of_expected[triggered] = of_expected.get(triggered, 0) + 1
        if row.strips:
            answer, share = refinement(row, limits)
            shares.append(share)
            kept += [] if answer is None else [answer]
    return Effect(table, (sum(kept), len(kept)), 1 - float(np.mean(shares)) if shares else None)


def _triggered(row: Labelled, numbers: Numbers) -> str:
    """The action of a row whose scores have passed the maps; UNDECIDED where nothing could be graded."""
    code = int(actions(row.trace, [numbers.upper], [numbers.lower])[0, 0])
    return "UNDECIDED" if code == UNDECIDED else str(ACTIONS[code])


def _moved(rows: Sequence[Labelled], before: Numbers, after: Numbers) -> tuple[Moved, ...]:
    found = []
    for row in rows:
        assert row.expected is not None, "only rows that expect an action are judged"
        now, then = (_triggered(mapped(row, numbers), numbers) for numbers in (before, after))
        if now != then:
            found.append(Moved(row.trace.question, row.expected, now, then))
    return tuple(found)


def thresholds(numbers: Numbers, top_strips: int) -> Thresholds:
    return Thresholds(upper=numbers.upper, lower=numbers.lower, strip=numbers.strip, top_strips=top_strips)


@dataclass(frozen=True)
class _Swept:
    upper: float
    lower: float
    held_out: float | None
    """Mean gain on questions that the thresholds were not chosen on."""
    notes: tuple[str, ...]
    surface: Surface


def _sweep(rows: Sequence[Labelled], today: Numbers, found: Counts, weights: Weights) -> _Swept:
    """Upper and lower threshold by the utility of the actions."""
    uppers, lowers = grid(today.upper), grid(today.lower)
    worth = np.stack([_of_actions(row, uppers, lowers, weights) for row in rows])
    u, low = np.array(uppers)[:, None], np.array(lowers)[None, :]
    far = np.abs(u - today.upper) + np.abs(low - today.lower)
    allowed, notes = low <= u, []
    if max(found.answerable, found.uncovered) < FEW_OF_A_KIND:
        allowed &= far == 0
        notes.append(FEW_OF_BOTH)
    elif found.uncovered < FEW_OF_A_KIND:
        allowed &= (u == today.upper) & (low <= today.lower)
        notes.append(FEW_UNCOVERED)
    elif found.answerable < FEW_OF_A_KIND:
        allowed &= (low == today.lower) & (u >= today.upper)
        notes.append(FEW_ANSWERABLE)
    smooth = smoothed(worth)
    one = max(float(np.ptp(weights.of_actions(expected))) for expected in {row.expected for row in rows} if expected)
    i, j = chosen(smooth, allowed, far, one)
    now = uppers.index(today.upper), lowers.index(today.lower)
    surface = Surface(
        uppers=tuple(uppers),
        lowers=tuple(lowers),
        worth=smooth.mean(axis=0),
        now=(today.upper, today.lower),
        best=(uppers[i], lowers[j]),
    )
    return _Swept(uppers[i], lowers[j], held_out(worth, smooth, allowed, far, one, now), tuple(notes), surface)


def _of_actions(row: Labelled, uppers: Sequence[float], lowers: Sequence[float], weights: Weights) -> Array:
    assert row.expected is not None, "only rows that expect an action are swept"
    worth: Array = weights.of_actions(row.expected)[actions(row.trace, uppers, lowers)]
    return worth


def _strip_threshold(rows: Sequence[Labelled], limits: Thresholds, weights: Weights) -> tuple[float, list[str]]:
    """The strip threshold under the chosen upper and lower one, and what to say of it."""
    telling = [row for row in rows if any(row.strips.values())]
    if not telling:
        return limits.strip, ["no strip is labelled as one that answers, so the strip threshold is kept"]
    if len(telling) < FEW_OF_A_KIND:
        return limits.strip, [
            f"fewer than {FEW_OF_A_KIND} questions have a strip that answers, so the strip threshold is kept"
        ]
    steps = grid(limits.strip)
    told = [row for row in rows if row.strips]
    worth = np.array([worths_of_steps(row, limits, steps, weights) for row in told])
    smooth = smoothed(worth[:, None, :])
    far = np.abs(np.array(steps) - limits.strip)[None, :]
    _, at = chosen(smooth, np.ones(far.shape, dtype=bool), far, abs(weights.strip_kept))
    return steps[at], []


def _beyond_noise(
    rows: Sequence[Labelled], now: Numbers, then: Numbers, top_strips: int, weights: Weights
) -> tuple[Numbers, list[str]]:
    """(`then` where the 95 % interval of its gain over `now` is above 0, else `now`; what to say of it)."""
    if then == now:
        return now, []
    gains = _worths(rows, then, top_strips, weights) - _worths(rows, now, top_strips, weights)
    low, high = _interval(gains)
    if low > 0:
        return then, []
    names = [name for name in ("upper", "lower", "strip") if getattr(then, name) != getattr(now, name)]
    tried = ", ".join(f"{name} {getattr(then, name):.3f}" for name in names)
    return now, [
        f"{tried} would gain {gains.mean():+.3f} (95 % interval {low:+.3f} to {high:+.3f}): no change is beyond noise, "
        f"so {'it is' if len(names) == 1 else 'they are'} kept as in force"
    ]


def _rounded(after: Numbers, today: Numbers, in_force: Numbers) -> Numbers:
    """With thresholds that did not move as they are in force where the map did not change either, else to 3 digits."""
    kept = {}
    for name, head in (("upper", "document_map"), ("lower", "document_map"), ("strip", "strip_map")):
        same = getattr(after, name) == getattr(today, name) and getattr(after, head) == getattr(in_force, head)
        kept[name] = getattr(in_force, name) if same else round(getattr(after, name), 3)
    return after.model_copy(update=kept)


def _worths(rows: Sequence[Labelled], numbers: Numbers, top_strips: int, weights: Weights) -> Array:
    """Shape (len(rows),): the utility of each question under `numbers`, of its action and of its refinement."""
    limits = thresholds(numbers, top_strips)
    worth = []
    for row in (mapped(row, numbers) for row in rows):
        of_action = _of_actions(row, [limits.upper], [limits.lower], weights)[0, 0]
        worth.append(float(of_action) + worth_of_refinement(row, limits, weights))
    return np.array(worth)


def _interval(differences: Array) -> tuple[float, float]:
    """95 % of the means of resampled questions (percentile bootstrap, fixed seed)."""
    random = np.random.default_rng(0)
    means = [random.choice(differences, len(differences)).mean() for _ in range(RESAMPLES)]
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def _questions(n: int) -> str:
    return "question" if n == 1 else "questions"


def _warnings(found: Counts) -> tuple[str, ...]:
    warnings = []
    if found.questions < FEW:
        warnings.append(
            f"Only {found.questions} labelled {_questions(found.questions)}: fewer than {FEW} say little, and other "
            "questions may well speak for other thresholds. Take this as a hint and label more before you apply it."
        )
    for kind, n in (("answerable", found.answerable), ("uncovered", found.uncovered)):
        if 0 < n < FEW_OF_A_KIND:
            warnings.append(f"Only {n} labelled {_questions(n)} {'is' if n == 1 else 'are'} {kind}: label at least "
                            f"{FEW_OF_A_KIND} of each kind.")  # fmt: skip
    if found.failed:
        warnings.append(f"{found.failed} {_questions(found.failed)} could not be asked or graded: left out.")
    return tuple(warnings)
