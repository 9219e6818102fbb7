#!/usr/bin/env python3
"""A port of llama2.c to Rust, unchanged, with the same random weights. Steps: --step-on the flush after each token: all else is inlined."""
from engine import Engine, run
from llama2_model import TOKENS, generated_ms, write

engine = Engine("llama2.rs", "https://github.com/leo-du/llama2.rs", "4eafb6ac4c58e296e477bbbfe36a8109820b5564")
write(engine.folder)
run("rustc", "-O", "-g", "--edition=2021", "run.rs", folder=engine.folder)
engine.count("<std::io::stdio::Stdout as std::io::Write>::flush", "./run", "model.bin", "0", str(TOKENS), calls=TOKENS, own_ms=generated_ms)
