#!/usr/bin/env python3
"""The fuzzers' inputs in one file: for each, the target's name, a line end, its length (u32) and its bytes. Like ones are neighbours.

usage: found.py --pack FOLDER FILE      the folder has a folder for each target
       found.py --unpack FILE FOLDER    inputs get numbers as names
"""
import lzma
import os
import struct
import sys


def pack(folder, path):
    inputs = []
    for target in os.listdir(folder):
        for name in os.listdir(os.path.join(folder, target)):
            with open(os.path.join(folder, target, name), "rb") as file:
                inputs.append((target, file.read()))
    with lzma.open(path, "wb", preset=9 | lzma.PRESET_EXTREME) as file:
        for target, data in sorted(inputs):
            file.write(target.encode() + b"\n" + struct.pack("<I", len(data)) + data)


def unpack(path, folder):
    with lzma.open(path) as file:
        for number, target in enumerate(iter(file.readline, b"")):
            into = os.path.join(folder, target.decode().strip())
            os.makedirs(into, exist_ok=True)
            with open(os.path.join(into, f"{number:05}"), "wb") as out:
                out.write(file.read(struct.unpack("<I", file.read(4))[0]))


if __name__ == "__main__":
    {"--pack": pack, "--unpack": unpack}[sys.argv[1]](*sys.argv[2:])
