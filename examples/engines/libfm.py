#!/usr/bin/env python3
"""libFM, unchanged, on random ratings. Steps: --step-on the draw of an iteration."""
import os
import random

from engine import Engine, run

ITERATIONS = 60

engine = Engine("libFM", "https://github.com/srendle/libfm", "30b9c799c41d043f31565cbf827bf41d0dc3e2ab")
chance = random.Random(1)
for name, rows in ("train", 40000), ("test", 2000):
    with open(os.path.join(engine.folder, name), "w", encoding="ascii") as file:
        file.writelines(f"{chance.randint(1, 5)} {chance.randrange(900)}:1 {900 + chance.randrange(1500)}:1\n" for _ in range(rows))
run("c++", "-O2", "-g", "src/libfm/libfm.cpp", "-o", "libFM", folder=engine.folder)
engine.count("fm_learn_mcmc::draw_all", "./libFM", "-task", "r", "-train", "train", "-test", "test", "-dim", "1,1,8", "-iter", str(ITERATIONS),
             calls=ITERATIONS)
