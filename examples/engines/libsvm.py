#!/usr/bin/env python3
"""libsvm's svm-train, unchanged, on random points. Steps: --step-on the solver, which it logs."""
import os
import random

from engine import Engine, run

engine = Engine("libsvm", "https://github.com/cjlin1/libsvm", "6b907139084abf2da4d6d3cb10dc3b7eaffa2fbb")
chance = random.Random(1)
with open(os.path.join(engine.folder, "points"), "w", encoding="ascii") as file:
    for _ in range(1500):
        label = chance.randrange(6)
        file.write(f"{label} {' '.join(f'{at}:{chance.gauss(label * at % 5, 3):.3f}' for at in range(1, 11))}\n")
run("c++", "-O2", "-g", "svm-train.c", "svm.cpp", "-o", "svm-train", folder=engine.folder)
engine.count("Solver::Solve", "./svm-train", "-v", "4", "points", calls=lambda said: said.count("optimization finished"))
