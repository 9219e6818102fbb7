"""What the scripts for llama2 share: a model of random weights in the format of llama2.c, and the time that these programs print."""
import array
import os
import random
import re
import struct

DIM, HIDDEN, LAYERS, HEADS, WORDS, LENGTH = 192, 512, 4, 6, 32000, 256  # the words are those of tokenizer.bin
TOKENS = 100


def write(folder):
    head = DIM // HEADS
    weights = WORDS * DIM + LAYERS * (2 * DIM + 4 * DIM * DIM + 3 * DIM * HIDDEN) + DIM + LENGTH * head
    chance = random.Random(1)
    some = array.array("f", (chance.gauss(0, 0.05) for _ in range(65537)))
    with open(os.path.join(folder, "model.bin"), "wb") as file:
        file.write(struct.pack("7i", DIM, HIDDEN, LAYERS, HEADS, HEADS, WORDS, LENGTH))
        for at in range(0, weights, len(some)):
            file.write(some[:weights - at].tobytes())


def generated_ms(said):
    """Of all tokens but the first."""
    return 1e3 * (TOKENS - 1) / float(re.search(r"tok/s: *([\d.]+)", said).group(1))
