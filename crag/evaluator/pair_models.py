"""Loads a model that scores (question, text) pairs: a reranker by sentence-transformers, or the paper's T5.

The packages are optional (requirements-cross-encoder.txt) and imported only when a model is loaded.
"""

from __future__ import annotations

import importlib
import logging
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crag.errors import ConfigurationError
from crag.evaluator.model_folder import architecture, fingerprint, model_folder

log = logging.getLogger(__name__)

PACKAGES: Final = ("torch", "transformers", "sentence_transformers", "huggingface_hub")
BATCH: Final = 16
"""Pairs that go through the model together."""
PAPER: Final = ("T5ForSequenceClassification", "MT5ForSequenceClassification")
"""Architectures of the paper's evaluator: a T5 with one regression output, trained on -1 and 1."""
PAPER_TOKENS: Final = 512
"""What it was trained with (github.com/HuskyInSalt/CRAG, scripts/train_evaluator.py)."""
PAPER_QUESTION: Final = 500
"""Characters of the question that it reads: a longer one would leave no room for the text."""
MOST_TOKENS: Final = 1024
"""Tokens of a pair that a reranker reads, where the model itself allows more."""
PADDING_NOISE: Final = 0.001
"""By more than this a score must not move when the pair is padded: a grade depends on question and text alone."""

Logits = npt.NDArray[np.float32]
Pair = tuple[str, str]

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_PROBES = (("Who?", "Nobody."), ("Which of them was the first to arrive?", "The second one came late. " * 8))


class Scale(StrEnum):
    """How a model's outputs become scores in [0, 1]."""

    SIGMOID = "sigmoid"
    """One logit."""
    SOFTMAX = "softmax"
    """Two classes, the second of which is the relevant one."""
    REGRESSION = "regression"
    """One number from -1 to 1, as in the paper: (s + 1) / 2."""


@dataclass(frozen=True)
class PairModel:
    """A loaded model. `logits` takes pairs (one batch; it is not thread-safe) and gives (pairs, 1 or 2) float32.

    `version` is the hash of the model's files and of what happens to its inputs and outputs. `join` makes the text of
    a document from heading and text.
    """

    version: str
    scale: Scale
    logits: Callable[[Sequence[Pair]], Logits]
    join: str = "\n"


def to_unit(logits: Logits, scale: Scale) -> npt.NDArray[np.float64]:
    """Scores in [0, 1], shape (n,), of outputs (n, 1), or (n, 2) for SOFTMAX. Pure."""
    x = logits.astype(np.float64)
    if scale is Scale.REGRESSION:
        return np.clip((x[:, 0] + 1) / 2, 0.0, 1.0)
    # the softmax of two classes is the sigmoid of their difference
    difference = x[:, 1] - x[:, 0] if scale is Scale.SOFTMAX else x[:, 0]
    return 1 / (1 + np.exp(-np.clip(difference, -500, 500)))


def load_pair_model(name: str, progress: Callable[[str, float], None] | None = None) -> PairModel:
    """Loads the model in the folder `name`, or of that name on the Hugging Face hub; `progress` is told that it does.

    Nothing is fetched unless `name` is a hub name that is not in the hub's cache yet; code that a model brings along
    is never run. Raises ConfigurationError where there is no model, no package, or no usable output.
    """
    name = name.strip()
    if not name:
        raise ConfigurationError(
            "The cross-encoder needs a model: set CRAG_GRADER_MODEL to a folder that holds one or to a hub name "
            "such as BAAI/bge-reranker-v2-m3, or leave CRAG_EVALUATOR unset."
        )
    if progress:
        progress("Loading the cross-encoder", 0.0)
    torch, transformers, sentence_transformers, hub = _packages()
    folder = model_folder(name, hub)
    kind = architecture(folder)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        if kind in PAPER:
            logits = _paper(folder, torch, transformers)
        else:
            logits = _reranker(folder, torch, sentence_transformers)
        outputs = _probed(logits)
    except ConfigurationError:
        raise
    except Exception as error:  # whatever is broken in it, in whichever of the libraries
        log.info("the cross-encoder's model cannot be loaded", exc_info=True)
        raise ConfigurationError(
            f"The model of CRAG_GRADER_MODEL cannot be loaded ({type(error).__name__}): copy or download it again; a "
            "model that needs code of its own cannot be used."
        ) from error
    scale = _scale(kind, outputs)
    join = " // " if kind in PAPER else "\n"
    treatment = repr((scale.value, join, PAPER_TOKENS, PAPER_QUESTION, MOST_TOKENS))
    return PairModel(fingerprint(folder, treatment), scale, logits, join)


def _packages() -> Iterator[Any]:
    for package in PACKAGES:
        try:
            yield importlib.import_module(package)
        except (ImportError, OSError) as error:  # OSError: a library that torch needs is missing
            raise ConfigurationError(
                f"The cross-encoder needs {package.replace('_', '-')}, which cannot be imported: run "
                "`pip install -r requirements-cross-encoder.txt`, or leave CRAG_EVALUATOR unset."
            ) from error


def _reranker(folder: Path, torch: Any, sentence_transformers: Any) -> Callable[[Sequence[Pair]], Logits]:
    """In float32 whatever it was saved in: half precision is slow on a processor, and moves with the padding."""
    model = sentence_transformers.CrossEncoder(
        str(folder), local_files_only=True, trust_remote_code=False, model_kwargs={"dtype": torch.float32}
    )
    model.max_seq_length = min(model.max_seq_length or MOST_TOKENS, MOST_TOKENS)
    special = list(model.tokenizer.all_special_tokens)

    def logits(pairs: Sequence[Pair]) -> Logits:
        given = [(inert(question, special), inert(text, special)) for question, text in pairs]
        raw = model.predict(given, batch_size=BATCH, activation_fn=torch.nn.Identity(), show_progress_bar=False)
        return np.asarray(raw, np.float32).reshape(len(pairs), -1)

    return logits


def _paper(folder: Path, torch: Any, transformers: Any) -> Callable[[Sequence[Pair]], Logits]:
    """The evaluator of Yan et al.: `question [SEP] text` in one string, as in their scripts/data_process.py."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    model, found = transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, local_files_only=True, trust_remote_code=False, dtype=torch.float32, output_loading_info=True
    )
    if any("classification_head" in key for key in found["missing_keys"]):
        raise ConfigurationError(
            "The T5 of CRAG_GRADER_MODEL has no weights for its classification head: it was not trained as an "
            "evaluator."
        )
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model.to(device).eval()
    special = list(tokenizer.all_special_tokens)

    def logits(pairs: Sequence[Pair]) -> Logits:
        given = [f"{_line(question)[:PAPER_QUESTION]} [SEP] {_line(text)}" for question, text in pairs]
        inputs = tokenizer(
            [inert(text, special) for text in given],
            padding=True,
            truncation=True,
            max_length=PAPER_TOKENS,
            return_tensors="pt",
        )
        ids, mask = inputs["input_ids"].to(device), inputs["attention_mask"].to(device)
        with torch.inference_mode():
            out = model(input_ids=ids, attention_mask=mask).logits
        return np.asarray(out.float().cpu().numpy(), np.float32)

    return logits


def inert(text: str, special: Sequence[str]) -> str:
    """The text with the model's special tokens (`</s>`, `[SEP]`) broken up: text is data, whatever it spells. Pure.

    Tokenizers drop control characters and read compatibility forms (a full-width `＜/s＞`) as the plain ones: tokens
    that come about so are broken up as well. A T5 would refuse the whole batch for an end token within a text.
    """
    text = _CONTROL.sub(" ", text.encode("utf-8", "replace").decode("utf-8"))
    plain = unicodedata.normalize("NFKC", text)
    if not any(token in plain for token in special):
        return text
    for token in special:
        plain = plain.replace(token, f"{token[0]} {token[1:]}")
    return plain


def _line(text: str) -> str:
    return " ".join(text.split())


def _probed(logits: Callable[[Sequence[Pair]], Logits]) -> int:
    """How many outputs the model has, after a look at how it treats a short pair alone and padded."""
    alone, padded = logits(_PROBES[:1]), logits(_PROBES)
    if not np.isfinite(padded).all():
        raise ConfigurationError(
            "The model of CRAG_GRADER_MODEL gives no usable numbers: copy or download it again, or use another."
        )
    if np.abs(alone[0] - padded[0]).max() > PADDING_NOISE:
        raise ConfigurationError(
            "The model of CRAG_GRADER_MODEL scores a pair differently when others stand beside it (its tokenizer and "
            "its configuration disagree on padding): use another."
        )
    return int(padded.shape[1])


def _scale(kind: str, outputs: int) -> Scale:
    if outputs == 1:
        return Scale.REGRESSION if kind in PAPER else Scale.SIGMOID
    if outputs == 2:
        return Scale.SOFTMAX
    raise ConfigurationError(
        f"The model of CRAG_GRADER_MODEL has {outputs} outputs; one (how relevant) or two (irrelevant, relevant) are "
        "needed: use a reranker such as BAAI/bge-reranker-v2-m3."
    )
