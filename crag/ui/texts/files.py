"""What the reading of files says of them, in Chinese: the index keeps these sentences in English.

A sentence that is not here is shown as it is kept.
"""

from __future__ import annotations

from typing import Final

from crag.ui.texts.translating import Translation

SENTENCES: Final[dict[str, str]] = {
    # bad files
    "The file is empty (0 bytes): copy or download it again.": "文件为空（0 字节）：请重新复制或下载。",
    "Opening it needs more memory than allowed: split or re-export the file.": (
        "打开该文件所需内存超过限制：请拆分或重新导出。"
    ),
    "It is protected by a password: give it on the file's page in Knowledge base, or build with `python -m crag build "
    "--password FILE`, which asks for it.": (
        "文件受密码保护：请在“知识库”中该文件的页面上输入密码，或运行 `python -m crag build --password FILE`。"
    ),
    "The password that was given does not open it: check capitals and keyboard layout, and give it again.": (
        "所给密码无法打开该文件：请检查大小写和键盘布局后重新输入。"
    ),
    "It is damaged or cut off, no page could be recovered: fetch or export the file again.": (
        "文件已损坏或不完整，无法恢复任何页面：请重新获取或导出。"
    ),
    "Its list of pages is damaged ({why}): export or print it to PDF again.": (
        "页面列表已损坏（{why}）：请重新导出或打印为 PDF。"
    ),
    "It is cut off or damaged: {pages} of its {declared} pages could be recovered, fetch the file again.": (
        "文件不完整或已损坏：{declared} 页中恢复了 {pages} 页，请重新获取文件。"
    ),
    "It is a dynamic (XFA) form that shows its text only in Adobe Reader: print it to PDF there.": (
        "这是动态（XFA）表单，仅在 Adobe Reader 中显示文字：请在其中打印为 PDF。"
    ),
    "It begins like a PDF, but it is not a PDF that can be read, or damaged beyond repair: export or download it "
    "again.": "文件开头像 PDF，但无法作为 PDF 读取，或已损坏到无法修复：请重新导出或下载。",
    "It is not a PDF but only zeros, as an unfinished download leaves them: download it again.": (
        "文件不是 PDF，内容全为零（下载未完成）：请重新下载。"
    ),
    "It is not a PDF but plain text: print it to PDF.": "文件不是 PDF，而是纯文本：请打印为 PDF。",
    "It is not a PDF but {kind}: {advice}.": "文件不是 PDF（{kind}）：请取得其 PDF 版本。",
    "It is not a PDF although its name says so: export or download it again as PDF.": (
        "文件名为 PDF，但内容不是 PDF：请重新导出或下载为 PDF。"
    ),
    "It is a link that leads nowhere: put the file itself here.": "这是一个失效的链接：请放入文件本身。",
    "It is a link out of the folder: copy the file itself here.": "这是指向文件夹外的链接：请复制文件本身到这里。",
    "It is a folder, not a file: rename it if it only holds PDFs.": "这是文件夹而非文件：若其中只有 PDF，请改名。",
    "It is not a regular file: put the PDF itself here.": "这不是普通文件：请放入 PDF 本身。",
    "It may not be read: give this user the permission to read it.": "没有读取权限：请授予当前用户读取权限。",
    "It cannot be opened ({why}): check the file and its permissions.": "无法打开（{why}）：请检查文件及其权限。",
    "It cannot be read ({why}): check the file and its permissions.": "无法读取（{why}）：请检查文件及其权限。",
    "It was removed while it was read: build again.": "读取时文件被删除：请重建。",
    "It was changed while it was read: build again.": "读取时文件被修改：请重建。",
    "It takes too long: {what} was given up after {seconds} s; print it to PDF again, or raise CRAG_PARSE_TIMEOUT.": (
        "读取时间过长，{seconds} 秒后已放弃：请重新打印为 PDF，或增大 CRAG_PARSE_TIMEOUT。"
    ),
    "The PDF reader crashed while {what}: print the file to PDF again.": "PDF 读取程序崩溃：请将文件重新打印为 PDF。",
    "It has no usable text layer and needs OCR, which is off: set OCR to auto and read it again.": (
        "没有可用的文字层，需要 OCR，但 OCR 已关闭：请将 OCR 设为自动并重新读取。"
    ),
    "It has no text layer, and OCR found no text on {numbers} ({scripts}).": (
        "没有文字层，OCR 在{numbers}也未找到文字（可识别拉丁字母、中文和日文）。"
    ),
    "It has no usable text layer, and OCR could not make out its writing ({scripts}): add a copy with a text layer.": (
        "没有可用的文字层，OCR 也无法辨认其文字（可识别拉丁字母、中文和日文）：请添加带文字层的版本。"
    ),
    "It holds no text: its only page is empty.": "没有文字：唯一的页面为空。",
    "It holds no text: {n} pages are empty.": "没有文字：{n} 页均为空。",
    # warnings
    "{Numbers} was read by OCR.": "{Numbers}由 OCR 读取。",
    "{Numbers} were read by OCR.": "{Numbers}由 OCR 读取。",
    "OCR is unsure of {numbers}: check what it read against the page.": "OCR 对{numbers}没有把握：请与页面核对。",
    "{Numbers} has no text and OCR found none.": "{Numbers}没有文字，OCR 也未找到。",
    "{Numbers} have no text and OCR found none.": "{Numbers}没有文字，OCR 也未找到。",
    "OCR could not make out the writing on {numbers} ({scripts}): not indexed.": (
        "OCR 无法辨认{numbers}的文字（可识别拉丁字母、中文和日文）：未索引。"
    ),
    "{Numbers} needs OCR, which is off: set it to auto and read again.": (
        "{Numbers}需要 OCR，但已关闭：请设为自动并重新读取。"
    ),
    "{Numbers} need OCR, which is off: set it to auto and read again.": (
        "{Numbers}需要 OCR，但已关闭：请设为自动并重新读取。"
    ),
    "{Numbers} was left out. {why}": "{Numbers}已略过。{why}",
    "{Numbers} were left out. {why}": "{Numbers}已略过。{why}",
    "OCR failed on {numbers}: {why}": "{numbers}的 OCR 失败：{why}",
    "No text on {numbers}.": "{numbers}没有文字。",
    "Some characters on {numbers} are unreadable and were left out.": "{numbers}的部分字符无法读取，已略去。",
    "It holds only a few words of text.": "只有很少的文字。",
    "The file is damaged and was repaired while reading: parts may be missing.": (
        "文件已损坏，读取时已修复：可能缺少部分内容。"
    ),
    "It carries attachments that are not read: {names}.": "含有未读取的附件：{names}。",
    "Its author forbids copying its text: it is indexed for your own use, do not pass its text on.": (
        "作者禁止复制其文字：仅供您本人索引使用，请勿传播。"
    ),
    "Reading stopped after page {done} of {pages}: {why}.": "读到第 {done} 页（共 {pages} 页）后停止：{why}。",
    # MinerU
    "MinerU did not read it, the built-in parser did: {why}.": "MinerU 未能读取，已由内置解析器读取：{why}。",
    "MinerU has no text for page {n}: it was read by the built-in parser.": (
        "MinerU 没有第 {n} 页的文字：已由内置解析器读取。"
    ),
    "a file with a password is not sent": "受密码保护的文件不会发送",
    "the service cannot be reached: start it, or correct CRAG_MINERU_URL": (
        "无法连接该服务：请启动它，或更正 CRAG_MINERU_URL"
    ),
    "the service has no /file_parse, which MinerU 4 has dropped: run MinerU 3 (`pip install 'mineru<4'`), or correct "
    "CRAG_MINERU_URL": (
        "该服务没有 /file_parse（MinerU 4 已取消）：请运行 MinerU 3（`pip install 'mineru<4'`），或更正 CRAG_MINERU_URL"
    ),
    "it took longer than {seconds} s: raise CRAG_MINERU_TIMEOUT, or split the file": (
        "超过 {seconds} 秒：请增大 CRAG_MINERU_TIMEOUT，或拆分文件"
    ),
    "the service is busy{said}: read the file again later": "服务繁忙{said}：请稍后重新读取该文件",
    "the service refused the file{said}": "服务拒绝了该文件{said}",
    "the service failed with HTTP status {status}: look at its log": "服务失败，HTTP 状态 {status}：请查看其日志",
    "its answer is not in the form of MinerU 3: check CRAG_MINERU_URL": (
        "其回答不是 MinerU 3 的格式：请检查 CRAG_MINERU_URL"
    ),
    "its answer is cut off or no JSON: look at the service's log": "其回答不完整或不是 JSON：请查看服务日志",
    "a web page came in place of its answer: check CRAG_MINERU_URL and your proxy": (
        "收到的是网页而不是回答：请检查 CRAG_MINERU_URL 和代理"
    ),
}
"""English to Chinese; the places in braces are those of `Translation`."""

translated: Final = Translation(SENTENCES)
"""What a file's row says, in the page's language."""
