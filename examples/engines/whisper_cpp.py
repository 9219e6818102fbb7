#!/usr/bin/env python3
"""whisper.cpp's bench, unchanged, with its test model, which has no weights: encoder, tokens, batches of 5, prompts of 256."""
import os
import re

from engine import Engine, run

RUNS = 1 + 256 + 64 + 16  # that its timers count: they are reset after the warm-up
engine = Engine("whisper.cpp", "https://github.com/ggml-org/whisper.cpp", "233fe1fc9b48a09e361d3594520838ca266537fe")
run("cmake", "-S", ".", "-B", "build", "-DCMAKE_BUILD_TYPE=Release", "-DWHISPER_BUILD_TESTS=OFF", folder=engine.folder)
run("cmake", "--build", "build", "-j2", "--target", "whisper-bench", folder=engine.folder)
dwell = os.path.join(os.environ["DWELL_BUILD"], "dwell") if "DWELL_BUILD" in os.environ else "dwell"
trace = os.path.join(engine.work, "whisper.cpp.dwell")
said = run(dwell, "run", "-o", trace, "--", "build/bin/whisper-bench", "-m", "models/for-tests-ggml-tiny.bin", "-t", "1",
           folder=engine.folder)
own = sum(float(ms) for ms in re.findall(r"(?:encode|decode|batchd|prompt) time = +([\d.]+) ms", said))
(count, ns), = engine.query(dwell, trace, "select count(*), sum(duration_ns) from "
                            f"(select duration_ns from steps order by step desc limit {RUNS})")
(sentence,), = engine.query(dwell, trace, "select statement from verdict limit 1")
difference = float(ns) / 1e6 / own - 1
print("\t".join((engine.name, "0", count, f"{own:.1f}", f"{float(ns) / 1e6:.1f}", f"{difference:+.2%}", sentence)))
if int(count) != RUNS or abs(difference) > 0.01:
    raise SystemExit(f"{engine.name}: {RUNS} runs and at most 1% apart are expected")
