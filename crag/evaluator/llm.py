"""The LLM judge: a language model grades all documents and their strips in one call, and gives the search query."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from pydantic import ValidationError

from crag.agent_model.base import ChatModel, Ledger
from crag.errors import CragError, InvalidOutputError
from crag.evaluator.grade_cache import GradeCache
from crag.evaluator.judge_answer import form, grades_of, tokens_of_answer, wrong_with
from crag.evaluator.judge_prompt import PROMPT_VERSION, instructions, prompt, shown
from crag.evaluator.judge_query import usable_query
from crag.evaluator.judge_split import Budget, cut, share_shown, split
from crag.runtime import in_pool
from crag.schema import Document, DocumentGrade, Grade
from crag.text import language

log = logging.getLogger(__name__)

KEPT_DAYS: Final = 30
"""A grade is used again for so many days: the judge is told the date, and what was true may have changed."""
SHOWN: Final = "shown"
"""Name of the feature that tells how much of a document the judge was shown; absent: all."""

TEXTS: Final = {
    "en": {
        "empty": "the document has no text",
        "cut": "{reason} (only the first {percent} % of it fit into the model's window)",
        "unread": "This strip did not fit into the model's window: set CRAG_LLM_CONTEXT, or use another model.",
        "small": (
            "The window of the model {model} is too small to grade this document: set CRAG_LLM_CONTEXT, or use another "
            "model."
        ),
    },
    "zh": {
        "empty": "文档没有文字",
        "cut": "{reason}（模型窗口只容得下文档开头的 {percent}%）",
        "unread": "模型窗口容不下此片段：请设置 CRAG_LLM_CONTEXT，或换用其他模型。",
        "small": "模型 {model} 的窗口太小，无法为此文档评分：请设置 CRAG_LLM_CONTEXT，或换用其他模型。",
    },
}


class LlmJudge:
    """An `Evaluator` over a language model, made anew for every turn; the model and the cache are shared.

    So that a grade depends on question, text, model and prompt alone, as far as a model lets it: documents are shown
    in an order that follows from their text, never in that of the ranking; temperature is 0; what was graded before is
    looked up. Text that was given twice is graded once.
    """

    name = "llm"

    def __init__(self, model: ChatModel, ledger: Ledger, cache: GradeCache | None, today: date) -> None:
        self.version = hashlib.sha256(f"{model.name}|{PROMPT_VERSION}".encode()).hexdigest()[:12]
        self._model = model
        self._ledger = ledger
        self._cache = cache
        self._today = today
        self._queries: dict[str, str | None] = {}

    async def grade(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        """See `Evaluator.grade`. Only documents without a kept grade are sent; a call that fails leaves its own
        documents ungraded, with the sentence of its error."""
        keys = [self._key(question, document) for document in documents]
        grades = await in_pool(self._recall, question, keys) if documents else {}
        fresh = {key: document for key, document in zip(keys, documents, strict=True) if key not in grades}
        ordered = sorted(fresh)  # a hash of the text: no place among the others tells how well it was found
        given = await self._judge(question, [fresh[key] for key in ordered], with_query=question not in self._queries)
        graded = dict(zip(ordered, given, strict=True))
        await self._keep(question, graded)
        return [{**grades, **graded}[key] for key in keys]

    async def grade_again(self, question: str, document: Document) -> DocumentGrade:
        """The grade of one document asked for anew, whatever is kept; it takes the kept one's place."""
        grade = (await self._judge(question, [document], with_query=False))[0]
        await self._keep(question, {self._key(question, document): grade})
        return grade

    async def grade_as_ordered(self, question: str, documents: Sequence[Document]) -> list[DocumentGrade]:
        """Grades of documents shown in the order given, past everything that is kept, and not kept either."""
        return await self._judge(question, documents, with_query=False)

    def suggested_query(self, question: str) -> str | None:
        """The search query that came with this turn's grades or was kept with them today, at most 400 characters.

        None where there is none that may be used: then the rewriter has to make one.
        """
        return self._queries.get(question)

    async def _judge(self, question: str, documents: Sequence[Document], *, with_query: bool) -> list[DocumentGrade]:
        """One grade per document, in their order, by as few calls as the window allows, side by side."""
        texts = TEXTS[language(question)]
        grades: dict[int, DocumentGrade] = {}
        parts: list[tuple[int, Document]] = []
        budget: Budget | None = None
        for at, document in enumerate(documents):
            if not document.text.strip():
                empty = Grade(score=0.0, reason=texts["empty"])
                grades[at] = DocumentGrade(document=empty, strips=tuple(empty for _ in document.strips))
                continue
            try:
                budget = budget or await self._budget(question, with_query=with_query)
            except CragError as error:
                grades[at] = _ungraded(document, str(error))
                continue
            part = cut(document, budget)
            if part is None:
                grades[at] = _ungraded(document, texts["small"].format(model=self._model.name))
            else:
                parts.append((at, part))
        if budget is not None:
            given = await self._side_by_side(question, split([part for _, part in parts], budget), with_query)
            for (at, part), grade in zip(parts, given, strict=True):
                grades[at] = _of_whole(documents[at], part, grade, texts)
        return [grades[at] for at in range(len(documents))]

    async def _budget(self, question: str, *, with_query: bool) -> Budget:
        return Budget(question, self._today, await self._model.window(), self._model.count, with_query)

    async def _side_by_side(
        self, question: str, calls: Sequence[Sequence[Document]], with_query: bool = False
    ) -> list[DocumentGrade]:
        """The grades of all calls, in their order; `with_query` counts for the first."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(self._call(question, call, with_query=with_query and number == 0))
                for number, call in enumerate(calls)
            ]
        return [grade for task in tasks for grade in task.result()]

    async def _call(self, question: str, documents: Sequence[Document], *, with_query: bool) -> list[DocumentGrade]:
        """The grades of one call; singly where the model, asked again, still gives no usable output."""
        try:
            return await self._ask(question, documents, with_query=with_query)
        except InvalidOutputError as error:
            if len(documents) > 1:
                return await self._side_by_side(question, [[document] for document in documents])
            return [_ungraded(documents[0], str(error))]
        except CragError as error:
            return [_ungraded(document, str(error)) for document in documents]

    async def _ask(self, question: str, documents: Sequence[Document], *, with_query: bool) -> list[DocumentGrade]:
        numbered = shown(documents)
        marks = await self._model.structured(
            "grade",
            instructions(self._today, with_query=with_query),
            prompt(question, numbered),
            form(numbered, with_query=with_query),
            ledger=self._ledger,
            max_tokens=tokens_of_answer(question, numbered, with_query=with_query),
            check=wrong_with(numbered),
        )
        if with_query:
            self._queries[question] = usable_query(marks.query, question, documents, self._today)
        return grades_of(marks, numbered)

    def _recall(self, question: str, keys: Sequence[str]) -> dict[str, DocumentGrade]:
        """The kept grades by key; today's kept query is noted. Blocking."""
        if self._cache is None:
            return {}
        key = self._query_key(question)
        if query := self._cache.get([key], self._today, self._today).get(key):
            self._queries.setdefault(question, query)
        found: dict[str, DocumentGrade] = {}
        since = self._today - timedelta(days=KEPT_DAYS)
        for key, value in self._cache.get(keys, since, self._today).items():
            try:
                found[key] = DocumentGrade.model_validate_json(value).model_copy(update={"cached": True})
            except ValidationError:
                log.info("a kept grade cannot be read: it is asked for again")
        return found

    async def _keep(self, question: str, grades: Mapping[str, DocumentGrade]) -> None:
        """Keeps the grades of whole documents, and the query."""
        values = {key: grade.model_dump_json() for key, grade in grades.items() if _to_keep(grade)}
        if query := self._queries.get(question):
            values[self._query_key(question)] = query
        if self._cache is not None and grades:
            await in_pool(self._cache.put, values, self._today)

    def _key(self, question: str, document: Document) -> str:
        strips = [strip.text for strip in document.strips]
        return self._hash("grade", question, document.heading, document.published, document.text, strips)

    def _query_key(self, question: str) -> str:
        return self._hash("query", question)

    def _hash(self, *parts: object) -> str:
        return hashlib.sha256(json.dumps([self._model.name, PROMPT_VERSION, *parts]).encode()).hexdigest()


def _of_whole(document: Document, part: Document, grade: DocumentGrade, texts: Mapping[str, str]) -> DocumentGrade:
    """The grade of what was shown of a document as that of the document: it says so where that was not all."""
    if part is document:
        return grade
    if grade.document.cause is not None:
        return _ungraded(document, grade.document.cause)
    share = share_shown(document, part)
    reason = texts["cut"].format(reason=grade.document.reason, percent=max(1, int(100 * share)))
    unread = Grade(score=None, cause=texts["unread"])
    return DocumentGrade(
        document=grade.document.model_copy(update={"reason": reason, "features": {SHOWN: round(share, 4)}}),
        strips=(*grade.strips, *(unread for _ in document.strips[len(grade.strips) :])),
    )


def _to_keep(grade: DocumentGrade) -> bool:
    """Whether it is a grade, and of all the text: another window may hold more."""
    return grade.document.score is not None and SHOWN not in grade.document.features


def _ungraded(document: Document, cause: str) -> DocumentGrade:
    grade = Grade(score=None, cause=cause)
    return DocumentGrade(document=grade, strips=tuple(grade for _ in document.strips))
