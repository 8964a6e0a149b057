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
    "service_row": ("{task}: {name}", "{task}：{name}"),
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
    # second opinion
    "opinion": ("Second opinion", "再次评分"),
    "opinion_help": (
        "Ask about one document again; those nearest to a threshold come first. This answer stays as it is.",
        "再次询问某个文档的得分，最接近阈值的排在前面。当前回答不会改变。",
    ),
    "opinion_fixed": (
        "The evaluator {evaluator} gives a text the same score every time: only a model can say something new.",
        "评估器 {evaluator} 对同一文本的评分始终相同：只有语言模型才能给出新的意见。",
    ),
    "opinion_another_judge": (
        "Another model graded this answer than the one that is set now.",
        "为此回答评分的模型与当前设置的模型不同。",
    ),
    "opinion_nobody": (
        "None is chosen: choose one on the page Settings, under Models.",
        "尚未选择模型：请在“设置”页面的“模型”中选择。",
    ),
    "opinion_document": ("Document", "文档"),
    "opinion_row": ("{rank}. {place} · {score:.2f}", "{rank}. {place} · {score:.2f}"),
    "opinion_again": ("Grade again", "重新评分"),
    "opinion_again_help": (
        "Asks the judge once more, past what it said before. The question asked anew uses the new grade.",
        "不用之前的结果，让评分模型再评一次。再次提问时会使用新的评分。",
    ),
    "opinion_stable": ("How stable?", "是否稳定？"),
    "opinion_stable_help": (
        "Grades it {n} more time, in other company: a score that hangs on its neighbours shows.|"
        "Grades it {n} more times, in other company each time: a score that hangs on its neighbours shows.",
        "再评 {n} 次，每次与不同的文档放在一起：得分若受旁边文档影响就会显现。",
    ),
    "opinion_other": ("Ask {model}", "询问 {model}"),
    "opinion_other_help": (
        "Has another model grade it {n} time.|Has another model grade it {n} times, in other company each time.",
        "由另一个模型评分 {n} 次，每次与不同的文档放在一起。",
    ),
    "opinion_asking": ("asking …", "正在询问 …"),
    "opinion_alt": ("The new scores from 0 to 1, with both thresholds", "0 到 1 的新得分及上、下阈值"),
    "opinion_scores": (
        "{model} gives {scores}; in this answer it is {before:.2f}.",
        "{model} 给出 {scores}；当前回答中为 {before:.2f}。",
    ),
    "opinion_stay_relevant": (
        "{n} of {of} stays at or above {upper:.2f}.|{n} of {of} stay at or above {upper:.2f}.",
        "{of} 次中有 {n} 次仍不低于 {upper:.2f}。",
    ),
    "opinion_stay_partial": (
        "{n} of {of} stays between {lower:.2f} and {upper:.2f}.|{n} of {of} stay between {lower:.2f} and {upper:.2f}.",
        "{of} 次中有 {n} 次仍在 {lower:.2f} 与 {upper:.2f} 之间。",
    ),
    "opinion_stay_irrelevant": (
        "{n} of {of} stays below {lower:.2f}.|{n} of {of} stay below {lower:.2f}.",
        "{of} 次中有 {n} 次仍低于 {lower:.2f}。",
    ),
    "opinion_spread": ("Mean {mean:.2f}, spread {spread:.2f}.", "均值 {mean:.2f}，极差 {spread:.2f}。"),
    "opinion_kept": ("The question asked anew uses the new grade.", "再次提问时会使用新的评分。"),
    "opinion_failed": ("{n} grading failed. {causes}|{n} gradings failed. {causes}", "{n} 次评分失败。{causes}"),
    "build_tokens": ("{n:,} token for vectors|{n:,} tokens for vectors", "向量化用了 {n:,} 个词元"),
    "call_role_embed": ("embed", "向量化"),
    "test_cost": ("It cost {cost}.", "费用 {cost}。"),
    "searches_used": (
        "{n:,} of today's {limit:,} searches is used.|{n:,} of today's {limit:,} searches are used.",
        "今日 {limit:,} 次搜索已用 {n:,} 次。",
    ),
    "searches_cost": ("That cost {cost}.", "共计 {cost}。"),
}
