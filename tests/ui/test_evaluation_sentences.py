"""What the evaluation says in sentences of its own is said in Chinese on the Chinese page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from crag.calibrations import Numbers
from crag.errors import QuestionSetError
from crag.evaluation.calibrating import suggested
from crag.evaluation.utility import Weights
from crag.schema import Action
from crag.text import is_cjk
from crag.ui.texts.evaluation_sentences import translated
from tests.evaluation.labelled_runs import labelled

NOW = Numbers(upper=0.7, lower=0.3, strip=0.5)


def said() -> Iterator[str]:
    """Notes and warnings of small calibrations, and why nothing can be learnt."""
    answerable = labelled([0.5], expected=Action.CORRECT, strips=(0.6,), answering={0: True}, documents={0: True})
    uncovered = labelled([0.2], expected=Action.INCORRECT, documents={0: False})
    failed = labelled([None], expected=Action.CORRECT)
    for rows in ([answerable], [answerable] * 12, [uncovered] * 12, [*[answerable] * 12, uncovered, failed]):
        found = suggested(rows, NOW, 8, Weights())
        yield from (*found.notes, *found.warnings)
    for rows in ([labelled([0.5])], [failed], [failed, labelled([0.5])]):
        with pytest.raises(QuestionSetError) as error:
            suggested(rows, NOW, 8, Weights())
        yield str(error.value)


def test_notes_and_warnings_are_said_in_chinese() -> None:
    sentences = set(said())
    assert len(sentences) > 10
    for sentence in sentences:
        assert any(map(is_cjk, translated(sentence, "zh"))), sentence
        assert translated(sentence, "en") == sentence


def test_values_stay_in_their_places() -> None:
    chinese = translated("Same id but another wording: 2 questions.", "zh")
    assert chinese == "措辞有改动的问题：2 个问题。"
