"""CRAG as the tutorials have it: one model call per document, one per strip, one for the answer, one after the other.

The model is a loopback server in OpenAI's wire format that takes a fixed time per call and says the same each time:
so calls and wall time are measured, not quality. The client is bare HTTP on a kept connection, the least there is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import httpx

from bench._loopback import served
from crag.refinement import decompose

CANNED = "yes, 0.9"
GRADE = "Is the document relevant to the question? Answer yes or no and a score.\nQuestion: {}\nDocument: {}"
FILTER = "Does this strip help to answer the question? Answer yes or no.\nQuestion: {}\nStrip: {}"
ANSWER = "Answer the question from the context.\nQuestion: {}\nContext: {}"


@contextmanager
def fixed_latency_chat(seconds: float) -> Iterator[str]:
    """Base URL of a chat server (`POST /v1/chat/completions`) that answers every call after `seconds`."""

    def respond(path: str, headers: Mapping[str, str], body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if path != "/v1/chat/completions" or not body.get("messages"):
            return 404, {"error": {"message": "Not found."}}
        time.sleep(seconds)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": CANNED}}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return 200, {
            "id": "canned",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", ""),
            "choices": [choice],
            "usage": usage,
        }

    with served(respond) as url:
        yield url


def tutorial_crag(client: httpx.Client, question: str, chunks: Sequence[str]) -> tuple[int, float]:
    """(model calls, seconds) for a question whose chunks are all found relevant: k + strips + 1 calls in a row."""
    start = time.perf_counter()
    calls = [GRADE.format(question, chunk) for chunk in chunks]
    calls += [FILTER.format(question, strip.text) for chunk in chunks for strip in decompose(chunk)]
    calls.append(ANSWER.format(question, "\n".join(chunks)))
    for prompt in calls:
        message = {"role": "user", "content": prompt}
        reply = client.post("/v1/chat/completions", json={"model": "canned", "messages": [message]})
        reply.raise_for_status()
    return len(calls), time.perf_counter() - start
