"""Texts of the list of conversations and of what can be done with a turn."""

from __future__ import annotations

from typing import Final

TEXTS: Final[dict[str, tuple[str, str]]] = {
    # the list
    "conversations": ("Conversations", "对话"),
    "search_conversations": ("Search conversations", "搜索对话"),
    "nothing_found": ("No conversation holds “{search}”.", "没有对话包含“{search}”。"),
    "today": ("Today", "今天"),
    "yesterday": ("Yesterday", "昨天"),
    "last_days": ("Last 7 days", "最近 7 天"),
    "before": ("Earlier", "更早"),
    "show_more": ("Show more", "显示更多"),
    "conversation_menu": ("More about “{title}”", "“{title}”的更多操作"),
    "title": ("Title", "标题"),
    "title_help": ("Emptied, it is the first question again.", "清空后恢复为第一个问题。"),
    "delete_conversation": ("Delete", "删除"),
    "deleted_conversation": ("Deleted: {title}", "已删除：{title}"),
    "undo": ("Undo", "撤销"),
    # in the conversation
    "not_kept": (
        "This conversation is not kept at the moment and would be lost with this program. {why}",
        "此对话目前未能保存，程序关闭后将会丢失。{why}",
    ),
    "keep_again": ("Keep it now", "重新保存"),
    "gap_interrupted": (
        "The program ended before this was answered.",
        "程序在回答完成之前就结束了。",
    ),
    "gap_damaged": (
        "This answer was kept, but what is stored of it is damaged. The question can be asked again.",
        "此回答曾保存过，但保存的内容已损坏。可以重新提问。",
    ),
    "gap_newer": (
        "This answer was kept by a newer version of this program: update it to see the answer.",
        "此回答由更新版本的程序保存：更新程序后即可查看。",
    ),
    "earlier_questions": ("{n} earlier question|{n} earlier questions", "之前的 {n} 个问题"),
    "go_to_question": ("Go to an earlier question", "跳到之前的问题"),
    "show_earlier": ("Show {n} before|Show {n} before", "显示之前的 {n} 个"),
    "show_later": ("Show {n} after|Show {n} after", "显示之后的 {n} 个"),
    "show_newest": ("To the newest", "回到最新"),
    # a turn
    "edit_question": ("Edit the question", "编辑问题"),
    "edit_question_help": (
        "Asks the edited question in a new conversation with what stands before it. This one stays as it is.",
        "在一个包含之前内容的新对话中提出编辑后的问题。当前对话保持不变。",
    ),
    "ask_edited": ("Ask in a new conversation", "在新对话中提问"),
    "cancel_edit": ("Cancel", "取消"),
    "regenerate": ("Regenerate", "重新生成"),
    "regenerate_same": ("With the settings of this answer", "使用此回答的设置"),
    "regenerate_present": ("With the settings of now", "使用当前设置"),
    "version_before": ("Version before", "上一个版本"),
    "version_after": ("Version after", "下一个版本"),
    "version_of": ("{n} of {of}", "第 {n} 个，共 {of} 个"),
    "made_asked": ("the first answer", "最初的回答"),
    "made_same": ("asked again with the same settings", "以相同设置重新提问"),
    "made_present": ("asked again with the settings of that time", "以当时的设置重新提问"),
    "made_changed": ("answered again with your changes", "按您的更改重新作答"),
}
