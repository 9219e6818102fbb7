#!/usr/bin/env python3
"""Programs with ggml or llama.cpp are recorded without a change; ggml_standin.c stands for these libraries.

usage: ggml_test.py BUILD        last line: N passed, N failed

The real libraries are recorded by examples/engines/ggml.
"""
import functools
import os
import shutil
import subprocess
import sys
import tempfile

import announced

BUILD = os.path.abspath(sys.argv[1])
SOURCES = os.path.dirname(os.path.abspath(__file__))
CC = os.environ.get("CC", "cc").split()
Run = functools.partial(announced.Run, os.path.join(BUILD, "dwell"))
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def build(folder, *flags, libraries=()):
    os.makedirs(folder)
    library = os.path.join(folder, "libggml-base.so.0")
    compile_c = [*CC, "-O1", "-D_GNU_SOURCE", *flags]
    subprocess.run([*compile_c, "-shared", "-fPIC", os.path.join(SOURCES, "ggml_standin.c"), "-o", library,
                    "-Wl,-soname,libggml-base.so.0"], check=True)
    program = os.path.join(folder, "program")
    subprocess.run([*compile_c, os.path.join(SOURCES, "ggml_program.c"), library, "-Xlinker", f"-rpath={folder}", "-o", program,
                    *libraries],
                   check=True)
    return program


def view(name, *options):
    done = subprocess.run([os.path.join(BUILD, "dwell"), "report", "--view", name, "--format", "csv", "t.dwell", *options],
                          capture_output=True, text=True, check=True)
    head, *rows = [line.split(",") for line in done.stdout.splitlines()]
    return [dict(zip(head, row)) for row in rows]


def test_decode(program):
    run = Run(program, "decode")
    check(f"a batch by value arrives: {run.done.stderr}", run.done.returncode == 0)
    check("a step for each call of llama_decode()", run.steps() == 10)
    check("prompts and tokens are told apart", run.count("decode several tokens") == 1 and run.count("decode a token") == 9)
    check("graphs, and what the backend computes", run.count("graph result_output") == run.count("graph on CPU") == 10)
    decode, sample = run.of("decode several tokens")[0], run.of("llama_sampler_sample")[0]
    length = sample["ts"] + sample["dur"] - decode["ts"]
    step = [float(row["duration_ns"]) / 1e3 for row in view("steps") if row["step"] == "0"]
    check(f"sampling belongs to the step: {step}, {length}", run.count("llama_sampler_sample") == 10 and step[0] >= length)
    marks = [event for event in run.events if event["name"] == "graph" and event["ph"] in "iIR"]
    check(f"what the graph consists of, for each kind once: {marks}", len(marks) == 1 and marks[0]["args"]["args"] == {
        "last node": "result_output", "RMS_NORM": 1, "MUL": 1, "MUL_MAT": 1, "VIEW": 1, "nodes": 4,
        "bytes": 4 * (64 + 64 + 32 + 32) * 5})
    check("no nodes without --shapes", run.count("mul_mat") == 0)
    check("nothing is lost", run.lost() == 0)
    info = subprocess.run([os.path.join(BUILD, "dwell"), "info", "t.dwell"], capture_output=True, text=True, check=True)
    check("the copy of ggml", "ggml.recorded = ggml stand-in (libggml-base.so.0)" in info.stdout)

    run = Run(program, "decode", arguments=["--no-ggml"])
    check("--no-ggml", run.is_empty())


def test_nodes(program, pairs):
    run = Run(program, "decode", arguments=["--shapes"])
    names = ["rms_norm+mul"] if pairs else ["rms_norm", "mul"]
    # It takes a graph to learn which nodes are computed.
    counts = {name: run.count(name) for name in (*names, "mul_mat.q4_K", "view")}
    check(f"nodes of all graphs but the first: {counts}", all(run.count(name) == 9 for name in names) and
          run.count("view") == 0 and run.count("mul_mat") + run.count("mul_mat.q4_K") == 9)
    rows = [row for row in view("flops") if row["name"].startswith("mul_mat")]
    check(f"FLOPs of the product: {rows}", rows and int(rows[0]["flops"]) == 9 * 2 * 64 * 32)


def test_abort(program):
    plain = subprocess.run([program, "abort"], capture_output=True, text=True, check=True).stdout
    for options in ([], ["--shapes"]):
        run = Run(program, "abort", arguments=options)
        check(f"the program's own callback is called {options}", run.done.stdout == plain == "0\n1\n0\n7 calls\n")
    check("an aborted graph is no contradiction", run.count("rms_norm") == 2 and run.count("mul") == 1)


def main():
    folder = tempfile.mkdtemp(prefix="dwell-ggml-")
    os.chdir(folder)
    plain, fused = build(os.path.join(folder, "plain")), build(os.path.join(folder, "fused"), "-DFUSED")
    test_decode(plain)
    test_nodes(plain, False)
    test_nodes(fused, True)
    test_abort(plain)
    marked = build(os.path.join(folder, "marked"), "-DMARKED", "-I", os.path.join(SOURCES, "../../include"),
                   libraries=["-L", BUILD, "-Xlinker", f"-rpath={BUILD}", "-ldwell"])
    run = Run(marked, "decode")
    check("the program's own steps stay", run.steps() == run.count("graph on CPU") == 10 and
          all("llama" not in row["most"] for row in view("steps")))
    inside = os.path.join(folder, "inside")
    for library, text in (("ggml", "GGML_ASSERT(%s) failed"), ("PyTorch", "/pytorch/torch/csrc/autograd/engine.cpp"),
                          ("ONNX Runtime", "/src/onnxruntime/core/session/inference_session.cc")):
        with open("inside.c", "w", encoding="utf-8") as file:
            file.write(f'#include <stdio.h>\nint main(void)\n{{\n\treturn puts("{text}") < 0;\n}}\n')
        subprocess.run([*CC, "inside.c", "-o", inside], check=True)
        said = Run(inside).said("is not recorded: it is a part of")
        check(f"a program that contains {library}: {said}",
              len(said) == 1 and f"{library} is not recorded: it is a part of {inside}; " in said[0])
    run = Run(plain, "train")
    check("a step for each batch that is trained", run.steps() == 12)
    check("evaluation", run.count("ggml_opt_eval") == 16 and len(view("actions")) > 0)
    run = Run(plain, "graphs")
    check("without other calls a graph is a step", run.steps() == 5)
    shutil.rmtree(folder)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
