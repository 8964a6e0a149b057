"""A knowledge base whose vectors a service makes: built, asked, interrupted, resumed, and switched to another model."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from hashing import HashingEmbedder
from pydantic import SecretStr
from small_pdfs import Write, built
from vector_server import KEY, TOKENS, Reply, VectorServer, serving

from crag.embedding.choosing import Provider, make_embedder
from crag.embedding.remote import RemoteEmbedder
from crag.errors import EmbeddingError, IndexMismatchError
from crag.events import BuildFinished, FileProgress, VectorsAhead
from crag.knowledge_base.base import KnowledgeBase
from crag.knowledge_base.chunker import embedding_text
from crag.schema import Document

ENDS = {"ollama": "", "dashscope": "/compatible-mode/v1", "openai": "/v1"}
MODELS = {"ollama": "nomic-embed-text", "dashscope": "text-embedding-v4", "openai": "text-embedding-3-small"}


@pytest.fixture
def server() -> Iterator[VectorServer]:
    with serving() as made:
        yield made


def embedder_of(server: VectorServer, provider: Provider = "dashscope", model: str = "") -> RemoteEmbedder:
    made = make_embedder(
        provider, model or MODELS[provider], server.url + ENDS[provider], SecretStr(KEY), retries=0, price=3
    )
    made._backoff = 0.01
    return made


@pytest.fixture
def base(files: Path, tmp_path: Path, server: VectorServer) -> Iterator[KnowledgeBase]:
    opened = KnowledgeBase(files, tmp_path / "chroma_db", embedder_of(server), parse_timeout=30)
    yield opened
    opened.close()


def again(base: KnowledgeBase, embedder: object) -> KnowledgeBase:
    """The same folders with another embedding."""
    base.close()
    return KnowledgeBase(base._files_dir, base._chroma_dir, embedder, parse_timeout=30)  # type: ignore[arg-type]


def long_text(pages: int) -> list[str]:
    return [
        "\n\n".join(
            f"# Part {page} {part}\n\n" + " ".join(f"Item {page}-{part}-{n} weighs {n} kilograms." for n in range(25))
            for part in range(3)
        )
        for page in range(pages)
    ]


def nearest(base: KnowledgeBase, embedder: object, question: str) -> Document:
    with base.snapshot() as snapshot:
        ids = snapshot.dense(embedder.embed_query(question), 1)  # type: ignore[attr-defined]
        return snapshot.documents(ids)[0]


@pytest.mark.parametrize("provider", ["ollama", "dashscope", "openai"])
def test_an_index_is_built_and_asked_through_each_service(
    files: Path, tmp_path: Path, write: Write, server: VectorServer, provider: Provider
) -> None:
    write("tools.pdf", "An anvil weighs fifty kilograms.")
    write("cats.pdf", "A cat sleeps for sixteen hours every day.")
    embedder = embedder_of(server, provider)
    base = KnowledgeBase(files, tmp_path / "chroma_db", embedder, parse_timeout=30)
    end = built(base)
    assert (end.passages, end.tokens, end.cost) == (2, 2 * TOKENS, pytest.approx(2 * TOKENS * 3 / 1e6))
    assert built(base).tokens is None, "nothing was sent"
    assert nearest(base, embedder, "how long does a cat sleep every day").files == ("cats.pdf",)
    assert nearest(base, embedder, "an anvil weighs how many kilograms").files == ("tools.pdf",)
    base.close()


def test_nobody_is_asked_until_something_is_built_or_asked(base: KnowledgeBase, server: VectorServer) -> None:
    server.always = Reply(500, b"")
    assert base.changes() == []
    assert base.staged() == 0
    assert base.vectors_ahead() == VectorsAhead(
        after="text-embedding-v4 (dashscope)", destination=f"DashScope at {server.url}/api/v1"
    )
    assert server.requests == []


def test_a_file_that_was_interrupted_in_the_middle_is_not_sent_again(
    base: KnowledgeBase, write: Write, server: VectorServer
) -> None:
    write("first.pdf", "A cat sleeps for sixteen hours every day.")
    write("long.pdf", *long_text(30))
    cancel = threading.Event()
    events = []
    for event in base.build(cancel):
        events.append(event)
        if isinstance(event, FileProgress) and event.path == "long.pdf" and event.stage == "embedding" and event.done:
            cancel.set()
    assert isinstance(events[-1], BuildFinished)
    assert not events[-1].published
    before = len(server.texts)
    assert before > 40
    finished = built(base)
    counted = Counter(server.texts)
    assert finished.passages == sum(counted.values())
    assert set(counted.values()) == {1}, "no text was sent twice"
    assert len(server.texts) > before
    with base._catalog.engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM made_vector")) == 0


def test_a_service_that_fails_ends_the_build_with_its_sentence_and_the_next_goes_on(
    base: KnowledgeBase, write: Write, server: VectorServer
) -> None:
    write("long.pdf", *long_text(30))
    server.replies = [None] * 5 + [Reply(500, b"")] * 40  # type: ignore[list-item]
    with pytest.raises(EmbeddingError, match="HTTP status 500"):
        built(base)
    failed = len(server.requests)
    server.replies = []
    finished = built(base)
    answered = [text for request in server.requests[failed:] for text in request["input"]["texts"]]
    assert len(answered) < finished.passages, "what was made before is used"
    with base.snapshot() as snapshot:
        assert snapshot.size == finished.passages


def test_a_build_that_is_cancelled_waits_for_no_answer(base: KnowledgeBase, write: Write, server: VectorServer) -> None:
    write("a.pdf", "An anvil weighs fifty kilograms.")
    server.waits, cancel, ends = threading.Event(), threading.Event(), list[float]()

    def build() -> None:
        list(base.build(cancel))
        ends.append(time.monotonic())

    thread = threading.Thread(target=build)
    thread.start()
    assert server.asked.wait(60)
    cancelled = time.monotonic()
    cancel.set()
    thread.join(30)
    assert ends
    assert ends[0] - cancelled < 5
    assert len(server.requests) == 1


def test_another_model_is_announced_refuses_questions_and_replaces_the_index(
    base: KnowledgeBase, write: Write, server: VectorServer
) -> None:
    write("a.pdf", "An anvil weighs fifty kilograms.", "A cat sleeps for sixteen hours every day.")
    passages = built(base).passages
    other = embedder_of(server, "ollama")
    switched = again(base, other)
    assert switched.vectors_ahead() == VectorsAhead(
        before="text-embedding-v4 (dashscope)",
        after="nomic-embed-text (ollama)",
        passages=passages,
        destination=f"Ollama at {server.url}",
    )
    with (
        pytest.raises(IndexMismatchError, match=r"text-embedding-v4 \(dashscope\), and nomic-embed-text \(ollama\) is"),
        switched.snapshot(),
    ):
        pass
    assert built(switched).published
    assert switched.vectors_ahead() == VectorsAhead(
        after="nomic-embed-text (ollama)", destination=f"Ollama at {server.url}"
    )
    assert "cat" in nearest(switched, other, "how long does a cat sleep").text
    switched.close()


def test_back_on_this_machine_the_announcement_names_no_receiver(
    base: KnowledgeBase, write: Write, embedder: HashingEmbedder
) -> None:
    write("a.pdf", "An anvil weighs fifty kilograms.")
    built(base)
    switched = again(base, embedder)
    assert switched.vectors_ahead() == VectorsAhead(
        before="text-embedding-v4 (dashscope)", after="hashing-64 (embedded)", passages=1
    )
    built(switched)
    assert switched.vectors_ahead() is None
    switched.close()


def test_another_model_under_the_same_name_is_told_where_its_vectors_have_another_size(
    base: KnowledgeBase, write: Write, server: VectorServer
) -> None:
    write("a.pdf", "An anvil weighs fifty kilograms.")
    built(base)
    server.dimension = 32
    changed = embedder_of(server)
    later = again(base, changed)
    with later.snapshot() as snapshot, pytest.raises(IndexMismatchError, match=r"vectors of 32 numbers, .* have 48"):
        snapshot.dense(changed.embed_query("anvil"), 1)
    write("b.pdf", "A cat sleeps for sixteen hours every day.")
    with pytest.raises(EmbeddingError, match=r"32 and 48 numbers\): another model answers to its name"):
        built(later)
    later.close()


def test_an_evaluator_with_its_own_embedding_has_its_vectors_made_once_beside_the_index(
    base: KnowledgeBase, write: Write, server: VectorServer, embedder: HashingEmbedder
) -> None:
    path = write("a.pdf", "# Tools\n\nAn anvil weighs fifty kilograms. A hammer weighs one kilogram.")
    built(base)
    with base.snapshot() as snapshot:
        (document,) = snapshot.documents(snapshot.dense(np.ones(48, np.float32), 1))
    own = base.own_vectors(embedder)
    foreign = document.model_copy(update={"id": "web", "content": "web", "strips": ()})
    loaded = own.load([document, foreign])
    assert set(loaded) == {document.id}
    assert embedder.embedded == [embedding_text(document.heading, document.text)]
    own.save(document.content, {strip.id: embedder.embed_query(strip.text) for strip in document.strips})
    own.save("web", {"web": embedder.embed_query("x")})
    loaded = own.load([document, foreign])
    assert set(loaded) == {document.id, *(strip.id for strip in document.strips)}
    assert loaded[document.id].shape == (64,)
    assert len(embedder.embedded) == 1, "nothing is embedded twice"
    assert base.load([document])[document.id].shape == (48,), "those of the index are apart"
    assert base.own_vectors(HashingEmbedder("another")).load([foreign]) == {}
    path.unlink()
    built(base)
    built(base)
    with base._catalog.engine.connect() as connection:
        assert connection.scalar(sa.text("SELECT count(*) FROM own_vector")) == 0, "they go with their content"
