"""Texts of what is handed on: the export under an answer, and the report itself."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # on the page
    "export": ("Export", "导出"),
    "export_conversation": ("Export the conversation", "导出整个对话"),
    "export_help": (
        "To hand on to somebody who has to check the answer. Nothing is sent anywhere.",
        "交给需要核对答案的人。不会发送到任何地方。",
    ),
    "export_as_html": ("Report with page images", "带页面图像的报告"),
    "export_as_md": ("Text as Markdown", "Markdown 文本"),
    "export_as_json": ("JSON, the whole trace", "JSON（完整记录）"),
    # in the report
    "export_title": ("Answers with their evidence", "答案及其证据"),
    "export_written": (
        "{n} question, exported on {time} UTC by CRAG {version}.|"
        "{n} questions, exported on {time} UTC by CRAG {version}.",
        "共 {n} 个问题，由 CRAG {version} 于 {time}（UTC）导出。",
    ),
    "export_asked": ("Asked on {time} UTC.", "提问时间：{time}（UTC）。"),
    "export_understood": ("Understood as: {question}", "理解为：{question}"),
    "export_doubts": ("What to know before you rely on it", "使用前须知"),
    "export_no_doubts": (
        "Nothing was out of order: the answer is complete, all of it was graded, and what it cites supports it.",
        "一切正常：回答完整，证据均已评分，引用支持其内容。",
    ),
    "export_cut": ("The answer ends before it is complete. {why}", "回答不完整，提前结束。{why}"),
    "export_direct": (
        "Answered without evidence, since the message asked for none: nothing here was checked.",
        "该消息不需要证据，因此未经证据直接回答：这里的内容没有核对。",
    ),
    "export_not_covered": (
        "The knowledge base does not cover this question.",
        "知识库没有涵盖这个问题。",
    ),
    "export_unsupported": (
        "Not supported by what it cites: “{text}”",
        "得不到引用来源的支持：“{text}”",
    ),
    "export_uncited": ("Cites nothing: “{text}”", "没有引用任何来源：“{text}”"),
    "export_weak": ("Only partly supported by what it cites: “{text}”", "仅得到引用来源的部分支持：“{text}”"),
    "export_call_failed": ("A call of {model} failed: {error}", "调用 {model} 失败：{error}"),
    "export_answer": ("Answer", "答案"),
    "export_no_answer": ("There is no answer.", "没有答案。"),
    "export_sources": ("Sources", "来源"),
    "export_not_cited": ("given to the generator, not cited", "已提供给生成器，但未被引用"),
    "export_also": ("Also in {files}.", "也见于 {files}。"),
    "export_too_many_pages": (
        "This report shows the first pages only: open the file itself for this one.",
        "本报告只显示前若干页：此页请直接打开文件查看。",
    ),
    "export_stale": (
        "The file was read anew since, so nothing is marked on this page.",
        "此文件之后被重新读取，因此页面上没有标记。",
    ),
    "export_legend": (
        "Strong frame: cited. Thin frame: kept. Dashed grey: dropped.",
        "粗框：已引用；细框：保留；灰色虚线：丢弃。",
    ),
    "export_documents": ("Documents and their scores", "文档及其得分"),
    "export_decisions": ("Decisions", "判断"),
    "export_strips": ("Every strip: {kept} of {n} kept", "全部片段：保留 {kept}/{n}"),
    "export_made_by": (
        "Evaluator {evaluator}, generator {generator}; thresholds {lower:.2f} and {upper:.2f}, strips {strip:.2f}.",
        "评估器 {evaluator}，生成器 {generator}；阈值 {lower:.2f} 和 {upper:.2f}，片段阈值 {strip:.2f}。",
    ),
    "export_took": (
        "{seconds:.1f} s, {n} call of a model.|{seconds:.1f} s, {n} calls of models.",
        "用时 {seconds:.1f} 秒，调用模型 {n} 次。",
    ),
    "export_cost": ("Known cost: {cost} {currency}.", "已知费用：{cost} {currency}。"),
}
