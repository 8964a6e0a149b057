"""What the benches of answers share: which questions are asked, what of an answer counts, and paired intervals."""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Hashable, Sequence

import numpy as np

from bench._cases import held_out
from bench._xquad import Question, data_argument, questions
from crag.evaluation.matching import holds
from crag.evaluation.metrics import share
from crag.schema import Action, Trace

_MARKER = re.compile(r"”\s*\[\d+\]")


def question_arguments(parser: argparse.ArgumentParser) -> None:
    """`--data --language --seed --limit --all`."""
    data_argument(parser)
    parser.add_argument("--language", choices=("en", "zh"), action="append", help="repeatable; default both")
    parser.add_argument("--seed", type=int, default=0, help="chooses the half of the articles that is indexed")
    parser.add_argument("--limit", type=int, help="at most so many questions per language, drawn at random")
    parser.add_argument(
        "--all", action="store_true", help="also ask about articles that trained the evaluator (where none did)"
    )


def chosen(args: argparse.Namespace, language: str, articles: frozenset[str] | None = None) -> list[Question]:
    """The questions of `language` that are asked, in a fixed order; those about `articles` alone where given."""
    asking = [q for q in questions(args.data, language) if args.all or held_out(q.article)]
    asking = [q for q in asking if articles is None or q.article in articles]
    return drawn(asking, args.limit)


def drawn(asking: list[Question], limit: int | None) -> list[Question]:
    """All questions, or `limit` of them drawn at random: the first ones would be of one article."""
    if limit is None or limit >= len(asking):
        return asking
    return sorted(random.Random(0).sample(asking, limit), key=asking.index)


def holds_answer(question: Question, text: str) -> bool:
    """Whether one of the gold answers stands in `text` as whole words, as `python -m crag eval` counts it."""
    return any(holds(answer, text) for answer in question.answers)


def quoted(trace: Trace) -> str:
    """The quotes of an answer without lead-in and citations, whose digits might be taken for the gold answer.

    Empty where nothing covers the question: that answer names files and pages.
    """
    return _MARKER.sub("", trace.answer[trace.answer.find("“") + 1 :]) if trace.covered else ""


def line(label: str, hits: int, n: int) -> None:
    """One figure with its 95 % Wilson interval."""
    print(f"  {label:<66}{share(hits, n)}", flush=True)


def action_lines(label: str, traces: Sequence[Trace], look: int = 0) -> None:
    """Shares of the three actions; `look` 0 is the first decision, -1 the last."""
    decided = [trace.decisions[look].action for trace in traces if trace.decisions]
    for action in Action:
        line(f"{label}: {action}", decided.count(action), len(traces))
    if len(decided) < len(traces):
        line(f"{label}: undecided", len(traces) - len(decided), len(traces))


def answer_lines(label: str, asked: Sequence[tuple[Question, str]]) -> None:
    """Shares of answers that hold the gold answer, of those that do not, and of refusals (an empty text)."""
    match = sum(holds_answer(question, text) for question, text in asked)
    refused = sum(not text for _, text in asked)
    line(f"{label}: answer holds the gold answer", match, len(asked))
    line(f"{label}: answers without it", len(asked) - match - refused, len(asked))
    line(f"{label}: refuses", refused, len(asked))


def paired_difference(
    first: Sequence[bool], second: Sequence[bool], groups: Sequence[Hashable], rounds: int = 4000
) -> tuple[float, float, float]:
    """(share of `first` - share of `second`, its 95 % bootstrap interval), in points (0 to 100).

    Both hold an outcome per asked question, in the same order; what shares a group is drawn together.
    """
    names = list(dict.fromkeys(groups))
    place = {name: row for row, name in enumerate(names)}
    sums, counts = np.zeros(len(names)), np.zeros(len(names))
    for a, b, group in zip(first, second, groups, strict=True):
        sums[place[group]] += int(a) - int(b)
        counts[place[group]] += 1
    rows = np.random.default_rng(0).integers(len(names), size=(rounds, len(names)))
    drawn_shares = sums[rows].sum(1) / counts[rows].sum(1)
    low, high = np.quantile(drawn_shares, (0.025, 0.975))
    return 100 * float(sums.sum() / counts.sum()), 100 * float(low), 100 * float(high)
