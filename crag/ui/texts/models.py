"""Texts of who does what, and of what leaves the machine."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "leaves_nothing": ("Nothing leaves this machine with these settings.", "按当前设置，没有任何内容离开本机。"),
    "leaves": ("What leaves this machine: {places}.", "离开本机的内容：{places}。"),
    "leaves_to": ("to {host} {things}", "发送到 {host} 的有{things}"),
    "leaves_and": ("; ", "；"),
    "and": (", ", "、"),
    "sends_files": ("every file as it is", "每个文件本身"),
    "sends_passages": ("the text of all your files", "您所有文件的文本"),
    "sends_question": ("your questions", "您的问题"),
    "sends_history": ("earlier turns of the conversation", "之前的对话"),
    "sends_context": ("the refined context", "精炼上下文"),
    "sends_documents": ("every retrieved document", "检索到的每个文档"),
    "sends_query": ("the search query", "搜索查询"),
    "sends_pages": (
        "and pages that are found may be fetched from their sites",
        "找到的网页可能会从其网站读取",
    ),
    "task_read": ("Reads files", "读取文件"),
    "task_embed": ("Embeds", "向量化"),
    "task_grade": ("Grades", "评分"),
    "task_write": ("Writes", "作答"),
    "task_rewrite": ("Rewrites the query", "改写查询"),
    "task_search": ("Searches the web", "搜索网络"),
    "service_": ("nobody", "无"),
    "service_builtin": ("built in", "内置解析器"),
    "service_extractive": ("quotes the documents, no model", "引用文档原文，不使用模型"),
    "service_idf": ("keywords of the question, no model", "问题中的关键词，不使用模型"),
    "service_here": ("on this machine", "在本机"),
    "service_at": ("at {host}", "位于 {host}"),
    "test": ("Test connection", "测试连接"),
    "test_help": (
        "Sends a few words that tell nothing of you, and costs what a very short call costs.",
        "发送几个与您无关的词，费用相当于一次很短的调用。",
    ),
    "test_help_search": (
        "Searches for a few words that tell nothing of you, at the price of a search. What was kept is not looked at, "
        "and it does not count among the searches of the day.",
        "搜索几个与您无关的词，费用为一次搜索。不使用已保留的结果，也不计入每日搜索次数。",
    ),
    "test_help_read": ("Asks the service for its version; no file is sent.", "仅询问服务的版本，不发送任何文件。"),
    "testing": ("testing …", "正在测试 …"),
    "test_cost": ("It cost {cost}.", "费用 {cost}。"),
}
