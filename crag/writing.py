"""G: the answer piece by piece, by the generator, by the spare one where it fails, or directly without evidence."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from crag.errors import CragError
from crag.events import Thinking, Token
from crag.generator.direct import FixedDirectAnswer
from crag.generator.not_covered import not_covered
from crag.pieces import Cut, Piece, Sent, Text, Thought
from crag.schema import Fate, Knowledge
from crag.turn import Turn


async def write(turn: Turn) -> AsyncGenerator[Token | Thinking]:
    """The answer from the turn's knowledge, or to a message that needs none; noted in the turn as it comes."""
    with turn.timed("generate"):
        if not turn.direct and not turn.knowledge.sources:
            turn.pieces.append(not_covered(turn.asked, turn.documents, turn.searched_in_vain()))
            yield Token(text=turn.pieces[-1])
            return
        writers = _writers(turn)
        for name, pieces in writers:
            turn.written_by = name
            async with aclosing(_noted(turn, pieces, last=name == writers[-1][0])) as events:
                async for event in events:
                    yield event
            if turn.pieces or turn.error:
                return


def _writers(turn: Turn) -> list[tuple[str, AsyncGenerator[Piece]]]:
    """Who writes, with what they would write; each begins only when it is read."""
    parts = turn.parts
    if turn.direct:
        direct = [parts.direct] if parts.direct else []
        spare = FixedDirectAnswer()
        answers = [*direct, *(spare for first in direct if first.name != spare.name)]
        return [(each.name, each.stream(turn.question, turn.history)) for each in answers]
    generators = [parts.generator, *([parts.spare_generator] if parts.spare_generator else [])]
    return [(generator.name, generator.stream(turn.asked, turn.knowledge)) for generator in generators]


async def _noted(turn: Turn, pieces: AsyncGenerator[Piece], *, last: bool) -> AsyncGenerator[Token | Thinking]:
    """The pieces as events. A failure before the first is an error of the turn where nobody else can write."""
    given, told = (turn.knowledge, turn.strips), len(turn.notices)
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                match piece:
                    case Text(text):
                        turn.pieces.append(text)
                        yield Token(text=text)
                    case Thought(text):
                        turn.thoughts.append(text)
                        yield Thinking(text=text)
                    case Cut(why) if turn.pieces or last:
                        turn.cut = why
                    case Cut(why):  # it only thought: nothing of the answer is there to be cut
                        turn.notice("not_written", error=why)
                    case Sent(knowledge, parts):
                        turn.sent = parts
                        if knowledge is not None:
                            _send(turn, knowledge)
    except CragError as error:
        if turn.pieces:
            turn.cut = str(error)
        elif last:
            turn.error = str(error)
        else:
            turn.knowledge, turn.strips = given  # the next one begins anew
            del turn.notices[told:]
            turn.notice("not_reworded" if turn.direct else "not_written", error=error)


def _send(turn: Turn, knowledge: Knowledge) -> None:
    """From here on the turn's knowledge is what the model is really given; what it is not given is no longer kept."""
    sent = {strip.id for strip in knowledge.strips}
    whole = len(turn.knowledge.strips)
    turn.strips = tuple(
        strip if strip.id in sent or not strip.kept else strip.model_copy(update={"fate": Fate.BEYOND_WINDOW})
        for strip in turn.strips
    )
    turn.knowledge = knowledge
    if len(sent) < whole:
        turn.notice("trimmed", n=len(sent), of=whole)
