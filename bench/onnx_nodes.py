#!/usr/bin/env python3
"""What recording a call of ONNX Runtime costs, and each of its nodes with --shapes, which joins them to the call: whole, and
the part that ONNX Runtime's own profile of each run costs without dwell.

usage: onnx_nodes.py BUILD [rounds]

Each round runs the same program (examples/engines/onnxruntime.c) alone, alone with these profiles, under `dwell run` and
under `dwell run --shapes`.
It prints the processor time of each call of Run(), with what dwell does in it and after it. The fastest calls of all
rounds are compared, because disturbances only make a call slower.
"""
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES = os.path.join(HERE, "../examples/engines")
sys.path.insert(0, ENGINES)
from onnx_model import write_model  # noqa: E402

LAYERS, CALLS = 50, 200


def main():
    dwell, rounds = os.path.join(os.path.abspath(sys.argv[1]), "dwell"), int(sys.argv[2]) if len(sys.argv) > 2 else 7
    packages = subprocess.run([os.path.join(HERE, "../tools/venv"), "--packages", "onnxruntime"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.splitlines()[-1]
    (library,) = glob.glob(os.path.join(packages, "onnxruntime/capi/libonnxruntime.so.*"))
    with tempfile.TemporaryDirectory() as folder:
        trace, program = os.path.join(folder, "t.dwell"), [os.path.join(folder, "onnxruntime"), os.path.join(folder, "random.onnx")]
        os.symlink(library, os.path.join(folder, "libonnxruntime.so.1"))
        write_model(program[1], LAYERS)
        subprocess.run(["cc", "-O2", os.path.join(ENGINES, "onnxruntime.c"), "-o", program[0], "libonnxruntime.so.1",
                        "-Xlinker", f"-rpath={folder}"], check=True, cwd=folder)
        ways = {"alone": [], "profile": [], "recorded": [dwell, "run", "--sample", "off", "-o", trace, "--"],
                "nodes": [dwell, "run", "--sample", "off", "--shapes", "-o", trace, "--"]}
        times = {way: [] for way in ways}
        for _ in range(rounds):
            for way, before in ways.items():
                with tempfile.TemporaryDirectory(dir="/dev/shm") as profiles:  # as dwell does
                    done = subprocess.run([*before, *program, str(CALLS), *[f"{profiles}/p"] * (way == "profile")], check=True,
                                          capture_output=True, text=True)
                times[way].append([float(ms) * 1e3 for ms in re.findall(r"([\d.]+) ms of the processor", done.stdout)])
        rows = subprocess.run([dwell, "query", "--format", "csv", trace, "select count(*) from ranges where name in ('MatMul', 'Relu')"],
                              check=True, capture_output=True, text=True).stdout.splitlines()
    nodes = int(rows[1]) / CALLS
    fastest = {way: min(map(min, found)) for way, found in times.items()}
    if nodes < LAYERS:
        sys.exit(f"{nodes} nodes a call were recorded, of {2 * LAYERS}")
    print(f"a call of {nodes:.0f} nodes: {fastest['alone']:.1f} us alone, {fastest['recorded']:.1f} us recorded, "
          f"{fastest['nodes']:.1f} us with nodes")
    print(f"a node costs {(fastest['nodes'] - fastest['alone']) / nodes:.2f} us, "
          f"of which ONNX Runtime's profile {(fastest['profile'] - fastest['alone']) / nodes:.2f} us, "
          f"a call {max(0, fastest['recorded'] - fastest['alone']):.1f} us")


if __name__ == "__main__":
    main()
