"""What a turn tells beside its answer: a fallback that acted, a part that failed; in the language of the question."""

from __future__ import annotations

import re
from typing import Final

SENTENCES: Final[dict[str, tuple[str, str]]] = {
    "fallback": (
        "No strip reached the strip threshold: the best one is used although it is below.",
        "没有片段达到片段阈值：使用了得分最高的一个，尽管它低于阈值。",
    ),
    "web_fallback": (
        "No strip of the web reached the strip threshold: the best one is used although it is below.",
        "没有网页片段达到片段阈值：使用了得分最高的一个，尽管它低于阈值。",
    ),
    "files_missing": (
        "Not searched, since it is not indexed: {files}.",
        "以下文件未被索引，因此没有检索：{files}。",
    ),
    "web_failed": ("The web was not used. {error}", "未使用网络。{error}"),
    "web_empty": (
        "The web search found nothing that can be used.",
        "网络搜索没有找到可用的结果。",
    ),
    "web_any_age": (
        "The web has nothing that is as recent as was asked for: older pages were searched as well.",
        "网络上没有符合时间要求的结果：同时搜索了更早的网页。",
    ),
    "web_ungraded": (
        "What the web search found could not be graded ({causes}), so it was not used.",
        "网络搜索的结果无法评分（{causes}），因此未使用。",
    ),
    "web_unused": (
        "Nothing that the web search found was good enough: the answer rests on your documents alone.",
        "网络搜索的结果都不够好：回答仅依据您的文档。",
    ),
    "web_declined": ("The query was not sent: the web was not used.", "查询未发送：未使用网络。"),
    "web_nobody_asked": (
        "The web was not used: each query is to be allowed first, and nobody could be asked here.",
        "未使用网络：每次查询都需要先获得许可，而此处无法询问。",
    ),
    "not_condensed": (
        "The question was taken as it stands, without what was said before. {error}",
        "未结合之前的对话，按原样处理了问题。{error}",
    ),
    "not_drafted": ("No answer was drafted to search for. {error}", "未起草用于检索的假设答案。{error}"),
    "not_rewritten": (
        "The query is made of the question's keywords, since the model gave none. {error}",
        "模型没有给出查询，因此使用问题中的关键词。{error}",
    ),
    "not_written": (
        "The model could not write the answer, so the evidence is quoted. {error}",
        "模型无法撰写回答，因此直接引用原文。{error}",
    ),
    "not_reworded": ("The model could not answer. {error}", "模型无法回答。{error}"),
    "trimmed": (
        "The knowledge is longer than what the model can read: it was given {n} of {of} strips, those with the best "
        "scores.",
        "知识超出了模型的窗口：仅提供了 {of} 个片段中得分最高的 {n} 个。",
    ),
    "nothing_graded": (
        "None of the {n} documents could be graded ({causes}), so nothing was decided. Grade again.",
        "检索到的 {n} 个文档都无法评分（{causes}），因此没有作出判断。请重试。",
    ),
    "graded_by_two": (
        "What was found now was graded by another evaluator ({now}) than what was there before ({before}).",
        "这次新找到的内容由另一个评估器（{now}）评分，与之前的（{before}）不同。",
    ),
    "web_is_off": (
        "The web was not searched, since it is off now.",
        "网络已关闭，因此没有搜索。",
    ),
}
"""In English and Chinese."""


def say(lang: str, key: str, **values: object) -> str:
    """The sentence in Chinese for `zh`, in English otherwise. Raises KeyError for an unknown key."""
    return SENTENCES[key][lang == "zh"].format(**values)


def key_of(sentence: str) -> str | None:
    """By which key the sentence was said, in either language; None: by none of these."""
    return next((key for key, pattern in _PATTERNS.items() if pattern.fullmatch(sentence)), None)


def _pattern(sentences: tuple[str, str]) -> re.Pattern[str]:
    """Matches what was made of them."""
    texts = (re.split(r"\{\w+\}", sentence) for sentence in sentences)
    return re.compile("|".join(".*".join(map(re.escape, parts)) for parts in texts), re.DOTALL)


_PATTERNS: Final = {key: _pattern(sentences) for key, sentences in SENTENCES.items()}
