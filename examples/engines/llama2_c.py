#!/usr/bin/env python3
"""llama2.c, unchanged, with random weights that llama2_model.py makes. Steps: --step-on the forward pass of a token."""
from engine import Engine, run
from llama2_model import TOKENS, generated_ms, write

engine = Engine("llama2.c", "https://github.com/karpathy/llama2.c", "350e04fe35433e6d2941dce5a1f53308f87058eb")
write(engine.folder)
run("cc", "-O2", "-g", "run.c", "-o", "run", "-lm", folder=engine.folder)
engine.count("forward", "./run", "model.bin", "-t", "0", "-n", str(TOKENS), calls=TOKENS, own_ms=generated_ms, untimed=1)
