"""How rare words are: a frozen idf table, and the content words of a question weighed by it.

The table (`crag/data/idf.tsv.gz`, made by `python -m bench.idf_table`) ships with the evaluator, so that a grade never
depends on what else lies in the knowledge base. English words are cut to 6 letters, Chinese is character bigrams.
"""

from __future__ import annotations

import gzip
import itertools
import math
import re
from collections.abc import Iterable, Set
from functools import cache
from importlib.resources import files

from crag.text import is_cjk, normalise, tokens

CUT = 6
"""Letters of an English word that are compared: a stem that is the same in the table, the question and the text."""
RARE = 4.0
"""From this idf on a word is called rare: fewer than 1 text in 55 holds it."""

_STOP = """
a about above after again all also am an and any are as at be became because become been before being below
between both but by can could did do does doing done during each either else ever every few for from further
get give given had has have having he her here hers him his how however i if in into is it its itself just kind
ll many may me might mine more most much must my near no nor not of off on once one only or other our out over
own per please re s same shall she should so some such t tell than that the their them then there these they
this those through to too under until up upon us use used ve very was we were what when where whether which
while who whom whose why will with within without would yes yet you your
"""
STOP_WORDS = frozenset(_STOP.split())

_QUESTION_WORDS = re.compile(
    "什[么麼]时候|什[么麼]時候|[为為]什[么麼]|[为為]了什[么麼]|什[么麼][样樣]?|多少|多久|多大|多[长長]|多高|"
    "哪一?[个個些里裡儿兒位种種年]|哪一|哪|何[时時地处處人]|如何|怎[么麼][样樣]?|怎[样樣]|[为為]何|是否|能否|能不能|有[没沒]有|"
    "[请請]问|請問|告[诉訴]我|以及|或者|[还還]是|[关關]於?于?|谁|誰|[几幾][个個]|的|了|[吗嗎]|呢|吧|啊|被|是|在|和|[与與]|及|或"
)
_PROTECTED = re.compile(
    "目的|的士|的确|了解|[为為]了|存在|[现現]在|所在|[潜潛]在|[内內]在|外在|正在|在[线線職职]|和平|和[谐諧]|共和|[总總]和|[饱飽]和|"
    "[温溫]和|[参參]与|[参參]與|及[时時]|普及|埃及|以及|涉及|波及|或[许許]|是非|[几幾]何|任何"
)
_SPLIT_ZH = re.compile(f"({_PROTECTED.pattern})|(?:{_QUESTION_WORDS.pattern})")


@cache
def _table() -> tuple[dict[str, float], float, float]:
    """(idf by word, idf of an unseen English word, of an unseen Chinese bigram)."""
    lines = gzip.decompress(files("crag").joinpath("data/idf.tsv.gz").read_bytes()).decode().splitlines()
    n_en, n_zh = (int(number) for number in lines[0].split("\t")[1:])
    table: dict[str, float] = {}
    for line in lines[1:]:
        df, words = line.split("\t")
        for word in words.split(" "):
            table[word] = math.log((n_zh if is_cjk(word) else n_en) / (int(df) + 0.5))
    return table, math.log(n_en / 0.5), math.log(n_zh / 0.5)


def idf(word: str) -> float:
    """ln(texts / (texts that hold it + 0.5)) of a cut word or bigram, at least 0; unseen words get the maximum."""
    table, unseen_en, unseen_zh = _table()
    return max(0.0, table.get(word, unseen_zh if is_cjk(word) else unseen_en))


def is_known(word: str) -> bool:
    """Whether a cut word or bigram stands in the table; stop words do."""
    return word in _table()[0] or word in STOP_WORDS


def cut(token: str) -> str:
    """The compared form of a token: words to 6 letters, bigrams and numbers whole."""
    if token.isascii():
        return token if token.isdigit() else token[:CUT]
    return token if is_cjk(token) else token[:CUT]


def words_of(text: str) -> frozenset[str]:
    """Everything that `text` holds, in compared form."""
    return frozenset(cut(token) for token in tokens(text))


def without_function_words(question: str) -> str:
    """The question with Chinese question and function words replaced by spaces; English is left as it is."""
    return _SPLIT_ZH.sub(lambda match: match.group(1) or " ", question)


def content_words(question: str) -> tuple[str, ...]:
    """The words that a text must hold to speak of what is asked, in order, each once, in compared form.

    Stop words are out; lone Chinese characters too, unless nothing else is left. Empty for a question of stop words.
    """
    found = [token for token in tokens(without_function_words(normalise(question))) if token not in STOP_WORDS]
    strong = [token for token in found if not (is_cjk(token) and len(token) == 1)]
    return tuple(dict.fromkeys(cut(token) for token in strong or found))


def neighbours(text: str) -> list[tuple[str, str]]:
    """Every word that is no stop word with the next such word, in compared form; of Chinese, bigram with bigram."""
    words = [cut(token) for token in tokens(text) if token not in STOP_WORDS]
    return list(itertools.pairwise(words))


def coverage(words: Iterable[str], held: Set[str]) -> float:
    """The idf-weighted share of `words` that are in `held`, in [0, 1]; 0 where there are no words."""
    total = found = 0.0
    for word in words:
        weight = idf(word)
        total += weight
        if word in held:
            found += weight
    return found / total if total else 0.0


def rare_words(words: Iterable[str]) -> tuple[str, ...]:
    """Those of `words` that are rare; all of them where none is."""
    words = tuple(words)
    return tuple(word for word in words if idf(word) >= RARE) or words
