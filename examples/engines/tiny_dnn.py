#!/usr/bin/env python3
"""tiny-dnn's example of MNIST, with random pictures. It prints the time of each epoch."""
import os
import random
import re
import struct

from engine import Engine, run

EPOCHS, PICTURES, BATCH = 2, 3200, 16
engine = Engine("tiny-dnn", "https://github.com/tiny-dnn/tiny-dnn", "c0f576f5cb7b35893f62127cb7aec18f77a3bcc5",
                ["tiny_dnn", "cereal", "third_party", "examples/mnist"])
engine.patch("tiny_dnn.patch")
rng = random.Random(1)
os.makedirs(os.path.join(engine.folder, "made"))
for part, count in (("train", PICTURES), ("t10k", 160)):
    with open(os.path.join(engine.folder, f"made/{part}-images.idx3-ubyte"), "wb") as file:
        file.write(struct.pack(">IIII", 2051, count, 28, 28) + rng.randbytes(count * 784))
    with open(os.path.join(engine.folder, f"made/{part}-labels.idx1-ubyte"), "wb") as file:
        file.write(struct.pack(">II", 2049, count) + bytes(rng.randrange(10) for _ in range(count)))
run("c++", "-O3", "-std=c++14", "-w", "-I.", "examples/mnist/train.cpp", "-o", "train", *engine.flags(),
    "-pthread", folder=engine.folder)


def measure():
    said = engine.record("./train", "--data_path", "made", "--epochs", str(EPOCHS), "--minibatch_size", str(BATCH))
    own, steps = re.findall(r"finished. ([\d.]+)s elapsed", said), engine.steps_ms()
    return sum(float(text) * 1e3 for text in own), sum(steps), len(steps), EPOCHS * PICTURES // BATCH


engine.compare(measure)
