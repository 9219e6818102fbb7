#!/usr/bin/env python3
"""Packs a trace for fuzz_source.c: pack.py TRACE.dwell PACKED. See there."""
import struct
import sys

data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "wb") as out:
    for at in range(0, len(data), 65536):
        block = data[at:at + 65536]
        last = at + 65536 >= len(data)
        kept = block if last and len(block) < 65536 else block.rstrip(b"\0")
        if last and len(block) == 65536:
            kept = kept + bytes(8)
        out.write(struct.pack("<H", min(len(kept), 65535)) + kept[:65535])
