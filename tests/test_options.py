"""What can be set is declared once: every setting has its place, and what needs the house opened anew is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from config import Settings, load_settings
from crag.assembly import open_house
from crag.options import CHANGEABLE, FOLDERS, GROUPS, ONLY_WITH, in_use, matters, needs_reopening, opened_with, option


def wanted(**values: object) -> dict[str, Any]:
    return {name: getattr(load_settings(), name) for name in CHANGEABLE} | values


def test_every_setting_stands_in_one_group_or_is_a_folder() -> None:
    placed = [name for parts in GROUPS.values() for names in parts.values() for name in names]
    assert sorted([*placed, *FOLDERS]) == sorted(Settings.model_fields)
    assert set(ONLY_WITH) <= CHANGEABLE


def test_each_kind_of_setting_is_entered_in_its_own_way() -> None:
    kinds = {
        name: option(name).kind for name in ("web", "hyde", "tavily_api_key", "k", "web_price", "upper", "llm_model")
    }
    assert list(kinds.values()) == ["choice", "switch", "key", "whole", "decimal", "share", "text"]
    assert (option("k").low, option("k").high) == (1, 50)
    assert option("currency").longest == 8
    with pytest.raises(KeyError):
        option("files_dir")


def test_what_means_nothing_with_the_chosen_providers_is_not_shown() -> None:
    usual = wanted()
    assert matters("k", usual)
    assert not any(matters(name, usual) for name in ("openai_api_key", "llm_model", "grader_model", "mineru_url"))
    openai = wanted(llm_provider="openai")
    assert all(matters(name, openai) for name in ("openai_api_key", "openai_api_base", "llm_model"))
    assert not matters("grader_model", openai)
    assert matters("grader_model", wanted(evaluator="cross-encoder"))
    assert matters("deepseek_api_key", wanted(evaluator="llm", grader_provider="deepseek"))
    assert matters("ollama_embed", wanted(embedding_provider="ollama"))
    assert not matters("ollama_embed", wanted(llm_provider="ollama"))
    assert not matters("web_url", wanted(web_provider="duckduckgo"))


@pytest.mark.parametrize("chosen", [{"embedding_provider": "openai"}, {"parser": "mineru"}])
def test_opening_the_house_reads_what_is_declared_and_nothing_else(chosen: dict[str, str], tmp_path: Path) -> None:
    read: set[str] = set()

    class Watched(Settings):
        def __getattribute__(self, name: str) -> Any:
            if name in Settings.model_fields:
                read.add(name)
            return super().__getattribute__(name)

    folders = {name: tmp_path / name for name in FOLDERS if name != "cache_dir"}
    settings = Watched(**folders, **chosen, mineru_url="http://127.0.0.1:9")  # type: ignore[arg-type]
    read.clear()
    open_house(settings).close()
    declared = set(opened_with(settings))
    of_others = set(GROUPS["models"]["services"]) - declared  # passed by, for the provider that was not chosen
    assert read - declared - of_others - set(FOLDERS) == {"evaluator"}, "beside a cross-encoder it counts at once"
    assert declared <= read


def test_a_setting_that_needs_the_house_opened_anew_waits_for_it() -> None:
    opened = load_settings()
    wanted = load_settings(embedding_provider="ollama", embedding_model="m", ocr="off", k=3)
    assert set(needs_reopening(opened, wanted)) == {"embedding_provider", "embedding_model", "ocr"}
    used = in_use(opened, wanted)
    assert (used.embedding_provider, used.embedding_model, used.ocr, used.k) == ("embedded", "", "auto", 3)
    assert (
        needs_reopening(wanted, load_settings(k=9, embedding_provider="ollama", embedding_model="m", ocr="off")) == ()
    )


def test_an_address_that_the_house_embeds_with_counts_at_once_for_models() -> None:
    opened = load_settings(embedding_provider="ollama", llm_provider="ollama")
    wanted = load_settings(embedding_provider="ollama", llm_provider="ollama", ollama_url="http://gpu.local:11434")
    assert needs_reopening(opened, wanted) == ("ollama_url",)
    assert in_use(opened, wanted).ollama_url == "http://gpu.local:11434"


def test_a_judge_and_the_lightweight_evaluator_count_at_once_and_a_cross_encoder_does_not() -> None:
    opened = load_settings()
    judge = load_settings(evaluator="llm", llm_provider="ollama")
    assert in_use(opened, judge) == judge
    assert in_use(judge, opened) == opened
    cross = load_settings(evaluator="cross-encoder", grader_model="folder")
    assert in_use(opened, cross).evaluator == "lightweight"
    assert in_use(cross, opened).evaluator == "lightweight"
