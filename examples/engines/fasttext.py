#!/usr/bin/env python3
"""fastText as Debian has it, stripped: it says the label of each line of a text. Steps: --step-on that function."""
import os
import random

from engine import Engine, run

LINES = 20000

engine = Engine("fasttext")
chance = random.Random(1)
with open(os.path.join(engine.folder, "text"), "w", encoding="ascii") as file:
    for _ in range(LINES):
        label = chance.randrange(8)
        file.write(f"__label__{label} {' '.join(f'w{chance.randrange(2000) * 8 + label * chance.randrange(2)}' for _ in range(40))}\n")
run("fasttext", "supervised", "-input", "text", "-output", "model", "-epoch", "2", "-dim", "50", "-thread", "1", folder=engine.folder)
engine.count("fasttext::FastText::predictLine", "fasttext", "predict", "model.bin", "text", calls=LINES + 1)  # the last one finds the end
