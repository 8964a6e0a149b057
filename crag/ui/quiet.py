"""Takes one harmless message out of Streamlit's log."""

from __future__ import annotations

import logging


class NoVanishedFragments(logging.Filter):
    """A fragment that ended asks once more to be redrawn: Streamlit reports it each time, though nothing is wrong."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not str(record.msg).startswith("The fragment with id %s does not exist anymore")


def install() -> None:
    logger = logging.getLogger("streamlit.runtime.app_session")
    if not any(isinstance(known, NoVanishedFragments) for known in logger.filters):
        logger.addFilter(NoVanishedFragments())
