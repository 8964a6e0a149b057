"""Texts of the Models page."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "models": ("Models", "模型"),
    "models_help": (
        "Set by CRAG_* variables; see docs/models.md. A change counts from the next start on.",
        "由 CRAG_* 变量设定，参见 docs/models.md。更改在下次启动后生效。",
    ),
    "leaves_nothing": ("Nothing leaves this machine with these settings.", "按当前设置，没有任何内容离开本机。"),
    "leaves": ("What leaves this machine: {places}.", "离开本机的内容：{places}。"),
    "leaves_to": ("to {host} {things}", "发送到 {host} 的有{things}"),
    "leaves_and": ("; ", "；"),
    "and": (", ", "、"),
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
    "task_embed": ("Embeds", "向量化"),
    "task_grade": ("Grades", "评分"),
    "task_write": ("Writes", "作答"),
    "task_rewrite": ("Rewrites the query", "改写查询"),
    "task_search": ("Searches the web", "搜索网络"),
    "service_": ("nobody", "无"),
    "service_extractive": ("quotes the documents, no model", "引用文档原文，不使用模型"),
    "service_idf": ("keywords of the question, no model", "问题中的关键词，不使用模型"),
    "service_here": ("on this machine", "在本机"),
    "service_at": ("at {host}", "位于 {host}"),
    "test": ("Test connection", "测试连接"),
    "test_help": (
        "Sends a few words that tell nothing of you, and costs what a very short call costs.",
        "发送几个与您无关的词，费用相当于一次很短的调用。",
    ),
    "testing": ("testing …", "正在测试 …"),
    "build_tokens": ("{n:,} token for vectors|{n:,} tokens for vectors", "向量化用了 {n:,} 个词元"),
    "call_role_embed": ("embed", "向量化"),
    "test_cost": ("It cost {cost}.", "费用 {cost}。"),
}
