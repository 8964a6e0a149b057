"""Costs as the page writes them, and what a turn has cost."""

from __future__ import annotations

from collections.abc import Sequence

from crag.schema import Trace


def money(cost: float, currency: str) -> str:
    """`0.0012 USD`: as many digits as tell something."""
    digits = 2 if cost >= 1 else 4 if cost >= 0.001 else 6
    return f"{cost:.{digits}f} {currency}"


def cost_of(trace: Trace) -> tuple[float, bool] | None:
    """What the calls and the search of a turn have cost, and whether that is all of it; None: nothing is known."""
    taken_over = trace.revises is not None and "search" not in trace.timings
    paid = trace.web is not None and not trace.web.cached and not taken_over
    searched = [trace.web.cost] if trace.web is not None and paid else []
    return total([*(call.cost for call in trace.calls), *searched])


def total(costs: Sequence[float | None]) -> tuple[float, bool] | None:
    """The sum of what is known of `costs`, and whether that is all of them; None: nothing is known."""
    known = [cost for cost in costs if cost is not None]
    return (sum(known), len(known) == len(costs)) if known else None
