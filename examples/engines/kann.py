#!/usr/bin/env python3
"""kann's example mnist-cnn, with random pictures. kann has no timer of its own: kann_timer.patch adds one."""
import os
import random

from engine import Engine, run

engine = Engine("kann", "https://github.com/attractivechaos/kann", "e260712e414e1fae5f57a2da6178b7a8af6bf0af")
engine.patch("kann.patch")
engine.patch("kann_timer.patch", counts=False)
rng = random.Random(1)
with open(os.path.join(engine.folder, "x.knd"), "w", encoding="ascii") as x, \
     open(os.path.join(engine.folder, "y.knd"), "w", encoding="ascii") as y:
    for row in range(640):
        x.write(f"{row}\t" + "\t".join(f"{rng.random():.2f}" for _ in range(784)) + "\n")
        y.write(f"{row}\t" + "\t".join(str(int(row % 10 == digit)) for digit in range(10)) + "\n")
run("cc", "-O2", "-DHAVE_PTHREAD", "-I.", "kautodiff.c", "kann.c", "kann_extra/kann_data.c", "examples/mnist-cnn.c",
    "-o", "mnist-cnn", *engine.flags(), "-lpthread", "-lm", folder=engine.folder)
engine.check("./mnist-cnn", "-m", "2", "x.knd", "y.knd")
