"""Texts of answers side by side."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "panel_compare": ("Compare", "对比"),
    "compare_help": (
        "The same question answered without Corrective RAG, or under other settings; each is asked when you click. The "
        "answer above stays.",
        "不经纠正式检索，或在其他设置下回答同一个问题；点击后才会执行，上面的答案不变。",
    ),
    "compare_crag": ("CRAG: this answer", "CRAG：本回答"),
    "compare_nothing": ("No retrieval", "不检索"),
    "compare_nothing_help": (
        "The model answers by itself: no document, no source.",
        "只由模型回答：没有文档，也没有来源。",
    ),
    "compare_plain": ("Plain RAG", "普通 RAG"),
    "compare_plain_help": (
        "The first four documents of the retrieval as they are: nothing is graded, filtered or searched on the web.",
        "直接使用检索到的前四个文档：不评分、不过滤，也不搜索网络。",
    ),
    "compare_other": ("Other settings", "其他设置"),
    "compare_other_help": (
        "The whole flow again: another retrieval, other thresholds, another model.",
        "重新执行整个流程：可换检索数量、阈值或模型。",
    ),
    "compare_model": ("Model that writes", "撰写模型"),
    "compare_evaluator": ("Evaluator", "评估器"),
    "compare_run": ("Answer under these settings", "按这些设置回答"),
    "compare_none": ("Nothing is compared yet.", "还没有对比。"),
    "compare_ungraded": ("not graded", "未评分"),
    "compare_no_sources": (
        "It names no source, so nothing in it can be checked.",
        "没有来源，因此无法核对。",
    ),
    "compare_supported": ("{n} of {of} sentences supported by what they cite", "{of} 句中有 {n} 句得到所引来源的支持"),
    "compare_characters": ("{n} character given|{n} characters given", "提供 {n} 个字符"),
    "compare_sources": ("{n} source|{n} sources", "{n} 个来源"),
    "compare_stopped": ("Stopped.", "已停止。"),
    "compare_doing": ("answering …", "正在回答……"),
    "compare_k": ("Documents", "文档数"),
}
