"""Citations: which sources an answer cites, and whether each of its sentences is held by the strips that it cites."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from crag.idf import content_words, coverage, words_of
from crag.schema import CheckedSentence, Citation, CitationCheck, GradedStrip, Knowledge, Source, Support
from crag.text import language, normalise, sentences, tokens

SUPPORTED = 0.75
"""Share of a sentence's content words (by idf) that the cited strips hold, from which on it is supported."""
WEAK = 0.4

_BETWEEN = r"\s*[,，、;；~～–—-]\s*"
_MARKER = re.compile(
    rf"[\[［【〔]\s*(?:sources?|refs?|来源|出处|\^)?\s*(\d{{1,3}}(?:{_BETWEEN}\d{{1,3}})*)\s*[\]］】〕]", re.IGNORECASE
)
_CITED = re.compile(r"(\d+)(?:\s*[~～–—-]\s*(\d+))?")
LONGEST_RANGE = 20
"""Sources that "[1-20]" may cite; of a longer range its ends are."""
_QUOTE = re.compile(r"“([^“”]{4,})”")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BRACKETS = str.maketrans("[［【〔", "((((")
_BULLET = re.compile(r"\s*(?:[-*•·]|\d{1,2}[.)、．])\s+")
_HEADING = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*[:：]?\s*)")
_ABOUT = r"\b(?:knowledge|documents?|excerpts?|sources?|evidence|context|information|text)\b"
_NOT = r"\b(?:not|nothing|never|no|cannot)\b|n['’]t\b"
_TELLS = (
    r"\b(?:say|tell|mention|state|cover|contain|specif|includ|provid|giv|answer|describ|explain|address|show|list|name)"
)
_GAPS = [
    [re.compile(part, re.IGNORECASE) for part in parts]
    for parts in (
        [_ABOUT, _NOT, _TELLS],
        [_ABOUT, _TELLS, r"\b(?:nothing|no)\b"],
        [r"\bno (?:information|mention|evidence)\b"],
        [
            r"(?:知识|文档|资料|来源|材料|摘录|原文|信息|证据).{0,20}(?:没有|未|无|不)"
            r".{0,6}(?:提|说|告|涉|涵|包|给|描|列|回答|记载|找到|相关|足够|信息)"
        ],
    )
]
"""Of each, one part behind the other: a sentence that says what the knowledge does not tell."""


def check(answer: str, knowledge: Knowledge, strips: Sequence[GradedStrip]) -> CitationCheck:
    """The answer held against its sources; `strips` are those of the turn, of which the kept ones are the evidence.

    Markers inside text that is quoted word for word belong to the document and are no citations. A sentence without
    a marker is held against what the next marker of its paragraph cites, an item of a list without one against what
    the line before the list cites; one that cites nothing is unsupported, with no `cites`. Headings, and sentences
    that say what the knowledge does not tell, claim nothing and are left out.
    """
    texts = {strip.id: strip.text for strip in strips if strip.kept}
    evidence = {source.n: _evidence(source, texts) for source in knowledge.sources}
    masked = _mask(answer, [*texts.values(), *evidence.values()])
    cited = tuple(dict.fromkeys(_markers(masked)))
    sources = {source.n: source for source in knowledge.sources}
    return CitationCheck(
        citations=tuple(
            Citation.model_validate({name: getattr(sources[n], name) for name in Citation.model_fields})
            for n in cited
            if n in sources
        ),
        unknown=tuple(n for n in cited if n not in sources),
        sentences=tuple(_checked(answer, masked, evidence)) if sources else (),
    )


def support(sentence: str, evidence: str) -> Support:
    """How far `evidence` holds the content words and all numbers of `sentence`; word for word is supported.

    Words cannot be compared across languages: there a sentence is weak, or unsupported with a number of its own.
    """
    if not evidence:
        return Support.UNSUPPORTED
    if _plain(sentence) in _plain(evidence):
        return Support.SUPPORTED
    sentence, evidence = _THOUSANDS.sub("", sentence), _THOUSANDS.sub("", evidence)  # 1,500 is 1500
    words = content_words(sentence) or tuple(words_of(sentence))
    share = coverage(words, words_of(evidence))
    invented = set(_NUMBER.findall(normalise(sentence))) - set(_NUMBER.findall(normalise(evidence)))
    if share >= SUPPORTED and not invented:
        return Support.SUPPORTED
    foreign = all(language(line) != language(sentence) for line in evidence.splitlines() if tokens(line))
    return Support.WEAK if share >= WEAK or (foreign and not invented) else Support.UNSUPPORTED


def _checked(answer: str, masked: str, evidence: Mapping[int, str]) -> Iterator[CheckedSentence]:
    led: tuple[int, ...] = ()  # what the line before a list cites
    for start, end in _lines(answer):
        if _HEADING.fullmatch(answer[start:end].rstrip()):
            continue
        item = _BULLET.match(answer, start, end)
        start = item.end() if item else start
        ranges = _with_their_markers(masked, [(start + a, start + b) for a, b in sentences(answer[start:end])])
        cites = [tuple(dict.fromkeys(_markers(masked[a:b]))) for a, b in ranges]
        for i in range(len(cites) - 2, -1, -1):
            cites[i] = cites[i] or cites[i + 1]
        if item:
            cites = [numbers or led for numbers in cites]
        elif answer[start:end].strip():
            led = cites[-1] if cites and answer[start:end].rstrip().endswith((":", "：")) else ()
        for (a, b), numbers in zip(ranges, cites, strict=True):
            claim = _MARKER.sub("", masked[a:b]).strip()
            if not tokens(claim) or (not numbers and (claim.endswith((":", "：")) or _is_gap(claim))):
                continue  # nothing is claimed: punctuation, the lead-in of what follows, an honest gap
            held = "\n".join(evidence[n] for n in numbers if n in evidence)
            yield CheckedSentence(text=answer[a:b], cites=numbers, support=support(claim, held.translate(_BRACKETS)))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of the lines; a quotation of several lines, whose marker stands behind its last, is one."""
    start = position = open_quotes = 0
    for line in text.splitlines(keepends=True):
        position += len(line)
        open_quotes = max(0, open_quotes + line.count("“") - line.count("”"))
        if not open_quotes or not line.strip():
            yield start, position
            start, open_quotes = position, 0
    if start < position:
        yield start, position


def _with_their_markers(masked: str, ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Sentence ranges in which a marker that stands after the full stop belongs to the sentence before it."""
    joined: list[tuple[int, int]] = []
    for start, end in ranges:
        leading = start
        while joined and (match := _MARKER.match(masked, leading)) and match.end() <= end:
            leading = match.end()
            while leading < end and masked[leading].isspace():
                leading += 1
        if leading > start:
            joined[-1] = (joined[-1][0], leading)
        if leading < end:
            joined.append((leading, end))
    return joined


def _mask(answer: str, verbatim: Sequence[str]) -> str:
    """The answer, equally long, with the square brackets inside word-for-word quotes made round."""
    masked = answer
    for text in verbatim:
        if text and any(mark in text for mark in "[［【"):
            masked = masked.replace(text, text.translate(_BRACKETS))
    plain = [_plain(text) for text in verbatim]
    return _QUOTE.sub(
        lambda match: match[0].translate(_BRACKETS) if any(_plain(match[1]) in text for text in plain) else match[0],
        masked,
    )


def _evidence(source: Source, texts: Mapping[str, str]) -> str:
    return "\n".join(texts[id_] for id_ in source.strips if id_ in texts)


def _is_gap(claim: str) -> bool:
    return any(_in_order(parts, claim) for parts in _GAPS)


def _in_order(parts: Sequence[re.Pattern[str]], text: str) -> bool:
    position = 0
    for part in parts:
        if (match := part.search(text, position)) is None:
            return False
        position = match.end()
    return True


def _markers(text: str) -> list[int]:
    return [
        n for match in _MARKER.finditer(text) for first, last in _CITED.findall(match[1]) for n in _run(first, last)
    ]


def _run(first: str, last: str) -> list[int]:
    """The numbers of "3" or "3-5"."""
    low, high = int(first), int(last or first)
    return [*range(low, high + 1)] if low <= high < low + LONGEST_RANGE else [low, high]


def _plain(text: str) -> str:
    """Without white space, quotation marks and case: what counts when texts are compared word for word."""
    return re.sub(r"[\s\"“”„«»「」『』]+", "", normalise(text)).strip("。.")
