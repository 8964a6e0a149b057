"""Texts of the Evaluate page and of golden questions."""

from __future__ import annotations

from typing import Final

from crag.ui.texts.evaluate_results import RESULTS

_KEPT: Final[dict[str, tuple[str, str]]] = {
    # the star under an answer, and the fields of a question
    "golden": ("Golden", "黄金问题"),
    "golden_kept": ("Golden: saved", "黄金问题：已保存"),
    "golden_help": (
        "Keeps the question to measure CRAG by, on the page Evaluate.",
        "保存这个问题，以便在“评估”页面检验 CRAG。",
    ),
    "golden_what": (
        "Kept with what is right for it. Correct what this answer got wrong.",
        "连同正确的预期一起保存。如果这个回答有误，请改正。",
    ),
    "golden_is_kept": ("This question is a golden one.", "这个问题已是黄金问题。"),
    "golden_question": ("Question", "问题"),
    "golden_expected": ("Expected", "预期"),
    "golden_expected_help": (
        "The action that is right: Correct where your files answer the question, Incorrect where they do not cover it, "
        "Ambiguous where they leave it open.",
        "正确的动作：文件能回答为“正确”，文件未涉及为“不相关”，文件只能部分回答为“存疑”。",
    ),
    "golden_file": ("File", "文件"),
    "golden_file_help": (
        "The PDF that holds the answer: its path in the folder, or its name alone.",
        "包含答案的 PDF：文件夹内的路径，或仅文件名。",
    ),
    "golden_page": ("Page", "页"),
    "golden_answers": ("Answer holds", "答案包含"),
    "golden_answers_help": (
        "A few words as they stand in the file, such as: 42 litres. Where several will do, put {apart} between them.",
        "文件中的几个字，例如：42 升。若有多种写法，用 {apart} 分隔，符合其一即可。",
    ),
    "golden_note": ("Note", "备注"),
    "golden_unknown": ("unknown", "未知"),
    "golden_save": ("Save", "保存"),
    "golden_remove": ("Remove from the golden questions", "从黄金问题中移除"),
    "golden_problem_empty": ("The question is empty: type what is to be asked.", "问题为空：请输入要问的内容。"),
    "golden_problem_long": (
        "The question is longer than 4000 characters: shorten it.",
        "问题超过 4000 个字符：请缩短。",
    ),
    "golden_problem_page": ("The page is no whole number from 1 on: correct it.", "页码不是从 1 开始的整数：请更正。"),
    "golden_problem_no_file": (
        "A page is named without a file: name the file too.",
        "有页码但没有文件：请同时填写文件。",
    ),
    "golden_problem_no_words": (
        "An answer holds neither letter nor digit: give words to look for.",
        "答案中没有文字或数字：请填写可查找的内容。",
    ),
    "golden_problem_twice": (
        "The same question is there already: edit that one.",
        "已有相同的问题：请编辑那一个。",
    ),
}

_QUESTIONS: Final[dict[str, tuple[str, str]]] = {
    # the questions and what can be done with them
    "evaluate": ("Evaluate", "评估"),
    "golden_none": (
        "No golden questions yet. Press Golden under an answer to keep its question, add one here, or import a JSONL "
        "or CSV file. Some thirty make the figures mean something, about a third of them questions that your files do "
        "not cover.",
        "还没有黄金问题。可在回答下点击“黄金问题”保存，在此添加，或导入 JSONL 或 CSV 文件。"
        "约三十个问题才能得出有意义的数字，"
        "其中约三分之一应是文件未涉及的问题。",
    ),
    "golden_count": ("{n} golden question.|{n} golden questions.", "共 {n} 个黄金问题。"),
    "golden_nothing_indexed": (
        "Nothing is indexed yet: add PDFs and rebuild, then run them.",
        "索引为空：请先添加 PDF 并重建，然后再运行。",
    ),
    "golden_pending": (
        "{n} is to be asked: new, edited or failed.|{n} are to be asked: new, edited or failed.",
        "{n} 个待提问：新增、已编辑或上次失败。",
    ),
    "golden_since_index": ("The index has changed since the last run.", "索引在上次运行后有变化。"),
    "golden_since_evaluator": ("The evaluator has changed since the last run.", "评估器在上次运行后有变化。"),
    "golden_since_thresholds": ("The thresholds have changed since the last run.", "阈值在上次运行后有变化。"),
    "golden_since_settings": ("The settings have changed since the last run.", "设置在上次运行后有变化。"),
    "golden_all_hold": ("All have an answer that still holds.", "全部问题的回答仍然有效。"),
    "golden_run_changed": ("Run changed ({n})", "运行有变化的（{n}）"),
    "golden_run_changed_help": (
        "Asks what is new, edited or failed; all, where index, evaluator, thresholds or settings have changed. The "
        "thresholds in force count, not the sliders of the sidebar.",
        "只运行新增、已编辑或失败的问题；若索引、评估器、阈值或设置有变化，则运行全部。以现行阈值为准，与侧栏滑块无关。",
    ),
    "golden_run_all": ("Run all", "全部运行"),
    "golden_run_all_help": (
        "Asks every question as the chat would, one after the other, and once more with both looks, which thresholds "
        "are tried on. Where the web is on, queries are sent to its provider; where it asks first, nothing is sent.",
        "像对话中一样逐个提问，并再做一次两轮检索，供尝试阈值之用。若已启用网络搜索，查询会发送给其提供方；若设为先询问，则不发送。",
    ),
    "golden_starting": ("Starting …", "正在开始 …"),
    "golden_asking": ("Asked {done} of {of}", "已提问 {done}/{of}"),
    "golden_goes_on": ("It goes on when you leave this page.", "离开本页后会继续运行。"),
    "golden_last": ("Last answer", "上次回答"),
    "golden_never": ("not asked yet", "尚未提问"),
    "golden_failed": ("✕ failed, to be asked again", "✕ 失败，需重新提问"),
    "golden_to_ask": ("to be asked again", "需重新提问"),
    "golden_holds": ("✓ holds", "✓ 有效"),
    "golden_alt": ("Golden questions, one per row; cells can be edited", "黄金问题，每行一个，单元格可编辑"),
    "golden_row": ("Row {n}: {problem}", "第 {n} 行：{problem}"),
    "golden_n_added": ("{n} new", "新增 {n} 个"),
    "golden_n_edited": ("{n} edited", "修改 {n} 个"),
    "golden_n_deleted": ("{n} deleted", "删除 {n} 个"),
    "golden_n_same": ("{n} as it is|{n} as they are", "{n} 个无变化"),
    "golden_comma": (", ", "，"),
    "golden_unsaved": ("Not saved yet: {what}.", "尚未保存：{what}。"),
    "golden_discard": ("Discard", "放弃更改"),
    "golden_save_first": ("Save or discard what you have typed first.", "请先保存或放弃已输入的内容。"),
    "golden_add": ("Add", "添加"),
    "golden_import": ("Import", "导入"),
    "golden_import_help": (
        "A JSONL or CSV file as for `crag eval`. What is new is added, equal questions are edited, none is deleted.",
        "与 `crag eval` 相同的 JSONL 或 CSV 文件。新问题会添加，相同的问题会更新，不会删除任何问题。",
    ),
    "golden_import_file": ("Question set", "问题集"),
    "golden_import_do": ("Take over", "导入这些"),
    "golden_export": ("Export", "导出"),
    "golden_export_help": (
        "The saved questions, as `crag eval` and `crag calibrate` read them.",
        "已保存的问题，可供 `crag eval` 和 `crag calibrate` 读取。",
    ),
    "golden_as_jsonl": ("JSONL", "JSONL"),
    "golden_as_csv": ("CSV", "CSV"),
}

_THRESHOLDS: Final[dict[str, tuple[str, str]]] = {
    # thresholds
    "golden_thresholds": ("Thresholds", "阈值"),
    "golden_numbers": (
        "In force: upper **{upper:.2f}**, lower **{lower:.2f}**, strips **{strip:.2f}**.",
        "现行：上阈值 **{upper:.2f}**，下阈值 **{lower:.2f}**，片段阈值 **{strip:.2f}**。",
    ),
    "golden_calibrated": (
        "Calibrated {day} on {n} question ({set}).|Calibrated {day} on {n} questions ({set}).",
        "已于 {day} 用 {n} 个问题校准（{set}）。",
    ),
    "golden_explicit": (
        "Set in the settings or the environment, and before any calibration: {names}. Take them back to use "
        "calibrated values.",
        "已在设置或环境变量中设定，优先于校准：{names}。取消设定后才会使用校准值。",
    ),
    "golden_undo": ("Undo", "撤销"),
    "golden_undo_help": (
        "Back to the calibration before, or to the defaults.",
        "恢复到之前的校准，或恢复默认值。",
    ),
    "golden_undone": ("Undone: the defaults hold from the next question on.", "已撤销：从下一个问题起使用默认值。"),
    "golden_undone_to": (
        "Undone: calibration {day} holds from the next question on.",
        "已撤销：从下一个问题起使用校准 {day}。",
    ),
    "golden_after_run": ("Suggestions follow when the run has ended.", "运行结束后给出建议。"),
    "golden_nothing_to_try": (
        "Run questions that say what is expected, and other thresholds are tried on their scores.",
        "运行写明预期的问题后，会用它们的得分尝试其他阈值。",
    ),
    "golden_trying": (
        "trying all pairs of thresholds; many questions take a minute …",
        "正在尝试所有阈值组合，问题多时约需一分钟 …",
    ),
    "golden_upper": ("Upper threshold", "上阈值"),
    "golden_lower": ("Lower threshold", "下阈值"),
    "golden_document_map": ("Document scores", "文档得分"),
    "golden_strip_map": ("Strip scores", "片段得分"),
    "golden_as_given": ("as given", "原样"),
    "golden_utility": ("Utility per question", "每题效用"),
    "golden_in_force": ("in force", "现行"),
    "golden_suggested": ("suggested", "建议"),
    "golden_sweep_alt": (
        "Utility of every pair of thresholds. In force: {now}; suggested: {then} (upper / lower).",
        "每对阈值的效用。现行：{now}；建议：{then}（上/下）。",
    ),
    "golden_sweep_help": (
        "Darker is worth more on your questions. A wrong Correct costs most. Of all pairs within noise of the best, "
        "the nearest to those in force is suggested.",
        "颜色越深，在您的问题上效用越高；错误的“正确”代价最大。在与最佳值的差异处于误差范围内的组合中，建议最接近现行阈值的一对。",
    ),
    "golden_sweep_refitted": (
        "Scores are refitted, so the thresholds in force stand where the new scale has them: they decide as before.",
        "得分已重新拟合，因此现行阈值按新的尺度显示：判断结果与之前相同。",
    ),
    "golden_gain": (
        "Gain {gain:+.3f} per question, 95 % interval {low:+.3f} to {high:+.3f}",
        "每题提高 {gain:+.3f}，95% 区间 {low:+.3f} 至 {high:+.3f}",
    ),
    "golden_held_out": (
        "; actions on questions not used for the choice {gain:+.3f}",
        "；在未用于选择的问题上，动作提高 {gain:+.3f}",
    ),
    "golden_nothing_better": (
        "Nothing is to be changed: no change is beyond noise.",
        "无需更改：没有超出误差范围的改进。",
    ),
    "golden_use": ("Use these", "采用"),
    "golden_use_help": (
        "Keeps them as a calibration, with where they come from; they hold from the next question on.",
        "作为校准保存，并记录其来源；从下一个问题起生效。",
    ),
    "golden_used": ("Used from the next question on.", "从下一个问题起采用。"),
    "golden_why": ("Why these", "为什么是这些数值"),
    "golden_answerable": ("answerable: {action}", "可回答：{action}"),
    "golden_uncertain": ("uncertain: {action}", "不确定：{action}"),
    "golden_uncovered": ("not covered: {action}", "未覆盖：{action}"),
    "golden_keeps_answer": ("refined context keeps the answer", "精炼上下文保留答案"),
    "golden_drops": ("text that refinement drops", "精炼丢弃的文本"),
    "golden_n_of": ("{n} of {of}", "{n}/{of}"),
}

TEXTS: Final[dict[str, tuple[str, str]]] = {**_KEPT, **_QUESTIONS, **RESULTS, **_THRESHOLDS}
