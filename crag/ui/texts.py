"""Every text of the page, in English and Chinese; `one|many` is chosen by `n`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LANGUAGES: Final = ("en", "zh")

CATALOG: Final[dict[str, tuple[str, str]]] = {
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
    # opening
    "opening": ("Getting ready", "正在准备"),
    "please_wait": ("Opening the knowledge base", "正在打开知识库"),
    "opening_help": (
        "The first start prepares the embedding model on this machine: up to a minute. Nothing is downloaded.",
        "首次启动会在本机准备向量模型，最多需要一分钟。不会下载任何内容。",
    ),
    "open_failed": ("The app could not be opened", "应用无法打开"),
    "try_again": ("Try again", "重试"),
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
    "ask": ("Ask about your documents", "就您的文档提问"),
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
    "step_retrieved": ("retrieved {n}", "检索到 {n} 个"),
    "step_graded": ("graded {n}", "已评分 {n} 个"),
    "step_rewritten": ("query rewritten", "已改写查询"),
    "step_searched": ("{n} from the web", "网络结果 {n} 个"),
    "step_kept": ("kept {n} strip|kept {n} strips", "保留 {n} 个片段"),
    "doing_waiting": ("waiting for the answer above …", "正在等待上一个回答 …"),
    "doing_retrieving": ("retrieving …", "正在检索 …"),
    "doing_retrieving_again": ("second look …", "正在再次检索 …"),
    "doing_searching": ("searching the web …", "正在搜索网络 …"),
    "doing_grading": ("grading …", "正在评分 …"),
    "doing_deciding": ("deciding …", "正在判断 …"),
    "doing_refining": ("refining …", "正在精炼 …"),
    "doing_writing": ("writing …", "正在作答 …"),
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
    # knowledge base
    "knowledge_base": ("Knowledge base", "知识库"),
    "kb_size": (
        "{n} file · {passages:,} passages|{n} files · {passages:,} passages",
        "{n} 个文件 · {passages:,} 个段落",
    ),
    "add_pdfs": ("Add PDFs", "添加 PDF"),
    "add_pdfs_help": (
        "They are stored in the folder {folder}. You can put PDFs there yourself as well.",
        "文件保存在文件夹 {folder} 中。您也可以自己把 PDF 放进去。",
    ),
    "no_files": (
        "No PDFs yet: drop some above, or put them into {folder}.",
        "还没有 PDF：请拖放到上方，或放入 {folder}。",
    ),
    "up_to_date": ("Up to date: {n} unchanged", "已是最新：{n} 个未变"),
    "ignored": ("{n} other file left alone|{n} other files left alone", "{n} 个其他文件未处理"),
    "ignored_help": ("Only PDFs are read.", "只读取 PDF。"),
    "rebuild": ("Rebuild", "重建"),
    "refresh": ("Look again", "重新检查"),
    "refresh_help": ("Looks for files that were put into the folder meanwhile.", "检查文件夹中是否有新放入的文件。"),
    "build_starting": ("Comparing files …", "正在比较文件 …"),
    "build_finishing": ("Publishing …", "正在发布 …"),
    "build_between": ("{n} of {of} files done", "已完成 {n}/{of} 个文件"),
    "build_file": ("{n} of {of}: {file}", "第 {n}/{of} 个：{file}"),
    "stage_reading": ("reading page {done} of {total}", "正在读取第 {done}/{total} 页"),
    "stage_embedding": ("embedding passage {done} of {total}", "正在向量化第 {done}/{total} 个段落"),
    "stage_staged": ("finished", "已完成"),
    "pages_per_second": ("{rate:.1f} pages/s", "{rate:.1f} 页/秒"),
    "cancel": ("Cancel", "取消"),
    "cancelling": ("Cancelling …", "正在取消 …"),
    "build_failed": ("The rebuild failed. {error}", "重建失败。{error}"),
    "build_elsewhere": (
        "Another process is building the knowledge base. Look again when it has finished.",
        "另一个进程正在重建知识库。请在其完成后重新检查。",
    ),
    "build_published": ("{n} file published|{n} files published", "已发布 {n} 个文件"),
    "build_done": ("Last rebuild: {n} read, {seconds:.0f} s", "上次重建：读取 {n} 个，{seconds:.0f} 秒"),
    "build_cancelled": ("Rebuild cancelled, {n} finished", "重建已取消，完成 {n} 个"),
    "n_failed": ("{n} failed", "{n} 个失败"),
    "nothing_to_read": ("Last rebuild: there was nothing to read", "上次重建：没有需要读取的文件"),
    "staged": (
        "{n} finished file of a cancelled rebuild waits: questions do not see it yet.|"
        "{n} finished files of a cancelled rebuild wait: questions do not see them yet.",
        "已取消的重建中有 {n} 个已完成的文件：提问时尚不可见。",
    ),
    "publish": ("Publish them", "发布"),
    "keep": ("Keep for the next rebuild", "留待下次重建"),
    "files": ("Files {n}", "文件 {n}"),
    "file_ok": ("indexed", "已索引"),
    "file_warned": ("indexed with warnings", "已索引，有警告"),
    "file_failed": ("not indexed", "未索引"),
    "file_numbers": ("{pages} p. · {n} passage|{pages} p. · {n} passages", "{pages} 页 · {n} 个段落"),
    "and_more": ("and {n} more", "另有 {n} 个"),
    # the Knowledge base page
    "chat": ("Chat", "对话"),
    "all_files": ("All files", "全部文件"),
    "all_pages": ("All pages", "全部页面"),
    "no_rows": ("Nothing is indexed yet: add PDFs and rebuild.", "尚未建立索引：请添加 PDF 并重建。"),
    "n_pages": ("{n:,} page|{n:,} pages", "{n:,} 页"),
    "n_ocr": ("{n} page read by OCR|{n} pages read by OCR", "OCR 识别 {n} 页"),
    "n_not_indexed": ("{n} not indexed", "{n} 个未索引"),
    "search_files": ("Search in names", "搜索文件名"),
    "name": ("Part of a name", "文件名的一部分"),
    "no_such_file": ("No file has a name like that.", "没有这样的文件名。"),
    "open_file_help": ("Click a file to see its pages.", "点击文件可查看其页面。"),
    "files_alt": ("Files with pages, passages, warnings and size", "文件及其页数、段落数、警告和大小"),
    "column_file": ("File", "文件"),
    "column_state": ("State", "状态"),
    "column_pages": ("Pages", "页数"),
    "column_passages": ("Passages", "段落"),
    "column_ocr": ("OCR’d", "OCR 页"),
    "column_ocr_help": ("Pages whose text was read from their picture.", "从图像识别出文本的页数。"),
    "column_warnings": ("Warnings", "警告"),
    "column_seconds": ("Seconds", "秒"),
    "column_size": ("Size", "大小"),
    "column_note": ("Note", "说明"),
    "pages_to_show": ("Pages to show", "显示的页面"),
    "pages_all": ("All {n}", "全部 {n}"),
    "pages_doubtful": ("Worth a look {n}", "需要留意 {n}"),
    "page_n": ("Page {n}", "第 {n} 页"),
    "no_image": ("no image", "无图像"),
    "health_text": ("text", "文本"),
    "health_ocr": ("read by OCR", "OCR 识别"),
    "health_image": ("image without text", "无文本的图像"),
    "health_garbled": ("unreadable text", "文本乱码"),
    "health_empty": ("empty", "空白"),
    "health_doubtful": ("partly unreadable", "部分乱码"),
    "n_tables": ("{n} table|{n} tables", "{n} 个表格"),
    "n_columns": ("{n} columns", "{n} 栏"),
    "cut": ("{n} passage, {strips} strips|{n} passages, {strips} strips", "{n} 个段落，{strips} 个片段"),
    "passage_n": ("Passage {n}", "段落 {n}"),
    "strip_n": ("strip {n}", "片段 {n}"),
    "also_on": ("also on p. {pages}", "另见第 {pages} 页"),
    "canonical_text": ("Text as it was read · {n:,} characters", "读取的文本 · {n:,} 个字符"),
    "no_text_on_page": ("No text was read on this page.", "此页没有读取到文本。"),
    # upload
    "upload_saved": ("{file} is added: rebuild to ask it.", "已添加 {file}：重建后即可提问。"),
    "upload_same": ("{file} is already there.", "{file} 已存在。"),
    "uploads_saved": (
        "{n} file added: rebuild to ask it.|{n} files added: rebuild to ask them.",
        "已添加 {n} 个文件：重建后即可提问。",
    ),
    "uploads_same": ("{n} file is already there.|{n} files are already there.", "{n} 个文件已存在。"),
    "upload_empty": ("{file} is empty: choose another file.", "{file} 是空文件：请选择其他文件。"),
    "upload_too large": (
        "{file} is larger than {limit} MB: split it, or raise CRAG_MAX_UPLOAD_MB.",
        "{file} 超过 {limit} MB：请拆分文件，或调高 CRAG_MAX_UPLOAD_MB。",
    ),
    "upload_no pdf": (
        "{file} is not a PDF, whatever its name says: save it as PDF first.",
        "{file} 的内容不是 PDF：请先另存为 PDF。",
    ),
    "upload_disk": (
        "{file} could not be written: check the folder's free space and permissions.",
        "{file} 无法写入：请检查文件夹的剩余空间和权限。",
    ),
    "name_taken": ("{file} is already there with other content.", "{file} 已存在，但内容不同。"),
    "keep both": ("Keep both", "两个都保留"),
    "replace": ("Replace", "替换"),
    "skip": ("Skip", "跳过"),
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
    "limits_set": ("Set by CRAG_* variables.", "由 CRAG_* 变量设定。"),
    "decision_help": ("Applies from the next question on.", "从下一个问题起生效。"),
    "reset": ("Reset", "恢复默认"),
}


@dataclass(frozen=True)
class Texts:
    """The catalog in one language: `Texts("en")("stop")`."""

    language: str

    def __call__(self, key: str, /, **values: object) -> str:
        """The text with `values` filled in, unescaped. Raises KeyError for an unknown key."""
        text = CATALOG[key][LANGUAGES.index(self.language)]
        if "|" in text:
            one, many = text.split("|")
            text = one if values.get("n") == 1 else many
        return text.format(**values) if values else text


def language_of(setting: str, locale: str | None) -> str:
    """The page's language: the setting, or with `auto` the browser's, English where it is neither."""
    if setting in LANGUAGES:
        return setting
    return "zh" if (locale or "").lower().startswith("zh") else "en"
