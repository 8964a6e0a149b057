"""`python -m crag calibrate`: thresholds from labelled questions or corrected grades; applied, listed and undone."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
from pathlib import Path

from config import Settings
from crag import calibrations
from crag.assembly import House
from crag.calibrations import LogitMap
from crag.cli.console import DONE, errors, opened, printable, progress
from crag.errors import ConfigurationError, HistoryError, QuestionSetError
from crag.evaluation.calibrating import Source, ask_all, in_force, record, suggested
from crag.evaluation.calibration import Suggestion
from crag.evaluation.labelled import (
    CORRECTIONS,
    fingerprint_of,
    from_corrections,
    from_questions,
    questions_of,
)
from crag.evaluation.question_sets import Question, read_questions
from crag.evaluation.running import Outcome
from crag.evaluation.utility import Weights, read_weights
from crag.history.labels import Label, Labels
from crag.history.store import FILE, Store
from crag.schema import Action

MOST_MOVED = 10
"""So many questions whose action changes are named."""
VARIABLES = {"upper": "CRAG_UPPER", "lower": "CRAG_LOWER", "strip_threshold": "CRAG_STRIP_THRESHOLD"}


def calibrate_command(options: argparse.Namespace, settings: Settings) -> int:
    """Runs the command; returns the exit code."""
    folder = calibrations.folder_of(settings.data_dir)
    _alone(options)
    if options.undo:
        return _undo(folder)
    if options.list:
        return _list(folder)
    if options.questions is None and not options.from_corrections:
        raise ConfigurationError(
            "Name a question set, or use --from-corrections: see `python -m crag calibrate --help`."
        )
    weights = read_weights(options.utility)
    path = None if options.questions is None else Path(options.questions)
    questions = read_questions(path) if path else []
    labels = _corrections(settings) if options.from_corrections else []
    with opened(settings) as house:
        sources = []
        if path:
            rows = from_questions(_asked(house, settings, questions))
            sources.append(Source(path.name, hashlib.sha256(path.read_bytes()).hexdigest(), rows))
        if labels:
            sources.append(_from_corrections(house, settings, labels))
        return _calibrated(house, settings, sources, weights, apply=options.apply)


def _calibrated(house: House, settings: Settings, sources: list[Source], weights: Weights, *, apply: bool) -> int:
    rows = [row for source in sources for row in source.rows]
    found = suggested(rows, in_force(house, settings), settings.top_strips, weights)
    _show(found)
    if not found.changes:
        print("\nNothing is to be changed: no change is beyond noise.")
        return DONE
    if not apply:
        print("\nNothing was changed. With --apply these numbers are used from the next question on.")
        return DONE
    kept = calibrations.apply(
        calibrations.folder_of(settings.data_dir), record(house, settings, sources, found, weights)
    )
    print(f"\nApplied as {kept.id}, from the next question on. `python -m crag calibrate --undo` goes back.")
    for name in house.in_force(settings).explicit:
        errors.print(f"{VARIABLES[name]} is set and goes before the calibration: unset it to use the calibrated value.")
    for warning in found.warnings:
        errors.print(f"Warning: {warning}")
    return DONE


def _alone(options: argparse.Namespace) -> None:
    """Raises ConfigurationError where --undo or --list comes with what it would silently leave out."""
    name = "--undo" if options.undo else "--list" if options.list else None
    others = {
        "question file": options.questions is not None,
        "--from-corrections": options.from_corrections,
        "--apply": options.apply,
        "--utility": bool(options.utility),
        "--list": options.list and options.undo,
    }
    wrong = [other for other, given in others.items() if given]
    if name and wrong:
        raise ConfigurationError(f"{name} takes no {' and no '.join(wrong)}: run `python -m crag calibrate {name}`.")


def _corrections(settings: Settings) -> list[Label]:
    store = Store(settings.data_dir / FILE)
    try:
        labels = Labels(store).latest()
    finally:
        store.close()
    if not labels:
        raise QuestionSetError(
            "No grade has been corrected yet: open an answer's documents in the page and say which of them answer."
        )
    return labels


def _from_corrections(house: House, settings: Settings, labels: list[Label]) -> Source:
    rows = from_corrections(_asked(house, settings, questions_of(labels)), labels)
    lost = len(labels) - sum(len(row.documents) for row in rows)
    if lost:
        errors.print(f"{lost} of {len(labels)} corrected documents are no longer found and are left out.")
    return Source(CORRECTIONS, fingerprint_of(labels), rows)


def _asked(house: House, settings: Settings, questions: list[Question]) -> list[Outcome]:
    with progress() as bar:
        task = bar.add_task("Asking", total=len(questions))

        def told(done: int, total: int) -> None:
            bar.update(task, description=f"Asking [{done}/{total}]", completed=done)

        return asyncio.run(ask_all(house, settings, questions, told))


def _show(found: Suggestion) -> None:
    """The table before / after on standard output; warnings on standard error, first."""
    for warning in found.warnings:
        errors.print(f"Warning: {warning}")
    n = found.counts
    print(
        f"{n.questions} labelled {'question' if n.questions == 1 else 'questions'}: "
        f"{n.answerable} answerable, {n.uncovered} uncovered, {n.uncertain} "
        f"uncertain; {n.unlabelled} without a label. Documents: {n.documents_relevant} that answer, "
        f"{n.documents_irrelevant} that do not; strips: {n.strips_relevant} and {n.strips_irrelevant}."
    )
    rows = [("", "in force", "suggested"), *_numbers(found), *_actions(found), *_refinement(found)]
    rows.append(("utility per question", f"{found.gain.before:.3f}", f"{found.gain.after:.3f}"))
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    print()
    for name, now, then in rows:
        print(f"{name:{widths[0]}}  {now:>{widths[1]}}  {then:>{widths[2]}}")
    gain = found.gain
    held_out = "" if gain.held_out is None else f"; actions on questions not used for the choice {gain.held_out:+.3f}"
    print(f"\nGain {gain.after - gain.before:+.3f} (95 % interval {gain.low:+.3f} to {gain.high:+.3f}{held_out}).")
    for note in found.notes:
        print(f"- {note}.")
    for moved in found.moved[:MOST_MOVED]:
        print(f"  {moved.before} -> {moved.after} (expected {moved.expected}): {printable(moved.question)}")
    if len(found.moved) > MOST_MOVED:
        print(f"  and {len(found.moved) - MOST_MOVED} more questions")


def _numbers(found: Suggestion) -> list[tuple[str, str, str]]:
    pairs = [("upper threshold", "upper"), ("lower threshold", "lower"), ("strip threshold", "strip")]
    rows = [(name, f"{getattr(found.before, key):.3f}", f"{getattr(found.after, key):.3f}") for name, key in pairs]
    if found.before.maps_scores or found.after.maps_scores:
        rows.append(("document scores", _map(found.before.document_map), _map(found.after.document_map)))
        rows.append(("strip scores", _map(found.before.strip_map), _map(found.after.strip_map)))
    return rows


def _map(by: LogitMap) -> str:
    return "as given" if by == LogitMap() else f"logit × {by.slope:.2f} {by.offset:+.2f}"


def _actions(found: Suggestion) -> list[tuple[str, str, str]]:
    names = {Action.CORRECT: "answerable", Action.AMBIGUOUS: "uncertain", Action.INCORRECT: "uncovered"}
    rows = []
    for expected, kind in names.items():
        before, after = (side.actions.get(expected, {}) for side in (found.effect_before, found.effect_after))
        triggered = [str(action) for action in Action] + ["UNDECIDED"]
        rows += [
            (f"{kind}: {action}", str(before.get(action, 0)), str(after.get(action, 0)))
            for action in triggered
            if (before or after) and (action != "UNDECIDED" or action in before)
        ]
    return rows


def _refinement(found: Suggestion) -> list[tuple[str, str, str]]:
    sides = (found.effect_before, found.effect_after)
    rows = []
    if found.effect_before.answer_kept[1] or found.effect_after.answer_kept[1]:
        kept = [f"{side.answer_kept[0]} of {side.answer_kept[1]}" for side in sides]
        rows.append(("refined context keeps the answer", kept[0], kept[1]))
    if all(side.dropped is not None for side in sides):
        dropped = [f"{side.dropped:.0%}" for side in sides]
        rows.append(("text that refinement drops", dropped[0], dropped[1]))
    return rows


def _list(folder: Path) -> int:
    found, damaged = calibrations.applied(folder)
    active = None
    try:
        active = calibrations.active_id(folder)
    except HistoryError as error:
        errors.print(str(error))
    if not found and not damaged:
        print("No calibration has been applied.")
    for one in found:
        mark = "*" if one.id == active else " "
        print(
            f"{mark} {one.id}: upper {one.after.upper:.3f}, lower {one.after.lower:.3f}, strip {one.after.strip:.3f}"
            f"{', scores refitted' if one.after.maps_scores else ''}; {one.counts.questions} questions of "
            f"{printable(one.question_set)}; utility {one.utility.before:.3f} -> {one.utility.after:.3f}; evaluator "
            f"{one.evaluator.name} {one.evaluator.version}"
        )
    for path in damaged:
        advice = "run `python -m crag calibrate --undo`, then delete it" if path.stem == active else "delete it"
        print(f"{'*' if path.stem == active else ' '} {printable(str(path))} cannot be read: {advice}")
    return DONE


def _undo(folder: Path) -> int:
    undone, now = calibrations.undo(folder)
    if undone is None:
        print("No calibration is active: nothing to undo.")
    else:
        print(f"{undone} is undone. From the next question on {now or 'the defaults'} will be used.")
    return DONE
