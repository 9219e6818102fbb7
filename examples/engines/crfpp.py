#!/usr/bin/env python3
"""CRF++'s crf_learn, unchanged, on its example. Steps: --step-on the optimizer, once an iteration."""
import os

from engine import Engine, run

engine = Engine("CRF++", "https://github.com/taku910/crfpp", "c603ea6fc2cc8e5317d2754971bc787da383f7e5")
open(os.path.join(engine.folder, "winmain.h"), "a", encoding="ascii").close()  # of Windows
run("c++", "-O2", "-g", "-std=c++11", "-DHAVE_CONFIG_H", "-I.", "crf_learn.cpp", "libcrfpp.cpp", "lbfgs.cpp", "param.cpp", "encoder.cpp",
    "feature.cpp", "feature_cache.cpp", "feature_index.cpp", "node.cpp", "path.cpp", "tagger.cpp", "-o", "crf_learn", "-lpthread",
    folder=engine.folder)
engine.count("CRFPP::LBFGS::optimize", "./crf_learn", "example/chunking/template", "example/chunking/train.data", "model",
             calls=lambda said: said.count("iter=") - 1)  # the last one ends it
