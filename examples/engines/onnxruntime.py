#!/usr/bin/env python3
"""ONNX Runtime in C with a random model of eight layers that onnx_model.py writes."""
import glob
import os

from engine import HERE, Engine, run, venv
from onnx_model import write_model

LAYERS, RUNS = 8, 10000

engine = Engine("onnxruntime")
(library,) = glob.glob(os.path.join(venv("--packages", "onnxruntime"), "onnxruntime/capi/libonnxruntime.so.*"))
os.symlink(library, os.path.join(engine.folder, "libonnxruntime.so.1"))
write_model(os.path.join(engine.folder, "random.onnx"), LAYERS)
run("cc", "-O2", os.path.join(HERE, "onnxruntime.c"), "-o", "onnxruntime", "libonnxruntime.so.1",
    "-Xlinker", f"-rpath={engine.folder}", folder=engine.folder)
engine.check("./onnxruntime", "random.onnx", str(RUNS))
