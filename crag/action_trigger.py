"""The action trigger (paper, section 4.3): the scores of the documents decide between the three actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crag.schema import Action, Decision, Thresholds

SENTENCES = {
    "en": {
        "second": "second look: ",
        "reached": "best {best} reaches {upper}: answered from your documents",
        "between": "best {best} is below {upper} and not below {lower}, so the evidence is uncertain: {then}",
        "ungraded": (
            "best {best} is below {lower}, but {ungraded} of {total} documents could not be graded, so the evidence "
            "is uncertain: no graded document can be used{then}"
        ),
        "below": "best {best} is below {lower}: {then}",
        "nothing": "nothing was retrieved: {then}",
    },
    "zh": {
        "second": "再次检索：",
        "reached": "最高分 {best} 达到 {upper}：根据您的文档回答",
        "between": "最高分 {best} 低于 {upper} 但不低于 {lower}，证据不确定：{then}",
        "ungraded": (
            "最高分 {best} 低于 {lower}，但 {total} 篇文档中有 {ungraded} 篇未能评分，证据不确定："
            "没有可用的已评分文档{then}"
        ),
        "below": "最高分 {best} 低于 {lower}：{then}",
        "nothing": "没有检索到任何文档：{then}",
    },
}
THEN = {
    "en": {
        "reached": ("", "", "", ""),
        "between": (
            "answered from your documents; web search is off",
            "answered from your documents; web search is off",
            "your documents are refined, and the web is searched as well",
            "answered from your documents alone",
        ),
        "ungraded": (", and web search is off", ", and web search is off", ", and the web is searched", ""),
        "below": (
            "taking a second look with a rewritten query",
            "your documents do not cover the question",
            "your documents are left aside, and the web is searched instead",
            "your documents do not cover the question",
        ),
    },
    "zh": {
        "reached": ("", "", "", ""),
        "between": (
            "根据您的文档回答，网络搜索未开启",
            "根据您的文档回答，网络搜索未开启",
            "精炼您的文档，同时搜索网络",
            "仅根据您的文档回答",
        ),
        "ungraded": ("，网络搜索未开启", "，网络搜索未开启", "，改为搜索网络", ""),
        "below": (
            "改写查询后再检索一次",
            "您的文档没有涵盖这个问题",
            "舍弃这些文档，改为搜索网络",
            "您的文档没有涵盖这个问题",
        ),
    },
}
"""What follows, by sentence: without the web at the first and at the second look, then with the web likewise. A second
look with the web is taken only after the web has given nothing."""


class Scored(Protocol):
    """What the decision looks at: a graded document, or anything else with an id and a score (None: ungraded)."""

    @property
    def id(self) -> str: ...

    @property
    def score(self) -> float | None: ...


def decide(
    documents: Sequence[Scored],
    thresholds: Thresholds,
    query: str,
    *,
    lang: str = "en",
    second_look: bool = False,
    web: bool = False,
) -> Decision | None:
    """The action for the graded documents, in rank order, with the sentence that explains it in `lang` (en, zh).

    Any score >= upper: CORRECT. All < lower, or nothing retrieved: INCORRECT. Otherwise AMBIGUOUS. Ungraded
    documents take no part in the maximum but forbid INCORRECT. All ungraded: None, no action can be taken. `web` says
    whether the web may be searched, for the sentence alone.
    """
    scores = [document.score for document in documents if document.score is not None]
    if documents and not scores:
        return None
    best = max(scores, default=None)
    ungraded = len(documents) - len(scores)
    if best is None:
        action, key = Action.INCORRECT, "nothing"
    elif best >= thresholds.upper:
        action, key = Action.CORRECT, "reached"
    elif best >= thresholds.lower:
        action, key = Action.AMBIGUOUS, "between"
    elif ungraded:
        action, key = Action.AMBIGUOUS, "ungraded"
    else:
        action, key = Action.INCORRECT, "below"
    lang = lang if lang in SENTENCES else "en"
    texts = SENTENCES[lang]
    sentence = texts[key].format(
        **_digits(best if best is not None else 0.0, thresholds),
        ungraded=ungraded,
        total=len(documents),
        then=THEN[lang]["below" if key == "nothing" else key][2 * web + second_look],
    )
    if second_look:
        sentence = texts["second"] + sentence
    return Decision(
        action=action,
        sentence=sentence[:1].upper() + sentence[1:],
        best=best,
        query=query,
        documents=tuple(document.id for document in documents),
    )


def _digits(best: float, thresholds: Thresholds) -> dict[str, str]:
    """The numbers with two digits, or as many as it takes that none contradicts the sentence (0.699 is not 0.70)."""
    limits = {"upper": thresholds.upper, "lower": thresholds.lower}
    for digits in range(2, 18):
        shown = {name: f"{value:.{digits}f}" for name, value in {"best": best, **limits}.items()}
        exact = all(abs(float(shown[name]) - value) < 1e-6 for name, value in limits.items())
        if exact and all(
            _order(float(shown["best"]), float(shown[name])) == _order(best, limits[name]) for name in limits
        ):
            break
    return shown


def _order(a: float, b: float) -> int:
    return (a > b) - (a < b)
