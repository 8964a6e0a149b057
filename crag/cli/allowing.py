"""The gate before the web on a terminal: Enter sends the query, other text is sent in its place, n declines."""

from __future__ import annotations

import signal
import sys

from crag.cli.console import errors, printable

NO = ("n", "no", "不")


def is_a_terminal() -> bool:
    """Whether somebody is there who can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def allow(query: str, provider: str) -> str | None:
    """The query as it may be sent, None where it may not. Raises KeyboardInterrupt.

    The prompt goes to standard error, so that standard output holds the answer alone.
    """
    errors.print(f"\nMay this query be sent to {printable(provider)}? Nothing has left this machine yet.")
    errors.print(f"  {printable(query)}")
    errors.print("Enter sends it, other text is sent instead, n declines: ", end="")
    asyncios = signal.signal(signal.SIGINT, signal.default_int_handler)  # its own waits for the loop, which waits here
    try:
        typed = sys.stdin.readline()
    finally:
        signal.signal(signal.SIGINT, asyncios)
    if not typed or typed.strip().lower() in NO:  # no line at all: the end of the input
        return None
    return typed.strip() or query
