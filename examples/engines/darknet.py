#!/usr/bin/env python3
"""darknet's training of a classifier, with 64 random pictures. It prints the time of each load and of each batch."""
import os
import random
import re

from engine import Engine, run

BATCHES = 40
CONFIGURATION = f"""[net]
batch=16
subdivisions=1
height=28
width=28
channels=3
learning_rate=0.1
max_batches={BATCHES}
momentum=0.9
decay=0.0005

[convolutional]
batch_normalize=1
filters=32
size=3
stride=1
pad=1
activation=leaky

[maxpool]
size=2
stride=2

[convolutional]
batch_normalize=1
filters=64
size=3
stride=1
pad=1
activation=leaky

[convolutional]
filters=2
size=1
stride=1
pad=1
activation=leaky

[avgpool]

[softmax]
groups=1
"""

engine = Engine("darknet", "https://github.com/pjreddie/darknet", "f6afaabcdf85f77e7aff2ec55c020c0e297c77f9")
engine.patch("darknet.patch")
rng = random.Random(1)
os.makedirs(os.path.join(engine.folder, "made"))
with open(os.path.join(engine.folder, "made/list"), "w", encoding="ascii") as names:
    for number in range(64):
        name = f"made/{number}_{('cat', 'dog')[number % 2]}.ppm"
        names.write(name + "\n")
        with open(os.path.join(engine.folder, name), "wb") as picture:
            picture.write(b"P6 32 32 255\n" + rng.randbytes(32 * 32 * 3))
for name, text in (("small.cfg", CONFIGURATION), ("labels", "cat\ndog\n"),
                   ("data", "classes=2\ntrain=made/list\nlabels=made/labels\nbackup=made\n")):
    with open(os.path.join(engine.folder, "made", name), "w", encoding="ascii") as file:
        file.write(text)
flags = engine.flags()
run("make", "-j2", "OPTS=-O3 " + " ".join(flag for flag in flags if flag.startswith("-I")), "EXEC=darknet",
    "LDFLAGS=-lm -pthread " + " ".join(flag for flag in flags if not flag.startswith("-I")), folder=engine.folder)


def measure():
    said = engine.record("./darknet", "classifier", "train", "made/data", "made/small.cfg")
    own, steps = re.findall(r"(?:Loaded: |rate, )([\d.]+) seconds", said), engine.steps_ms()
    return sum(float(text) * 1e3 for text in own), sum(steps), len(steps), BATCHES


engine.compare(measure)
