"""Text to token ids the way XLM-RoBERTa does it, and what is done to text before any engine reads it."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from crag.embedding.weights import Weights

MAX_TOKENS = 512
MAX_CHARACTERS = 8192
"""Longer texts are cut before they are tokenised: 512 tokens of ordinary text are far shorter."""
QUERY, PASSAGE = "query: ", "passage: "
"""E5 was trained with these in front; without them its vectors are worse."""


def clean(text: str) -> str:
    """`text` cut to MAX_CHARACTERS, accents composed, without NUL, lone surrogates and surrounding white space."""
    cut = text[:MAX_CHARACTERS].replace("\0", " ").encode("utf-8", "ignore").decode("utf-8")
    return unicodedata.normalize("NFC", cut).strip()


def build_tokenizer(weights: Weights) -> Tokenizer:
    """The Unigram tokenizer of the weights, cut at 512 tokens; it expects text normalised by the weights' map."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    pieces = weights.pieces
    vocabulary = [  # only the special pieces score 0; behind a NUL, no text can spell them
        (piece if score else f"\0{piece}", score) for piece, score in zip(pieces.pieces, pieces.scores, strict=True)
    ]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=pieces.unknown, byte_fallback=False))
    tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    bos, eos = pieces.pieces[pieces.bos], pieces.pieces[pieces.eos]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos} $A {eos}", special_tokens=[(bos, pieces.bos), (eos, pieces.eos)]
    )
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
