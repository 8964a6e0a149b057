"""Texts of the Settings page."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    "settings": ("Settings", "设置"),
    "group": ("Group of settings", "设置分组"),
    "group_models": ("Models", "模型"),
    "group_web": ("Web", "网络"),
    "group_decision": ("Decision", "判断"),
    "group_knowledge": ("Knowledge base", "知识库"),
    "group_privacy": ("Privacy", "隐私"),
    "group_appearance": ("Language", "语言"),
    "part_write": ("Writing", "作答"),
    "part_grade": ("Grading", "评分"),
    "part_embed": ("Vectors", "向量"),
    "part_services": ("Services that are chosen", "所选的服务"),
    "part_calls": ("Calls and costs", "调用与费用"),
    "part_search": ("Searching", "搜索"),
    "part_results": ("Results", "结果"),
    "part_costs": ("Keeping and costs", "保留与费用"),
    "part_thresholds": ("Thresholds", "阈值"),
    "part_amounts": ("Amounts", "数量"),
    "part_reading": ("Reading", "读取"),
    "part_files": ("Files and engine", "文件与引擎"),
    "part_who": ("Who does what", "各项任务由谁完成"),
    "appearance_help": (
        "Light or dark follows your system, dates and times your browser.",
        "浅色或深色跟随系统，日期和时间跟随浏览器。",
    ),
    # where a value comes from
    "origin_here_default": ("Changed here · default: {value}", "已在此更改 · 默认：{value}"),
    "origin_here_environment": ("Changed here · {variable}: {value}", "已在此更改 · {variable}：{value}"),
    "origin_environment": ("Set by {variable}", "由 {variable} 设定"),
    "origin_default": ("Default", "默认"),
    "back": ("Back", "恢复"),
    "back_help": ("Takes your change back.", "撤销您的更改。"),
    "limits_now": (
        "In force now: upper {upper:.2f}, lower {lower:.2f}, strips {strip:.2f}.",
        "当前生效：上阈值 {upper:.2f}，下阈值 {lower:.2f}，片段 {strip:.2f}。",
    ),
    "switch_on": ("on", "开"),
    "switch_off": ("off", "关"),
    "nothing_value": ("empty", "空"),
    "counts_late": ("Counts when the app is opened anew.", "重新打开后生效。"),
    "waits": ("Not in force: {why}", "未生效：{why}"),
    "in_force_instead": ("In force: {value}.", "当前生效：{value}。"),
    "settings_changed": ("{n} setting is changed here.|{n} settings are changed here.", "已在此更改 {n} 项设置。"),
    "reset_all": ("Take all changes back", "全部恢复"),
    "reset_all_ask": (
        "All settings that were changed here go back to the environment or the default. Remembered keys are forgotten.",
        "所有在此更改的设置都会恢复为环境变量或默认值，已记住的密钥也会被删除。",
    ),
    "reset_all_do": ("Yes, all of them", "是，全部恢复"),
    "counts_next": (
        "What you change counts from the next question on, unless it says otherwise, and is kept for the next time, in "
        "{file} on this machine.",
        "除非另有说明，更改从下一个问题起生效，并保存在本机的 {file} 中。",
    ),
    "settings_unreadable": (
        "What was changed here cannot be read, so that the environment and the defaults count. {error}",
        "无法读取在此更改的设置，因此使用环境变量和默认值。{error}",
    ),
    "setting_not_kept": ("This could not be kept. {error}", "无法保存。{error}"),
    # what is wrong
    "left_out": ("{name}: {why}", "{name}：{why}"),
    "wrong_about": ("“{name}” would not work with it: {why}", "“{name}”无法与之配合：{why}"),
    "wrong_unknown": (
        "this version does not know it, or it can be set by the environment alone.",
        "此版本不支持该设置，或只能由环境变量设定。",
    ),
    "wrong_address": (
        "this is no address that begins with http:// or https:// and has neither @ nor ? nor # in it.",
        "这不是以 http:// 或 https:// 开头、且不含 @、? 和 # 的地址。",
    ),
    "wrong_forbidden": (
        "whoever runs this app forbids it by CRAG_WEB=off in its environment: it has to be unset there.",
        "运行此应用的人通过环境变量 CRAG_WEB=off 禁止了它：需在那里取消。",
    ),
    "wrong_number": ("this is no number that can be used here.", "这不是可用的数字。"),
    "wrong_text": ("this is no text.", "这不是文本。"),
    "wrong_choice": ("this is not one of the choices.", "不在可选项之中。"),
    "wrong_long": ("at most {limit} characters.", "最多 {limit} 个字符。"),
    "wrong_above": ("it has to be above {limit}.", "必须大于 {limit}。"),
    "wrong_at_least": ("it has to be at least {limit}.", "至少为 {limit}。"),
    "wrong_at_most": ("it may be at most {limit}.", "最多为 {limit}。"),
    "wrong_order": ("the lower threshold lies above the upper one.", "下阈值高于上阈值。"),
    "wrong_key": (
        "a key has no blanks and only Latin letters, digits and signs: copy it once more.",
        "密钥不含空格，只有拉丁字母、数字和符号：请重新复制。",
    ),
    "wrong_needs_key": ("{provider} needs a key: enter it on this page.", "{provider} 需要密钥：请在此页面输入。"),
    "wrong_needs_model": (
        "{provider} needs the name of a model: enter it on this page.",
        "{provider} 需要模型名称：请在此页面输入。",
    ),
    "wrong_needs_judge": (
        "a judge needs a model: choose one that grades, or one that writes.",
        "评判需要模型：请选择评分或作答的模型。",
    ),
    "wrong_needs_drafter": (
        "drafting needs a model: choose one that writes.",
        "草拟答案需要模型：请选择作答的模型。",
    ),
    "wrong_needs_engine": (
        "Google needs the id of your search engine: enter it on this page.",
        "Google 需要您的搜索引擎 ID：请在此页面输入。",
    ),
    "wrong_needs_instance": (
        "SearXNG needs the address of your instance: enter it on this page.",
        "SearXNG 需要您的实例地址：请在此页面输入。",
    ),
    "wrong_needs_service": (
        "MinerU needs the address of your service: enter it on this page.",
        "MinerU 需要您的服务地址：请在此页面输入。",
    ),
    # keys
    "key_none": ("Not set", "未设置"),
    "key_set": ("Set", "已设置"),
    "key_ends": ("Set, ends in …{end}", "已设置，末尾为 …{end}"),
    "key_visit": ("until this page is reloaded or closed", "直到此页面重新加载或关闭"),
    "key_remembered": ("remembered on this machine", "已记在本机"),
    "key_environment": ("by {variable}", "来自 {variable}"),
    "key_enter": ("Enter a key", "输入密钥"),
    "key_another": ("Enter another key", "输入其他密钥"),
    "key_remember": ("Remember on this machine", "记在本机"),
    "key_remember_help": (
        "The key is written to {file} as it is; your account alone may read that file. Whoever uses this page, or your "
        "account, can use the key.",
        "密钥会原样写入 {file}，只有您的账户可以读取该文件。使用此页面或您账户的人都可以使用该密钥。",
    ),
    "key_use": ("Use this key", "使用此密钥"),
    "key_forget": ("Forget", "删除"),
    "key_house": (
        "Vectors are made also when nobody looks at this page: remember the key on this machine, or set {variable}.",
        "无人查看页面时也会生成向量：请将密钥记在本机，或设置 {variable}。",
    ),
    # opening anew
    "late": (
        "{names}: this counts when the app is opened anew.",
        "{names}：重新打开后生效。",
    ),
    "late_help": (
        "It takes some seconds, for everybody who uses this page. Conversations stay.",
        "需要几秒钟，影响所有使用此页面的人。对话会保留。",
    ),
    "reopen": ("Apply and reopen", "应用并重新打开"),
    "reopen_busy": (
        "Not now: an answer, a build or a test is still running. Try again when it has ended.",
        "暂时无法进行：仍有回答、重建或测试在运行。请在其结束后重试。",
    ),
    "not_opened": (
        "The app could not be opened with what you changed, so it runs as before. {error}",
        "无法按您的更改打开应用，因此仍按之前的设置运行。{error}",
    ),
    "folders": ("Folders", "文件夹"),
    "folders_help": (
        "Set by the environment alone, before the app starts: what you keep lies in them.",
        "只能在启动前由环境变量设定：您的数据保存在其中。",
    ),
    # privacy
    "stays": (
        "Your files, the index, conversations and settings stay in the folders on this machine; there is no telemetry. "
        "The text of your files lies in the index in the clear.",
        "您的文件、索引、对话和设置都保存在本机的文件夹中；没有遥测。索引中以明文保存文件文本。",
    ),
    "privacy_choices": ("What each choice would send", "各个选项会发送什么"),
    "privacy_choices_help": (
        "With the addresses that are set now; a service on this machine gets the same, and nothing leaves.",
        "按当前设置的地址；服务在本机时内容相同，但不会离开本机。",
    ),
    "privacy_task": ("Task", "任务"),
    "privacy_where": ("With", "选择"),
    "privacy_what": ("Leaves this machine", "离开本机的内容"),
    "privacy_nothing": ("nothing", "无"),
    "privacy_keys": ("Keys", "密钥"),
    "privacy_no_keys": ("No key is set.", "未设置任何密钥。"),
    "person_left_out": (
        "Not in force: {names}. The settings say why.",
        "未生效：{names}。原因请见设置。",
    ),
}
