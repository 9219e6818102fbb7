"""Makes what public programs read, where they would fetch it: random data of the same form, and scripts from notebooks.

usage: prepare.py digits FOLDER COUNT TESTED    the four files of MNIST, with random pictures
       prepare.py pictures FOLDER COUNT SIDE    pictures of random noise
       prepare.py citations FOLDER COUNT        a graph in the two files of Cora
       prepare.py notebook FILE SCRIPT          the code of a notebook's cells
"""
import gzip
import json
import os
import random
import struct
import sys


def write_digits(folder, train, test):
    os.makedirs(folder, exist_ok=True)
    for part, count in (("train", int(train)), ("t10k", int(test))):
        with gzip.open(os.path.join(folder, part + "-images-idx3-ubyte.gz"), "wb", 1) as file:
            file.write(struct.pack(">IIII", 2051, count, 28, 28) + random.randbytes(count * 784))
        with gzip.open(os.path.join(folder, part + "-labels-idx1-ubyte.gz"), "wb", 1) as file:
            file.write(struct.pack(">II", 2049, count) + bytes(random.randrange(10) for _ in range(count)))


def write_pictures(folder, count, side):
    from PIL import Image
    os.makedirs(folder, exist_ok=True)
    for index in range(int(count)):
        Image.frombytes("RGB", (int(side), int(side)), random.randbytes(3 * int(side) ** 2)).save(os.path.join(folder, f"{index}.jpg"))


def write_citations(folder, count):
    os.makedirs(folder, exist_ok=True)
    count = int(count)
    with open(os.path.join(folder, "cora.content"), "w", encoding="utf-8") as file:
        for index in range(count):
            words = " ".join(random.choices("01", weights=(70, 1), k=1433))
            file.write(f"{index} {words} class{random.randrange(7)}\n")
    with open(os.path.join(folder, "cora.cites"), "w", encoding="utf-8") as file:
        file.writelines(f"{index} {random.randrange(count)}\n" for index in range(count) for _ in range(2))


def write_script(notebook, script):
    with open(notebook, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    lines = (line for cell in cells if cell["cell_type"] == "code" for line in [*"".join(cell["source"]).split("\n"), ""])
    with open(script, "w", encoding="utf-8") as file:
        file.writelines(line + "\n" for line in lines if not line.startswith("%"))


if __name__ == "__main__":
    random.seed(1)
    {"digits": write_digits, "pictures": write_pictures, "citations": write_citations, "notebook": write_script}[sys.argv[1]](*sys.argv[2:])
