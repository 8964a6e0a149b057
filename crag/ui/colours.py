"""What a colour means, once: green kept or Correct, amber between, red below, grey dropped or ungraded, blue web."""

from __future__ import annotations

from crag.schema import Verdict

VERDICTS = {
    Verdict.RELEVANT: "#2f9e62",
    Verdict.PARTIAL: "#d08a1a",
    Verdict.IRRELEVANT: "#d2504a",
    Verdict.UNGRADED: "#858a93",
}
"""Readable on the light and on the dark background."""
SHAPES = {Verdict.RELEVANT: "circle", Verdict.PARTIAL: "diamond", Verdict.IRRELEVANT: "square"}
KEPT = VERDICTS[Verdict.RELEVANT]
WEB = "#3b7dd8"
QUIET = "#858a93"
"""Rules and numbers that stand back."""
