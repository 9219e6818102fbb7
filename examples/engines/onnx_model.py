"""Writes a model of ONNX with random weights: y = relu(... relu(x * w0) ... * w7), for a number of layers."""
import array
import random

WIDTH, ROWS = 256, 16


def number(value):
    """A number in Protocol Buffers' encoding."""
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes(data + bytes([value]))


def field(key, value):
    if isinstance(value, int):
        return number(key << 3) + number(value)
    data = value.encode() if isinstance(value, str) else value
    return number(key << 3 | 2) + number(len(data)) + data


def write_model(path, layers):
    """The numbers of fields are those of onnx.proto."""
    rng, graph, last = random.Random(1), b"", "x"
    for layer in range(layers):
        product, output = f"product{layer}", "y" if layer == layers - 1 else f"out{layer}"
        for kind, inputs, result in (("MatMul", (last, f"w{layer}"), product), ("Relu", (product,), output)):
            graph += field(1, b"".join(field(1, name) for name in inputs) + field(2, result) + field(4, kind))
        weights = array.array("f", (rng.uniform(-0.1, 0.1) for _ in range(WIDTH * WIDTH)))
        graph += field(5, field(1, WIDTH) * 2 + field(2, 1) + field(8, f"w{layer}") + field(9, weights.tobytes()))
        last = output
    shape = b"".join(field(1, field(1, size)) for size in (ROWS, WIDTH))
    for key, name in ((11, "x"), (12, "y")):
        graph += field(key, field(1, name) + field(2, field(1, field(1, 1) + field(2, shape))))
    with open(path, "wb") as file:
        file.write(field(1, 8) + field(7, field(2, "random") + graph) + field(8, field(2, 17)))
