"""Citations: which sources an answer cites, and whether each of its sentences is held by the strips that it cites."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from crag.generator.claims import Claim, claims, markers
from crag.generator.unheld import unheld
from crag.idf import content_words, coverage, words_of
from crag.refinement import label
from crag.schema import CheckedSentence, Citation, CitationCheck, GradedStrip, Knowledge, Source, Support
from crag.text import language, normalise, tokens

SUPPORTED = 0.75
"""Share of a sentence's content words (by idf) that the cited strips hold, from which on it is supported."""
WEAK = 0.4

_QUOTE = re.compile(r"“([^“”]{4,})”")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BRACKETS = str.maketrans("[［【〔", "((((")


def check(answer: str, knowledge: Knowledge, strips: Sequence[GradedStrip]) -> CitationCheck:
    """The answer held against its sources; `strips` are those of the turn, of which the kept ones are the evidence.

    Markers inside text that is quoted word for word belong to the document and are no citations. What counts as a
    sentence, and what each cites, is in `claims`; one that cites nothing is unsupported, with no `cites`. A line that
    only names a source is left out.
    """
    texts = {strip.id: strip.text for strip in strips if strip.kept}
    evidence = {source.n: _evidence(source, texts) for source in knowledge.sources}
    masked = _mask(answer, [*texts.values(), *evidence.values()])
    cited = tuple(dict.fromkeys(markers(masked)))
    sources = {source.n: source for source in knowledge.sources}
    return CitationCheck(
        citations=tuple(
            Citation.model_validate({name: getattr(sources[n], name) for name in Citation.model_fields})
            for n in cited
            if n in sources
        ),
        unknown=tuple(n for n in cited if n not in sources),
        sentences=tuple(
            _checked(answer[claim.start : claim.end], claim, evidence)
            for claim in claims(masked)
            if sources and not any(_plain(claim.text) in _plain(label(sources[n])) for n in claim.cites if n in sources)
        ),
    )


@dataclass(frozen=True)
class Held:
    """How far a sentence is held, and what of it is not; names as in `CheckedSentence`."""

    support: Support
    numbers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    foreign: bool = False


def held(sentence: str, evidence: str) -> Held:
    """How far `evidence` holds the content words and all numbers of `sentence`; word for word is supported.

    Words cannot be compared across languages: there a sentence is weak, or unsupported with a number of its own.
    """
    if not evidence:
        return Held(Support.UNSUPPORTED)
    if _plain(sentence) in _plain(evidence):
        return Held(Support.SUPPORTED)
    sentence, evidence = _THOUSANDS.sub("", sentence), _THOUSANDS.sub("", evidence)  # 1,500 is 1500
    words, there = content_words(sentence) or tuple(words_of(sentence)), words_of(evidence)
    share = coverage(words, there)
    known = set(_NUMBER.findall(normalise(evidence)))
    invented = tuple(dict.fromkeys(n for n in _NUMBER.findall(normalise(sentence)) if n not in known))
    if share >= SUPPORTED and not invented:
        return Held(Support.SUPPORTED)
    foreign = any(language(line) != language(sentence) for line in evidence.splitlines() if tokens(line))
    weak = share >= WEAK or (foreign and not invented)
    return Held(Support.WEAK if weak else Support.UNSUPPORTED, invented, unheld(sentence, words, there), foreign)


def _checked(text: str, claim: Claim, evidence: Mapping[int, str]) -> CheckedSentence:
    cited = "\n".join(evidence[n] for n in claim.cites if n in evidence)
    return CheckedSentence(text=text, cites=claim.cites, **asdict(held(claim.text, cited.translate(_BRACKETS))))


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


def _plain(text: str) -> str:
    """Without white space, quotation marks and case: what counts when texts are compared word for word."""
    return re.sub(r"[\s\"“”„«»「」『』]+", "", normalise(text)).strip("。.")
