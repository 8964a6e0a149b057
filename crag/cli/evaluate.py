"""`python -m crag eval`: a question set through the whole pipeline; figures, a report for people, one for machines."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

from config import Settings
from crag.assembly import House
from crag.cli.console import DONE, FAILED, errors, opened, printable, progress
from crag.cli.output import same, target, write
from crag.errors import ConfigurationError
from crag.evaluation.comparison import Comparison, compare
from crag.evaluation.question_sets import Question, read_questions
from crag.evaluation.report import Report, read_report, report_of, to_json
from crag.evaluation.rows import failures_of
from crag.evaluation.running import Outcome, run
from crag.evaluation.summary import Group
from crag.evaluation.tables import name_of, sections_of, worded
from crag.text import counted

FEW = 30
"""Below so many questions the intervals are too wide to decide by."""
LISTED = 20
"""At most so many changed questions are printed; the HTML report lists more."""


def evaluate(options: argparse.Namespace, settings: Settings) -> int:
    """Runs the command; returns the exit code: failed where every question failed or an output could not be written.

    Raises ConfigurationError, before anything is asked, where an output would overwrite what it must not.
    """
    path = Path(options.questions)
    questions = read_questions(path)[: options.limit]
    older = read_report(Path(options.compare)) if options.compare else None
    targets = _targets(options)
    with opened(settings) as house:
        outcomes = _asked(house, settings, questions)
        sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
        report = report_of(outcomes, house, settings, path.name, sha256)
    comparison = compare(older, report) if older else None
    _print_report(report)
    if comparison:
        _print_comparison(comparison)
    makers = {"--json": lambda: to_json(report).encode(), "--report": lambda: _page(report, comparison).encode()}
    written = [write(path, makers[option]) for option, path in targets.items()]
    return FAILED if report.counts.failed == report.counts.questions or not all(written) else DONE


def _page(report: Report, comparison: Comparison | None) -> str:
    from crag.evaluation.html_report import html_of  # Altair takes a second to load, and most commands draw nothing

    return html_of(report, comparison)


def at_least_one(text: str) -> int:
    """The argument of `--limit`. Raises ValueError for what is no whole number from 1 on."""
    number = int(text)
    if number < 1:
        raise ValueError
    return number


def _targets(options: argparse.Namespace) -> dict[str, Path]:
    """Option -> the file that it writes, found to be writable before the questions are asked."""
    given = {"--json": options.json, "--report": options.report}
    keep = {"the question file": options.questions, "the report to compare with": options.compare}
    targets = {option: target(option, name, keep) for option, name in given.items() if name is not None}
    if len(targets) == 2 and same(targets["--json"], targets["--report"]):
        raise ConfigurationError(f"--json and --report both name {options.json}: give each its own file.")
    return targets


def _asked(house: House, settings: Settings, questions: Sequence[Question]) -> list[Outcome]:
    house.warm_up(settings)  # otherwise the first question's time would be that of opening the index
    with progress() as bar:
        task = bar.add_task("Asking", total=len(questions))

        def show(done: int, total: int) -> None:
            bar.update(task, completed=done, description=f"Asked {done} of {total}")
            if not errors.is_terminal and (done == total or done % max(1, total // 10) == 0):
                errors.print(f"Asked {done} of {total}.")

        return asyncio.run(run(house, settings, questions, show))


def _print_report(report: Report) -> None:
    counts = report.counts
    failed = f", {counts.failed} failed" if counts.failed else ""
    print(
        f"{printable(report.questions)}: {counted(counts.questions, 'question')} ({counts.answerable} answerable, "
        f"{counts.uncovered} not covered, {counts.unknown} without expectation{failed}); "
        f"{counted(counts.files, 'file')}, {counted(counts.passages, 'passage')}"
    )
    for note in report.notes:
        print(f"Note: {printable(note)}")
    for name in dict.fromkeys(group.set for group in report.groups):
        _print_groups([group for group in report.groups if group.set == name])
    overall = report.groups[0].metrics
    if overall.confusion:
        print("\nExpected -> triggered")
        for expected, line in overall.confusion.items():
            print(f"  {expected:10} -> " + ", ".join(f"{n} {action}" for action, n in sorted(line.items())))
    if overall.latency:
        print("\nMilliseconds: median (p95), in query embeddings")
        for stage, spent in overall.latency.items():
            multiple = f", {spent.embeddings:.1f}x" if spent.embeddings is not None else ""
            print(f"  {stage.replace('_', ' '):21}{spent.median_ms:9.1f} ({spent.p95_ms:.1f}){multiple}")
    _print_failures(report)
    if counts.questions < FEW:
        errors.print(f"Fewer than {FEW} questions: the intervals are wide, and no single figure proves much.")


def _print_groups(groups: Sequence[Group]) -> None:
    """One table: the measures down, the groups across, each value with its 95 % interval and n."""
    print("\n" + " " * 36 + "".join(f"{printable(name_of(group)):31}" for group in groups).rstrip())
    for section in sections_of(groups):
        print(section.title)
        for line in section.lines:
            print((f"  {line.title:34}" + "".join(f"{cell:31}" for cell in line.cells)).rstrip())


def _print_failures(report: Report) -> None:
    kinds: dict[str, int] = {}
    for row in failures_of(report.rows):
        kinds[str(row.failure)] = kinds.get(str(row.failure), 0) + 1
    if kinds:
        print("\nFailures")
        for kind, n in kinds.items():
            print(f"  {n:5} {kind}")
    first = next((row.error for row in report.rows if row.error), None)
    if first is not None:
        print(f"{counted(report.counts.failed, 'question')} failed, the first: {printable(first)}")


def _print_comparison(comparison: Comparison) -> None:
    print(f"\nCompared with {printable(comparison.old)}")
    for warning in comparison.warnings:
        print(f"  Note: {warning}")
    print(f"  {'':34}{'old':31}{'new':31}{'difference':12}{'gained/lost':14}p")
    for change in (change for change in comparison.changes if change.language is None):
        difference = f"{change.difference:+.3f}" if change.difference is not None else ""
        pairs = f"{change.gained}/{change.lost} of {change.pairs}" if change.pairs else ""
        p = f"{change.p:.3f}" if change.p is not None else ""
        line = f"  {change.title:34}{worded(change.old):31}{worded(change.new):31}{difference:12}{pairs:14}{p}"
        print(line.rstrip())
    match = {True: "match", False: "no match", None: ""}
    for row in comparison.questions[:LISTED]:
        before, after = (
            " ".join(part for part in (str(action or "none"), match[mark]) if part)
            for action, mark in ((row.old_action, row.old_match), (row.new_action, row.new_match))
        )
        print(f"  {before} -> {after}: {printable(row.question)}")
    if len(comparison.questions) > LISTED:
        print(f"  and {counted(len(comparison.questions) - LISTED, 'more question')} changed")
