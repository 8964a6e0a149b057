"""e5's encoder in PyTorch with low-rank adapters: the cross-encoder that `train_adapter` trains.

A question and a document go through together, `<s> query: Q </s> passage: S1 S2 ... </s>`; every strip gets a logit
from the mean of its outputs, and the document's logit is the log-sum-exp of its strips'. So the strips learn from
labels of whole documents which of them answers (multiple-instance learning).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from crag.embedding.cross import QUESTION_PLACE, pair_tokens
from crag.embedding.weights import Weights

LONGEST = 400
"""Tokens of a pair in training; strips beyond them are left out."""
HEAD = 64


@dataclass(frozen=True)
class Pair:
    """A question with a document, as token ids; `strips[i]` is the place of token i as `pair_tokens` gives it."""

    ids: list[int]
    strips: list[int]
    label: int


def pair(encode: Callable[[str], list[int]], question: str, strips: Sequence[str], label: int) -> Pair:
    """The tokens of a question and a document without heading."""
    return Pair(*pair_tokens(encode, (question, "", strips), LONGEST), label)


class Linear(nn.Module):
    """A frozen matrix with a trained low-rank addition: W x + b + B A x."""

    def __init__(self, weight: np.ndarray, bias: np.ndarray, rank: int) -> None:
        super().__init__()
        self.register_buffer("weight", torch.from_numpy(weight), persistent=False)
        self.register_buffer("bias", torch.from_numpy(bias), persistent=False)
        self.rank = rank
        if rank:
            self.a = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
            self.b = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x: Tensor) -> Tensor:
        out = functional.linear(x, self.weight, self.bias)
        return out + functional.linear(functional.linear(x, self.a), self.b) if self.rank else out


class Layer(nn.Module):
    def __init__(self, weights: Weights, number: int, rank: int) -> None:
        super().__init__()
        h, f = weights.shape.hidden, weights.shape.ffn
        sizes = {"q": (h, h), "k": (h, h), "v": (h, h), "ao": (h, h), "fi": (f, h), "fo": (h, f)}
        for name, size in sizes.items():
            w = weights.tensors[f"l{number}.{name}.w"].values().reshape(size)
            b = weights.tensors[f"l{number}.{name}.b"].values()
            setattr(self, name, Linear(w, b, rank))
        for name in ("aln", "oln"):
            for part in "wb":
                values = torch.from_numpy(weights.tensors[f"l{number}.{name}.{part}"].values())
                self.register_buffer(f"{name}_{part}", values, persistent=False)
        self.heads, self.epsilon = weights.shape.heads, weights.epsilon

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        n, t, h = x.shape
        q, k, v = (
            getattr(self, name)(x).view(n, t, self.heads, h // self.heads).transpose(1, 2) for name in ("q", "k", "v")
        )
        attended = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = functional.layer_norm(
            x + self.ao(attended.transpose(1, 2).reshape(n, t, h)), (h,), self.aln_w, self.aln_b, self.epsilon
        )
        inner = self.fo(functional.gelu(self.fi(x)))
        return functional.layer_norm(x + inner, (h,), self.oln_w, self.oln_b, self.epsilon)


class CrossEncoder(nn.Module):
    """`rank` adapters on the layers from `first` on; those below are frozen as they are."""

    def __init__(self, weights: Weights, rank: int = 16, first: int = 4) -> None:
        super().__init__()
        h = weights.shape.hidden
        self.register_buffer(
            "word", torch.from_numpy(weights.tensors["emb.word"].values().reshape(-1, h)), persistent=False
        )
        table = weights.tensors["emb.pos"].values().reshape(-1, h) + weights.tensors["emb.type"].values()[:h]
        self.register_buffer("position", torch.from_numpy(table), persistent=False)
        for part in "wb":
            values = torch.from_numpy(weights.tensors[f"emb.ln.{part}"].values())
            self.register_buffer(f"norm_{part}", values, persistent=False)
        self.epsilon, self.first = weights.epsilon, first
        self.layers = nn.ModuleList(
            Layer(weights, number, rank if number >= first else 0) for number in range(weights.shape.layers)
        )
        self.inner = nn.Linear(3 * h, HEAD)
        self.outer = nn.Linear(HEAD, 1)

    def forward(self, ids: Tensor, strips: Tensor) -> tuple[Tensor, Tensor]:
        """(document logits (n,), strip logits (n, most strips), -inf where there is no strip)."""
        mask = (ids != 1)[:, None, None, :]
        with torch.no_grad():
            x = functional.embedding(ids, self.word) + self.position[: ids.shape[1]]
            x = functional.layer_norm(x, x.shape[-1:], self.norm_w, self.norm_b, self.epsilon)
            for layer in self.layers[: self.first]:
                x = layer(x, mask)
        for layer in self.layers[self.first :]:
            x = layer(x, mask)
        most = int(strips.max()) + 1
        members = (strips[:, None, :] == torch.arange(most)[None, :, None]).float()
        counts = members.sum(-1)
        means = (members @ x) / counts.clamp(min=1)[..., None]
        asked = (strips == QUESTION_PLACE).float()
        question = (asked[:, None, :] @ x) / asked.sum(-1).clamp(min=1)[:, None, None]
        first = x[:, :1, :].expand_as(means)
        seen = torch.cat([means, first, means * question], -1)
        logits = self.outer(functional.gelu(self.inner(seen)))[..., 0]
        logits = logits.masked_fill(counts == 0, -torch.inf)
        return torch.logsumexp(logits, -1), logits


def batch(pairs: Sequence[Pair]) -> tuple[Tensor, Tensor, Tensor]:
    """(ids, strip numbers, labels), padded with 1 and -1."""
    longest = max(len(p.ids) for p in pairs)
    ids = torch.ones(len(pairs), longest, dtype=torch.long)
    strips = torch.full((len(pairs), longest), -1, dtype=torch.long)
    for row, p in enumerate(pairs):
        ids[row, : len(p.ids)] = torch.tensor(p.ids)
        strips[row, : len(p.ids)] = torch.tensor(p.strips)
    return ids, strips, torch.tensor([float(p.label) for p in pairs])
