"""Refinement (paper, section 4.4): decompose into strips, select by score, recompose in document order."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Collection, Iterable, Sequence

from crag.schema import (
    Action,
    Citation,
    Document,
    DocumentGrade,
    Fate,
    GradedDocument,
    GradedStrip,
    Knowledge,
    Source,
    Strip,
    Thresholds,
    pages_of,
)
from crag.text import is_cjk, language, sentences

SENTENCES_PER_STRIP = 3
ENOUGH = {"en": 110, "zh": 40}
"""Characters from which on a strip takes no further sentence."""
LONGEST = {"en": 500, "zh": 250}
"""Characters at which text without punctuation (tables, lists) is cut."""

_ROUND = str.maketrans("[]", "()")
_PARAGRAPH = re.compile(r"\n\s*\n")


def decompose(text: str) -> tuple[Strip, ...]:
    """The strips of a raw text: one to three sentences of one paragraph each, without spans; equal texts once."""
    pieces = (strip for paragraph in _PARAGRAPH.split(text) for strip in _paragraph_strips(paragraph))
    return tuple(Strip(id=_text_id(piece), text=piece) for piece in dict.fromkeys(pieces))


def ledger(documents: Sequence[Document], grades: Sequence[DocumentGrade]) -> tuple[GradedStrip, ...]:
    """All strips of `documents` (in rank order) with their grades, in document order, web pages last, equal ids once.

    A strip that several documents hold has the best of its scores. Raises ValueError where a document and its
    grade differ in the number of strips.
    """
    found: dict[str, GradedStrip] = {}
    places: dict[str, tuple[bool, str, str, int, int, int, int]] = {}
    for document, graded in zip(documents, grades, strict=True):
        for strip, grade in zip(document.strips, graded.strips, strict=True):
            known = found.get(strip.id)
            if known is None:
                page, start = (strip.spans[0].page, strip.spans[0].start) if strip.spans else (0, 0)
                last = strip.spans[-1].start if strip.spans else 0  # rows of a table share the column names before them
                web = document.url is not None
                places[strip.id] = (web, document.file, document.content, page, start, last, len(places))
            holders = (*known.documents, document.id) if known else (document.id,)
            if known and (grade.score is None or (known.score is not None and known.score >= grade.score)):
                found[strip.id] = known.model_copy(update={"documents": holders})
                continue
            found[strip.id] = GradedStrip(
                **{name: getattr(strip, name) for name in Strip.model_fields},
                content=document.content,
                files=document.files,
                documents=holders,
                order=0,
                url=document.url,
                title=document.heading if document.url else "",
                score=grade.score,
                cause=grade.cause,
                reason=grade.reason,
            )
    ordered = sorted(found, key=places.__getitem__)
    return tuple(found[id_].model_copy(update={"order": order}) for order, id_ in enumerate(ordered))


def select(
    documents: Sequence[GradedDocument],
    strips: Sequence[GradedStrip],
    thresholds: Thresholds,
    action: Action | None,
) -> tuple[GradedStrip, ...]:
    """All `strips` in document order, each with its fate. Pure: the slider, the replay and the pipeline call it.

    Strips of files and strips of web pages are refined side by side, each kind by the same rule: CORRECT leaves the
    web out, INCORRECT the files, AMBIGUOUS uses both. `action` None means that no decision could be taken: nothing
    is kept.
    """
    ordered = sorted(strips, key=lambda strip: strip.order)
    if action is None:
        return tuple(strip.model_copy(update={"fate": Fate.DOCUMENT_UNGRADED}) for strip in ordered)
    fates = {strip.id: Fate.DISCARDED for strip in ordered}
    for web, left_out in ((False, Action.INCORRECT), (True, Action.CORRECT)):
        if action is not left_out:
            kind = [document for document in documents if (document.url is not None) is web]
            fates |= _selected(kind, [strip for strip in ordered if (strip.url is not None) is web], thresholds)
    return tuple(strip.model_copy(update={"fate": fates[strip.id]}) for strip in ordered)


def _selected(
    documents: Sequence[GradedDocument], ordered: Sequence[GradedStrip], thresholds: Thresholds
) -> dict[str, Fate]:
    """The fates of the strips of one kind, by id.

    Kept are the best `top_strips` (ties: the earlier one) that reach the strip threshold and belong to a document
    that reaches the lower one. Where there are none, the best strip of the best such document is the fallback.
    """
    scores = {document.id: document.score for document in documents}
    fates = {strip.id: _fate(strip, scores, thresholds) for strip in ordered}
    above = sorted((s for s in ordered if fates[s.id] is Fate.KEPT), key=lambda strip: -(strip.score or 0.0))
    fates.update({strip.id: Fate.BEYOND_TOP for strip in above[thresholds.top_strips :]})
    if not above and (best := _fallback(documents, ordered, thresholds)):
        fates[best.id] = Fate.FALLBACK
    return fates


def recompose(strips: Iterable[GradedStrip]) -> Knowledge:
    """The kept strips as the generator reads them: numbered by (file, page) in document order, neighbours merged."""
    kept = tuple(sorted((strip for strip in strips if strip.kept), key=lambda strip: strip.order))
    groups = itertools.groupby(kept, key=lambda strip: (strip.file, strip.page))
    sources = tuple(_source(n, list(group)) for n, (_, group) in enumerate(groups, start=1))
    return Knowledge(text=as_text(sources), sources=sources, strips=kept)


def only(knowledge: Knowledge, ids: Collection[str]) -> Knowledge:
    """The knowledge with the strips of `ids` alone; a source keeps its number, or goes with its last strip."""
    strips = {strip.id: strip for strip in knowledge.strips if strip.id in ids}
    held = ((source.n, [strips[id_] for id_ in source.strips if id_ in strips]) for source in knowledge.sources)
    sources = tuple(_source(n, group) for n, group in held if group)
    return Knowledge(text=as_text(sources), sources=sources, strips=tuple(strips.values()))


def as_text(sources: Iterable[Source]) -> str:
    """The sources as a model reads them, each below its number and its place."""
    return "\n\n".join(f"[{source.n}] {label(source)}\n{source.text}" for source in sources)


def label(source: Source | Citation) -> str:
    """Where a source stands, on one line: "report.pdf, page 5", or "Title, https://…" for a web page."""
    if source.url:
        title = " ".join(source.title.split()).translate(_ROUND)  # "[2]" in a title is no source number
        return ", ".join(part for part in (title, source.url) if part)
    return f"{' '.join(source.file.split())}, {named(source.pages or (source.page,))}"


def named(pages: Sequence[int]) -> str:
    """ "page 5", or "pages 5-6" for a source that runs over a page break."""
    return f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}-{pages[-1]}"


def merge(strips: Sequence[GradedStrip]) -> str:
    """Their texts as one: neighbours in a paragraph flow on; a gap, or another paragraph, is a new line."""
    text = strips[0].text if strips else ""
    for before, after in itertools.pairwise(strips):
        flows = neighbours(before, after) and not after.starts_line
        text += (_gap(before.text, after.text) if flows else "\n") + after.text[_repeated(before, after) :]
    return text


def _repeated(before: GradedStrip, after: GradedStrip) -> int:
    """Length of the column names that `after` repeats from `before`: rows of one table need them once."""
    if before.content != after.content or before.spans[:1] != after.spans[:1] or len(after.spans) < 2:
        return 0
    lines = itertools.takewhile(
        lambda pair: pair[0] == pair[1], zip(before.text.split("\n"), after.text.split("\n")[:-1], strict=False)
    )
    return sum(len(line) + 1 for line, _ in lines)


def neighbours(before: GradedStrip, after: GradedStrip) -> bool:
    """Whether nothing but white space stands between two strips of one content on the same page."""
    if before.content != after.content or not before.spans or not after.spans:
        return False
    end, start = before.spans[-1], after.spans[0]
    return end.page == start.page and 0 <= start.start - end.end <= 2


def _fate(strip: GradedStrip, scores: dict[str, float | None], thresholds: Thresholds) -> Fate:
    """What becomes of one strip before the best are counted out."""
    graded = [score for id_ in strip.documents if (score := scores.get(id_)) is not None]
    if not graded:
        return Fate.DOCUMENT_UNGRADED
    if max(graded) < thresholds.lower:
        return Fate.DOCUMENT_IRRELEVANT
    if strip.score is None:
        return Fate.UNGRADED
    return Fate.KEPT if strip.score >= thresholds.strip else Fate.BELOW_THRESHOLD


def _fallback(
    documents: Sequence[GradedDocument], strips: Sequence[GradedStrip], thresholds: Thresholds
) -> GradedStrip | None:
    """The best strip of the best document that reaches the lower threshold and has graded strips."""
    usable = [document for document in documents if document.score is not None and document.score >= thresholds.lower]
    for document in sorted(usable, key=lambda document: -(document.score or 0.0)):
        own = [strip for strip in strips if strip.score is not None and document.id in strip.documents]
        if own:
            return max(own, key=lambda strip: strip.score or 0.0)
    return None


def _source(n: int, strips: Sequence[GradedStrip]) -> Source:
    first = strips[0]
    return Source(
        n=n,
        file=first.file,
        files=first.files,
        content=first.content,
        page=first.page,
        pages=pages_of(span for strip in strips for span in strip.spans),
        text=merge(strips),
        strips=tuple(strip.id for strip in strips),
        url=first.url,
        title=first.title,
    )


def _paragraph_strips(paragraph: str) -> list[str]:
    lang = language(paragraph)
    strips: list[str] = []
    count = 0
    for start, end in sentences(paragraph):
        for piece in _cut(paragraph[start:end], LONGEST[lang]):
            joined = strips[-1] + _gap(strips[-1], piece) + piece if strips else ""
            short = bool(strips) and (len(strips[-1]) < ENOUGH[lang] or len(piece) < ENOUGH[lang] // 3)
            if short and count < SENTENCES_PER_STRIP and len(joined) <= LONGEST[lang]:
                strips[-1] = joined
                count += 1
            else:
                strips.append(piece)
                count = 1
    return strips


def _cut(sentence: str, longest: int) -> list[str]:
    """`sentence` in pieces of at most `longest` characters, cut at line ends or white space where there are any."""
    pieces: list[str] = []
    while len(sentence) > longest:
        head = sentence[: longest + 1]
        at = max(head.rfind("\n"), head.rfind(" "))
        at = at if at >= longest // 2 else longest
        pieces.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [piece for piece in (*pieces, sentence) if piece]


def _gap(before: str, after: str) -> str:
    """What stands between two neighbouring strips: nothing inside Chinese, otherwise a space."""
    wide = before[-1:] and (is_cjk(before[-1]) or before[-1] in "。！？；：，、”’」』）》…")
    return "" if wide and (is_cjk(after[:1]) or language(after) == "zh") else " "


def _text_id(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
