"""Who does what with the present settings, what leaves the machine by it, and whether each of them answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final, Literal
from urllib.parse import urlsplit

from config import Settings
from crag.agent_model.base import ModelSpec
from crag.agent_model.probe import probe
from crag.agent_model.profiles import address
from crag.agent_model.specs import grading_spec, writing_spec
from crag.assembly import WEB, House, embedder_of, web_search
from crag.embedding.base import Sending
from crag.embedding.choosing import USUAL
from crag.embedding.dashscope import native_address
from crag.errors import ConfigurationError, CragError
from crag.knowledge_base.mineru import MinerU, ask_version
from crag.runtime import in_pool
from crag.search.kept import spent_today
from crag.search.opening import service_at

Task = Literal["read", "embed", "grade", "write", "rewrite", "search"]
Thing = Literal["files", "passages", "question", "history", "context", "documents", "query", "pages"]
"""What may leave the machine. `pages`: found pages are fetched from their sites."""

TRIED_WITH: Final = "Corrective Retrieval Augmented Generation"
"""What a test embeds or searches for: it tells nothing of the user."""


@dataclass(frozen=True)
class Service:
    """Who does one task."""

    task: Task
    name: str
    """`provider:model`, a part of CRAG, or a provider of web search; empty: nobody."""
    host: str = ""
    """Where it is asked; empty: in this process."""
    outside: bool = False
    """Whether that is another machine."""
    sends: tuple[Thing, ...] = ()
    spec: ModelSpec | None = None

    @property
    def can_be_tested(self) -> bool:
        """Parts of this process need no test: they were opened with the house."""
        return bool(self.host) or self.spec is not None


@dataclass(frozen=True)
class Tested:
    """How a test of a service went; `text` is a sentence, with the mend where it is not `ok`."""

    ok: bool
    text: str
    notice: str = ""
    seconds: float | None = None
    cost: float | None = None
    """None: unknown."""


def services(settings: Settings) -> tuple[Service, ...]:
    """One for each task, in the order of a file's and a question's way. Nothing is sent."""
    return (
        _reads(settings),
        _embeds(settings),
        _grades(settings),
        _writes(settings),
        _rewrites(settings),
        _searches(settings),
    )


def _reads(settings: Settings) -> Service:
    if settings.parser == "builtin":
        return Service("read", "builtin")
    return Service("read", settings.parser, *_place(settings.mineru_url), sends=("files",))


def _embeds(settings: Settings) -> Service:
    provider = settings.embedding_provider
    if provider == "embedded":
        return Service("embed", "multilingual-e5-small")
    urls = {
        "ollama": settings.ollama_url,
        "openai": settings.openai_api_base,
        "dashscope": native_address(settings.dashscope_url, settings.dashscope_region),
    }
    usual = settings.ollama_embed if provider == "ollama" else USUAL[provider]
    name = f"{provider}:{settings.embedding_model or usual}"
    return Service("embed", name, *_place(urls[provider]), sends=("passages", "question"))


def _grades(settings: Settings) -> Service:
    if spec := grading_spec(settings):
        return _of("grade", spec, ("question", "documents"))
    named = f" {settings.grader_model}" if settings.evaluator == "cross-encoder" else ""
    return Service("grade", f"{settings.evaluator}{named}")


def _writes(settings: Settings) -> Service:
    spec = writing_spec(settings)
    return _of("write", spec, ("question", "history", "context")) if spec else Service("write", "extractive")


def _rewrites(settings: Settings) -> Service:
    spec = writing_spec(settings)
    return _of("rewrite", spec, ("question", "history")) if spec else Service("rewrite", "idf")


def _searches(settings: Settings) -> Service:
    provider = settings.web_provider
    if provider == "none" or settings.web == "off":
        return Service("search", "")
    url = service_at(provider, settings.web_url, settings.tavily_url)
    host = urlsplit(url).netloc if url else provider  # what searches the web goes outside, wherever it runs
    sends: tuple[Thing, ...] = ("query", "pages") if settings.web_pages == "on" else ("query",)
    return Service("search", provider, host, True, sends)


def _of(task: Task, spec: ModelSpec, sends: tuple[Thing, ...]) -> Service:
    """A task of a language model. Where pydantic-ai knows the address, its provider stands in the place of a host."""
    if spec.provider == "llamacpp":
        return Service(task, spec.name, spec=spec)
    if spec.provider == "pydantic-ai":
        return Service(task, spec.name, spec.model.partition(":")[0], True, sends, spec)
    return Service(task, spec.name, *_place(address(spec)), sends, spec)


def _place(url: str) -> tuple[str, bool]:
    """The host with its port, and whether it is another machine."""
    parts = urlsplit(url)
    return parts.netloc, not _is_here(parts.hostname or "")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def searches_used(settings: Settings) -> int | None:
    """How many of the searches that a day may have are used; None where nobody searches, or without a limit."""
    nobody = settings.web_provider == "none" or settings.web == "off" or not settings.web_daily_searches
    return None if nobody else spent_today(settings.cache_dir / WEB)


def leaving(settings: Settings, opened: Settings | None = None) -> dict[str, tuple[Thing, ...]]:
    """What may leave the machine, by the host that it goes to; empty: nothing.

    `opened` is what the house was opened with, where that is something else: files are read and embedded by it.
    """
    found: dict[str, tuple[Thing, ...]] = {}
    house = opened or settings
    for service in (_reads(house), _embeds(house), *services(settings)[2:]):
        if service.outside:
            found[service.host] = tuple(dict.fromkeys((*found.get(service.host, ()), *service.sends)))
    return found


async def try_out(service: Service, settings: Settings, house: House) -> Tested:
    """One real round trip with `settings`. Never raises a CragError: what fails is told.

    It costs what a very short call costs. A search is really made: what was kept is not looked at, nothing is kept, no
    page is fetched, and it is not counted among the searches of the day.
    """
    start = time.perf_counter()
    if service.spec is not None:
        found = await probe(house.models.get(service.spec), grading=service.task == "grade")
        costs = [call.cost for call in found.calls if call.cost is not None]
        seconds = found.calls[-1].seconds if found.calls else None
        return Tested(found.ok, found.text, found.notice, seconds, sum(costs) if costs else None)
    try:
        match service.task:
            case "read":
                text = await in_pool(_read, settings)
            case "embed":
                text = await _embedded(settings, house)
            case _:
                text = await _searched(settings)
    except CragError as error:
        return Tested(False, str(error))
    seconds = time.perf_counter() - start
    cost = settings.web_price or None if service.task == "search" else None
    return Tested(True, f"{service.host} answers{text} in {seconds:.1f} seconds.", "", seconds, cost)


def _read(settings: Settings) -> str:
    version = ask_version(MinerU(settings.mineru_url, settings.mineru_timeout))
    if version is None:
        raise ConfigurationError(f"MinerU does not answer at {settings.mineru_url}: start it or correct the address.")
    return f" as MinerU {version}"


async def _embedded(settings: Settings, house: House) -> str:
    """By who makes the vectors with `settings`, also where the house was opened with somebody else."""
    embedder = embedder_of(settings, house.embedder)
    try:
        vector = await in_pool(embedder.embed_query, TRIED_WITH)
    finally:
        if isinstance(embedder, Sending) and embedder is not house.embedder:
            await in_pool(embedder.close)
    return f" with a vector of {len(vector)} numbers"


async def _searched(settings: Settings) -> str:
    past = {"web_cache_hours": 0.0, "web_daily_searches": 0, "web_pages": "off"}
    web = web_search(settings.model_copy(update=past))
    results = (await web.search(TRIED_WITH)).results if web else ()
    return f" with {len(results)} result{'' if len(results) == 1 else 's'}"


def to_test(found: Sequence[Service]) -> list[Service]:
    """Those that can be tested, each model once for every way in which it is asked."""
    known: dict[object, Service] = {}
    for service in found:
        if service.can_be_tested:
            known.setdefault(
                (service.spec or service.host, service.task if service.task in ("read", "embed", "grade") else ""),
                service,
            )
    return list(known.values())
