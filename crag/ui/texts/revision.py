"""Texts of overruling: grades, strips, action and query changed by a person."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # the changes, each in a sentence
    "changes": ("{n} change:|{n} changes:", "{n} 处更改："),
    "between_changes": ("; ", "；"),
    "changed_by_you": ("Changed by you: {changes}.", "由您更改：{changes}。"),
    "export_changed": ("Changed by hand: {changes}.", "手动更改：{changes}。"),
    "export_by_hand_yes": ("set by hand: it answers", "手动判定：回答了问题"),
    "export_by_hand_no": ("set by hand: it does not answer", "手动判定：没有回答问题"),
    "change_document_yes": ("document {number} answers the question", "文档 {number} 回答了问题"),
    "change_document_no": ("document {number} does not answer", "文档 {number} 没有回答问题"),
    "change_document_back": ("document {number} as it was graded", "文档 {number} 恢复原评分"),
    "change_page_yes": ("web page {number} answers the question", "网页 {number} 回答了问题"),
    "change_page_no": ("web page {number} does not answer", "网页 {number} 没有回答问题"),
    "change_page_back": ("web page {number} as it was graded", "网页 {number} 恢复原评分"),
    "change_strip_keep": ("strip {number} is kept", "保留片段 {number}"),
    "change_strip_drop": ("strip {number} is dropped", "丢弃片段 {number}"),
    "change_strip_back": ("strip {number} by its score", "片段 {number} 按得分决定"),
    "change_action": ("action: {action}", "动作：{action}"),
    "change_action_second": ("action of the second look: {action}", "再次检索的动作：{action}"),
    "change_web_query": ("the web is asked for “{query}”", "网络查询改为“{query}”"),
    "change_second_query": ("the second look is for “{query}”", "再次检索的查询改为“{query}”"),
    "change_limits": (
        "thresholds {lower:.2f} and {upper:.2f}, strips from {strip:.2f}",
        "阈值 {lower:.2f} 和 {upper:.2f}，片段阈值 {strip:.2f}",
    ),
    # the bar
    "change_answer": ("Answer with these changes", "按这些更改回答"),
    "change_back": ("Take back", "撤销"),
    "change_gone": (
        "This answer is not shown here any more: reload the page.",
        "这个回答已不在此处显示：请刷新页面。",
    ),
    "change_kept": ("Kept strips: {n} of {of}, as before.", "保留片段：{n}/{of}，与之前相同。"),
    "change_kept_before": ("Kept strips: {n} of {of} (before: {before}).", "保留片段：{n}/{of}（之前 {before} 个）。"),
    "change_web_first": (
        "The web will be searched first, which was not done for this answer.",
        "将先搜索网络：这个回答之前没有搜索过。",
    ),
    "change_look_first": (
        "A second look will be taken first, which was not done for this answer.",
        "将先再次检索：这个回答之前没有再次检索过。",
    ),
    "change_empty": (
        "No evidence is left: the answer will be that your documents do not cover the question.",
        "没有证据留下：将回答“您的文档没有涵盖这个问题”。",
    ),
    # grades
    "corrections": ("Correct a grade", "纠正评分"),
    "corrections_help": (
        "Say which documents answer the question, then have the answer made anew with it. What you say is also kept on "
        "this machine for calibration.",
        "请指出哪些文档回答了问题，然后可按此重新回答。您的判断也会保存在本机，用于校准。",
    ),
    "corrections_help_label": (
        "Say which documents answer the question. It is kept on this machine for calibration.",
        "请指出哪些文档回答了问题。您的判断会保存在本机，用于校准。",
    ),
    "label_of": ("Does document {rank}, {place}, answer the question?", "文档 {rank}（{place}）回答了问题吗？"),
    "label_of_web": ("Does web page {rank}, {place}, answer the question?", "网页 {rank}（{place}）回答了问题吗？"),
    "use_said": (
        "Use what you said before of {n} document|Use what you said before of {n} documents",
        "采用您之前对 {n} 个文档的判断",
    ),
    "by_evaluator": ("evaluator: {score}", "评估器：{score}"),
    # strips
    "strip_changes": ("Keep or drop by hand", "手动保留或丢弃"),
    "strip_changes_choose": ("Choose strips by number or by their words", "按编号或文字选择片段"),
    "strip_changes_help": (
        "Choosing a kept strip drops it, choosing a dropped one keeps it, whatever its score.",
        "选择已保留的片段会将其丢弃；选择已丢弃的片段会将其保留，无论得分高低。",
    ),
    "strip_keep": ("{number} keep: {text}", "{number} 保留：{text}"),
    "strip_drop": ("{number} drop: {text}", "{number} 丢弃：{text}"),
    "strip_to_keep": ("you keep it", "您要保留"),
    "strip_to_drop": ("you drop it", "您要丢弃"),
    "fate_kept_by_hand": ("kept by you", "由您保留"),
    "fate_dropped_by_hand": ("dropped by you", "由您丢弃"),
    # the action
    "action_by_hand": ("Action", "动作"),
    "action_by_hand_second": ("Action of the second look", "再次检索的动作"),
    "action_by_scores": ("by the scores", "按得分"),
    # queries
    "search_again": ("Search again", "重新搜索"),
    "search_again_web_query": ("Query for the web", "网络查询"),
    "search_again_second_query": ("Query of the second look", "再次检索的查询"),
    "search_again_leaves": (
        "With Search again this text is sent to the web search; the grades of your documents stay.",
        "点击“重新搜索”后，这段文字会发送给网络搜索服务；文档的评分保持不变。",
    ),
    "search_again_local": (
        "Your documents are looked through once more; the grades of the first look stay.",
        "将再次检索您的文档；首次检索的评分保持不变。",
    ),
    "search_again_empty": ("Type what is to be searched for.", "请输入要搜索的内容。"),
}
