"""Write the graphs of multilingual-e5-small and of its three layers for documents, in 8 bits, without their weights.

    python -m training.e5_graph


`graphrag.embeddings.e5.Encoder` gives the weights when it opens the graph. Needs `onnx`.

Inputs: `embedded`, tokens × width, the tokens of all texts one after another; `places`, texts × longest, the row of
each token, one row past the last where a text is shorter; `mask`, texts × 1 × 1 × longest, added to attention: 0, or
very negative where a text is shorter; `order`, tokens, where each token stands in `places` laid out in one row.
Output: `hidden`, tokens × width.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

from graphrag.embeddings.e5 import GRAPHS, LAYERS

WIDTH, HEADS, HIDDEN, EPSILON = 384, 12, 1536, 1e-12
SIZES = {"q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "ao": (WIDTH, WIDTH)}
SIZES |= {"fi": (WIDTH, HIDDEN), "fo": (HIDDEN, WIDTH)}


class GraphWriter:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._count = 0

    def add(self, operator: str, *inputs: str, output: str = "", domain: str = "", **attributes: object) -> str:
        self._count += 1
        name = output or f"t{self._count}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def constant(self, name: str, kind: int, values: list[int] | list[float], *shape: int) -> str:
        self.initializers.append(helper.make_tensor(name, kind, list(shape), values))
        return name

    def given(self, name: str, kind: int, *shape: int) -> str:
        """Declare a tensor whose values are given when the graph is opened."""
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="weights")
        self.initializers.append(tensor)
        return name

    def normalise(self, value: str, name: str, output: str = "") -> str:
        weights = (self.given(f"{name}.{part}", TensorProto.FLOAT, WIDTH) for part in "wb")
        return self.add("LayerNormalization", value, *weights, output=output, epsilon=EPSILON)

    def linear(self, value: str, layer: int, name: str) -> str:
        inputs, outputs = SIZES[name]
        key = f"l{layer}.{name}"
        return self.add(
            "DynamicQuantizeMatMul",
            self.add("Mul", value, self.given(f"{key}.smooth", TensorProto.FLOAT, inputs)),
            self.given(f"{key}.w", TensorProto.INT8, inputs, outputs),
            self.given(f"{key}.scale", TensorProto.FLOAT, outputs),
            "",
            self.given(f"{key}.b", TensorProto.FLOAT, outputs),
            domain="com.microsoft",
        )

    def split_heads(self, value: str, order: list[int]) -> str:
        padded = self.add("Concat", value, "padding", axis=0)
        shaped = self.add("Reshape", self.add("Gather", padded, "places", axis=0), "by_head")
        return self.add("Transpose", shaped, perm=order)

    def layer(self, value: str, number: int, *, output: str = "") -> str:
        query = self.split_heads(self.linear(value, number, "q"), [0, 2, 1, 3])
        key = self.split_heads(self.linear(value, number, "k"), [0, 2, 3, 1])
        content = self.split_heads(self.linear(value, number, "v"), [0, 2, 1, 3])
        alike = self.add("Add", self.add("Mul", self.add("MatMul", query, key), "root"), "mask")
        seen = self.add("MatMul", self.add("Softmax", alike, axis=-1), content)
        joined = self.add("Reshape", self.add("Transpose", seen, perm=[0, 2, 1, 3]), "flat")
        attended = self.linear(self.add("Gather", joined, "order", axis=0), number, "ao")
        value = self.normalise(self.add("Add", value, attended), f"l{number}.aln")
        inner = self.add("Gelu", self.linear(value, number, "fi"))
        return self.normalise(self.add("Add", value, self.linear(inner, number, "fo")), f"l{number}.oln", output)


def write_graph(path: Path, *, depth: int) -> None:
    writer = GraphWriter()
    writer.constant("padding", TensorProto.FLOAT, [0.0] * WIDTH, 1, WIDTH)
    writer.constant("by_head", TensorProto.INT64, [0, 0, HEADS, WIDTH // HEADS], 4)
    writer.constant("flat", TensorProto.INT64, [-1, WIDTH], 2)
    writer.constant("root", TensorProto.FLOAT, [(WIDTH / HEADS) ** -0.5])
    value = writer.normalise("embedded", "emb.ln")
    for number in range(depth):
        value = writer.layer(value, number, output="hidden" if number == depth - 1 else "")
    inputs = {
        "embedded": (TensorProto.FLOAT, ["tokens", WIDTH]),
        "places": (TensorProto.INT64, ["texts", "longest"]),
        "mask": (TensorProto.FLOAT, ["texts", 1, 1, "longest"]),
        "order": (TensorProto.INT64, ["tokens"]),
    }
    graph = helper.make_graph(
        writer.nodes,
        "multilingual-e5-small",
        [helper.make_tensor_value_info(name, *each) for name, each in inputs.items()],
        [helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["tokens", WIDTH])],
        writer.initializers,
    )
    imports = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
    path.write_bytes(helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString())


if __name__ == "__main__":
    assert set(LAYERS) == set(SIZES)
    for number_of_layers, file in GRAPHS.items():
        write_graph(file, depth=number_of_layers)
