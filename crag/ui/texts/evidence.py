"""Texts of an answer and of the panels with its evidence."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # actions, verdicts, file states: the keys are the values of the enumerations in crag.schema
    "CORRECT": ("Correct", "正确"),
    "AMBIGUOUS": ("Ambiguous", "存疑"),
    "INCORRECT": ("Incorrect", "不相关"),
    "relevant": ("relevant", "相关"),
    "partial": ("partial", "部分相关"),
    "irrelevant": ("irrelevant", "不相关"),
    "ungraded": ("ungraded", "未评分"),
    "added": ("added", "新增"),
    "changed": ("changed", "已修改"),
    "removed": ("removed", "已删除"),
    "n_added": ("{n} added", "新增 {n}"),
    "n_changed": ("{n} changed", "修改 {n}"),
    "n_removed": ("{n} removed", "删除 {n}"),
    "n_unchanged": ("{n} unchanged", "未变 {n}"),
    # answer
    "place": ("{file} p. {page}", "{file} 第 {page} 页"),
    "seconds": ("{n:.1f} s", "{n:.1f} 秒"),
    "unknown_citations": (
        "The answer cites {numbers}, which no source has.",
        "答案引用了 {numbers}，但没有这样的来源。",
    ),
    "unsupported": (
        "{n} sentence is not supported by what it cites.|{n} sentences are not supported by what they cite.",
        "有 {n} 个句子得不到其引用来源的支持。",
    ),
    "uncited": ("{n} sentence cites nothing.|{n} sentences cite nothing.", "有 {n} 个句子没有引用来源。"),
    "evidence": ("Evidence", "证据"),
    "panel_documents": ("Documents {n}", "文档 {n}"),
    "panel_refined_context": ("Refined context {n} of {of}", "精炼上下文 {n}/{of}"),
    "panel_documents_web": ("Documents {n} + {web} web", "文档 {n} + 网络 {web}"),
    "panel_second_look": ("Second look", "再次检索"),
    "panel_web": ("Web off", "网络：关"),
    "panel_web_unused": ("Web not needed", "网络：未用"),
    "panel_web_searched": ("Web {n}", "网络 {n}"),
    "panel_web_failed": ("Web failed", "网络：失败"),
    "panel_timing": ("Timing", "用时"),
    "panel_on_page": ("On the page", "页面"),
    "in_knowledge_base": ("In the knowledge base", "在知识库中"),
    "show_on_page": ("Show it on its page", "在页面上查看"),
    # evidence on the page
    "source": ("Source", "来源"),
    "place_unused": ("{place} (not used)", "{place}（未使用）"),
    "look_cited": ("cited", "已引用"),
    "look_kept": ("kept", "保留"),
    "look_dropped": ("dropped", "丢弃"),
    "nothing_on_page": ("No strip of this answer stands on this page.", "此页没有该回答的片段。"),
    "on_this_page": ("On this page", "本页内容"),
    "page_read_anew": (
        "This file was read anew since: the strips have no place on this page any more. Ask again to see them.",
        "此文件之后被重新读取，片段在此页上已无对应位置。请重新提问以查看。",
    ),
    "page_alt": ("Page {page} of {file}", "{file} 第 {page} 页"),
    "page_of": ("Page {n} of {of}", "第 {n}/{of} 页"),
    "previous_page": ("Previous", "上一页"),
    "next_page": ("Next", "下一页"),
    "zoom": ("Zoom", "缩放"),
    "zoom_fit": ("Fit", "适合宽度"),
    "download_image": ("Image", "下载图片"),
    "drawing": ("Drawing …", "正在绘制 …"),
    "image_gone": (
        "The file is no longer there, so its page cannot be shown: here is the text as it was read.",
        "文件已不在，无法显示页面：以下是读取时的文本。",
    ),
    "image_changed": (
        "The file has changed since it was read, so its page is not shown: rebuild to see it.",
        "文件在读取之后已修改，因此不显示页面：请重建后查看。",
    ),
    "image_locked": (
        "The file is protected by a password: give it to see the pages.",
        "文件受密码保护：请输入密码以查看页面。",
    ),
    "image_slow": (
        "Drawing this page took too long and was given up: open the file itself.",
        "绘制此页耗时过长，已放弃：请直接打开文件。",
    ),
    "image_broken": (
        "This page cannot be drawn: open the file itself.",
        "无法绘制此页：请直接打开文件。",
    ),
    # documents
    "rank": ("#", "#"),
    "file": ("file", "文件"),
    "score": ("score", "得分"),
    "pages": ("p. {pages}", "第 {pages} 页"),
    "verdict": ("verdict", "判定"),
    "reason": ("reason", "理由"),
    "no_documents": ("Nothing was retrieved.", "没有检索到任何文档。"),
    "ungraded_help": (
        "{n} document is ungraded: it has no score and takes no part in the decision.|"
        "{n} documents are ungraded: they have no score and take no part in the decision.",
        "{n} 个文档未评分：没有得分，不参与判断。",
    ),
    "plot_alt": (
        "Scores of the documents from 0 to 1, with the lower and the upper threshold",
        "各文档 0 到 1 的得分，以及下阈值和上阈值",
    ),
    "table_alt": ("Documents with score, verdict and reason", "文档及其得分、判定和理由"),
    # web
    "web_page": ("web page", "网页"),
    "from_the_web": ("From the web", "来自网络"),
    "web_sent": (
        "“{query}” was sent to {provider} at {time} UTC. {n} result came back.|"
        "“{query}” was sent to {provider} at {time} UTC. {n} results came back.",
        "已将“{query}”发送给 {provider}（{time} UTC），返回 {n} 个结果。",
    ),
    "web_no_answer": (
        "“{query}” was sent to {provider} at {time} UTC. No answer came back.",
        "已将“{query}”发送给 {provider}（{time} UTC），没有收到答复。",
    ),
    "web_place": ("{title} · {host}", "{title} · {host}"),
    "web_nothing": ("Nothing there can be used.", "其中没有可用的内容。"),
    "corrections": ("Correct a grade", "纠正评分"),
    "corrections_help": (
        "Say which documents answer the question. It is kept on this machine for calibration and changes nothing here.",
        "请指出哪些文档回答了问题。标注只保存在本机，用于校准，不会改变这里的结果。",
    ),
    "answers_it": ("Answers the question", "回答了问题"),
    "answers_not": ("Does not", "没有回答"),
    "label_of": ("Does document {rank}, {place}, answer the question?", "文档 {rank}（{place}）回答了问题吗？"),
    "corrected_yes": ("you: answers", "您：回答了"),
    "corrected_no": ("you: does not answer", "您：没有回答"),
    # refined context
    "filter": ("Strips to show", "显示的片段"),
    "filter_all": ("All", "全部"),
    "filter_kept": ("kept", "保留"),
    "filter_dropped": ("dropped", "丢弃"),
    "filter_near": ("near the threshold", "接近阈值"),
    "strips_help": (
        "Strips in document order. Kept from {strip:.2f} on, at most {top}.",
        "片段按文档顺序排列。得分不低于 {strip:.2f} 的保留，最多 {top} 个。",
    ),
    "strips_help_web": (
        "Strips in document order, those of the web last. Kept from {strip:.2f} on, at most {top} of each kind.",
        "片段按文档顺序排列，网络片段在后。得分不低于 {strip:.2f} 的保留，文档和网络各最多 {top} 个。",
    ),
    "none_of_these": ("No strip is like that.", "没有这样的片段。"),
    "no_strips": ("There are no strips: no document was refined.", "没有片段：没有精炼任何文档。"),
    "no_score": ("no score", "无得分"),
    "given": ("Given to the generator", "提供给生成器的文本"),
    "given_help": (
        "{n} character, exactly as it was read, from {sources} numbered sources|"
        "{n} characters, exactly as they were read, from {sources} numbered sources",
        "共 {n} 个字符，来自 {sources} 个编号来源，与生成器读到的完全一致",
    ),
    "given_nothing": (
        "Nothing: no evidence was left, so nothing was generated.",
        "无：没有留下任何证据，因此没有生成内容。",
    ),
    "fate_fallback": (
        "kept as the best there is, although below the threshold",
        "低于阈值，但因得分最高而保留",
    ),
    "fate_document_irrelevant": ("its document is below the lower threshold", "所在文档低于下阈值"),
    "fate_document_ungraded": ("its document is ungraded", "所在文档未评分"),
    "fate_below_threshold": ("below the strip threshold", "低于片段阈值"),
    "fate_beyond_top": ("enough better strips were kept", "已保留足够多得分更高的片段"),
    "fate_beyond_window": ("better strips filled the model's window", "得分更高的片段已占满模型窗口"),
    "fate_ungraded": ("ungraded", "未评分"),
    "fate_discarded": ("the action leaves these documents out as a whole", "此判断整体舍弃这些文档"),
    # second look
    "web_off": (
        "The web is off. Where your documents do not answer, CRAG takes a second look at them.",
        "网络已关闭。当文档不能回答时，会用改写的查询再次检索文档。",
    ),
    "web_not_needed": (
        "The web was not needed: nothing was sent.",
        "不需要搜索网络：没有发送任何内容。",
    ),
    "no_second_look": ("The first look was enough.", "首次检索已经足够。"),
    "second_query": ("Rewritten query", "改写后的查询"),
    "second_documents": ("{n} document of the second look|{n} documents of the second look", "再次检索的 {n} 个文档"),
    # timing
    "milliseconds": ("milliseconds", "毫秒"),
    "no_timings": ("Nothing was timed.", "没有计时。"),
    "timing_alt": ("Milliseconds per stage", "各阶段毫秒数"),
    "timing_total": (
        "{n:.2f} s in all · evaluator: {evaluator} · generator: {generator}",
        "共 {n:.2f} 秒 · 评估器：{evaluator} · 生成器：{generator}",
    ),
    "timing_embed": ("embed the question", "问题向量化"),
    "timing_retrieve": ("retrieve", "检索"),
    "timing_grade": ("grade", "评分"),
    "timing_decide": ("decide", "判断"),
    "timing_search": ("search the web", "搜索网络"),
    "timing_grade_web": ("grade the web", "网络结果评分"),
    "timing_refine": ("refine", "精炼"),
    "timing_generate": ("generate", "生成"),
    "timing_check": ("check citations", "核对引用"),
    "stage_again": ("second look: {stage}", "再次检索：{stage}"),
}
