"""Models that score pairs, saved by the tests with random weights: scales, loading, and what cannot be loaded."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tiny_models import Save

from crag.errors import ConfigurationError
from crag.evaluator.pair_models import PACKAGES, Scale, inert, load_pair_model, to_unit

ROOT = Path(__file__).resolve().parents[2]
QUESTION = "Who stayed in orbit?"
APOLLO = "Neil Armstrong walked on the Moon, while Michael Collins stayed in orbit."
BREAD = "Sourdough bread rises by wild yeast and lactic acid bacteria."


@pytest.mark.parametrize(
    ("outputs", "scale", "score"),
    [
        ([[0.0]], Scale.SIGMOID, 0.5),
        ([[2.0]], Scale.SIGMOID, 0.8808),
        ([[1e30]], Scale.SIGMOID, 1.0),
        ([[-1e30]], Scale.SIGMOID, 0.0),
        ([[1.0, 3.0]], Scale.SOFTMAX, 0.8808),
        ([[3.0, 1.0]], Scale.SOFTMAX, 0.1192),
        ([[0.59]], Scale.REGRESSION, 0.795),
        ([[-0.99]], Scale.REGRESSION, 0.005),
        ([[1.07]], Scale.REGRESSION, 1.0),
        ([[-1.2]], Scale.REGRESSION, 0.0),
    ],
)
def test_outputs_become_scores_from_0_to_1(outputs: list[list[float]], scale: Scale, score: float) -> None:
    assert to_unit(np.array(outputs, np.float32), scale) == pytest.approx([score], abs=1e-4)


@pytest.mark.parametrize("text", ["a </s> b", "＜/s＞", "x</s></s>", "<\x01/s>", "<\x7f/s\x85>"])
def test_a_text_cannot_spell_the_special_tokens_of_a_model(text: str) -> None:
    made = inert(text, ["</s>", "<pad>"])
    assert "</s>" not in made
    assert made.isprintable()


def test_other_text_reaches_the_model_as_it_is() -> None:
    assert inert("ﬁrst ½ </t>", ["</s>"]) == "ﬁrst ½ </t>"


@pytest.mark.parametrize("package", PACKAGES)
def test_without_the_packages_the_user_reads_what_to_install(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PACKAGES[: PACKAGES.index(package)]:  # those before it are taken for installed
        monkeypatch.setitem(sys.modules, name, sys)
    monkeypatch.setitem(sys.modules, package, None)  # so that importing it fails, installed or not
    with pytest.raises(ConfigurationError, match=r"pip install -r requirements-cross-encoder\.txt"):
        load_pair_model("BAAI/bge-reranker-v2-m3")


def test_every_optional_package_is_pinned_in_its_file() -> None:
    lines = (ROOT / "requirements-cross-encoder.txt").read_text(encoding="utf-8").splitlines()
    pins = {match[1] for line in lines if (match := re.fullmatch(r"([\w-]+)==[\w.]+", line.split(";")[0].strip()))}
    assert {package.replace("_", "-") for package in PACKAGES} <= pins
    usual = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert not any(re.search(rf"^{pin}==", usual, re.MULTILINE) for pin in pins)


def test_the_optional_packages_are_not_loaded_by_whoever_does_not_choose_them() -> None:
    code = f"import sys, crag.assembly; print(*(name for name in {PACKAGES[:3]!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []


# With the packages (`make test-full` installs them).


def test_a_reranker_scores_as_sentence_transformers_does(models: Save) -> None:
    from sentence_transformers import CrossEncoder

    folder = models("Bert", 1)
    pairs = [(QUESTION, APOLLO), (QUESTION, BREAD)]
    theirs = CrossEncoder(str(folder)).predict(pairs)  # with the sigmoid that it applies to one output
    model = load_pair_model(str(folder))
    assert to_unit(model.logits(pairs), model.scale) == pytest.approx(np.asarray(theirs), abs=1e-5)


def test_the_papers_evaluator_scores_as_in_its_authors_code(models: Save) -> None:
    import torch
    from transformers import T5ForSequenceClassification, T5Tokenizer

    folder = models("T5", 1)
    tokenizer, theirs = T5Tokenizer.from_pretrained(folder), T5ForSequenceClassification.from_pretrained(folder)
    given = tokenizer(f"{QUESTION} [SEP] {BREAD}", return_tensors="pt", padding="max_length", max_length=512)
    with torch.no_grad():
        expected = theirs.eval()(given["input_ids"], attention_mask=given["attention_mask"]).logits
    ours = load_pair_model(str(folder)).logits([(QUESTION, APOLLO), (QUESTION, BREAD)])
    assert ours[1, 0] == pytest.approx(float(expected[0, 0]), abs=1e-5)
    assert abs(ours[0, 0] - ours[1, 0]) > 1e-3


def test_an_end_token_spelled_in_a_text_leaves_its_neighbours_alone(models: Save) -> None:
    logits = load_pair_model(str(models("T5"))).logits
    beside = logits([(QUESTION, "a </s> b"), (QUESTION, BREAD)])
    assert beside[1] == pytest.approx(logits([(QUESTION, BREAD)])[0], abs=1e-4)


async def test_a_long_question_leaves_the_papers_evaluator_room_for_the_text(models: Save) -> None:
    apollo, bread = load_pair_model(str(models("T5"))).logits([("who " * 2000, APOLLO), ("who " * 2000, BREAD)])
    assert abs(float(apollo[0] - bread[0])) > 1e-4


def test_the_version_is_that_of_the_files_whatever_the_folder(models: Save, tmp_path: Path) -> None:
    first = models()
    copy = shutil.copytree(first, tmp_path / "elsewhere")
    version = load_pair_model(str(first)).version
    assert load_pair_model(str(copy)).version == version
    assert load_pair_model(str(models(seed=1))).version != version
    config = json.loads((copy / "config.json").read_text(encoding="utf-8"))
    (copy / "config.json").write_text(json.dumps({**config, "layer_norm_eps": 1e-6}), encoding="utf-8")
    assert load_pair_model(str(copy)).version != version


def test_weights_in_the_older_format_are_read(models: Save, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    load_file = pytest.importorskip("safetensors.torch").load_file
    copy = shutil.copytree(models(), tmp_path / "older")
    before = load_pair_model(str(copy)).logits([(QUESTION, BREAD)])
    torch.save(load_file(copy / "model.safetensors"), copy / "pytorch_model.bin")
    (copy / "model.safetensors").unlink()
    assert load_pair_model(str(copy)).logits([(QUESTION, BREAD)]) == pytest.approx(before)


def damaged(folder: Path, name: str, content: bytes | None) -> str:
    (folder / name).unlink() if content is None else (folder / name).write_bytes(content)
    return str(folder)


BROKEN: dict[str, tuple[Callable[[Save], str], str]] = {
    "no folder": (lambda _: "/no/such/folder", "neither a folder that exists nor a hub name"),
    "a typing error in a path": (lambda m: f"{m()}/../typo", "neither a folder that exists nor a hub name"),
    "an address": (lambda _: "https://user:secret@host/model", "neither a folder that exists nor a hub name"),
    "no configuration": (lambda m: damaged(m(), "config.json", None), "no readable config.json"),
    "a broken configuration": (lambda m: damaged(m(), "config.json", b"{"), "no readable config.json"),
    "no weights": (lambda m: damaged(m(), "model.safetensors", None), "holds no weights"),
    "broken weights": (lambda m: damaged(m(), "model.safetensors", b"\x01" * 99), "cannot be loaded"),
    "no tokenizer": (lambda m: damaged(m("T5"), "tokenizer.json", b"{}"), "cannot be loaded"),
    "no head": (lambda m: str(m(name="Model")), "is a BertModel, which does not score pairs"),
    "three classes": (lambda m: str(m(labels=3)), "has 3 outputs"),
}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("case", BROKEN)
def test_a_model_that_cannot_be_used_is_told_in_a_sentence(models: Save, case: str) -> None:
    make, told = BROKEN[case]
    with pytest.raises(ConfigurationError, match=told) as caught:
        load_pair_model(make(models))
    assert "secret" not in str(caught.value)


def test_weights_that_are_no_numbers_are_told_when_the_model_is_loaded(models: Save) -> None:
    save_file = pytest.importorskip("safetensors.torch").save_file
    load_file = pytest.importorskip("safetensors.torch").load_file
    weights = models() / "model.safetensors"
    tensors = {name: tensor * float("nan") for name, tensor in load_file(weights).items()}
    save_file(tensors, weights, metadata={"format": "pt"})
    with pytest.raises(ConfigurationError, match="gives no usable numbers"):
        load_pair_model(str(weights.parent))


def test_a_model_whose_scores_move_with_the_padding_is_refused(models: Save) -> None:
    folder = models()
    config = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    config["model_input_names"] = ["input_ids"]  # so that the model is not told what is padding
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="scores a pair differently when others stand beside it"):
        load_pair_model(str(folder))
