#!/usr/bin/env python3
"""CoreMark, unchanged. Steps: --step-on the function that an iteration calls twice."""
import re

from engine import Engine, run

ITERATIONS = 20000

engine = Engine("CoreMark", "https://github.com/eembc/coremark", "d5fad6bd094899101a4e5fd53af7298160ced6ab")
run("cc", "-O2", "-g", "-I.", "-Iposix", '-DFLAGS_STR="-O2"', "core_list_join.c", "core_main.c",
    "core_matrix.c", "core_state.c", "core_util.c", "posix/core_portme.c", "-o", "coremark", folder=engine.folder)
engine.count("core_bench_list", "./coremark", "0x0", "0x0", "0x66", str(ITERATIONS), "7", "1", "2000", calls=2 * ITERATIONS,
             own_ms=lambda said: 1e3 * float(re.search(r"Total time \(secs\): ([\d.]+)", said).group(1)))
