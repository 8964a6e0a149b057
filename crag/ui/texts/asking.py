"""Texts around the box to ask in and under an answer: files, follow-ups, thumbs, marks."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # what was sent to the model
    "sent": ("Sent to the model", "发送给模型的内容"),
    "sent_tokens": (
        "{tokens:,} tokens as {model} counts them, {n:,} characters, byte for byte as they were sent",
        "{model} 计数为 {tokens:,} 个词元，共 {n:,} 个字符，与实际发送的内容逐字节一致",
    ),
    "sent_tokens_about": (
        "about {tokens:,} tokens, {n:,} characters, byte for byte as they were sent to {model}",
        "约 {tokens:,} 个词元，共 {n:,} 个字符，与发送给 {model} 的内容逐字节一致",
    ),
    "about_tokens": ("about {n:,}", "约 {n:,}"),
    "origin_instructions": ("instructions", "指令"),
    "origin_history": ("history", "对话历史"),
    "origin_question": ("question", "问题"),
    "origin_local": ("your documents", "您的文档"),
    "origin_web": ("web", "网络"),
    "message_system": ("system message", "系统消息"),
    "message_user": ("user message", "用户消息"),
    "copy_sent": ("Copy all of it", "全部复制"),
    "copied": ("Copied", "已复制"),
    # sentences that are not held, and markers without a source
    "mark_weak": ("weak", "支持较弱"),
    "mark_unsupported": ("not supported", "无支持"),
    "mark_uncited": ("no citation", "无引用"),
    "no_such_source": ("No source has the number {n}.", "没有编号为 {n} 的来源。"),
    "doubts_unsupported": (
        "{n} sentence is not supported by what it cites|{n} sentences are not supported by what they cite",
        "有 {n} 个句子得不到其引用来源的支持",
    ),
    "doubts_uncited": ("{n} sentence cites nothing|{n} sentences cite nothing", "有 {n} 个句子没有引用来源"),
    "doubts_weak": (
        "{n} sentence is weakly supported|{n} sentences are weakly supported",
        "有 {n} 个句子只得到较弱的支持",
    ),
    "doubt_cites": ("Cites {sources}", "引用 {sources}"),
    "doubt_uncited": (
        "It cites no source, so nothing could be checked.",
        "没有引用来源，因此无法核对。",
    ),
    "doubt_no_source": ("No source has the number {numbers}.", "没有编号为 {numbers} 的来源。"),
    "doubt_numbers": ("Not in the cited text: {numbers}.", "引用的文本中没有：{numbers}。"),
    "doubt_words": ("Words that the cited text does not hold: {words}.", "引用的文本中没有这些词：{words}。"),
    "doubt_foreign": (
        "The source is in another language, so words cannot be compared.",
        "来源使用另一种语言，因此无法比较词语。",
    ),
    "doubt_other": (
        "The cited text holds too few of its words.",
        "引用的文本只包含其中少数词语。",
    ),
    # the box: files that are named in a question, and files that come with it
    "name_of_several": (
        "{name} could mean several files. Which one?",
        "{name} 可能指多个文件。是哪一个？",
    ),
    "name_of_none": (
        "No file is called {name}. Did you mean one of these?",
        "没有名为 {name} 的文件。您是指以下之一吗？",
    ),
    "ask_as_typed": ("Ask all files, as typed", "按原文向全部文件提问"),
    "only_files_named": (
        "Type what you want to know behind the name of the file.",
        "请在文件名之后输入您的问题。",
    ),
    "added_then_asked": (
        "The new files are read now; your question is put when that is done.",
        "正在读取新文件；完成后会自动提问。",
    ),
    "added_to_read": ("The new files are read now.", "正在读取新文件。"),
    "name_taken_decide": (
        "Another file is called {file}: decide in the sidebar what happens with the new one.",
        "已有名为 {file} 的其他文件：请在侧边栏决定如何处理新文件。",
    ),
    "doing_reading_files": ("reading the new files first …", "正在先读取新文件 …"),
    # under an answer
    "copy": ("Copy", "复制"),
    "copied_sources": ("Sources:", "来源："),
    "why_liked": ("What was good?", "好在哪里？"),
    "why_not": ("What was wrong?", "哪里不好？"),
    "why_placeholder": ("Optional", "可选"),
    "why_help": (
        "Kept with the conversation on this machine; nobody else gets it.",
        "与对话一起保存在本机，不会发送给任何人。",
    ),
    "follow_ups": ("You could also ask", "您还可以问"),
    # a source on the web
    "show_web_source": ("Show what was read there", "查看读取的内容"),
    "web_source": ("Web source", "网络来源"),
    "web_read": ("Read {time} UTC", "读取于 {time} UTC"),
    "web_published": ("Published {date}", "发布于 {date}"),
    # waterfall
    "run_began": ("began after {time}", "{time} 后开始"),
    "run_tokens": ("{n:,} token|{n:,} tokens", "{n:,} 个词元"),
    "reused_grades": (
        "{n} of {of} grades kept from an earlier question",
        "{of} 个评分中有 {n} 个来自之前的提问",
    ),
    "reused_vectors": ("{n} of {of} vectors were there already", "{of} 个向量中有 {n} 个已存在"),
    "reused_web": ("results kept from an earlier search", "结果来自之前的搜索"),
}
