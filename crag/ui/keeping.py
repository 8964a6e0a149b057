"""Keeping conversations: what happens is written behind the page's back, in order, and read again when it is opened."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING, Any

from config import Settings
from crag.errors import CragError
from crag.events import Finished, TurnEvent
from crag.runtime import Job, sentence
from crag.ui import turn_settings
from crag.ui.conversations import Conversation, Made, Place, Turn, Work
from crag.ui.feedback import Opinion

if TYPE_CHECKING:
    from crag.history.conversations import Conversations, KeptConversation, KeptTurn

log = logging.getLogger(__name__)


class Keeping:
    """One thread that writes. A store that fails or is slow delays no answer; what is not kept waits, and is told."""

    def __init__(self, opened: Callable[[], Conversations]) -> None:
        self.opened = opened
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="crag-keeping")

    def begun(self, conversation: Conversation, turn: Turn, beside: Turn | None = None) -> None:
        """Keeps a turn now, and what it leads to when it ends; `beside` is another version of its answer."""
        from crag.history.conversations import Begun

        row = Begun(
            turn_id=turn.job.id,
            question=turn.question,
            files=turn.files,
            settings=turn_settings.kept(turn.settings),
            made=turn.made,
        )
        title, files, other = conversation.title, conversation.files, beside.job.id if beside else None
        self.write(conversation, lambda kept: kept.begin(conversation.id, row, title, files, other))
        turn.job.at_end(lambda: self._ended(conversation, turn))

    def _ended(self, conversation: Conversation, turn: Turn) -> None:
        trace, error = turn.trace, turn.job.error
        self.write(conversation, lambda kept: kept.end(turn.job.id, trace, error))

    def write(self, conversation: Conversation, work: Work) -> None:
        """Writes something of a conversation when all before it is written."""
        conversation.unkept.append(work)
        self.catch_up(conversation)

    def catch_up(self, conversation: Conversation) -> None:
        """Writes what could not be written before."""
        self._later(self._catch_up, conversation)

    def _catch_up(self, conversation: Conversation) -> None:
        while conversation.unkept:
            try:
                conversation.unkept[0](self.opened())
            except CragError as error:
                log.warning("a conversation is not kept: %s", error)
                conversation.not_kept = str(error)
                return
            except Exception as error:  # not a state of the store: trying again would not help
                conversation.not_kept = sentence(error)
                conversation.unkept.popleft()
                return
            conversation.unkept.popleft()
        conversation.not_kept = None

    def tidy(self) -> None:
        """Removes what was deleted long ago."""
        self._later(self._tidy)

    def _tidy(self) -> None:
        try:
            self.opened().purge()
        except CragError as error:
            log.warning("nothing is tidied up: %s", error)

    def load(self, conversation_id: str, settings: Settings) -> Conversation | None:
        """A conversation as it was kept; its turns have what they were asked under, and else `settings`.

        Raises HistoryError.
        """
        found = self.opened().load(conversation_id)
        return _found(found, settings) if found else None

    def overtaken(self, conversation: Conversation) -> bool:
        """Whether another process has asked in it since it was read, or has ended what ran there then."""
        if conversation.running or conversation.unkept:
            return False
        known = {turn.job.id: turn.gap for place in conversation.places for turn in place.versions}
        try:
            there = self.opened().outline(conversation.id)
        except CragError as error:
            log.warning("whether a conversation goes on elsewhere is not known: %s", error)
            return False
        return any(id_ not in known or (ended and known[id_] == "interrupted") for id_, ended in there.items())

    def settle(self) -> None:
        """Waits until everything up to now is written, or has failed."""
        self._pool.submit(lambda: None).result()

    def close(self) -> None:
        """Writes what is left."""
        self._pool.shutdown()

    def _later(self, work: Callable[..., None], *args: Any) -> None:
        try:
            self._pool.submit(work, *args)
        except RuntimeError:
            log.warning("the program ends: this is no longer kept", exc_info=True)


def _found(kept: KeptConversation, settings: Settings) -> Conversation:
    @lru_cache(maxsize=8)  # most turns of a conversation were asked under the same
    def under(found: str) -> Settings:
        return turn_settings.under(settings, json.loads(found))

    places = []
    for _, versions in groupby(kept.turns, key=lambda row: row.position):
        rows = list(versions)
        shown = next((i for i, row in enumerate(rows) if row.shown), len(rows) - 1)
        places.append(Place([_turn(row, under(json.dumps(row.settings))) for row in rows], shown))
    return Conversation(kept.id, kept.title, places, kept.files)


def _turn(row: KeptTurn, settings: Settings) -> Turn:
    """To all who draw it like one that has just ended."""
    events = [Finished(trace=row.trace)] if row.trace is not None else []
    job: Job[TurnEvent] = Job.ended("turn", row.turn_id, events, row.error)
    made = Made(row.made) if row.made in set(Made) else Made.ASKED
    opinion = Opinion(row.liked, row.why)
    return Turn(row.question, settings, job, row.files, made=made, gap=row.gap, opinion=opinion)
