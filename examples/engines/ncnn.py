#!/usr/bin/env python3
"""ncnn's benchncnn, unchanged, with a small network that this script writes and weights of zero. Steps: --step-on."""
import os
import re

from engine import Engine, run

RUNS, WARM_UP, CHANNELS, SIZE = 60, 8, 64, 56
LAYERS = {"convolution", "input", "relu", "pooling", "innerproduct", "softmax", "flatten", "packing", "padding", "cast",
          "split", "memorydata"}

engine = Engine("ncnn", "https://github.com/Tencent/ncnn", "a4d2ea1d4422c9e849f166fd7a4aefb52f942f6a",
                ["CMakeLists.txt", "cmake", "src", "benchmark", "toolchains"])
with open(os.path.join(engine.folder, "src/CMakeLists.txt"), encoding="utf-8") as file:
    known = re.findall(r"^ncnn_add_layer\((\w+)", file.read(), re.M)
network = [f"Convolution conv{at} 1 1 blob{at} blob{at + 1} 0={CHANNELS} 1=3 4=1 5=1 6={CHANNELS * CHANNELS * 9} 9=1" for at in range(4)]
network = ["Input input 0 1 blob0", *network, "Pooling pool 1 1 blob4 pooled 0=1 4=1",
           f"InnerProduct fc 1 1 pooled scores 0=10 1=1 2={CHANNELS * 10}", "Softmax softmax 1 1 scores output 0=0"]
with open(os.path.join(engine.folder, "made.param"), "w", encoding="ascii") as file:
    file.write("\n".join(["7767517", f"{len(network)} {len(network)}", *network]) + "\n")
run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DNCNN_RUNTIME_CPU=OFF", "-DNCNN_BUILD_TOOLS=OFF",
    "-DNCNN_BUILD_EXAMPLES=OFF", "-DNCNN_INT8=OFF", "-DNCNN_BF16=OFF", "-DNCNN_WEIGHT_QUANT=OFF",
    *(f"-DWITH_LAYER_{name.lower()}=OFF" for name in known if name.lower() not in LAYERS), folder=engine.folder)
run("cmake", "--build", "build", "-j2", "--target", "benchncnn", folder=engine.folder)


def measure():
    said = engine.record("build/benchmark/benchncnn", str(RUNS), "1", "0", "-1", "0", "param=made.param",
                         f"shape=[{SIZE},{SIZE},{CHANNELS}]",
                         options=["--step-on", "ncnn::Extractor::extract(char const*, ncnn::Mat&, int)"])
    own = float(re.search(r"min = +([\d.]+)", said).group(1)) * RUNS  # of the fastest one: it prints no sum
    steps = engine.steps_ms()
    timed = steps[WARM_UP:-1]  # a step lasts until the next one begins, the last one to the program's end
    return own, min(timed) * RUNS, len(steps), WARM_UP + RUNS


engine.compare(measure)
