"""Finding by words: part numbers, Chinese, hostile questions."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hashing import HashingEmbedder
from small_pdfs import Write, built, pdf_bytes

from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.lexical_index import match_expression

FILLER = "Routine maintenance of the {} pump is described here, with error handling and the usual safety advice. "


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    files = tmp_path_factory.mktemp("Files")
    pages = {"misleading.pdf": "An err happened 4003 times. The err count of 4003 was written to err log 4003. " * 3}
    pages["zh.pdf"] = "水泵的维护周期为三个月，超过期限必须更换密封圈。请联系维修部门。"
    for number in range(8):
        codes = f"Message ERR-40{number:02d} and part NX-{number}00/b belong here."
        pages[f"pump_{number}.pdf"] = FILLER.format(number) * 3 + codes
    for name, text in pages.items():
        (files / name).write_bytes(pdf_bytes([text]))
    base = KnowledgeBase(files, tmp_path_factory.mktemp("chroma_db"), HashingEmbedder())
    built(base)
    yield base
    base.close()


def first(base: KnowledgeBase, question: str) -> str:
    with base.snapshot() as snapshot:
        found = snapshot.documents(snapshot.lexical(question, 5))
    return found[0].file if found else ""


def test_an_exact_part_number_comes_first(manuals: KnowledgeBase) -> None:
    assert first(manuals, "What does ERR-4003 mean?") == "pump_3.pdf"
    assert first(manuals, "where is NX-500/b used") == "pump_5.pdf"


def test_chinese_is_found_by_its_words_and_by_one_character(manuals: KnowledgeBase) -> None:
    assert first(manuals, "密封圈什么时候更换？") == "zh.pdf"
    assert first(manuals, "水") == "zh.pdf"


def test_a_file_is_found_by_its_name_also_after_a_rename(base: KnowledgeBase, write: Write) -> None:
    path = write("walrus.pdf", "Nothing about the animal stands in this text.")
    built(base)
    assert first(base, "walrus") == "walrus.pdf"
    path.rename(path.with_name("seal.pdf"))
    built(base)
    assert first(base, "seal") == "seal.pdf"
    assert first(base, "walrus") == ""


@pytest.mark.parametrize(
    "question",
    ['" OR 1', "NEAR(", "body:err", "*", "'; DROP TABLE lexical; --", "(((", "AND OR NOT", "\x00", "", "?!。"],
)
def test_no_question_breaks_the_query(manuals: KnowledgeBase, question: str) -> None:
    with manuals.snapshot() as snapshot:
        assert len(snapshot.lexical(question, 5)) <= 5


def test_stop_words_are_left_out_unless_nothing_else_is_there() -> None:
    assert match_expression("What is the pump?") == '"pump"'
    assert match_expression("who is it") == '"who" OR "is" OR "it"'
    assert match_expression("...") == ""
