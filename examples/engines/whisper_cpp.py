#!/usr/bin/env python3
"""whisper.cpp's bench, unchanged, with its test model, which has no weights: encoder, tokens, batches of 5, prompts of 256."""
import re

from engine import Engine, run

RUNS = 1 + 256 + 64 + 16  # that its timers count: they are reset after the warm-up
engine = Engine("whisper.cpp", "https://github.com/ggml-org/whisper.cpp", "233fe1fc9b48a09e361d3594520838ca266537fe")
run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DWHISPER_BUILD_TESTS=OFF", folder=engine.folder)
run("cmake", "--build", "build", "-j2", "--target", "whisper-bench", folder=engine.folder)


def measure():
    said = engine.record("build/bin/whisper-bench", "-m", "models/for-tests-ggml-tiny.bin", "-t", "1")
    own = re.findall(r"(?:encode|decode|batchd|prompt) time = +([\d.]+) ms", said)
    steps = engine.steps_ms()[-RUNS:]
    return sum(map(float, own)), sum(steps), len(steps), RUNS


engine.compare(measure)
