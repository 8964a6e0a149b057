"""Vectors by Ollama, DashScope and OpenAI-compatible servers: what is sent, what comes back, and what goes wrong."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest
from pydantic import SecretStr
from vector_server import DASHSCOPE, KEY, OLLAMA, OPENAI, TOKENS, Reply, VectorServer, serving

from crag.agent_model.base import Ledger
from crag.embedding.base import Sending, StoppedError
from crag.embedding.choosing import Provider, make_embedder
from crag.embedding.dashscope import native_address
from crag.embedding.prefixes import prefixes_of
from crag.embedding.remote import RemoteEmbedder
from crag.embedding.waiting import retry_after
from crag.errors import EmbeddingError

PROVIDERS: tuple[Provider, ...] = ("ollama", "dashscope", "openai")
MODELS = {"ollama": "nomic-embed-text", "dashscope": "text-embedding-v4", "openai": "text-embedding-3-small"}
PATHS = {"ollama": OLLAMA, "dashscope": DASHSCOPE, "openai": OPENAI}
ENDS = {"ollama": "", "dashscope": "/compatible-mode/v1", "openai": "/v1"}
BATCHES = {"ollama": 16, "dashscope": 10, "openai": 32}


@pytest.fixture
def server() -> Iterator[VectorServer]:
    with serving() as made:
        yield made


def made(provider: Provider, url: str, **options: object) -> RemoteEmbedder:
    options = {"model": MODELS[provider], "key": SecretStr(KEY), **options}
    embedder = make_embedder(provider, url=url + ENDS[provider], **options)  # type: ignore[arg-type]
    embedder._backoff = 0.01
    return embedder


def expected(server: VectorServer, text: str) -> np.ndarray:
    vector = np.array(server.vector(text), np.float32)
    return vector / np.linalg.norm(vector)


# --- what is sent ---------------------------------------------------------------------------------------------------


def test_ollama_is_sent_its_documented_fields(server: VectorServer) -> None:
    made("ollama", server.url).embed_passages(["one", "two"])
    assert server.requests == [
        {
            "path": "/api/embed",
            "model": "nomic-embed-text",
            "input": ["search_document: one", "search_document: two"],
            "truncate": True,
        }
    ]
    assert "authorization" not in server.headers[0]


def test_ollama_is_asked_for_a_dimension_where_one_is_chosen(server: VectorServer) -> None:
    embedder = made("ollama", server.url, dimension=24)
    assert embedder.embed_passages(["one"]).shape == (1, 24)
    assert server.requests[0]["dimensions"] == 24


def test_dashscope_is_told_the_kind_of_text_and_gets_the_key_and_no_prefix(server: VectorServer) -> None:
    embedder = made("dashscope", server.url, dimension=512)
    embedder.embed_query("the question")
    embedder.embed_passages(["one"])
    model = {"path": DASHSCOPE, "model": "text-embedding-v4"}
    assert server.requests == [
        {**model, "input": {"texts": ["the question"]}, "parameters": {"text_type": "query", "dimension": 512}},
        {**model, "input": {"texts": ["one"]}, "parameters": {"text_type": "document", "dimension": 512}},
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_an_openai_server_is_sent_floats_to_give_and_the_key(server: VectorServer) -> None:
    made("openai", server.url).embed_passages(["one", "two"])
    made("openai", server.url, dimension=16).embed_query("q")
    model = {"path": "/v1/embeddings", "model": "text-embedding-3-small", "encoding_format": "float"}
    assert server.requests == [{**model, "input": ["one", "two"]}, {**model, "input": ["q"], "dimensions": 16}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_key_of_the_environment_is_not_sent_to_a_server_that_was_given_none(
    server: VectorServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    made("openai", server.url, key=SecretStr("")).embed_query("q")
    assert KEY not in str(server.headers)


@pytest.mark.parametrize(
    ("url", "region", "address"),
    [
        ("", "china", "https://dashscope.aliyuncs.com/api/v1"),
        ("", "international", "https://dashscope-intl.aliyuncs.com/api/v1"),
        ("https://x.example/compatible-mode/v1", "china", "https://x.example/api/v1"),
        ("https://x.example/api/v1", "china", "https://x.example/api/v1"),
        ("https://x.example", "china", "https://x.example/api/v1"),
    ],
)
def test_dashscope_is_asked_at_the_address_of_its_region_or_at_your_own(url: str, region: str, address: str) -> None:
    assert native_address(url, region) == address


@pytest.mark.parametrize(
    ("model", "query", "passage"),
    [
        ("nomic-embed-text:v1.5", "search_query: ", "search_document: "),
        ("nomic-ai/nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("intfloat/multilingual-e5-large", "query: ", "passage: "),
        ("jeffh/intfloat-multilingual-e5-small:f16", "query: ", "passage: "),
        ("BAAI/bge-m3", "", ""),
        ("bge-large-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-small-zh-v1.5", "为这个句子生成表示以用于检索相关文章：", ""),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("snowflake-arctic-embed2", "query: ", ""),
        ("snowflake-arctic-embed:335m", "Represent this sentence for searching relevant passages: ", ""),
        ("embeddinggemma:300m", "task: search result | query: ", "title: none | text: "),
        ("text-embedding-3-small", "", ""),
        ("all-minilm", "", ""),
    ],
)
def test_each_family_gets_the_words_that_its_card_asks_for(model: str, query: str, passage: str) -> None:
    found = prefixes_of(model)
    assert (found.query, found.passage) == (query, passage)


def test_qwen3_gets_an_instruction_with_the_question_alone() -> None:
    found = prefixes_of("Qwen/Qwen3-Embedding-0.6B")
    assert found.query.startswith("Instruct: ")
    assert found.query.endswith("\nQuery:")
    assert found.passage == ""


# --- what comes back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
def test_vectors_come_in_the_order_of_the_texts_and_have_length_1(server: VectorServer, provider: Provider) -> None:
    texts = [f"text number {i} is about {word}" for i, word in enumerate(["anvil", "bridge", "cat", "door"] * 20)]
    embedder = made(provider, server.url)
    assert isinstance(embedder, Sending)
    vectors = embedder.embed_passages(texts)
    prefix = embedder.service.prefixes.passage
    assert vectors.dtype == np.float32
    for text, vector in zip(texts, vectors, strict=True):
        assert np.allclose(vector, expected(server, prefix + text), atol=1e-6)
    assert embedder.dimension == server.dimension
    assert max(len(t) for t in (r["input"] for r in server.requests)) <= BATCHES[provider]
    assert len(server.requests) == -(-len(texts) // BATCHES[provider])


@pytest.mark.parametrize("provider", PROVIDERS)
def test_batches_run_at_the_same_time_but_not_more_than_four(server: VectorServer, provider: Provider) -> None:
    server.seconds = 0.05
    made(provider, server.url, concurrency=16).embed_passages(["text"] * BATCHES[provider] * 10)
    assert server.most_at_once == 4
    made(provider, server.url, concurrency=1).embed_passages(["text"])


def test_a_lower_limit_is_kept_over_all_callers(server: VectorServer) -> None:
    server.seconds = 0.02
    embedder = made("dashscope", server.url, concurrency=2)
    threads = [threading.Thread(target=embedder.embed_passages, args=(["text"] * 30,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(server.requests) == 12
    assert server.most_at_once == 2


@pytest.mark.parametrize("provider", PROVIDERS)
def test_hostile_texts_are_sent_as_what_every_service_takes(server: VectorServer, provider: Provider) -> None:
    hostile = ["", "  \n", "\0", "lone \ud800 surrogate", "word " * 50_000, "长" * 50_000, "NUL in\0the middle"]
    vectors = made(provider, server.url).embed_passages(hostile)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert all(text and len(text) < 6100 and "\0" not in text for text in server.texts)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_text_that_the_model_cannot_read_whole_is_cut_and_the_others_are_not(
    server: VectorServer, provider: Provider
) -> None:
    server.longest = 1000
    long, short = "anvil " * 600, "bridge " * 140
    embedder = made(provider, server.url)
    vectors = embedder.embed_passages([short, long, "cat"])
    prefix = embedder.service.prefixes.passage
    assert np.allclose(vectors[0], expected(server, prefix + short.strip()), atol=1e-6)
    assert np.allclose(vectors[2], expected(server, prefix + "cat"), atol=1e-6)
    whole = f"{prefix}{long.strip()}"
    assert np.allclose(vectors[1], expected(server, whole[: len(whole) // 2 // 2]), atol=1e-6)
    server.longest = 10
    assert "too large to process" in failure(embedder, ["a text of more than ten"])


def test_nothing_is_sent_before_the_first_text_and_a_question_only_once(server: VectorServer) -> None:
    embedder = made("ollama", server.url)
    assert embedder.fingerprint
    assert server.requests == []
    first = embedder.embed_query("a question")
    first[:] = 0
    assert np.allclose(embedder.embed_query("a question"), expected(server, "search_query: a question"))
    assert len(server.requests) == 1


def test_the_dimension_is_found_by_one_request(server: VectorServer) -> None:
    embedder = made("openai", server.url)
    assert (embedder.dimension, embedder.dimension) == (48, 48)
    assert len(server.requests) == 1


def test_no_texts_give_no_rows(server: VectorServer) -> None:
    assert made("openai", server.url).embed_passages([]).shape == (0, 48)


def test_the_fingerprint_names_provider_model_dimension_and_prefix_but_neither_key_nor_address() -> None:
    one = made("ollama", "http://127.0.0.1:1")
    assert one.fingerprint == made("ollama", "http://127.0.0.1:2").fingerprint
    assert one.fingerprint == "ollama nomic-embed-text dimension-own prefix-nomic-1"
    others = [
        made("ollama", "http://127.0.0.1:1", model="bge-m3"),
        made("ollama", "http://127.0.0.1:1", dimension=64),
        made("openai", "http://127.0.0.1:1", model="nomic-embed-text"),
    ]
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert KEY not in "".join(other.fingerprint for other in others)


def wait_for(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)


# --- what goes wrong ------------------------------------------------------------------------------------------------


def failure(embedder: RemoteEmbedder, texts: Sequence[str] = ("text",)) -> str:
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_passages(list(texts))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None, "a log would show the chain"
    assert KEY not in str(caught.value)
    return str(caught.value)


UNREACHABLE = {
    "ollama": "start it with `ollama serve`, or correct CRAG_OLLAMA_URL",
    "dashscope": "check your network and CRAG_DASHSCOPE_URL",
    "openai": "start it, or correct OPENAI_API_BASE",
}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_is_down_is_told_with_its_address_and_the_mend(provider: Provider) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    said = failure(made(provider, url))
    assert url in said
    assert f"cannot be reached (3 times): {UNREACHABLE[provider]}" in said


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_does_not_answer_is_given_up_in_time(server: VectorServer, provider: Provider) -> None:
    server.waits = threading.Event()
    begun = time.monotonic()
    said = failure(made(provider, server.url, timeout=3))  # the first call imports the client's library
    assert "did not answer within 3 seconds: try again, or raise CRAG_LLM_TIMEOUT" in said
    assert time.monotonic() - begun < 10
    assert len(server.requests) == 1


SAYING: dict[str, Callable[[str], bytes]] = {
    "ollama": lambda said: json.dumps({"error": said}).encode(),
    "dashscope": lambda said: json.dumps({"code": "Some.Code", "message": said, "request_id": "r"}).encode(),
    "openai": lambda said: json.dumps({"error": {"message": said, "type": "t", "code": None}}).encode(),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "mends", "requests"),
    [
        (401, ("OLLAMA_API_KEY", "DASHSCOPE_API_KEY, or CRAG_DASHSCOPE_REGION", "correct OPENAI_API_KEY"), 1),
        (403, ("OLLAMA_API_KEY", "DASHSCOPE_API_KEY", "OPENAI_API_KEY"), 1),
        (404, ("`ollama pull nomic-embed-text`", "CRAG_EMBEDDING_MODEL", "correct CRAG_EMBEDDING_MODEL"), 1),
        (400, ("refused the texts", "refused the texts", "refused the texts"), 1),
        (429, ("too much was asked (3 times)",) * 3, 3),
        (500, ("HTTP status 500 (3 times)",) * 3, 3),
        (503, ("HTTP status 503 (3 times)",) * 3, 3),
    ],
)
def test_each_refusal_is_a_sentence_with_its_mend_and_without_the_key(
    server: VectorServer, provider: Provider, status: int, mends: tuple[str, ...], requests: int
) -> None:
    echo = KEY if made(provider, server.url).service.key.get_secret_value() else "…"
    server.always = Reply(status, SAYING[provider](f"no, said the server to {echo}"))
    said = failure(made(provider, server.url))
    assert mends[PROVIDERS.index(provider)] in said
    assert len(server.requests) == requests
    if status != 404:
        assert "(no, said the server to …)" in said


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        (400, "InvalidApiKey", "refused the texts"),
        (401, "InvalidApiKey", "DASHSCOPE_API_KEY"),
        (200, "InvalidApiKey", "DASHSCOPE_API_KEY"),
        (400, "Model.NotExist", "has no embedding model text-embedding-v4"),
        (200, "Throttling.RateQuota", "too much was asked (3 times)"),
        (200, "SomethingNew", "refused the texts"),
    ],
)
def test_dashscope_says_what_is_wrong_by_its_code_also_with_status_200(
    server: VectorServer, status: int, code: str, said: str
) -> None:
    server.always = Reply(status, json.dumps({"code": code, "message": "m", "request_id": "r"}).encode())
    assert said in failure(made("dashscope", server.url))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_failure_that_passes_costs_a_repetition_and_nothing_else(server: VectorServer, provider: Provider) -> None:
    server.replies = [Reply(500, b"oops"), Reply(503, b"")]
    vectors = made(provider, server.url).embed_passages(["text"])
    assert vectors.shape == (1, 48)
    assert len(server.requests) == 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_after_429_all_requests_wait_as_long_as_the_server_says(server: VectorServer, provider: Provider) -> None:
    server.replies = [Reply(429, SAYING[provider]("slow down"), {"Retry-After": "1"})]
    embedder = made(provider, server.url, concurrency=1)
    embedder.embed_passages(["text"] * BATCHES[provider] * 2)
    assert len(server.requests) == 3, "the refused batch is sent once more, the other once"
    assert server.times[1] - server.times[0] >= 0.95
    assert server.times[2] - server.times[0] < 3


@pytest.mark.parametrize("provider", PROVIDERS)
def test_who_asks_for_an_hour_is_not_waited_for(server: VectorServer, provider: Provider) -> None:
    server.always = Reply(429, SAYING[provider]("quota"), {"retry-after": "3600"})
    assert "wait 3600 seconds" in failure(made(provider, server.url))
    assert len(server.requests) == 1


def test_a_build_is_more_patient_than_a_question(server: VectorServer) -> None:
    server.replies = [Reply(429, b"{}")] * 5
    embedder = made("openai", server.url)
    assert embedder.embed_until(["text"], threading.Event()).shape == (1, 48)
    assert len(server.requests) == 6


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:-1], ("returned 1 vectors for 2 texts", "in a form that is not known")),
        (lambda rows: [*rows, rows[0]], ("returned 3 vectors for 2 texts", "in a form that is not known")),
        (lambda rows: [[float("nan")] * 48, *rows[1:]], ("no usable numbers", "in a form that is not known")),
        (lambda rows: [[0.0] * 48, *rows[1:]], ("no usable numbers",)),
        (lambda rows: [[float("inf")] * 48, *rows[1:]], ("no usable numbers", "in a form that is not known")),
        (lambda rows: [rows[0][:-1], *rows[1:]], ("in a form that is not known",)),
        (lambda rows: [[], []], ("in a form that is not known",)),
        (lambda rows: ["text", None], ("in a form that is not known",)),
    ],
)
def test_vectors_that_cannot_be_used_are_never_taken(
    server: VectorServer, provider: Provider, change: Callable[[list[list[float]]], list[object]], said: tuple[str, ...]
) -> None:
    server.change = change
    told = failure(made(provider, server.url), ["one", "two"])
    assert any(part in told for part in said), told


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html><body>Log in</body></html>", content_type="text/html"),
        Reply(200, b"<html><body>Log in</body></html>"),
        Reply(200, b""),
        Reply(200, b"\xff\xfe\x00"),
        Reply(200, b"null"),
        Reply(200, b"[1, 2]"),
        Reply(200, b'{"data": null, "embeddings": null, "output": null}'),
        Reply(200, b'{"data": [{}], "embeddings": [{}], "output": {"embeddings": [{}]}}'),
    ],
)
def test_an_answer_of_another_form_is_told(server: VectorServer, provider: Provider, reply: Reply) -> None:
    server.always = reply
    told = failure(made(provider, server.url))
    assert "in a form that is not known" in told or "returned 0 vectors" in told, told
    assert "<html" not in told


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_page_of_a_proxy_is_not_quoted(server: VectorServer, provider: Provider) -> None:
    server.always = Reply(502, b"<html><body>Bad gateway</body></html>", content_type="text/html")
    told = failure(made(provider, server.url))
    assert "HTTP status 502" in told
    assert "html" not in told


@pytest.mark.parametrize("provider", PROVIDERS)
def test_another_dimension_than_before_is_never_taken(server: VectorServer, provider: Provider) -> None:
    embedder = made(provider, server.url)
    embedder.embed_passages(["one"])
    server.dimension = 32
    assert "vectors of 32 numbers, and of 48 before" in failure(embedder)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_choice_of_dimension_that_the_model_does_not_offer_is_told(server: VectorServer, provider: Provider) -> None:
    server.change = lambda rows: [server.vector("x", 48) for _ in rows]
    assert "48 numbers instead of 20" in failure(made(provider, server.url, dimension=20))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_build_that_is_stopped_waits_for_no_answer_and_the_server_sees_it(
    server: VectorServer, provider: Provider
) -> None:
    server.waits, stopping = threading.Event(), threading.Event()
    embedder = made(provider, server.url)
    stopped = list[float]()

    def stop() -> None:
        wait_for(lambda: len(server.requests) == 4)
        stopped.append(time.monotonic())
        stopping.set()

    threading.Thread(target=stop).start()
    with pytest.raises(StoppedError):
        embedder.embed_until(["text"] * 200, stopping)
    assert time.monotonic() - stopped[0] < 2
    wait_for(lambda: server.lost == 4)
    assert server.lost == len(server.requests) == 4
    server.waits.set()
    server.waits = None
    assert embedder.embed_passages(["text"]).shape == (1, 48), "it goes on afterwards"


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_request_is_noted_with_its_tokens_and_cost_and_a_known_query_is_none(
    server: VectorServer, provider: Provider
) -> None:
    embedder, ledger, other = made(provider, server.url, price=2.0), Ledger(), Ledger()
    noted = embedder.noting(ledger)
    assert isinstance(noted, Sending)
    server.replies = [Reply(503, b"{}")]
    vector = noted.embed_query("the question")
    noted.embed_passages(["one", "two"])
    failed, asked, passages = ledger.calls
    assert failed.error is not None
    assert "HTTP status 503" in failed.error
    assert (failed.tokens_in, failed.cost) == (None, None)
    assert (asked.role, asked.model, asked.error) == ("embed", f"{provider}:{MODELS[provider]}", None)
    assert (asked.tokens_in, passages.tokens_in) == (TOKENS, 2 * TOKENS)
    assert asked.cost == pytest.approx(TOKENS * 2 / 1e6)
    assert asked.seconds > 0
    assert (embedder.noting(other).embed_query("the question") == vector).all()
    assert other.calls == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_closing_closes_the_connections_and_they_open_again(server: VectorServer, provider: Provider) -> None:
    embedder = made(provider, server.url)
    embedder.close()
    embedder.embed_passages(["one"])
    assert server.connected == 1
    loop = embedder._loop
    assert loop is not None
    embedder.close()
    wait_for(lambda: server.connected == 0)
    wait_for(lambda: not loop.is_running())
    assert embedder.embed_passages(["one"]).shape == (1, 48)
    embedder.close()


def test_who_waits_while_it_is_closed_is_told(server: VectorServer) -> None:
    server.waits = threading.Event()
    embedder = made("openai", server.url)
    threading.Thread(target=lambda: (server.asked.wait(5), embedder.close())).start()
    assert "was closed" in failure(embedder)
    server.waits.set()


def test_the_key_is_in_no_log_and_in_no_representation(server: VectorServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for provider in PROVIDERS:
        embedder = made(provider, server.url)
        embedder.embed_query("q")
        server.replies = [Reply(401, SAYING[provider]("no" if provider == "ollama" else KEY))]
        failure(embedder)
        assert KEY not in repr(embedder) + repr(vars(embedder)) + repr(vars(embedder.service))
    assert KEY not in caplog.text


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after-ms": "250", "retry-after": "2"}, 0.25),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({}, None),
    ],
)
def test_a_wait_is_read_as_a_number_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
