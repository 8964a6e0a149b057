"""The fixture `stage`: the page over a house without an engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import streamlit as st
from ui_stage import INDEXED, FakeBase, Stage

from crag.agent_model.registry import Models
from crag.assembly import in_force
from crag.events import Asking, Finished, TurnEvent
from crag.gate import Gate
from crag.schema import Exchange
from crag.ui import state


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Stage]:
    """A page over a fake house with one indexed file."""
    monkeypatch.setenv("CRAG_FILES_DIR", str(tmp_path / "Files"))
    monkeypatch.setenv("CRAG_CHROMA_DIR", str(tmp_path / "chroma_db"))
    monkeypatch.setenv("CRAG_DATA_DIR", str(tmp_path / ".crag"))
    base = FakeBase([INDEXED])
    made = Stage(
        base,
        lambda settings, progress: SimpleNamespace(
            knowledge_base=base,
            close=base.close,
            models=Models(),
            warm_up=lambda settings: None,
            in_force=lambda settings: in_force(settings, made.calibration),
            parts=lambda settings: made.parts,
        ),
    )
    made.goes_on.set()

    def turn_source(
        house: Any,
        settings: Any,
        question: str,
        files: tuple[str, ...] = (),
        history: Sequence[Exchange] = (),
        gate: Gate | None = None,
    ) -> Callable[[Any], AsyncIterator[TurnEvent]]:
        async def source(job: Any) -> AsyncIterator[TurnEvent]:
            made.histories.append(tuple(history))
            if made.fails:
                raise made.fails
            *before, last = made.turn
            for event in before:
                yield event
                if isinstance(event, Asking) and gate is not None:
                    made.sent.append(await gate.wait())
            while not made.goes_on.is_set() and not job.stopping.is_set():
                await asyncio.to_thread(made.goes_on.wait, 0.01)
            if isinstance(last, Finished):
                stopped = {"stopped": True, "answer": "From your docu"} if job.stopping.is_set() else {}
                last = Finished(trace=last.trace.model_copy(update={"turn_id": job.id, "files": files, **stopped}))
            yield last

        return source

    monkeypatch.setattr(state, "turn_source", turn_source)
    monkeypatch.setattr(state, "open_house", lambda settings, progress: made.open(settings, progress))
    st.cache_resource.clear()
    yield made
    made.goes_on.set()
    base.goes_on.set()
    st.cache_resource.clear()
