"""Texts of the page as a whole, of the conversation, and of the numbers of the decision."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # opening
    "opening": ("Getting ready", "正在准备"),
    "please_wait": ("Opening the knowledge base", "正在打开知识库"),
    "opening_help": (
        "The first start prepares the embedding model on this machine: up to a minute. Nothing is downloaded.",
        "首次启动会在本机准备向量模型，最多需要一分钟。不会下载任何内容。",
    ),
    "open_failed": ("The app could not be opened", "应用无法打开"),
    "try_again": ("Try again", "重试"),
    "grade_again": ("Grade again", "重新评分"),
    "write_again": ("Write it again", "重新作答"),
    # welcome
    "welcome": ("Ask your own PDFs", "向您自己的 PDF 提问"),
    "what_it_does": (
        "CRAG grades what it finds before it answers, and shows you why the answer can be trusted.",
        "CRAG 在回答之前先评估找到的证据，并展示答案为什么可信。",
    ),
    "guide_is_there": (
        "A guide to CRAG is already in the folder: press Rebuild once and ask it. Your own PDFs can follow.",
        "文件夹中已有一份 CRAG 指南：点击一次“重建”即可提问。之后可以添加您自己的 PDF。",
    ),
    "examples": ("For example", "例如"),
    "example": ("Tell me about “{heading}”.", "请介绍“{heading}”。"),
    "example_clause": ("Tell me {heading}.", "请介绍“{heading}”。"),
    # conversation
    "new": ("New", "新对话"),
    "ask": ("Ask about your documents, or one: @file", "就您的文档提问，或只问一个：@文件名"),
    "which_files": ("Files to ask", "提问范围"),
    "which_files_all": ("All files|All {n} files", "全部 {n} 个文件"),
    "which_files_help": (
        "Questions are answered from the chosen files alone; with none chosen from all of them.",
        "只用所选文件回答问题；未选择时使用全部文件。",
    ),
    "which_files_gone": ("{file} (not in the index)", "{file}（不在索引中）"),
    "asked_of": ("Asked of: {files}", "提问范围：{files}"),
    "answering": ("Answering; what you ask now comes next", "正在回答；现在提的问题会接着处理"),
    "nothing_to_ask": ("Add PDFs and rebuild, then ask here", "请先添加 PDF 并重建，再在这里提问"),
    "conversation_gone": (
        "This conversation is not known here any more. Ask to start a new one.",
        "这里已找不到这个对话。提问即可开始新的对话。",
    ),
    "stop": ("Stop", "停止"),
    "stopping": ("stopping …", "正在停止 …"),
    "stopped": ("You stopped this answer: what was ready is kept.", "您停止了这个回答：已完成的部分保留在此。"),
    "stopped_empty": ("You stopped this answer: nothing was ready yet.", "您停止了这个回答：尚无任何结果。"),
    "said_end": ("Answered. {action}. {sentence}", "已回答。{action}。{sentence}"),
    "understood": ("Understood as: {question}", "理解为：{question}"),
    "step_drafted": ("answer drafted", "已起草答案"),
    "step_retrieved": ("retrieved {n}", "检索到 {n} 个"),
    "step_graded": ("graded {n}", "已评分 {n} 个"),
    "step_rewritten": ("query rewritten", "已改写查询"),
    "step_searched": ("{n} from the web", "网络结果 {n} 个"),
    "step_kept": ("kept {n} strip|kept {n} strips", "保留 {n} 个片段"),
    "doing_waiting": ("waiting for the answer above …", "正在等待上一个回答 …"),
    "doing_retrieving": ("retrieving …", "正在检索 …"),
    "doing_retrieving_again": ("second look …", "正在再次检索 …"),
    "doing_searching": ("searching the web …", "正在搜索网络 …"),
    "doing_asking": ("waiting for you …", "等待您的决定 …"),
    "doing_thinking": ("thinking …", "正在思考 …"),
    "doing_grading": ("grading …", "正在评分 …"),
    "doing_deciding": ("deciding …", "正在判断 …"),
    "doing_refining": ("refining …", "正在精炼 …"),
    "doing_writing": ("writing …", "正在作答 …"),
    # the gate before the web
    "gate_title": ("May this query be sent to {provider}?", "可以将此查询发送给 {provider} 吗？"),
    "gate_query": ("Search query", "搜索查询"),
    "gate_empty": ("Type what is to be searched for", "请输入要搜索的内容"),
    "gate_leaves": (
        "Your documents do not settle the question. Nothing has been sent yet; with Send this text alone leaves your "
        "machine, nothing of your documents.",
        "您的文档不足以回答此问题。目前尚未发送任何内容；点击“发送”后，只有这段文字会离开本机，文档内容不会发送。",
    ),
    "gate_fetches": (
        "Pages that are found may then be fetched from their sites.",
        "之后可能会从相应网站读取找到的网页。",
    ),
    "gate_send": ("Send", "发送"),
    "gate_decline": ("Do not search", "不搜索"),
    # decision
    "decision": ("Decision", "判断"),
    "thresholds": ("Lower and upper threshold", "下阈值和上阈值"),
    "thresholds_help": (
        "A document from the upper threshold on is relevant and makes the action Correct. "
        "Where all are below the lower one, it is Incorrect. Between them it is Ambiguous.",
        "得分达到上阈值的文档为相关，动作为“正确”；全部低于下阈值则为“不相关”；介于两者之间为“存疑”。",
    ),
    "strip_threshold": ("Strip threshold", "片段阈值"),
    "strip_threshold_help": (
        "Strips from this score on are kept and given to the generator.",
        "得分不低于此值的片段会保留并提供给生成器。",
    ),
    "k": ("Documents per question", "每个问题检索的文档数"),
    "k_help": ("So many passages are retrieved and graded.", "检索并评分的段落数量。"),
    "limits_default": ("The defaults: conventions, not calibrated.", "默认值：约定值，未经校准。"),
    "limits_calibrated": (
        "Calibrated {day} on {n} question.|Calibrated {day} on {n} questions.",
        "已于 {day} 用 {n} 个问题校准。",
    ),
    "limits_set": ("Set in the settings or by CRAG_* variables.", "由设置或 CRAG_* 变量设定。"),
    "decision_help": ("Applies from the next question on.", "从下一个问题起生效。"),
    "reset": ("Reset", "恢复默认"),
}
