"""The encoder as ONNX graphs with int8 matrices: one makes a text's vector, one holds a question against strips.

A text goes through alone, never in a batch: `DynamicQuantizeMatMul` scales the activations of a whole call together,
so in a batch a text's vector would depend on its neighbours. Alone it also needs no padding and no mask.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from crag.embedding.adapter import HEAD_PARTS, Adapter, merged
from crag.embedding.weights import BLOCK, Tensor, Weights

_MICROSOFT = "com.microsoft"
_OPSET, _IR = 21, 10


class _Graph:
    """Nodes and constants in the order they are added; each is named after its output."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: npt.NDArray[Any]) -> str:
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def node(self, operator: str, inputs: list[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(
            helper.make_node(operator, inputs, list(outputs), name=outputs[0], domain=domain, **attributes)
        )
        return outputs[0]


def build_model(weights: Weights, *, reduce_range: bool = False) -> onnx.ModelProto:
    """`input_ids` int64 (1, tokens) -> `embedding` float32 (1, hidden), mean-pooled, length 1.

    Matrices are int8 with one scale per output; word vectors keep their four bits, exactly. `reduce_range` gives
    weights 7 bits: for processors whose 8-bit products saturate (x86 without VNNI), at some loss of precision.
    """
    graph = _Graph()
    x = _encoder(graph, weights, reduce_range)
    pooled = graph.node("ReduceMean", [x, graph.constant("tokens_axis", np.array([1]))], "pooled", keepdims=0)
    graph.node("LpNormalization", [pooled], "embedding", axis=-1, p=2)
    return _model(graph, [_IDS], _value("embedding", [1, weights.shape.hidden]))


def build_cross_encoder(weights: Weights, adapter: Adapter, *, reduce_range: bool = False) -> onnx.ModelProto:
    """`input_ids` int64 (1, tokens), `members` float32 (1 + strips, tokens) -> `logits` float32 (strips,).

    `input_ids` are question and document together; the rows of `members` average the tokens of the question and of
    each strip. A strip's logit comes from its mean, the first token and the product of its mean with the question's.
    """
    graph = _Graph()
    x = _encoder(graph, merged(weights, adapter), reduce_range)
    outputs = graph.node("Squeeze", [x, graph.constant("text_axis", np.array([0]))], "outputs")
    means = graph.node("MatMul", ["members", outputs], "means")
    bounds = {name: graph.constant(name, np.array([value])) for name, value in (("from", 0), ("one", 1))}
    ends = graph.constant("ends", np.array([np.iinfo(np.int64).max]))
    question = graph.node("Slice", [means, bounds["from"], bounds["one"]], "question")
    strips = graph.node("Slice", [means, bounds["one"], ends], "strips")
    first = graph.node("Slice", [outputs, bounds["from"], bounds["one"]], "first")
    like = graph.node("Expand", [first, graph.node("Shape", [strips], "strips_shape")], "first_each")
    product = graph.node("Mul", [strips, question], "product")
    seen = graph.node("Concat", [strips, like, product], "seen", axis=1)
    parts = {part: graph.constant(f"head.{part}", adapter.arrays[part]) for part in HEAD_PARTS}
    inner = graph.node("Gemm", [seen, parts["inner.w"], parts["inner.b"]], "inner", transB=1)
    active = graph.node("Gelu", [inner], "inner_gelu", domain=_MICROSOFT)
    outer = graph.node("Gemm", [active, parts["outer.w"], parts["outer.b"]], "outer", transB=1)
    graph.node("Squeeze", [outer, graph.constant("last_axis", np.array([1]))], "logits")
    members = _value("members", ["rows", "tokens"])
    return _model(graph, [_IDS, members], _value("logits", ["strips"]))


def _encoder(graph: _Graph, weights: Weights, reduce_range: bool) -> str:
    """The outputs of the last layer, (1, tokens, hidden)."""
    x = _embeddings(graph, weights)
    for number in range(weights.shape.layers):
        x = _layer(graph, weights, number, x, 63 if reduce_range else 127)
    return x


def _value(name: str, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)


_IDS = helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, [1, "tokens"])


def _model(graph: _Graph, inputs: list[onnx.ValueInfoProto], output: onnx.ValueInfoProto) -> onnx.ModelProto:
    body = helper.make_graph(graph.nodes, "multilingual-e5-small", inputs, [output], graph.constants)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_MICROSOFT, 1)]
    return helper.make_model(body, opset_imports=opsets, ir_version=_IR, producer_name="crag")


def _embeddings(graph: _Graph, weights: Weights) -> str:
    """Word + position + type 0, normalised: (1, tokens, hidden)."""
    hidden = weights.shape.hidden
    word = weights.tensors["emb.word"]
    scales = graph.constant("word.scales", word.scales().reshape(-1, hidden // BLOCK))
    words = graph.node(
        "GatherBlockQuantized",
        [graph.constant("word.values", _pack(word).reshape(-1, hidden // 2)), "input_ids", scales],
        "words",
        domain=_MICROSOFT,
        gather_axis=0,
        quantize_axis=1,
        block_size=BLOCK,
        bits=4,
    )
    table = weights.tensors["emb.pos"].values().reshape(-1, hidden)
    table = table + weights.tensors["emb.type"].values()[:hidden]
    first, second = graph.constant("zero", np.array([0])), graph.constant("unit", np.array([1]))
    shape = graph.node("Shape", ["input_ids"], "shape", start=1)
    places = graph.node("Slice", [graph.constant("position", table), first, shape, first, second], "places")
    summed = graph.node("Add", [words, places], "embedded")
    norm = _pair(graph, weights, "emb.ln")
    return graph.node("LayerNormalization", [summed, *norm], "normed", axis=-1, epsilon=weights.epsilon)


def _layer(graph: _Graph, weights: Weights, number: int, x: str, top: int) -> str:
    """One post-LayerNorm BERT layer with erf GELU, (1, tokens, hidden) to the same."""
    here, hidden = f"l{number}", weights.shape.hidden
    joined = _linear(graph, weights, x, f"{here}.qkv", [f"{here}.{part}" for part in "qkv"], top)
    parts = [f"{here}.{part}.out" for part in "qkv"]
    sizes = graph.constant(f"{here}.sizes", np.array([hidden] * 3))
    graph.node("Split", [joined, sizes], *parts, axis=-1)
    attended = graph.node(
        "MultiHeadAttention", parts, f"{here}.attended", domain=_MICROSOFT, num_heads=weights.shape.heads
    )
    output = _linear(graph, weights, attended, f"{here}.ao", [f"{here}.ao"], top)
    x = _add_norm(graph, weights, x, output, f"{here}.aln")
    inner = _linear(graph, weights, x, f"{here}.fi", [f"{here}.fi"], top)
    active = graph.node("Gelu", [inner], f"{here}.gelu", domain=_MICROSOFT)
    output = _linear(graph, weights, active, f"{here}.fo", [f"{here}.fo"], top)
    return _add_norm(graph, weights, x, output, f"{here}.oln")


def _linear(graph: _Graph, weights: Weights, x: str, name: str, tensors: list[str], top: int) -> str:
    """x @ W.T + b with W in int8, one scale per output, largest weight at `top`; several matrices side by side."""
    bias = np.concatenate([weights.tensors[f"{tensor}.b"].values() for tensor in tensors])
    matrix = np.concatenate([weights.tensors[f"{tensor}.w"].values() for tensor in tensors]).reshape(len(bias), -1)
    scale = np.maximum(np.abs(matrix).max(axis=1) / top, np.finfo(np.float32).tiny)
    values = np.rint(matrix / scale[:, None]).astype(np.int8).T
    inputs = [
        x,
        graph.constant(f"{name}.values", values),
        graph.constant(f"{name}.scale", scale.astype(np.float32)),
        "",
        graph.constant(f"{name}.bias", bias),
    ]
    return graph.node("DynamicQuantizeMatMul", inputs, f"{name}.out", domain=_MICROSOFT)


def _add_norm(graph: _Graph, weights: Weights, x: str, y: str, name: str) -> str:
    norm = _pair(graph, weights, name)
    return graph.node(
        "SkipLayerNormalization", [x, y, *norm], f"{name}.out", domain=_MICROSOFT, epsilon=weights.epsilon
    )


def _pair(graph: _Graph, weights: Weights, name: str) -> list[str]:
    return [graph.constant(f"{name}.{part}", weights.tensors[f"{name}.{part}"].values()) for part in "wb"]


def _pack(tensor: Tensor) -> npt.NDArray[np.uint8]:
    """Q4_0 values as ONNX Runtime packs them: neighbours in one byte, the first in the low nibble."""
    nibbles = tensor.nibbles()
    return nibbles[:, 0::2] | (nibbles[:, 1::2] << np.uint8(4))
