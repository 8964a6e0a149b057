"""Every sentence about a model, the web or an embedding service that a person can meet is said in Chinese too."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import SecretStr
from ui_stage import AMBIGUOUS, Stage, answered, events, html, open_panel

from crag import notices
from crag.agent_model import failures
from crag.agent_model.base import ModelSpec
from crag.embedding.choosing import make_embedder
from crag.embedding.service import Refusal, sentence
from crag.evaluator.llm import TEXTS as JUDGE
from crag.events import Finished
from crag.export.forms import Form, export
from crag.runtime import sentence as of_any_error
from crag.schema import ModelCall, Trace
from crag.text import is_cjk
from crag.ui.texts import Texts
from crag.ui.texts.told import EMBEDDING, MENDS, MODELS, OTHERS, SERVERS, WEB, told, translated

CRAG = Path(__file__).resolve().parents[2] / "crag"
TELL = (
    *("agent_model/chat.py", "agent_model/failures.py", "agent_model/gguf.py", "agent_model/profiles.py"),
    *("agent_model/probe.py", "agent_model/window.py", "generator/llm.py", "embedding/remote.py"),
    *("embedding/service.py", "search/tavily.py", "search/duckduckgo.py", "search/providers.py", "search/kept.py"),
)
"""The modules whose sentences reach a person; those of `search/pages.py` go to the log alone."""
TO_A_MODEL = ("You are being tested.", "How well does", "Answer with the word", "Your last answer")
ENGLISH = re.compile(r"\b[a-z]{2,}[,:;]? [a-z]{2,}[,:;]? [a-z]{2,}\b")


def variants(node: ast.expr) -> Iterator[str]:
    """What a string expression can say; what it fills in is X."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield from map("".join, itertools.product(*(list(variants(part)) for part in parts)))
        case ast.FormattedValue(value=ast.IfExp() as choice) | (ast.IfExp() as choice):
            yield from variants(choice.body)
            yield from variants(choice.orelse)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            yield from ("".join(pair) for pair in itertools.product(variants(left), variants(right)))
        case _:
            yield "X"


def sentences(path: Path) -> list[str]:
    """The sentences that stand in a module's code, of docstrings and prompts apart."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inner = {
        id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.BinOp) for part in ast.walk(node)
    }
    inner -= {id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.BinOp)}
    inner |= {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.BinOp)
        for part in ast.walk(node)
        if part is not node
    }
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    prompts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign)
        and ast.unparse(node.target).isupper()
        and "INSTRUCTIONS" in ast.unparse(node.target)
        for part in ast.walk(node)
    }
    found = [
        said
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp) and id(node) not in inner | texts | prompts
        for said in variants(node)
        if re.match(r"[A-Z]", said) and said.endswith((".", ".X")) and said.count(" ") > 3
    ]
    glued = re.compile(r"(?<=[a-z.])X+")  # what may follow a word, such as how often it was tried
    return [glued.sub("", said) for said in found if not any(words in said for words in TO_A_MODEL)]


def left_in_english(sentence: str) -> list[str]:
    """What is no name: three words in a row, of code and of what a service said apart."""
    return ENGLISH.findall(re.sub(r"`.*?`|https?://\S+", "", translated(sentence, "zh")))


@pytest.mark.parametrize("module", TELL)
def test_every_sentence_of_the_code_is_said_in_chinese(module: str) -> None:
    found = sentences(CRAG / module)
    assert found, "or the test sees nothing"
    for said in found:
        chinese = translated(said, "zh")
        assert any(map(is_cjk, chinese)), said
        assert not left_in_english(said), chinese
        assert translated(said, "en") == said


def failed_calls() -> Iterator[Exception]:
    from pydantic_ai import exceptions as ai

    yield TimeoutError()
    yield ValueError("x")
    yield ai.ModelConnectionError("m", "no")
    yield ai.UnexpectedModelBehavior("html")
    for kind, status, body in (
        (ai.ModelAuthenticationError, 401, ""),
        (ai.ModelNotFoundError, 404, ""),
        (ai.ModelRateLimitError, 429, ""),
        (ai.ModelQuotaExceededError, 402, ""),
        (ai.ModelUnavailableError, 503, ""),
        (ai.ModelServerError, 500, ""),
        (ai.ModelRequestRejectedError, 400, "no"),
        (ai.ModelRequestRejectedError, 400, "context_length_exceeded"),
        (ai.ModelRequestRejectedError, 400, "data_inspection_failed"),
    ):
        error = kind("m", "no")
        error.status_code, error.body = status, body
        yield error


@pytest.mark.parametrize("provider", ["dashscope", "ollama", "openai", "deepseek", "llamacpp", "pydantic-ai"])
def test_every_failure_of_a_model_is_said_in_chinese_for_every_provider(provider: Any) -> None:
    spec = ModelSpec(provider, "qwen3:4b")
    for error in failed_calls():
        for said in (str(failures.explained(error, spec)), failures.cut(error, spec)):
            assert any(map(is_cjk, translated(said, "zh"))), said
            assert left_in_english(said) == []
    for said in (failures.missing(spec), failures.missing(spec, ("a", "b"))):
        assert left_in_english(said) == []


@pytest.mark.parametrize("provider", ["ollama", "dashscope", "openai"])
def test_every_failure_of_an_embedding_service_is_said_in_chinese(provider: Any) -> None:
    service = make_embedder(provider, "some-model", "http://127.0.0.1:9/v1", SecretStr("k")).service
    refusals = [Refusal("unreachable"), Refusal("slow"), Refusal("form")]
    refusals += [Refusal("status", status) for status in (400, 401, 404, 429, 502)] + [Refusal("status", 429, 3.0)]
    for refusal in refusals:
        said = sentence(service, refusal, 1)
        assert any(map(is_cjk, translated(said, "zh"))), said
        assert left_in_english(said) == []


def test_what_can_go_wrong_anywhere_is_said_in_chinese() -> None:
    for error in (OSError(28, "No space left"), ValueError("x")):
        assert any(map(is_cjk, translated(of_any_error(error), "zh")))
    for key in ("unread", "small"):
        assert translated(JUDGE["en"][key].format(model="m"), "zh") == JUDGE["zh"][key].format(model="m")


def test_a_notice_says_the_failure_within_it_in_chinese_in_whichever_language_it_was_made() -> None:
    error = "Tavily could not be reached: check your network and CRAG_TAVILY_URL."
    wanted = "未使用网络。无法连接 Tavily：请检查网络和 CRAG_TAVILY_URL。"
    for lang in ("en", "zh"):
        assert translated(notices.say(lang, "web_failed", error=error), "zh") == wanted
    causes = "The server at http://a:1 refused the key: check its key.; it was odd"
    said = translated(notices.say("zh", "nothing_graded", n=2, causes=causes), "zh")
    assert "服务器（http://a:1） 拒绝了密钥：请检查其密钥。；it was odd" in said


def test_what_is_not_known_and_what_is_quoted_stays_as_it_is() -> None:
    assert translated("The server at home has a cellar.", "zh") == "The server at home has a cellar."
    said = translated("The model openai:{x} %s wrote nothing: ask again, or choose another model.", "zh")
    assert said == "模型 openai:{x} %s 没有写出任何内容：请重新提问，或换用其他模型。"


def test_chinese_names_nothing_that_english_does_not() -> None:
    for table in (SERVERS, MENDS, MODELS, WEB, EMBEDDING, OTHERS):
        for english, chinese in table.items():
            assert set(re.findall(r"\{\w+\}", chinese)) <= set(re.findall(r"\{\w+\}", english)), english


DOWN = "Ollama at http://127.0.0.1:9 cannot be reached: start it (`ollama serve`), or correct CRAG_OLLAMA_URL."


def failed() -> Trace:
    last = events([0.9, None])[-1]
    assert isinstance(last, Finished)
    first, second = last.trace.documents
    call = ModelCall(role="grade", model="ollama:m", seconds=1.0, error=DOWN)
    changed = {
        "documents": (first, second.model_copy(update={"cause": DOWN})),
        "calls": (call,),
        "cut": "The connection to the model was lost: ask again.",
        "notices": (f"The web was not used. {DOWN}",),
    }
    return last.trace.model_copy(update=changed)


def test_the_chinese_page_and_its_report_tell_failures_in_chinese_and_the_trace_keeps_them(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_LANGUAGE", "zh")
    stage.turn = [*events(AMBIGUOUS)[:-1], Finished(trace=failed())]
    at = answered(stage)
    shown = "\n".join(caption.value for caption in at.caption).replace("\\", "")
    assert "与模型的连接中断：请重新提问。" in shown
    assert "未使用网络。无法连接 Ollama" in shown
    assert "无法连接 Ollama" in html(open_panel(at, "documents"))
    assert "无法连接 Ollama" in html(open_panel(at, "timing"))
    for form in (Form.HTML, Form.MARKDOWN):
        assert "cannot be reached" not in export(form, [failed()], Texts("zh")).decode()
    assert "cannot be reached" in export(Form.JSON, [failed()], Texts("zh")).decode()
    assert told(failed(), "en") == failed()
    assert SimpleNamespace(**dict(told(failed(), "zh"))).answer == failed().answer
