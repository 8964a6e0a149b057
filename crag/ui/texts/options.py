"""Texts of each setting: its label, its help, its choices. Where the English help is empty, config.py has it."""

from __future__ import annotations

from typing import Final

from config import Settings

_SETTINGS: Final[dict[str, tuple[str, str, str, str]]] = {
    # models
    "llm_provider": (
        "Who writes the answer",
        "由谁撰写答案",
        "Without a model the best sentences are quoted word for word, and nothing leaves this machine. A model writes, "
        "rewrites queries and understands follow-ups; it is sent your question, earlier turns and the refined context.",
        "不使用模型时逐字引用最佳句子，没有任何内容离开本机。模型会撰写答案、改写查询并理解追问；"
        "它会收到您的问题、之前的对话和精炼上下文。",
    ),
    "llm_model": (
        "Model that writes",
        "撰写答案的模型",
        "Its name at the provider; a GGUF file for llama.cpp; `provider:model` for pydantic-ai. Empty: qwen3-max at "
        "DashScope, deepseek-chat at DeepSeek.",
        "提供方处的模型名称；llama.cpp 填 GGUF 文件；pydantic-ai 填 `provider:model`。"
        "留空则 DashScope 用 qwen3-max，DeepSeek 用 deepseek-chat。",
    ),
    "evaluator": (
        "Who grades documents and strips",
        "由谁为文档和片段评分",
        "The lightweight evaluator and a cross-encoder run on this machine. A model as judge grades all documents in "
        "one call and gives reasons; it is sent the question and the text of every retrieved document.",
        "轻量评估器和交叉编码器在本机运行。以模型为评判时，一次调用为所有文档评分并给出理由；"
        "它会收到问题和检索到的每个文档的文本。",
    ),
    "grader_provider": (
        "Whose model grades",
        "由谁的模型评分",
        "Another provider than the one that writes, if you like.",
        "可以选择与撰写答案不同的提供方。",
    ),
    "grader_model": (
        "Model that grades",
        "评分的模型",
        "Empty: the model that writes. For a cross-encoder a folder, or a name on the Hugging Face hub.",
        "留空则用撰写答案的模型。交叉编码器填文件夹或 Hugging Face 上的名称。",
    ),
    "embedding_provider": (
        "Who makes the vectors",
        "由谁生成向量",
        "With any other choice than the embedded engine, the text of all your files is sent there when the index is "
        "built, and every question when it is asked. Another choice needs a rebuild, which says so first.",
        "除内置引擎外，建立索引时会把您所有文件的文本发送过去，提问时会发送每个问题。更换后需要重建索引，重建前会先说明。",
    ),
    "embedding_model": (
        "Model that makes vectors",
        "生成向量的模型",
        "Empty: text-embedding-v4 at DashScope, text-embedding-3-small at OpenAI, and the one named for Ollama.",
        "留空则 DashScope 用 text-embedding-v4，OpenAI 用 text-embedding-3-small，Ollama 用为其指定的模型。",
    ),
    "embedding_price": (
        "Price of a million tokens embedded",
        "每百万词元的嵌入价格",
        "",
        "用于显示嵌入服务的费用；0 为未知。",
    ),
    "embedding_dimension": ("Numbers per vector", "向量维数", "", "模型提供选择时每个向量的维数；0 为模型自身的维数。"),
    "dashscope_api_key": (
        "DashScope key",
        "DashScope 密钥",
        "Used for DashScope alone, and only where it is chosen.",
        "仅用于 DashScope，且只在选择它时使用。",
    ),
    "dashscope_region": ("DashScope service", "DashScope 服务区", "", "您的密钥属于 DashScope 两个服务区中的哪一个。"),
    "dashscope_url": (
        "DashScope address",
        "DashScope 地址",
        "",
        "DashScope 的其他地址，写到 `/compatible-mode/v1` 为止。",
    ),
    "deepseek_api_key": (
        "DeepSeek key",
        "DeepSeek 密钥",
        "Used for DeepSeek alone, and only where it is chosen.",
        "仅用于 DeepSeek，且只在选择它时使用。",
    ),
    "deepseek_url": ("DeepSeek address", "DeepSeek 地址", "", "DeepSeek 的地址。"),
    "openai_api_base": (
        "Address of the OpenAI-compatible server",
        "OpenAI 兼容服务器的地址",
        "vLLM, LM Studio, llama.cpp, OpenAI, or any other.",
        "vLLM、LM Studio、llama.cpp、OpenAI 或其他兼容服务器。",
    ),
    "openai_api_key": (
        "Key for the OpenAI-compatible server",
        "OpenAI 兼容服务器的密钥",
        "Only if that server asks for one.",
        "仅在服务器要求时需要。",
    ),
    "ollama_url": ("Ollama address", "Ollama 地址", "", "Ollama 服务器的地址。"),
    "ollama_llm": ("Ollama model", "Ollama 模型", "", "未指定模型时，Ollama 用来撰写或评分的模型。"),
    "ollama_embed": ("Ollama model for vectors", "Ollama 向量模型", "", "Ollama 用来生成向量的模型。"),
    "history_turns": (
        "Earlier turns that a model sees",
        "模型可见的历史轮数",
        "",
        "模型为理解追问而查看的之前问答轮数。",
    ),
    "llm_thinking": (
        "Let the model think first",
        "先思考再作答",
        "",
        "能思考的模型是否先思考再撰写；评分时从不思考。",
    ),
    "hyde": (
        "Search with a drafted answer (HyDE)",
        "用草拟的答案检索（HyDE）",
        "A model drafts an answer, which is searched for beside the question: one call more.",
        "模型先草拟一个答案，与问题一起用于检索：多一次调用。",
    ),
    "llm_max_tokens": (
        "Longest answer, in tokens",
        "答案最大长度（token）",
        "",
        "答案最多的 token 数；更长的会被截断并标明。",
    ),
    "llm_context": (
        "Window of the model, in tokens",
        "模型上下文窗口（token）",
        "",
        "模型窗口可容纳的 token 数；0 为向服务器询问，未告知时按 8192。",
    ),
    "llm_timeout": (
        "Longest wait for a model, in seconds",
        "等待模型的最长时间（秒）",
        "",
        "一次模型调用允许的秒数，也是流式输出时允许的静默时间。",
    ),
    "llm_retries": ("Repeats of a failed call", "失败后重试次数", "", "因暂时性原因失败的调用重试的次数。"),
    "llm_concurrency": ("Calls at the same time", "同时调用数", "", "同一提供方同时进行的调用数，所有问题合计。"),
    "price_in": (
        "Price of a million tokens read",
        "每百万输入 token 的价格",
        "For the costs that are shown; 0: unknown.",
        "用于显示费用；0 表示未知。",
    ),
    "price_out": (
        "Price of a million tokens written",
        "每百万输出 token 的价格",
        "For the costs that are shown; 0: unknown.",
        "用于显示费用；0 表示未知。",
    ),
    "currency": ("Currency", "货币", "What prices are in.", "价格所用的货币。"),
    # web
    "web_provider": (
        "Who searches the web",
        "由谁搜索网络",
        "Asked where your documents do not suffice. The query leaves this machine: a few words made from the question "
        "and the conversation, never text of your documents.",
        "在您的文档不足以回答时使用。查询会离开本机：由问题和对话生成的几个词，绝不包含文档内容。",
    ),
    "web": (
        "May the web be searched?",
        "是否允许搜索网络",
        "Never, after you have seen and may have edited the query, or at once.",
        "从不；先显示查询供您查看和编辑；或立即搜索。",
    ),
    "tavily_api_key": ("Tavily key", "Tavily 密钥", "", "仅用于 Tavily。"),
    "brave_api_key": ("Brave Search key", "Brave Search 密钥", "", "仅用于 Brave Search。"),
    "exa_api_key": ("Exa key", "Exa 密钥", "", "仅用于 Exa。"),
    "serper_api_key": ("Serper key", "Serper 密钥", "", "仅用于 Serper。"),
    "serpapi_api_key": ("SerpAPI key", "SerpAPI 密钥", "", "仅用于 SerpAPI。"),
    "google_api_key": ("Google key", "Google 密钥", "", "仅用于 Google 可编程搜索。"),
    "google_cse_id": ("Google search engine id", "Google 搜索引擎 ID", "", "您在 Google 可编程搜索中的搜索引擎 ID。"),
    "firecrawl_api_key": ("Firecrawl key", "Firecrawl 密钥", "", "仅用于 Firecrawl。"),
    "web_url": (
        "Address of the search service",
        "搜索服务地址",
        "For SearXNG that of your instance; for others only where it is not their own.",
        "SearXNG 填您的实例地址；其他服务仅在地址不同于官方时填写。",
    ),
    "tavily_url": ("Tavily address", "Tavily 地址", "", "Tavily 服务的地址。"),
    "web_results": ("Results per search", "每次搜索的结果数", "", "每次网络搜索请求的结果数。"),
    "web_depth": ("Depth of the search", "搜索深度", "", "Tavily 的搜索深度；“深入”费用更高。"),
    "web_topic": ("Topic of the search", "搜索主题", "", "Tavily 的搜索范围。"),
    "web_raw_content": (
        "Text of whole pages",
        "网页全文",
        "Tavily gives the text of each page, of which the first 4000 characters are used, in place of extracts.",
        "Tavily 返回网页全文（取前 4000 个字符），而非摘录。",
    ),
    "web_time_range": (
        "How old results may be",
        "结果的时间范围",
        "",
        "结果允许的时间范围；询问最新内容的问题会自行设定。",
    ),
    "web_pages": (
        "Fetch pages without text",
        "读取缺少正文的网页",
        "Whether pages are fetched from their sites where a provider gives no text of them.",
        "提供方未给出正文时，是否从网站读取网页。",
    ),
    "web_prefer_domains": ("Preferred sites", "优先网站", "", "其结果排在前面的网站，用逗号分隔。"),
    "web_allow_domains": ("Only these sites", "仅限网站", "", "只使用这些网站；留空则不限。"),
    "web_deny_domains": ("Never these sites", "排除网站", "", "从不使用的网站。"),
    "web_cache_hours": (
        "Hours that results are kept",
        "结果保留小时数",
        "",
        "查询结果保留并重复使用的小时数；0 为不保留。",
    ),
    "web_daily_searches": ("Searches a day", "每日搜索次数", "", "每天最多的搜索次数；0 为不限。"),
    "web_price": (
        "Price of a search",
        "每次搜索的价格",
        "For the costs that are shown, in the currency of the models; 0: unknown.",
        "用于显示费用，货币与模型相同；0 表示未知。",
    ),
    # decision
    "upper": (
        "Upper threshold",
        "上阈值",
        "A score from here on is relevant and makes the action Correct. Set here it goes before a calibration.",
        "得分达到此值即为相关，动作为“正确”。在此设定的值优先于校准。",
    ),
    "lower": (
        "Lower threshold",
        "下阈值",
        "Where all scores are below, the action is Incorrect. Set here it goes before a calibration.",
        "全部得分低于此值时，动作为“不相关”。在此设定的值优先于校准。",
    ),
    "strip_threshold": (
        "Threshold of strips",
        "片段保留阈值",
        "A strip is kept from here on. Set here it goes before a calibration.",
        "得分达到此值的片段会保留。在此设定的值优先于校准。",
    ),
    "k": ("Documents retrieved", "检索的文档数", "", "每个问题检索并评分的文档数。"),
    "top_strips": ("Most strips kept", "最多保留的片段数", "", "最多保留的片段数，文件与网络分别计算。"),
    "quotes": (
        "Most strips quoted",
        "最多引用的片段数",
        "At most so many strips are quoted where no model writes.",
        "不使用模型作答时最多引用的片段数。",
    ),
    "fusion_constant": ("Fusion constant", "融合常数", "", "倒数排名融合的常数：越大，排名差异越平缓。"),
    # knowledge base
    "parser": (
        "Who reads the PDFs",
        "由谁读取 PDF",
        "Built in: on this machine. MinerU: every file is sent to your MinerU service (version 3).",
        "内置：在本机读取。MinerU：每个文件都会发送到您的 MinerU 服务（版本 3）。",
    ),
    "mineru_url": ("MinerU address", "MinerU 地址", "Address of your MinerU service.", "您的 MinerU 服务的地址。"),
    "mineru_timeout": (
        "Longest wait for MinerU, in seconds",
        "等待 MinerU 的最长时间（秒）",
        "",
        "MinerU 处理一个文件允许的秒数，超时后由内置解析器读取。",
    ),
    "ocr": (
        "Pages read from their pictures (OCR)",
        "从图像识别页面（OCR）",
        "",
        "从图像识别的页面：不识别、仅没有可用文本的页面，或全部页面。",
    ),
    "parse_timeout": (
        "Longest time for a page, in seconds",
        "每页最长时间（秒）",
        "",
        "读取一页允许的秒数，超时则略过该页。",
    ),
    "watch": (
        "Watch the folder",
        "监视文件夹",
        "The page looks for changes in the folder of PDFs and offers a build.",
        "页面会查看 PDF 文件夹的变化，并提示重建。",
    ),
    "max_upload_mb": ("Largest upload, in MB", "最大上传大小（MB）", "", "可以上传的最大 PDF。"),
    "threads": ("Threads of the embedded engine", "内置引擎的线程数", "", "内置引擎使用的线程数；0 为全部核心。"),
    # appearance
    "language": (
        "Language of this page",
        "页面语言",
        "Answers come in the language of the question.",
        "答案使用提问的语言。",
    ),
}

_CHOICES: Final[dict[str, dict[str, tuple[str, str]]]] = {
    "llm_provider": {
        "embedded": ("No model: quotes", "不用模型：引用原文"),
        "dashscope": ("Qwen (DashScope)", "通义千问（DashScope）"),
        "openai": ("OpenAI-compatible server", "OpenAI 兼容服务器"),
        "llamacpp": ("GGUF file (llama.cpp)", "GGUF 文件（llama.cpp）"),
        "pydantic-ai": ("Another (pydantic-ai)", "其他（pydantic-ai）"),
    },
    "evaluator": {
        "lightweight": ("Lightweight", "轻量评估器"),
        "llm": ("Model as judge", "模型评判"),
        "cross-encoder": ("Cross-encoder", "交叉编码器"),
    },
    "grader_provider": {
        "": ("The one that writes", "与撰写答案相同"),
        "dashscope": ("Qwen (DashScope)", "通义千问（DashScope）"),
        "openai": ("OpenAI-compatible server", "OpenAI 兼容服务器"),
        "llamacpp": ("GGUF file (llama.cpp)", "GGUF 文件（llama.cpp）"),
        "pydantic-ai": ("Another (pydantic-ai)", "其他（pydantic-ai）"),
    },
    "embedding_provider": {
        "embedded": ("Embedded engine", "内置引擎"),
        "openai": ("OpenAI-compatible", "OpenAI 兼容"),
    },
    "dashscope_region": {"china": ("China", "中国"), "international": ("International", "国际")},
    "web_provider": {"none": ("Nobody", "不搜索")},
    "web": {"off": ("Never", "从不"), "ask": ("Ask me", "先询问我"), "auto": ("At once", "立即搜索")},
    "web_depth": {"basic": ("Basic", "基本"), "advanced": ("Advanced", "深入")},
    "web_topic": {"general": ("General", "综合"), "news": ("News", "新闻"), "finance": ("Finance", "财经")},
    "web_time_range": {
        "any": ("Any", "不限"),
        "day": ("A day", "一天"),
        "week": ("A week", "一周"),
        "month": ("A month", "一个月"),
        "year": ("A year", "一年"),
    },
    "parser": {"builtin": ("Built in", "内置")},
    "ocr": {
        "off": ("None", "不识别"),
        "auto": ("Those without text", "没有文本的页面"),
        "force": ("All", "全部"),
    },
    "language": {"auto": ("As the browser", "跟随浏览器")},
}
"""What stands in no catalog is a name, the same in every language."""


def _texts() -> dict[str, tuple[str, str]]:
    texts = {}
    for name, (label, label_zh, told, told_zh) in _SETTINGS.items():
        texts[f"label_{name}"] = (label, label_zh)
        texts[f"help_{name}"] = (told or str(Settings.model_fields[name].description), told_zh)
        for choice, labels in _CHOICES.get(name, {}).items():
            texts[f"choice_{name}_{choice}"] = labels
    return texts


TEXTS: Final[dict[str, tuple[str, str]]] = _texts()
