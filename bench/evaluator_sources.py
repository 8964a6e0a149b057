"""How the document grades do on sources that never trained them: accuracy and AUC, leaving one family out.

    python -m bench.evaluator_sources --data DIR [--per-source 600] [--folds DIR ...] [--extra]

For every family of `grader_train.jsonl` a regression is trained on the other families (no passage shared), beside the
floor (idf share of the question's words found). `--folds` names folders of `bench.train_adapter --hold-out`: their
scores of held-out rows are joined with the regression as the evaluator does. `--extra` tries what was left out of the
evaluator: a gradient-boosted model. Labels hold 2-8 % noise. Intervals are bootstrapped over pairs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from bench._pairs import Pair, document_features, left_out, means_of, read_pairs
from bench._xquad import CachedEmbedder, data_argument
from bench.train_evaluator import CROSS, fit
from config import load_settings
from crag.embedding.loading import load_embedder
from crag.evaluator.features import DOCUMENT
from crag.evaluator.lightweight import linear

ROUNDS = 300


def regression(pairs: list[Pair], embedder: CachedEmbedder, *, boosted: bool) -> tuple[np.ndarray, np.ndarray]:
    """(logits of the regression that never saw the pair's family, the floor); `boosted`: of trees instead."""
    logits, floor = np.zeros(len(pairs)), np.zeros(len(pairs))
    labels = np.array([pair.label for pair in pairs])
    for family in sorted({pair.family for pair in pairs}):
        training = left_out(pairs, family)
        tested = np.array([pair.family == family for pair in pairs])
        means = means_of([pair for pair, use in zip(pairs, training, strict=True) if use], embedder)
        rows = document_features(pairs, means, embedder)
        if boosted:
            trees = HistGradientBoostingClassifier(max_iter=150, learning_rate=0.06, max_leaf_nodes=8, random_state=0)
            logits[tested] = trees.fit(rows[training], labels[training]).decision_function(rows[tested])
        else:
            head = fit(rows[training].tolist(), labels[training].tolist())
            logits[tested] = [linear(head, row) for row in rows[tested].tolist()]
        floor[tested] = rows[tested, DOCUMENT.index("coverage")]
    return logits, floor


def cross_logits(pairs: list[Pair], folds: list[Path]) -> np.ndarray:
    """What an adapter that never saw the pair's family gave it; NaN where no fold tested it."""
    known: dict[int, float] = {}
    for folder in folds:
        with np.load(folder / "scores.npz") as stored:
            known.update(zip(stored["rows"].tolist(), stored["logits"].tolist(), strict=True))
    return np.array([known.get(pair.row, np.nan) for pair in pairs])


def line(name: str, labels: np.ndarray, scored: dict[str, tuple[np.ndarray, float]]) -> None:
    """One source: accuracy and AUC of every score, each with the threshold of its accuracy."""
    said = [
        f"{kind} {((scores > middle) == labels).mean():.3f} / {roc_auc_score(labels, scores):.3f}"
        for kind, (scores, middle) in scored.items()
    ]
    print(f"{name:<22} n {len(labels):>5}  " + "   ".join(said), flush=True)


def gain(labels: np.ndarray, before: np.ndarray, after: np.ndarray) -> tuple[float, float, float]:
    """Difference of the AUCs with its 95 % interval."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(ROUNDS):
        at = rng.integers(0, len(labels), len(labels))
        if 0 < labels[at].sum() < len(at):
            found.append(roc_auc_score(labels[at], after[at]) - roc_auc_score(labels[at], before[at]))
    low, high = np.quantile(found, [0.025, 0.975])
    return float(roc_auc_score(labels, after) - roc_auc_score(labels, before)), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data_argument(parser)
    parser.add_argument("--per-source", type=int, default=600)
    parser.add_argument("--folds", type=Path, nargs="*", default=[])
    parser.add_argument("--extra", action="store_true")
    parser.add_argument("--vectors", type=Path, default=Path(tempfile.gettempdir(), "crag-bench-vectors"))
    args = parser.parse_args()
    embedder = CachedEmbedder(load_embedder(load_settings().cache_dir, 0, None).embedder, args.vectors)
    pairs = read_pairs(args.data, args.per_source)
    logits, floor = regression(pairs, embedder, boosted=False)
    embedder.save()
    scored = {"floor": (floor, 0.5), "regression": (logits, 0.0)}
    if args.extra:
        scored["boosted trees"] = regression(pairs, embedder, boosted=True)[0], 0.0
    if args.folds:
        cross = cross_logits(pairs, args.folds)
        scored |= {"cross-encoder": (cross, 0.0), "joined": (logits + CROSS * cross, 0.0)}
    labels = np.array([pair.label for pair in pairs])
    sources = np.array([pair.source for pair in pairs])
    tested = ~np.isnan(sum(scores for scores, _ in scored.values()))
    outside = np.array([pair.family != "SQuAD" for pair in pairs])
    groups = {source: sources == source for source in sorted(set(sources))}
    groups |= {"all but SQuAD's": outside, "all": np.ones(len(pairs), bool)}
    for name, members in groups.items():
        chosen = members & tested
        if chosen.any():
            line(name, labels[chosen], {kind: (scores[chosen], middle) for kind, (scores, middle) in scored.items()})
            if args.folds:
                found = gain(labels[chosen], logits[chosen], scored["joined"][0][chosen])
                print(f"{'':<22} AUC, joined against regression: {found[0]:+.3f} [{found[1]:+.3f}, {found[2]:+.3f}]")


if __name__ == "__main__":
    main()
