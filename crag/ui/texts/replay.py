"""Texts of the replay: what other thresholds would have made of an answer."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "panel_replay": ("Replay", "重演"),
    "replay_help": (
        "What other thresholds, or another action, would have made of the stored scores; no model is called, and the "
        "answer above stays.",
        "用已保存的得分查看其他阈值或动作下的结果：不调用模型，上面的答案不变。",
    ),
    "replay_nothing": (
        "Nothing can be replayed: no strip of this answer was graded.",
        "无法重演：这个回答没有已评分的片段。",
    ),
    "replay_limits": (
        "Replay: lower and upper threshold",
        "重演：下阈值和上阈值",
    ),
    "replay_strip": ("Replay: strip threshold", "重演：片段阈值"),
    "replay_same": ("As it was: nothing changes.", "与原来相同：没有变化。"),
    "replay_change": ("Compared with the answer: {changes}.", "与原答案相比：{changes}。"),
    "replay_strips_more": ("{n} strip more|{n} strips more", "多 {n} 个片段"),
    "replay_strips_less": ("{n} strip less|{n} strips fewer", "少 {n} 个片段"),
    "replay_sources_more": ("{n} source more|{n} sources more", "多 {n} 个来源"),
    "replay_sources_less": ("{n} source less|{n} sources less", "少 {n} 个来源"),
    "replay_action": ("the action would be {action}", "动作将变为“{action}”"),
    "replay_empty": (
        "no evidence is left, so the answer would be that your documents do not cover the question",
        "没有证据留下，将回答“您的文档没有涵盖这个问题”",
    ),
    "replay_lacks_web": (
        "So the web would be searched as well. That was not done for this answer: what it gives shows when you answer "
        "with these.",
        "这样还会搜索网络。这个回答没有搜索过：按此回答后才能看到结果。",
    ),
    "replay_lacks_second look": (
        "So a second look would be taken with a rewritten query. That was not done for this answer: what it finds "
        "shows when you answer with these.",
        "这样会改写查询并再次检索。这个回答没有再次检索过：按此回答后才能看到结果。",
    ),
    "replay_kept": ("Kept with these thresholds: {n} of {of}", "按这些阈值保留：{n}/{of}"),
    "replay_gained": ("kept now, dropped before", "现在保留，原来丢弃"),
    "replay_lost": ("kept before, dropped now", "原来保留，现在丢弃"),
    "replay_strip_alt": (
        "Scores of the strips from 0 to 1, with the strip threshold",
        "各片段 0 到 1 的得分，以及片段阈值",
    ),
    "replay_given": (
        "What the generator would be given: {n} character|What the generator would be given: {n} characters",
        "将提供给生成器的文本：{n} 个字符",
    ),
    "replay_ask": ("Answer with these", "按此回答"),
    "replay_ask_help": (
        "Another version of the answer from the same documents and grades: nothing is retrieved or graded again.",
        "用相同的文档和评分生成另一个版本的回答：不重新检索，也不重新评分。",
    ),
    "replay_back": ("Back", "恢复原样"),
    "replay_back_help": ("Back to the thresholds of the answer.", "恢复为这个回答的阈值。"),
    "strip": ("strip", "片段"),
}
