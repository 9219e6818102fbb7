"""onnxruntime: a small network for pictures, called for 192 of them, each of which is resized first."""
import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

random = numpy.random.default_rng(1)
weights, nodes, last, planes = [], [], "x", 3
for index, wide in enumerate((16, 32, 32)):
    weights.append(numpy_helper.from_array(random.standard_normal((wide, planes, 3, 3), dtype="f4") / 10, f"w{index}"))
    nodes += [helper.make_node("Conv", [last, f"w{index}"], [f"c{index}"], strides=[2, 2]),
              helper.make_node("Relu", [f"c{index}"], [f"r{index}"])]
    last, planes = f"r{index}", wide
nodes.append(helper.make_node("GlobalAveragePool", [last], ["y"]))
value = helper.make_tensor_value_info
graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1, 3, 224, 224])], [value("y", TensorProto.FLOAT, None)], weights)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
picture = Image.fromarray(random.integers(0, 256, (480, 640, 3), dtype="u1"))
for _ in range(192):
    pixels = numpy.asarray(picture.resize((224, 224)), dtype="f4").transpose(2, 0, 1)[None] / 255
    session.run(None, {"x": pixels})
