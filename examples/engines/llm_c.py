#!/usr/bin/env python3
"""llm.c's train_gpt2.c (GPT-2 on the CPU, OpenMP), with a small model of random weights."""
import array
import os
import random

from engine import Engine, run

T, V, VP, L, NH, C = 64, 1000, 1024, 2, 4, 64


def write(path, header, values):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        array.array("i", header + [0] * (256 - len(header))).tofile(file)
        values.tofile(file)


engine = Engine("llm.c", "https://github.com/karpathy/llm.c", "f1e2ace651495b74ae22d45d1723443fd00ecd3a")
engine.patch("llm_c.patch")
rng = random.Random(1)
parameters = VP * C + T * C + L * (12 * C * C + 13 * C) + 2 * C
write(os.path.join(engine.folder, "gpt2_124M.bin"), [20240326, 3, T, V, L, NH, C, VP],
      array.array("f", (rng.gauss(0, 0.02) for _ in range(parameters))))
tokens = array.array("H", (rng.randrange(V) for _ in range(50000)))
for part in ("train", "val"):
    write(os.path.join(engine.folder, f"dev/data/tinyshakespeare/tiny_shakespeare_{part}.bin"),
          [20240520, 1, len(tokens)], tokens)
with open(os.path.join(engine.folder, "gpt2_tokenizer.bin"), "wb") as file:
    array.array("I", [20240328, 2, V, 0] + [0] * 252).tofile(file)
    file.write(b"\x01x" * V)
run("cc", "-O3", "-fopenmp", "-DOMP", "train_gpt2.c", "-o", "train_gpt2", *engine.flags(), "-lm", folder=engine.folder)
engine.check("./train_gpt2")
