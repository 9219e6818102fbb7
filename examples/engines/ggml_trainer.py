#!/usr/bin/env python3
"""ggml's example mnist-train, unchanged, with random pictures. Its own timer prints whole seconds."""
import os
import random
import re
import struct

from engine import Engine, run

engine = Engine("ggml", "https://github.com/ggml-org/ggml", "d99724f2b141fed9e1a9f402213506c081433465")
rng = random.Random(1)
digits = [rng.randrange(10) for _ in range(60000)]
pictures = [bytes(min(255, digit * 20 + rng.randrange(56)) for _ in range(784)) for digit in range(10)]
with open(os.path.join(engine.folder, "images"), "wb") as file:
    file.write(struct.pack(">IIII", 2051, 60000, 28, 28) + b"".join(pictures[digit] for digit in digits))
with open(os.path.join(engine.folder, "labels"), "wb") as file:
    file.write(struct.pack(">II", 2049, 60000) + bytes(digits))
run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DGGML_BUILD_TESTS=OFF", folder=engine.folder)
run("cmake", "--build", "build", "-j2", "--target", "mnist-train", folder=engine.folder)


def measure():
    # One thread: several wait for each other in a loop, and on a busy machine that takes ten times as long.
    said = engine.record("build/bin/mnist-train", "mnist-fc", "model.gguf", "images", "labels", OMP_THREAD_LIMIT="1")
    hours, minutes, seconds = map(int, re.search(r"training took (\d+):(\d+):(\d+)", said).groups())
    (ns,), = engine.ask("select sum(duration_ns) from ranges where name = 'ggml_opt_epoch'")
    own = (hours * 60 + minutes) * 60 + seconds + 0.5  # it cuts its time to whole seconds
    return own * 1e3, float(ns) / 1e6, len(engine.steps_ms()), 30 * 114


engine.compare(measure)
