"""What models, the web and embedding services say of their failures, in Chinese: a trace keeps these in English.

A sentence that is not here is shown as it is kept.
"""

from __future__ import annotations

from typing import Any, Final

from crag.notices import SENTENCES as NOTICES
from crag.schema import Trace
from crag.ui.texts.translating import Translation

SERVERS: Final[dict[str, str]] = {
    "Ollama at {word}": "Ollama（{word}）",
    "DashScope at {word}": "DashScope（{word}）",
    "DeepSeek at {word}": "DeepSeek（{word}）",
    "llama.cpp at {word}": "llama.cpp（{word}）",
    "The server at {word}": "服务器（{word}）",
    "The provider of {word}": "{word} 的提供方",
    "The server": "服务器",
}
MENDS: Final[dict[str, str]] = {
    "try again in {n} seconds": "请在 {n} 秒后重试",
    "{word} seconds": "{word} 秒",
    "try again in a minute": "请一分钟后重试",
    "set {key} to a valid one, and CRAG_DASHSCOPE_REGION to the region that it is for": (
        "请将 {key} 设为有效的密钥，并将 CRAG_DASHSCOPE_REGION 设为其所属的区域"
    ),
    "check its key, and CRAG_DASHSCOPE_REGION to the region that it is for": "请检查密钥和 CRAG_DASHSCOPE_REGION",
    "set {key} to a valid one": "请将 {key} 设为有效的密钥",
    "check its key": "请检查其密钥",
    "OPENAI_API_BASE (it usually ends in /v1) and CRAG_LLM_MODEL": (
        "OPENAI_API_BASE（通常以 /v1 结尾）和 CRAG_LLM_MODEL"
    ),
    "{word} and CRAG_LLM_MODEL": "{word} 和 CRAG_LLM_MODEL",
    "it was cut at {n} tokens: write less": "输出在 {n} 个词元处被截断",
    "the content filter of the server ended it": "被服务器的内容过滤器终止",
    "it was empty": "输出为空",
    "it holds no JSON object": "其中没有 JSON 对象",
    "Grade each document exactly once ({wrong}).": "每个文档应恰好评分一次（{wrong}）",
    # of embedding services
    "start it with `ollama serve`, or correct CRAG_OLLAMA_URL.": "请用 `ollama serve` 启动它，或更正 CRAG_OLLAMA_URL。",
    "set OLLAMA_API_KEY, which its library sends.": "请设置 OLLAMA_API_KEY，由其客户端库发送。",
    "run `ollama pull {model}`, or choose another with CRAG_EMBEDDING_MODEL.": (
        "请运行 `ollama pull {model}`，或用 CRAG_EMBEDDING_MODEL 另选一个。"
    ),
    "check CRAG_OLLAMA_URL, and that Ollama is at least 0.3.": "请检查 CRAG_OLLAMA_URL，并确认 Ollama 不低于 0.3。",
    "check your network and CRAG_DASHSCOPE_URL.": "请检查网络和 CRAG_DASHSCOPE_URL。",
    "correct DASHSCOPE_API_KEY, or CRAG_DASHSCOPE_REGION, since a key fits one of its two services only.": (
        "请更正 DASHSCOPE_API_KEY 或 CRAG_DASHSCOPE_REGION：一个密钥只适用于其两个服务之一。"
    ),
    "correct CRAG_EMBEDDING_MODEL and CRAG_EMBEDDING_DIMENSION.": (
        "请更正 CRAG_EMBEDDING_MODEL 和 CRAG_EMBEDDING_DIMENSION。"
    ),
    "check CRAG_DASHSCOPE_URL and your proxy.": "请检查 CRAG_DASHSCOPE_URL 和代理。",
    "start it, or correct OPENAI_API_BASE.": "请启动它，或更正 OPENAI_API_BASE。",
    "correct OPENAI_API_KEY.": "请更正 OPENAI_API_KEY。",
    "correct CRAG_EMBEDDING_MODEL and OPENAI_API_BASE, and see that the server offers embeddings.": (
        "请更正 CRAG_EMBEDDING_MODEL 和 OPENAI_API_BASE，并确认该服务器提供向量化。"
    ),
    "check OPENAI_API_BASE, which ends in /v1 with most servers.": (
        "请检查 OPENAI_API_BASE，多数服务器的地址以 /v1 结尾。"
    ),
    "wait a little": "请稍候",
    "wait {n} seconds": "请等待 {n} 秒",
}
"""Parts of the sentences below."""

MODELS: Final[dict[str, str]] = {
    "The answer ends here. {why}": "回答到此中断。{why}",
    "It was stopped before it was complete.": "在完成之前被停止。",
    "The answer reached the most tokens that it may have (CRAG_LLM_MAX_TOKENS).": (
        "回答达到了允许的最大词元数（CRAG_LLM_MAX_TOKENS）。"
    ),
    "The server's content filter ended the answer.": "服务器的内容过滤器终止了回答。",
    "The model thought, and wrote no answer.": "模型只进行了思考，没有写出回答。",
    "The model kept silent for {n} seconds, so the answer ends here: ask again.": (
        "模型 {n} 秒没有输出，回答到此中断：请重新提问。"
    ),
    "The connection to the model was lost: ask again.": "与模型的连接中断：请重新提问。",
    "The model's answer ended without its end mark, so it may be incomplete: ask again.": (
        "模型的回答没有结束标记，可能不完整：请重新提问。"
    ),
    "The prompt is longer than the window of the model {model}: lower CRAG_TOP_STRIPS or CRAG_K, or raise "
    "CRAG_LLM_CONTEXT.": ("提示超出了模型 {model} 的窗口：请减小 CRAG_TOP_STRIPS 或 CRAG_K，或增大 CRAG_LLM_CONTEXT。"),
    "The prompt is longer than the window of the model {model}: lower CRAG_TOP_STRIPS or CRAG_K, or give the model a "
    "larger window.": "提示超出了模型 {model} 的窗口：请减小 CRAG_TOP_STRIPS 或 CRAG_K，或为模型设置更大的窗口。",
    "{server} says that its quota or credit is used up: top it up, or choose another model.": (
        "{server} 表示配额或余额已用完：请充值，或换用其他模型。"
    ),
    "{server} refused the text by its content filter: ask in other words.": (
        "{server} 的内容过滤器拒绝了文本：请换一种说法提问。"
    ),
    "{server} refused the key: {mend}.": "{server} 拒绝了密钥：{mend}。",
    "{server} has no model {model}: run `ollama pull {name}`.": (
        "{server} 没有模型 {model}：请运行 `ollama pull {name}`。"
    ),
    "{server} has no model {model}: correct its name, or the address. It has {names}.": (
        "{server} 没有模型 {model}：请更正名称或地址。可用的有 {names}。"
    ),
    "{server} has no model {model}: correct its name, or the address.": "{server} 没有模型 {model}：请更正名称或地址。",
    "{server} gets too many requests: {when}, or lower CRAG_LLM_CONCURRENCY.": (
        "{server} 收到的请求过多：{when}，或减小 CRAG_LLM_CONCURRENCY。"
    ),
    "{server} gave no answer within {time}: raise CRAG_LLM_TIMEOUT, or try again.": (
        "{server} 在 {time}内没有答复：请增大 CRAG_LLM_TIMEOUT，或重试。"
    ),
    "{server} cannot be reached: start it (`ollama serve`), or correct CRAG_OLLAMA_URL.": (
        "无法连接 {server}：请启动它（`ollama serve`），或更正 CRAG_OLLAMA_URL。"
    ),
    "{server} cannot be reached: see that it runs and that the network allows it, or correct {variable}.": (
        "无法连接 {server}：请确认它在运行且网络允许访问，或更正 {variable}。"
    ),
    "{server} cannot be reached: see that it runs and that the network allows it.": (
        "无法连接 {server}：请确认它在运行且网络允许访问。"
    ),
    "{server} is overloaded or not ready: {when}.": "{server} 过载或尚未就绪：{when}。",
    "{server} failed with status {status}: try again later, or see what it logs.": (
        "{server} 出错，状态 {status}：请稍后重试，或查看其日志。"
    ),
    "{server} refused the request with status {status}: check {what}.": (
        "{server} 拒绝了请求，状态 {status}：请检查 {what}。"
    ),
    "{server} broke off with an error: try again.": "{server} 因错误中断：请重试。",
    "{server} sent what is no answer of a model: check {what}.": "{server} 返回的不是模型的回答：请检查 {what}。",
    "The model {model} could not be asked ({name}): check {what}.": "无法调用模型 {model}（{name}）：请检查 {what}。",
    "The model {model} answered twice in a form that cannot be used ({wrong}): ask again, or choose another model.": (
        "模型 {model} 两次给出无法使用的输出（{wrong}）：请重新提问，或换用其他模型。"
    ),
    "The model answered in a form that cannot be used: {wrong}.": "模型给出了无法使用的输出：{wrong}。",
    "The model {model} wrote nothing: ask again, or choose another model.": (
        "模型 {model} 没有写出任何内容：请重新提问，或换用其他模型。"
    ),
    "The question and the best strip do not fit into the {n} tokens of {model}: set CRAG_LLM_CONTEXT if its window is "
    "larger, or choose another model.": (
        "{model} 的 {n} 个词元容不下问题和最好的片段：若其窗口更大，请设置 CRAG_LLM_CONTEXT，或换用其他模型。"
    ),
    "The window of the model {model} is too small to grade this document: set CRAG_LLM_CONTEXT, or use another "
    "model.": ("模型 {model} 的窗口太小，无法为此文档评分：请设置 CRAG_LLM_CONTEXT，或换用其他模型。"),
    "This strip did not fit into the model's window: set CRAG_LLM_CONTEXT, or use another model.": (
        "模型窗口容不下此片段：请设置 CRAG_LLM_CONTEXT，或换用其他模型。"
    ),
    "Ollama reads {n} of the {most} tokens that {model} can: for more, start it with OLLAMA_CONTEXT_LENGTH, and set "
    "CRAG_LLM_CONTEXT to the same.": (
        "Ollama 只读取 {model} 所支持的 {most} 个词元中的 {n} 个：如需更多，请用 OLLAMA_CONTEXT_LENGTH 启动它，"
        "并将 CRAG_LLM_CONTEXT 设为相同的值。"
    ),
    "Ollama reads {n} tokens of {model}, fewer than CRAG_LLM_CONTEXT says ({most}): start it with "
    "OLLAMA_CONTEXT_LENGTH set to the same, or lower CRAG_LLM_CONTEXT.": (
        "Ollama 只读取 {model} 的 {n} 个词元，少于 CRAG_LLM_CONTEXT 的 {most} 个：请用 OLLAMA_CONTEXT_LENGTH 以相同的值"
        "启动它，或调低 CRAG_LLM_CONTEXT。"
    ),
    "CRAG_LLM_PROVIDER=llamacpp needs the package xllamacpp: run `pip install -r requirements-llamacpp.txt`.": (
        "CRAG_LLM_PROVIDER=llamacpp 需要 xllamacpp：请运行 `pip install -r requirements-llamacpp.txt`。"
    ),
    "There is no GGUF file {path}: set CRAG_LLM_MODEL to the path of one.": (
        "没有 GGUF 文件 {path}：请将 CRAG_LLM_MODEL 设为其路径。"
    ),
    "llama.cpp cannot load {path}: see that it is a whole GGUF file of a chat model.": (
        "llama.cpp 无法加载 {path}：请确认它是完整的对话模型 GGUF 文件。"
    ),
    "The model {model} needs a package that is not installed: run {command} ({package} is missing).": (
        "模型 {model} 需要尚未安装的软件包：请运行 {command}（缺少 {package}）。"
    ),
    "The model {model} needs a package that is not installed: run {command}.": (
        "模型 {model} 需要尚未安装的软件包：请运行 {command}。"
    ),
    "pydantic-ai cannot make the model {model}: write it as `provider:model`.": (
        "pydantic-ai 无法创建模型 {model}：请写成 `provider:model`。"
    ),
    "pydantic-ai cannot make the model {model}: set the key in that provider's own environment variable.": (
        "pydantic-ai 无法创建模型 {model}：请在该提供方的环境变量中设置密钥。"
    ),
    "{server} answers with {model} in {n} seconds.": "{server} 的 {model} 可用，用时 {n} 秒。",
    "{server} answers with {model} in {n} seconds. {cut}": "{server} 的 {model} 可用，用时 {n} 秒。{cut}",
}

WEB: Final[dict[str, str]] = {
    "Tavily refused the query as malformed: put the question in other words.": (
        "Tavily 认为查询格式有误：请换一种说法提问。"
    ),
    "Tavily does not accept the key: correct TAVILY_API_KEY.": "Tavily 不接受该密钥：请更正 TAVILY_API_KEY。",
    "Tavily refused the search: the key may not use it, or the plan's limit is reached. Look at your Tavily account, "
    "or set CRAG_WEB=off.": (
        "Tavily 拒绝了搜索：密钥无权使用，或已达到套餐限额。请查看您的 Tavily 账户，或设置 CRAG_WEB=off。"
    ),
    "Tavily's answer is not in the form that is known: check CRAG_TAVILY_URL.": (
        "Tavily 的答复格式未知：请检查 CRAG_TAVILY_URL。"
    ),
    "What answered in Tavily's place sent no JSON: check CRAG_TAVILY_URL and your proxy.": (
        "在 Tavily 的地址上得到的答复不是 JSON：请检查 CRAG_TAVILY_URL 和代理。"
    ),
    "Tavily failed with HTTP status {status}: try again later, or check CRAG_TAVILY_URL.": (
        "Tavily 出错，HTTP 状态 {status}：请稍后重试，或检查 CRAG_TAVILY_URL。"
    ),
    "Tavily could not be reached: check your network and CRAG_TAVILY_URL.": (
        "无法连接 Tavily：请检查网络和 CRAG_TAVILY_URL。"
    ),
    "The search with Tavily failed ({name}): check TAVILY_API_KEY and CRAG_TAVILY_URL.": (
        "Tavily 搜索失败（{name}）：请检查 TAVILY_API_KEY 和 CRAG_TAVILY_URL。"
    ),
    "Searching with Tavily needs a key: set TAVILY_API_KEY, or CRAG_WEB_PROVIDER=none.": (
        "使用 Tavily 搜索需要密钥：请设置 TAVILY_API_KEY，或 CRAG_WEB_PROVIDER=none。"
    ),
    "TAVILY_API_KEY holds characters that no key has: copy it again.": (
        "TAVILY_API_KEY 含有密钥中不会出现的字符：请重新复制。"
    ),
    "{who} did not answer within {n} seconds: try again, or set CRAG_WEB=off.": (
        "{who} 在 {n} 秒内没有答复：请重试，或设置 CRAG_WEB=off。"
    ),
    "{who} sent more than {n} MB: nothing was used.": "{who} 发送了超过 {n} MB 的内容：未使用。",
    "DuckDuckGo says that too much was asked: wait a little.": "DuckDuckGo 表示请求过多：请稍候。",
    "DuckDuckGo could not be reached: check your network, or set CRAG_WEB=off.": (
        "无法连接 DuckDuckGo：请检查网络，或设置 CRAG_WEB=off。"
    ),
    "Searching with {who} needs a key: set {key}.": "使用 {who} 搜索需要密钥：请设置 {key}。",
    "{who} could not be reached: check your network and CRAG_WEB_URL.": "无法连接 {who}：请检查网络和 CRAG_WEB_URL。",
    "What answered in the place of {who} sent no JSON: check CRAG_WEB_URL and your proxy.": (
        "在 {who} 的地址上得到的答复不是 JSON：请检查 CRAG_WEB_URL 和代理。"
    ),
    "{who}'s answer is not in the form that is known: check CRAG_WEB_URL.": (
        "{who} 的答复格式未知：请检查 CRAG_WEB_URL。"
    ),
    "{who} refused the search: check {what}.": "{who} 拒绝了搜索：请检查 {what}。",
    "{who} does not answer in JSON: allow the format json in its settings.yml, or CRAG_WEB=off.": (
        "{who} 的答复不是 JSON：请在其 settings.yml 中允许 json 格式，或设置 CRAG_WEB=off。"
    ),
    "{who} does not accept the key: correct {key}, or look whether your plan allows the search.": (
        "{who} 不接受该密钥：请更正 {key}，或查看您的套餐是否允许搜索。"
    ),
    "{who} says that too much was asked: wait a little, or look at your plan's limits.": (
        "{who} 表示请求过多：请稍候，或查看您的套餐限额。"
    ),
    "{who} refused the query as malformed: put the question in other words.": (
        "{who} 认为查询格式有误：请换一种说法提问。"
    ),
    "There is no search at this address of {who}: check CRAG_WEB_URL.": (
        "{who} 的这个地址上没有搜索服务：请检查 CRAG_WEB_URL。"
    ),
    "{who} failed with HTTP status {status}: try again later, or check CRAG_WEB_URL.": (
        "{who} 出错，HTTP 状态 {status}：请稍后重试，或检查 CRAG_WEB_URL。"
    ),
    "Today's searches are used up ({n} a day): raise CRAG_WEB_DAILY_SEARCHES, or ask again tomorrow.": (
        "今天的搜索次数已用完（每天 {n} 次）：请增大 CRAG_WEB_DAILY_SEARCHES，或明天再问。"
    ),
    "The searches of the day cannot be counted in {path}: correct its permissions or make room.": (
        "无法在 {path} 中记录当天的搜索次数：请更正权限或腾出空间。"
    ),
    "{who} answers with {n} results in {seconds} seconds.": "{who} 可用，返回 {n} 个结果，用时 {seconds} 秒。",
    "{who} answers with {n} result in {seconds} seconds.": "{who} 可用，返回 {n} 个结果，用时 {seconds} 秒。",
}

EMBEDDING: Final[dict[str, str]] = {
    "{server} cannot be reached ({n} times): {mend}": "无法连接 {server}（{n} 次）：{mend}",
    "{server} cannot be reached: {mend}": "无法连接 {server}：{mend}",
    "{server} did not answer within {n} seconds: try again, or raise CRAG_LLM_TIMEOUT.": (
        "{server} 在 {n} 秒内没有答复：请重试，或增大 CRAG_LLM_TIMEOUT。"
    ),
    "{server} answered in a form that is not known: {mend}": "{server} 的答复格式未知：{mend}",
    "{server} does not accept the key ({said}): {mend}": "{server} 不接受该密钥（{said}）：{mend}",
    "{server} does not accept the key: {mend}": "{server} 不接受该密钥：{mend}",
    "{server} has no embedding model {model}: {mend}": "{server} 没有向量模型 {model}：{mend}",
    "{server} says that too much was asked{said}: {when}, or look at your plan's limits.": (
        "{server} 表示请求过多{said}：{when}，或查看您的套餐限额。"
    ),
    "{server} failed with HTTP status {status}: try again later.": "{server} 出错，HTTP 状态 {status}：请稍后重试。",
    "{server} refused the texts with HTTP status {status}: {mend}": "{server} 拒绝了文本，HTTP 状态 {status}：{mend}",
    "{server} returned {n} vectors for {of} texts: choose another model or another server.": (
        "{server} 为 {of} 段文本返回了 {n} 个向量：请换用其他模型或服务器。"
    ),
    "{server} returned no usable numbers: choose another model, or restart the server.": (
        "{server} 返回的数值无法使用：请换用其他模型，或重启服务器。"
    ),
    "{server} returned vectors of {n} numbers instead of {of}: {model} offers no such choice, leave "
    "CRAG_EMBEDDING_DIMENSION unset.": (
        "{server} 返回的向量有 {n} 维而不是 {of} 维：{model} 不支持该维度，请不要设置 CRAG_EMBEDDING_DIMENSION。"
    ),
    "{server} returned vectors of {n} numbers, and of {of} before: another model answers to the name {model}. Start "
    "again, and build the knowledge base anew.": (
        "{server} 返回的向量有 {n} 维，之前是 {of} 维：名称 {model} 对应了另一个模型。请重新启动并重建知识库。"
    ),
    "The program was closed before the vectors were made.": "向量生成之前程序已关闭。",
    "{who} answers with a vector of {n} numbers in {seconds} seconds.": (
        "{who} 可用，返回 {n} 维向量，用时 {seconds} 秒。"
    ),
}

OTHERS: Final[dict[str, str]] = {
    "The program was closed before this was finished.": "完成之前程序已关闭。",
    "The system refused: {why}. Make room or correct the permissions, and try again.": (
        "系统拒绝：{why}。请腾出空间或更正权限后重试。"
    ),
    "Something unexpected failed ({name}). Try again; the log has the details.": (
        "发生意外错误（{name}）。请重试；详情见日志。"
    ),
}

translated: Final = Translation(
    {
        **dict(NOTICES.values()),
        **{chinese: chinese for _, chinese in NOTICES.values() if "{" in chinese},
        **MODELS,
        **WEB,
        **EMBEDDING,
        **OTHERS,
        **MENDS,
        **SERVERS,
    }
)
"""A sentence in the page's language."""


def told(trace: Trace, language: str) -> Trace:
    """The trace with what it tells of failures in the page's language; all else as it is, also its ids."""
    if language != "zh":
        return trace

    def say(sentence: str | None) -> Any:
        return sentence and translated(sentence, language)

    def with_cause(graded: Any) -> Any:
        return graded.model_copy(update={"cause": say(graded.cause)}) if graded.cause else graded

    return trace.model_copy(
        update={
            "notices": tuple(map(say, trace.notices)),
            "error": say(trace.error),
            "cut": say(trace.cut),
            "documents": tuple(map(with_cause, trace.documents)),
            "web_documents": tuple(map(with_cause, trace.web_documents)),
            "strips": tuple(map(with_cause, trace.strips)),
            "calls": tuple(call.model_copy(update={"error": say(call.error)}) for call in trace.calls),
            "web": trace.web and trace.web.model_copy(update={"error": say(trace.web.error)}),
        }
    )
