#!/usr/bin/env python3
"""Makes the examples' IDX files from scikit-learn's digits.csv.gz, as the build does.

usage: make_digits.py digits.csv[.gz] FOLDER

Each line of the CSV is 64 pixels (8x8, values 0..16) and the digit. The pixels
are scaled to 28x28 by cubic interpolation (Keys, a = -0.5; pixel centres at
half coordinates, edges repeated) and to 0..255. Every sixth image goes to the
held-out set (299), the others to the training set (1498), in the file's order,
so the files come out the same on every machine. Needs Python's library only.
"""
import gzip
import math
import os
import struct
import sys

SIDE_IN, SIDE_OUT, PIXEL_MAX, HELD_OUT_EVERY = 8, 28, 16, 6


def cubic_weight(distance):
    a, d = -0.5, abs(distance)
    if d < 1:
        return (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1
    if d < 2:
        return a * (d ** 3 - 5 * d ** 2 + 8 * d - 4)
    return 0.0


def interpolation_taps():
    """For every output coordinate: its four (input coordinate, weight) pairs."""
    taps = []
    for out in range(SIDE_OUT):
        centre = (out + 0.5) * SIDE_IN / SIDE_OUT - 0.5
        first = math.floor(centre) - 1
        taps.append([(min(max(i, 0), SIDE_IN - 1), cubic_weight(centre - i))
                     for i in range(first, first + 4)])
    return taps


TAPS = interpolation_taps()


def scale_image(pixels):
    rows = [[sum(w * pixels[y * SIDE_IN + x] for x, w in TAPS[out_x])
             for out_x in range(SIDE_OUT)] for y in range(SIDE_IN)]
    out = bytearray()
    for out_y in range(SIDE_OUT):
        for out_x in range(SIDE_OUT):
            value = sum(w * rows[y][out_x] for y, w in TAPS[out_y])
            out.append(min(max(math.floor(value * 255 / PIXEL_MAX + 0.5), 0), 255))
    return bytes(out)


def write_idx(folder, prefix, images, labels):
    with open(os.path.join(folder, prefix + "-images-idx3-ubyte"), "wb") as f:
        f.write(struct.pack(">IIII", 0x803, len(images), SIDE_OUT, SIDE_OUT))
        f.write(b"".join(images))
    with open(os.path.join(folder, prefix + "-labels-idx1-ubyte"), "wb") as f:
        f.write(struct.pack(">II", 0x801, len(labels)))
        f.write(bytes(labels))


def read_sets(path=os.path.join(os.path.dirname(os.path.abspath(__file__)), "digits.csv.gz")):
    """{"train": (images, digits), "t10k": (images, digits)}; an image is its bytes, row by row."""
    images, labels = [], []
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as csv:
        for number, line in enumerate(csv, 1):
            values = [int(float(v)) for v in line.split(",")]
            if len(values) != SIDE_IN * SIDE_IN + 1:
                sys.exit(f"{path}:{number}: {len(values)} values, not 65")
            images.append(scale_image(values[:-1]))
            labels.append(values[-1])
    held_out = range(HELD_OUT_EVERY - 1, len(images), HELD_OUT_EVERY)
    training = [i for i in range(len(images)) if i not in held_out]
    return {prefix: ([images[i] for i in chosen], [labels[i] for i in chosen])
            for prefix, chosen in (("train", training), ("t10k", held_out))}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for prefix, (images, labels) in read_sets(sys.argv[1]).items():
        write_idx(sys.argv[2], prefix, images, labels)


if __name__ == "__main__":
    main()
