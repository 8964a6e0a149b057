"""Pair models of a few thousand random weights, saved as their users save theirs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

Save = Callable[..., Path]
"""`save(kind, labels, seed, name)` saves a model and returns its folder; see `saving`."""

WORDS = ("the", "who", "apollo", "program", "humans", "on", "moon", "stayed", "in", "orbit", "bread", "rises", "yeast")


def saving(temporary: pytest.TempPathFactory) -> Save:
    """What saves a BertForSequenceClassification or a T5ForSequenceClassification; skips without the packages."""
    pytest.importorskip("sentence_transformers")
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]

    def save(kind: str = "Bert", labels: int = 1, seed: int = 0, name: str = "ForSequenceClassification") -> Path:
        folder = temporary.mktemp(kind)
        torch.manual_seed(seed)
        if kind == "Bert":
            pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *letters, *(f"##{c}" for c in letters)]
            (folder / "vocab.txt").write_text("\n".join([*pieces, *".,?[]0123456789"]), encoding="utf-8")
            transformers.BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
            config = transformers.BertConfig(
                vocab_size=128, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
                num_labels=labels, max_position_embeddings=256, initializer_range=0.8,
            )  # fmt: skip
        else:
            pieces = ["<pad>", "</s>", "<unk>", "▁", *(f"▁{word}" for word in WORDS), *letters, *".,?/[]<>0123456789"]
            tokenizer = transformers.T5Tokenizer(vocab=[(piece, -1.0) for piece in pieces])
            tokenizer.save_pretrained(folder)
            config = transformers.T5Config(
                vocab_size=256, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, num_labels=labels,
                problem_type="regression", decoder_start_token_id=0, initializer_factor=1.7,
            )  # fmt: skip
        getattr(transformers, f"{kind}{name}")(config).save_pretrained(folder)
        return folder

    return save
