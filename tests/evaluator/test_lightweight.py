"""The lightweight evaluator with the real embedding engine: what it grades, why, and what happens when a part fails."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files

import numpy as np
import pytest

from crag.embedding.base import Embedder, Vectors
from crag.errors import ConfigurationError, EmbeddingError
from crag.evaluator.features import DOCUMENT, STRIP
from crag.evaluator.lightweight import Calibration, LightweightEvaluator, linear, logistic
from crag.refinement import decompose
from crag.schema import Document, DocumentGrade, Span

APOLLO = (
    "The Apollo program landed the first humans on the Moon in July 1969. Neil Armstrong and Buzz Aldrin walked on the "
    "lunar surface while Michael Collins stayed in orbit. Five further landings followed, and the last one, Apollo 17, "
    "left the Moon in December 1972."
)
RAINFOREST = (
    "The Amazon rainforest covers most of the Amazon basin of South America. The majority of the forest lies in "
    "Brazil, with 60 percent of it, followed by Peru with 13 percent and Colombia with 10 percent."
)
BREAD = (
    "Sourdough bread rises by wild yeast and lactic acid bacteria. The starter is fed with flour and water every day. "
    "A long fermentation in the cold gives the crust its colour."
)
ERRORS = (
    "The display shows the state of the pump. ERR-4012 means that the oil pressure is too low: stop the engine and "
    "refill. Other codes are explained in the service manual."
)
OTHER_ERRORS = (
    "The display shows the state of the pump. ERR-4013 means that the water is too hot: stop the engine and wait. "
    "Other codes are explained in the service manual."
)
PANTHERS = (
    "黑豹队的防守只丢了 308 分，在联赛中排名第六，同时也以 24 次拦截领先国家橄榄球联盟，并且四次入选职业碗。"
    "职业碗防守截锋卡万·肖特以 11 次擒杀领先于全队。"
)
WARSAW = (
    "华沙是波兰的首都和最大的城市，位于维斯瓦河畔，距离波罗的海大约 260 公里。"
    "截至 2014 年，华沙的人口约为 174 万，都市区人口约为 266 万。"
)


def document(text: str, id_: str = "d", heading: str = "") -> Document:
    spans = (Span(page=1, start=0, end=max(1, len(text))),)
    strips = tuple(strip.model_copy(update={"spans": spans}) for strip in decompose(text))
    return Document(id=id_, content="c", files=("a.pdf",), text=text, heading=heading, spans=spans, strips=strips)


async def grade(embedder: Embedder, question: str, *texts: str) -> list[DocumentGrade]:
    documents = [document(text, f"d{n}") for n, text in enumerate(texts)]
    return await LightweightEvaluator(embedder).grade(question, documents)


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Who stayed in orbit while Armstrong walked on the Moon?", APOLLO, (RAINFOREST, BREAD, ERRORS)),
        ("Which country holds the majority of the Amazon rainforest?", RAINFOREST, (APOLLO, BREAD)),
        ("黑豹队的防守丢了多少分？", PANTHERS, (WARSAW,)),
        ("华沙位于哪条河畔？", WARSAW, (PANTHERS,)),
        ("What does ERR-4012 mean?", ERRORS, (APOLLO, BREAD)),
    ],
)
async def test_the_text_that_answers_is_relevant_and_others_are_not(
    embedder: Embedder, question: str, right: str, wrong: tuple[str, ...]
) -> None:
    first, *others = [g.document.score for g in await grade(embedder, question, right, *wrong)]
    assert first is not None
    assert first >= 0.7
    assert all(score is not None and score < 0.3 for score in others)


async def test_the_strip_that_answers_has_the_best_score(embedder: Embedder) -> None:
    (graded,) = await grade(embedder, "Who stayed in orbit while Armstrong walked on the Moon?", APOLLO)
    scores = [strip.score for strip in graded.strips]
    texts = [strip.text for strip in decompose(APOLLO)]
    assert "Collins" in texts[int(np.argmax(scores))]
    assert max(score or 0 for score in scores) >= 0.5


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("阿波罗计划最后一次离开月球是什么时候？", APOLLO),
        ("How many points did the Panthers defense give up?", PANTHERS),
    ],
)
async def test_another_language_than_the_documents_is_not_taken_for_irrelevant(
    embedder: Embedder, question: str, text: str
) -> None:
    other = BREAD if text is APOLLO else WARSAW
    right, wrong = await grade(embedder, question, text, other)
    assert 0.7 > (right.document.score or 0) >= 0.3
    assert (right.document.score or 0) > (wrong.document.score or 0)


async def test_a_bare_part_number_is_answered_by_the_text_that_holds_it(embedder: Embedder) -> None:
    right, near, other = await grade(embedder, "ERR-4012", ERRORS, OTHER_ERRORS, APOLLO)
    assert (right.document.score or 0) >= 0.7
    assert (near.document.score or 0) < 0.3
    assert (other.document.score or 0) < 0.3
    best = max(zip((s.score or 0 for s in right.strips), (s.text for s in decompose(ERRORS)), strict=True))
    assert best[0] >= 0.5
    assert "ERR-4012" in best[1]


async def test_a_text_about_another_part_number_is_not_taken_for_the_answer(embedder: Embedder) -> None:
    (near,) = await grade(embedder, "What does ERR-4012 mean?", OTHER_ERRORS)
    assert (near.document.score or 0) < 0.7
    assert "does not hold ERR-4012" in near.document.reason


async def test_reasons_say_what_was_found_in_the_language_of_the_question(embedder: Embedder) -> None:
    (english,) = await grade(embedder, "Which country holds the majority of the Amazon rainforest?", RAINFOREST)
    (chinese,) = await grade(embedder, "华沙位于哪条河畔？", WARSAW)
    (crossed,) = await grade(embedder, "华沙位于哪条河畔？", APOLLO)
    assert "rare words of the question, best sentence 0." in english.document.reason
    assert chinese.document.reason.startswith("含问题的罕见词")
    assert crossed.document.reason.startswith("问题与文档语言不同")
    assert all(strip.reason for strip in english.strips)


async def test_a_grade_shows_the_numbers_it_was_made_of(embedder: Embedder) -> None:
    (graded,) = await grade(embedder, "Who walked on the Moon?", APOLLO)
    assert tuple(graded.document.features) == DOCUMENT
    assert tuple(graded.strips[0].features) == STRIP


async def test_a_grade_does_not_depend_on_the_other_documents(embedder: Embedder) -> None:
    question = "Who walked on the Moon?"
    (alone,) = await grade(embedder, question, APOLLO)
    among = await grade(embedder, question, APOLLO, BREAD, RAINFOREST)
    assert among[0] == alone


@pytest.mark.parametrize(
    "question",
    [
        "what is it",
        "是什么",
        "?!",
        "🤔",
        "x" * 10_000,
        "word " * 2000,
        "字" * 10_000,
        "ERR-4012 是什么 meaning",
        "\x00\ud800",
        "NaN",
    ],
)
async def test_odd_questions_are_graded_and_nothing_irrelevant_becomes_relevant(
    embedder: Embedder, question: str
) -> None:
    grades = await grade(embedder, question, APOLLO, PANTHERS)
    assert all(g.document.score is not None and g.document.score < 0.7 for g in grades)


@pytest.mark.parametrize("text", ["", "  \n ", "1234", "……", "a", "\x00", "word " * 3000])
async def test_odd_texts_are_graded_as_irrelevant(embedder: Embedder, text: str) -> None:
    (graded,) = await grade(embedder, "Who walked on the Moon?", text)
    assert graded.document.score is not None
    assert graded.document.score < 0.3


async def test_an_empty_question_leaves_everything_ungraded_with_the_cause(embedder: Embedder) -> None:
    (graded,) = await grade(embedder, "  ", APOLLO)
    assert graded.document.score is None
    assert graded.document.cause == "The question is empty: type what you want to know."
    assert len(graded.strips) == len(decompose(APOLLO))


async def test_no_documents_no_grades(embedder: Embedder) -> None:
    assert await grade(embedder, "Who?") == []


class Failing:
    """An engine that cannot embed texts with a certain word, and counts its batches."""

    dimension = 384
    fingerprint = "failing"

    def __init__(self, inner: Embedder, word: str = "\0", numbers: float = 1.0) -> None:
        self.inner, self.word, self.numbers = inner, word, numbers
        self.batches: list[int] = []

    def embed_query(self, text: str) -> Vectors:
        if self.word in text:
            raise EmbeddingError("The engine stumbled.")
        return self.inner.embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(len(texts))
        if any(self.word in text for text in texts):
            raise EmbeddingError("The engine stumbled.")
        return self.inner.embed_passages(texts) * np.float32(self.numbers)


async def test_a_failure_leaves_only_its_own_document_ungraded(embedder: Embedder) -> None:
    apollo, bread = await grade(Failing(embedder, "Sourdough"), "Who walked on the Moon?", APOLLO, BREAD)
    assert apollo.document.score is not None
    assert (bread.document.score, bread.document.cause) == (None, "The engine stumbled.")
    assert {strip.score for strip in bread.strips} == {None}


async def test_a_question_that_cannot_be_embedded_leaves_all_ungraded(embedder: Embedder) -> None:
    grades = await grade(Failing(embedder, "Moon"), "Who walked on the Moon?", APOLLO, BREAD)
    assert [g.document.cause for g in grades] == ["The engine stumbled."] * 2


async def test_vectors_that_are_no_numbers_become_no_grade(embedder: Embedder) -> None:
    known = Memory()
    evaluator = LightweightEvaluator(Failing(embedder, numbers=float("nan")), known)
    (graded,) = await evaluator.grade("Who walked on the Moon?", [document(APOLLO)])
    assert known.vectors == {}
    assert graded.document.score is None
    assert "no usable numbers" in (graded.document.cause or "")


class Memory:
    """Known vectors in memory; `broken` fails on every call."""

    def __init__(self, broken: bool = False) -> None:
        self.vectors: dict[str, Vectors] = {}
        self.broken = broken

    def load(self, documents: Sequence[Document]) -> dict[str, Vectors]:
        if self.broken:
            raise OSError("disk gone")
        return dict(self.vectors)

    def save(self, content: str, strips: Mapping[str, Vectors]) -> None:
        if self.broken:
            raise OSError("disk full")
        self.vectors.update(strips)


async def test_grading_again_embeds_nothing_but_the_question(embedder: Embedder) -> None:
    engine, known = Failing(embedder), Memory()
    doc = document(APOLLO)
    known.vectors[doc.id] = embedder.embed_passages([APOLLO])[0]
    evaluator = LightweightEvaluator(engine, known)
    first = await evaluator.grade("Who walked on the Moon?", [doc])
    assert engine.batches == [len(doc.strips)]
    (again,) = await evaluator.grade("Who walked on the Moon?", [doc])
    assert (again.document, again.strips) == (first[0].document, first[0].strips)
    of = 1 + len(doc.strips)
    assert [(first[0].known, first[0].made), (again.known, again.made)] == [(1, of - 1), (of, 0)]
    assert engine.batches == [len(doc.strips)]


async def test_everything_missing_is_embedded_in_one_batch(embedder: Embedder) -> None:
    engine = Failing(embedder)
    await grade(engine, "Who walked on the Moon?", APOLLO, BREAD, RAINFOREST)
    assert len(engine.batches) == 1


async def test_a_broken_store_costs_time_but_no_grade(embedder: Embedder) -> None:
    (graded,) = await LightweightEvaluator(embedder, Memory(broken=True)).grade("Who?", [document(APOLLO)])
    assert graded.document.score is not None


async def test_stored_vectors_of_another_size_are_made_anew(embedder: Embedder) -> None:
    known = Memory()
    known.vectors = {strip.id: np.ones(3, np.float32) for strip in document(APOLLO).strips}
    (graded,) = await LightweightEvaluator(embedder, known).grade("Who?", [document(APOLLO)])
    assert graded.document.score is not None


def test_the_version_names_calibration_and_engine(embedder: Embedder) -> None:
    usual, other = LightweightEvaluator(embedder), LightweightEvaluator(Failing(embedder))
    assert usual.version == LightweightEvaluator(embedder).version != other.version


def test_an_embedding_of_another_size_is_refused_with_what_to_do(embedder: Embedder) -> None:
    small = Failing(embedder)
    small.dimension = 8
    with pytest.raises(ConfigurationError, match="calibrated for vectors of 384 numbers"):
        LightweightEvaluator(small)


def test_the_shipped_calibration_fits_the_shipped_idf_table_and_the_features() -> None:
    data = files("crag").joinpath("data")
    shipped = data.joinpath("lightweight.json").read_text("utf-8")
    calibration = Calibration.model_validate_json(shipped)
    assert hashlib.sha256(data.joinpath("idf.tsv.gz").read_bytes()).hexdigest() in shipped
    assert set(calibration.heads) == {"en", "zh", "crossed"}
    assert all(len(h["document"]) == len(DOCUMENT) + 1 for h in calibration.heads.values())
    assert all(len(h["strip"]) == len(STRIP) + 1 for h in calibration.heads.values())


@pytest.mark.parametrize(("row", "value"), [((0.0,), 0.5), ((1000.0,), 1.0), ((-1000.0,), 0.0)])
def test_scores_stay_in_their_range_without_overflow(row: tuple[float, ...], value: float) -> None:
    assert logistic(linear((0.0, 1.0), row)) == pytest.approx(value)


async def test_a_neighbouring_version_is_not_sure_evidence_and_its_strips_are_not_kept(embedder: Embedder) -> None:
    text = "The scripts need Python 3.14.2 or newer, because older versions lack the module they are built on."
    document = Document(
        id="d", content="", files=("a.pdf",), text=text, spans=(Span(page=1, start=0, end=9),), strips=decompose(text)
    )
    asked = "Why do the scripts need Python {}?"
    evaluator = LightweightEvaluator(embedder)
    [other], [same] = [await evaluator.grade(asked.format(v), [document]) for v in ("3.14.3", "3.14.2")]
    assert same.document.score is not None
    assert same.document.score >= 0.7
    assert other.document.score is not None
    assert other.document.score < 0.5
    assert all(strip.score is not None and strip.score < 0.5 for strip in other.strips)
