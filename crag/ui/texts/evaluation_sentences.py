"""What calibration, comparisons and reports say in sentences of their own, in Chinese: the core says them in English.

A sentence that is not here is shown as it is.
"""

from __future__ import annotations

from typing import Final

from crag.ui.texts.translating import Translation

SENTENCES: Final[dict[str, str]] = {
    # notes of a calibration
    "document scores are not refitted: {n} documents that answer and {m} that do not, at least {least} of each are "
    "needed": "文档得分未重新拟合：有 {n} 个能回答的文档、{m} 个不能回答的文档，每类至少需要 {least} 个",
    "strip scores are not refitted: {n} strips that answer and {m} that do not, at least {least} of each are needed": (
        "片段得分未重新拟合：有 {n} 个能回答的片段、{m} 个不能回答的片段，每类至少需要 {least} 个"
    ),
    "document scores are not refitted: log loss held out falls by {by} per document, which is within noise": (
        "文档得分未重新拟合：留出数据上每个文档的对数损失仅下降 {by}，在误差范围内"
    ),
    "strip scores are not refitted: log loss held out falls by {by} per strip, which is within noise": (
        "片段得分未重新拟合：留出数据上每个片段的对数损失仅下降 {by}，在误差范围内"
    ),
    "document scores are refitted: {map}; log loss held out falls by {by} per document": (
        "文档得分已重新拟合：{map}；留出数据上每个文档的对数损失下降 {by}"
    ),
    "strip scores are refitted: {map}; log loss held out falls by {by} per strip": (
        "片段得分已重新拟合：{map}；留出数据上每个片段的对数损失下降 {by}"
    ),
    "fewer than {n} labelled questions are uncovered: only these tell how far down the upper threshold may go, so it "
    "cannot be learnt and is kept, and the lower one can only be lowered": (
        "标注为未覆盖的问题少于 {n} 个：只有它们能说明上阈值可以降到多低，因此上阈值保持不变，下阈值只能降低"
    ),
    "fewer than {n} labelled questions are answerable or uncovered each, so the upper and the lower threshold are "
    "kept": "可回答和未覆盖的标注问题各少于 {n} 个，因此上、下阈值保持不变",
    "fewer than {n} labelled questions are answerable: only these tell how far up the lower threshold may go, so it "
    "cannot be learnt and is kept, and the upper one can only be raised": (
        "标注为可回答的问题少于 {n} 个：只有它们能说明下阈值可以升到多高，因此下阈值保持不变，上阈值只能升高"
    ),
    "no strip is labelled as one that answers, so the strip threshold is kept": (
        "没有片段标注为能回答问题，因此片段阈值保持不变"
    ),
    "fewer than {n} questions have a strip that answers, so the strip threshold is kept": (
        "有能回答片段的问题少于 {n} 个，因此片段阈值保持不变"
    ),
    "{tried} would gain {gain} (95 % interval {low} to {high}): no change is beyond noise, so {it} kept as in force": (
        "{tried} 可提高 {gain}（95% 区间 {low} 至 {high}）：未超出误差范围，因此保持现行数值"
    ),
    # warnings of a calibration
    "Only {n} labelled {questions}: fewer than {few} say little, and other questions may well speak for other "
    "thresholds. Take this as a hint and label more before you apply it.": (
        "只有 {n} 个标注问题：少于 {few} 个说明不了什么，换一批问题可能得出别的阈值。请仅作参考，标注更多问题后再采用。"
    ),
    "Only {n} labelled {questions} answerable: label at least {least} of each kind.": (
        "可回答的标注问题只有 {n} 个：每类请至少标注 {least} 个。"
    ),
    "Only {n} labelled {questions} uncovered: label at least {least} of each kind.": (
        "未覆盖的标注问题只有 {n} 个：每类请至少标注 {least} 个。"
    ),
    "{n} {questions} could not be asked or graded: left out.": "有 {n} 个问题无法提问或评分，未计入。",
    "The calibration of {day} was made for another evaluator or embedding and is not applied: run `python -m crag "
    "calibrate` again, or `python -m crag calibrate --undo`.": (
        "{day} 的校准是为另一个评估器或向量模型做的，因此未采用：请在此重新运行问题并采用新的建议。"
    ),
    # why nothing can be learnt
    "No question says what is expected of it: give an expected action, a file or answers, or correct more grades of "
    "the best documents.": "没有问题写明预期：请填写预期动作、文件或答案。",
    "All questions failed ({n} of {of}), so nothing can be learnt. The first one: {why}": (
        "所有问题都失败了（{n}/{of}），因此无从学习。第一个原因：{why}"
    ),
    "{n} of {of} questions failed, and no other one says what is expected of it: give an expected action, a file or "
    "answers, or correct more grades of the best documents. The first that failed: {why}": (
        "{of} 个问题中有 {n} 个失败，其余问题没有写明预期：请填写预期动作、文件或答案。第一个失败原因：{why}"
    ),
    # comparisons
    "The sets differ: {old} in the old report, {new} in the new one, {both} in both. The differences are between "
    "unlike sets; trust the paired counts.": (
        "两次的问题不同：上次 {old}，这次 {new} 个，共同 {both} 个。差异来自不同的问题集，请以成对计数为准。"
    ),
    "Same id but another wording: {n}.": "措辞有改动的问题：{n}。",
    "Expected otherwise than before: {n}.": "预期有改动的问题：{n}。",
    "The knowledge bases differ in files, passages or embedding.": "两次运行的知识库在文件、段落或向量模型上不同。",
    # notes of a report
    "{n} names a file that is not in the index: {names}": "{n}指定的文件不在索引中：{names}",
    "{n} name files that are not in the index: {names}": "{n}指定的文件不在索引中：{names}",
    "{n} names a page that is not in its file: {names}": "{n}指定的页不在文件中：{names}",
    "{n} name pages that are not in its file: {names}": "{n}指定的页不在文件中：{names}",
    # parts of these
    "{n} question": "{n} 个问题",
    "{n} questions": "{n} 个问题",
}
"""English to Chinese; `{…}` stands for anything."""
translated: Final = Translation(SENTENCES)
"""What the evaluation says, in the page's language."""
