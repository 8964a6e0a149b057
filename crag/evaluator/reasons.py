"""Why the lightweight evaluator gave a grade: one sentence in the language of the question, naming what carried it."""

from __future__ import annotations

from crag.evaluator.features import Asked, holds
from crag.idf import words_of

TEXTS = {
    "en": {
        "words": "{found} of {total} rare words of the question",
        "no_words": "the question has no words to look for",
        "crossed": "question and document are in different languages",
        "similar": "best sentence {best:.2f} similar",
        "strip": "{best:.2f} similar",
        "read": "read with the question {read:.2f}",
        "holds": "holds {codes}",
        "lacks": "does not hold {codes}",
        "empty": "the document has no text",
        "joint": ", ",
    },
    "zh": {
        "words": "含问题的罕见词 {found}/{total}",
        "no_words": "问题中没有可查找的词",
        "crossed": "问题与文档语言不同",
        "similar": "最接近的句子相似度 {best:.2f}",
        "strip": "相似度 {best:.2f}",
        "read": "与问题对读 {read:.2f}",
        "holds": "含有 {codes}",
        "lacks": "不含 {codes}",
        "empty": "文档没有文字",
        "joint": "，",
    },
}


def empty(asked: Asked) -> str:
    return TEXTS[asked.language]["empty"]


def reason(asked: Asked, text: str, best: float, key: str, *, same: bool, read: float | None = None) -> str:
    """What speaks for and against. `best` is the cosine named by `key`, `read` what the cross-encoder gave, in [0, 1];
    `same`: question and text are in one language."""
    texts = TEXTS[asked.language]
    held = words_of(text)
    if not same:
        said = [texts["crossed"]]
    elif asked.rare:
        found = sum(word in held for word in asked.rare)
        said = [texts["words"].format(found=found, total=len(asked.rare))]
    else:
        said = [texts["no_words"]]
    for name, codes in (
        ("holds", [code for code in asked.codes if holds(text, code)]),
        ("lacks", [code for code in asked.codes if not holds(text, code)]),
    ):
        if codes:
            said.append(texts[name].format(codes=", ".join(code.upper() for code in codes[:3])))
    said.append(texts[key].format(best=max(best, 0.0)))
    if read is not None:
        said.append(texts["read"].format(read=read))
    return texts["joint"].join(said)
