#!/usr/bin/env python3
"""llama.cpp's example llama-simple, unchanged, with a small random model that llama_gguf.py writes."""
import os
import re

from engine import Engine, run
from llama_gguf import write_model

TOKENS = 400

engine = Engine("llama.cpp", package="llama-cpp-python==0.3.36", within="vendor/llama.cpp")
run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_CURL=OFF", "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_TOOLS=OFF", "-DLLAMA_BUILD_SERVER=OFF", folder=engine.folder)
run("cmake", "--build", "build", "-j2", "--target", "llama-simple", folder=engine.folder)
write_model(os.path.join(engine.folder, "random.gguf"))


def measure():
    said = engine.record("build/bin/llama-simple", "-m", "random.gguf", "-n", str(TOKENS), "hello world")
    (ns,), = engine.ask("select sum(total_ns) from phases where phase like 'decode%'")
    own = re.findall(r"eval time = +([\d.]+) ms", said)
    return sum(map(float, own)), float(ns) / 1e6, len(engine.steps_ms()), TOKENS


engine.compare(measure)
