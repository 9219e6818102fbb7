"""What README and doc state in figures: how each is measured, found in the output, and printed.

A part has one kept result, bench/results/NAME.json, which tools/measure/figures writes. Its fields:

  title     the heading in doc/measured/costs.md
  command   BENCH: a part of bench/run, whose rows are lines "what: measured". Else commands of the shell, of which the
            output counts. Filled in are {build}, {folder} (a scratch folder), the Pythons {torch}, {page}, {hta} and
            {python}, {torchprof} (the folder of its package) and {kineto} (the largest trace of Kineto that the tests
            know). None: by hand, as `how` says.
  measures  the code whose cost it is, in git's pathspecs: **/record/** finds src/record and a folder around it.
  lines     lines of the output. {key} is a figure, {} a number that is not kept, ... any text. None: all of the output
            is the result, for README alone.
  heads     the headings of the table.
  rows      the table. {key} is a figure of the kept result, {part.key} one of another part.
  text      paragraphs below the table.
"""
import json
import os
import re

RESULTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results")
BENCH = "make bench"
RECORDER = ["src/**/record/**", "src/**/format/**", "include/dwell/probe.h", "include/dwell/probe_abi.h"]
READER = ["src/**/read/**", "src/**/model/**", "src/**/format/**", "src/**/views/**"]
TORCH = ["probes/torch/**", "src/**/record/**"]
PARTS = {}


def part(name, title, command, measures, lines, rows, heads=("", "measured", ""), text="", how=""):
    PARTS[name] = dict(name=name, title=title, command=command, measures=measures, lines=lines, rows=rows, heads=heads,
                       text=text, how=how)


def pattern(line):
    """A line of `lines` as a regular expression. Any white space stands for white space."""
    parts = re.split(r"(\{\w*\}|\.\.\.| +)", line)
    return re.compile(r"(?:^|(?<=\s))" + "".join(
        ".*?" if each == "..." else r"\s+" if each.isspace() else r"[-+]?[\d.,]+%?" if each == "{}" else
        rf"(?P<{each[1:-1]}>[-+]?\d[\d.,]*)" if re.fullmatch(r"\{\w+\}", each) else re.escape(each) for each in parts), re.M)


def found(name, output):
    """The figures of a part in an output; a text that says what is missing, if one is."""
    if PARTS[name]["lines"] is None:
        return {"text": output.split("\nNext: ")[0].rstrip().split("\n")} if output.strip() else "no output"
    figures = {}
    for line in PARTS[name]["lines"]:
        match = pattern(line).search(output)
        if not match:
            return f"no line is like: {line}"
        figures.update((key, value.rstrip(".,")) for key, value in match.groupdict().items())
    return figures


def kept(name):
    """The kept result of a part, or None."""
    path = os.path.join(RESULTS, name + ".json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def filled(text, name):
    """A text with the figures of the part `name`, or of the parts that its keys name."""
    def figure(match):
        of, _, key = match.group(1).rpartition(".")
        result = kept(of or name)
        return result["figures"].get(key, "not measured") if result else "not measured"
    return re.sub(r"(not measured) (ms|s|MB|M?B/s|M/s)\b", r"\1", re.sub(r"\{([\w.]+)\}", figure, text))


def table(heads, rows, name=""):
    """The lines of a table in Markdown, with its figures."""
    lines = [heads, ["---"] + ["---:"] * (len(heads) - 1), *rows]
    return ["| " + " | ".join(filled(cell, name) for cell in row).replace("|  |", "| |") + " |" for row in lines]


def section(name):
    """The section of a part in doc/measured/costs.md."""
    each, result = PARTS[name], kept(name)
    lines = [f"## {each['title']}", ""] + table(each["heads"], each["rows"], name)
    if each["text"]:
        lines += ["", each["text"]]
    how = each["how"] or f"`tools/measure/figures {name}`"
    if not result:
        return lines + ["", f"Not measured yet: {how}."]
    note = " " + result["note"] if result.get("note") else ""
    return lines + ["", f"({how}; {result['date']}, commit {result['commit']}; {result['machine']}.{note})"]


# ---- the recorder ---------------------------------------------------------------------

part("recorder", "A range, an operator, a probe", BENCH, RECORDER, [
    "floor: two clock readings, one thread: {floor} ns",
    "range, one thread: {range_x} x floor = {range} ns",
    "range, two threads: {range2_x} x floor = {range2} ns",
    "range through the shared library: {library_x} x floor = {library} ns",
    "operator with six sizes recorded: {shapes_x} x floor = {shapes} ns",
    "probe in a program not recorded: {disabled} ns",
    "bytes a range, chunk headers included: {bytes}",
], [
    ("two clock readings, the floor of any timed range", "{floor} ns", "1"),
    ("a range into a fresh mapped file, one thread", "{range} ns", "{range_x}"),
    ("the same, two threads at once", "{range2} ns", "{range2_x}"),
    ("the same through calls of the shared library", "{library} ns", "{library_x}"),
    ("an operator with six sizes recorded", "{shapes} ns", "{shapes_x}"),
    ("a probe in a program that is not recorded", "{disabled} ns", ""),
    ("bytes a range in the file", "{bytes}", ""),
], heads=("", "measured", "as multiples of the floor"),
    text="Nanoseconds are the thread's CPU time with page faults, medians of 11 alternations. In a virtual machine the first use of a "
         "page costs the host some 12 us, which can dominate a short recording; the benchmark uses the memory once before it measures.")

part("stacks", "Call stacks and steps", BENCH, RECORDER, [
    "floor: two clock readings, one thread: {floor} ns",
    "operator with its call stack, 20 deep: ... clock readings = {stack} ns",
    "step: {step} ns",
    "step of a profile whose schedule waits: ... timestamp reads = {waiting} ns",
], [
    ("two clock readings in the same run", "{floor} ns"),
    ("an operator with its call stack, 20 deep (frame pointers; about a third more where a caller has none)", "{stack} ns"),
    ("a step", "{step} ns"),
    ("a step of a profile whose schedule waits", "{waiting} ns"),
], heads=("", "measured"),
    text="Steps are a million. The first pages of a file cost the kernel more: over the first 20,000 steps of a file a step took 99 ns, "
         "and one of a profile that waits 179 ns (2026-11-26, commit e459fabc, the same machine).")

part("tracers", "Other tracers in the same run", BENCH, RECORDER + READER, [
    "uftrace record -pg: {uftrace} ns a range = {uftrace_x} x",
    "LTTng-UST, two tracepoints: {lttng} ns a range = {lttng_x} x",
    "reader against uftrace report: {reader_x} x",
], [
    ("uftrace `record -pg`, a range", "{uftrace} ns", "{uftrace_x} times dwell's"),
    ("LTTng-UST, two tracepoints", "{lttng} ns", "{lttng_x} times dwell's"),
    ("reading: `operators`, to `uftrace report`", "", "{reader_x} times as fast"),
], text="Machines vary. In five other runs of 2026-11-21, some on a busy machine, LTTng took 4.5 to 7.0 times as long as dwell's range, and "
        "dwell read 14 and 18 times as fast as `uftrace report`.")

part("training", "A training run in C", BENCH, RECORDER, [
    "ResNet-18 under dwell run: {share} % of {seconds} s",
], [("ResNet-18 on oneDNN, {seconds} s of training: records times their cost", "{share}% of the run")], heads=("", "measured"))

part("facts", "The kernel's account of a thread", BENCH, RECORDER + ["src/**/facts/**"], [
    "a reading of the kernel's account of a thread: {reading} ns, {share}% of a step",
], [("a reading at the begin or end of a step, for facts", "{reading} ns", "{share}% of steps of 1 ms")],
    text="The recorder reads it when a step begins or ends: at most every 10 ms, and so rarely that the time between two readings is 1,000 "
         "times what the last ones took. The page faults of new pages of the trace are not in it.")

part("samples", "Call stacks of any program", ["{build}/dwell run --sample off -o {folder}/samples.dwell {build}/bench/bench_samples"],
     ["probes/sampler/**"], [
         "a reading of the clock: {clock} ns",
         "a sample, 80 frames deep: {deep} ns, {new} us for a new stack",
     ], [("a reading of the clock in the same run", "{clock} ns"), ("a sample, 80 frames deep, whose stack was seen before", "{deep} ns"),
         ("a sample, 80 frames deep, with a stack that is new", "{new} us")], heads=("", "measured"),
     text="The work of the signal's handler where nothing else uses the processor's caches; in a program that uses them it is more. "
          "By default samples take at most 0.4% of a thread's CPU time after the first 5 ms, and 0.1% once they have taken 40 ms.")

part("samples_cost", "Call stacks, by the way they are sampled", ["python3 bench/samples_gaps.py {build} 9"], ["probes/sampler/**"], [
    "by default, 80 frames deep: {default}% of CPU time, from {default_low}% to {default_high}% in {pairs} pairs",
    "250 samples a second, 80 frames deep: {cost}% of CPU time, from {low}% to {high}% in {} pairs",
    "perf events by default, 80 frames deep: {perf}% of CPU time, from {perf_low}% to {perf_high}% in {} pairs",
    "perf events, 250 a second, 80 frames deep: {perf250}% of CPU time, from {perf250_low}% to {perf250_high}% in {} pairs",
    "interruptions without samples: {off} a second; with 250: {on} a second",
], [("a thread that only reads the clock, 80 frames deep, by default (asked: 0.1%)", "{default}% of its CPU time ({default_low}% to {default_high}%)"),
    ("250 samples a second (asked: 0.3%)", "{cost}% ({low}% to {high}%)"), ("`--sample=perf`", "{perf}% ({perf_low}% to {perf_high}%)"),
    ("`--sample=perf:250`", "{perf250}% ({perf250_low}% to {perf250_high}%)"),
    ("its interruptions without samples, and with 250", "{off} and {on} a second")], heads=("", "median of {pairs} pairs"),
     text="The time in which the thread is interrupted, with the kernel's part of the signal: the difference of runs with and without "
          "samples.")

part("samples_asked", "Call stacks: how right they are, and what they disturb", ["python3 bench/samples_asked.py {build}"],
     ["probes/sampler/**", "src/reader/process/**"], [
         "shares of three functions: {points} points from the truth at most, at {samples} samples",
         "a minute of calls that a signal may interrupt: {interrupted} were",
         "dwell stacks of 64 threads: {stacks} ms",
         "dwell attach stops a thread of C for {c} us in the mean, {c_most} us at most",
         "dwell attach stops a thread of Python for {py} us in the mean, {py_most} us at most",
     ], [("shares of three functions of known cost, at {samples} samples", "{points} points from the truth at most", "2 points"),
         ("calls that a signal interrupts, of a minute of all kinds of them, 250 samples a second", "{interrupted}", "0"),
         ("`dwell stacks` of 64 threads of Python, each 12 functions deep", "{stacks} ms", "100 ms"),
         ("`dwell attach`: a look stops a thread of C for", "{c} us in the mean, {c_most} us at most", "200 us"),
         ("the same for a thread of Python", "{py} us in the mean, {py_most} us at most", "200 us")], heads=("", "measured", "asked"))

part("interposed", "Calls of libc that the sampler is in front of", ["python3 bench/interposed.py {build}"], ["probes/sampler/**"], [
    "a call that libc answers without the kernel: {libc} ns more at most",
    "a call that libc passes to the kernel, without waiting: {kernel} ns more at most",
], [("libc answers without the kernel: added at most", "{libc} ns", "5 ns"),
    ("the kernel answers at once: added at most", "{kernel} ns", "25 ns")], heads=("", "measured", "asked"))

part("begins", "Threads and processes that do nothing", ["python3 tests/probes/begins_test.py {build}"],
     ["probes/sampler/**", "src/recorder/record/**"], [
         "threads: {thread_alone} us each alone, {thread} us more under dwell run, of which the trace says {thread_said} us",
         "children: {child_alone} us each alone, {child} us more under dwell run, of which the trace says {child_said} us",
         "programs: {program_alone} us each alone, {program} us more under dwell run, of which the trace says {program_said} us",
     ], [("a thread", "{thread_alone} us", "{thread} us", "{thread_said} us"),
         ("a child of fork", "{child_alone} us", "{child} us", "{child_said} us"),
         ("a child of fork that executes a program", "{program_alone} us", "{program} us", "{program_said} us")],
     heads=("", "alone", "added under `dwell run`", "of it in \"profiling cost\""),
     text="CPU time from begin to end, medians of 5 pairs. What a trace says is the sampler's work; the rest is the kernel's and the "
          "loader's, for memory and libraries that dwell adds.")

part("startup", "The start of a script", ["{python} bench/start_up.py {build} {torch}"],
     ["probes/python/**", "probes/torch/**", "python/dwell/**", "src/interfaces/**"], [
         "true: {} ms alone, {} ms under dwell run, {true} ms more", "python -c pass: {} ms alone, {} ms under dwell run, {pass} ms more",
         "import torch: {without} s alone, {under} s under dwell run, {added} s more (medians of {pairs} pairs)",
         "a spawned worker: {} s alone, {} s under dwell run, {spawned} s more",
     ], [("`dwell run true`: added", "{true} ms"), ("`dwell run python -c pass`: added", "{pass} ms"), ("`import torch` alone", "{without} s"), ("the same under `dwell run`", "{under} s"), ("added, once a process: the median of the differences of the pairs", "{added} s"),
         ("added until a spawned worker of a DataLoader has sent its first batch", "{spawned} s")],
     heads=("", "median of {pairs} pairs"), text="A script that trains for minutes does not notice it; a test that starts many short scripts does.")

# ---- PyTorch --------------------------------------------------------------------------

part("torch", "Operators of PyTorch beside torch.profiler", ["{torch} bench/torch_cost.py {build}"], TORCH, [
    "PyTorch {version}",
    "torch.profiler {} {torch_operators} {}", "torch.profiler, shapes {} {torch_shapes} {}", "torch.profiler, memory {} {torch_memory} {}",
    "dwell, operators {} {operators} {operators_own} {operators_part}%",
    "dwell, shapes {} {shapes} {shapes_own} {shapes_part}%",
    "dwell, memory {} {memory} {memory_own} {memory_part}%",
], [
    ("operators", "{torch_operators} ns", "{operators} ns", "{operators_own} ns", "{operators_part}%"),
    ("with shapes", "{torch_shapes} ns", "{shapes} ns", "{shapes_own} ns", "{shapes_part}%"),
    ("with memory", "{torch_memory} ns", "{memory} ns", "{memory_own} ns", "{memory_part}%"),
], heads=("PyTorch {version}: recorded", "torch.profiler adds", "dwell adds", "of it beyond PyTorch's empty callbacks",
          "which is of torch.profiler's"),
    text="A loop of `x.add_(1)` on one element, five operators an iteration, on one core; ns an iteration, medians of processes, in each "
         "the fastest of seven passes. PyTorch's own callbacks are most of what dwell adds, and a profiler cannot avoid them.")

part("torch_1", "The same with PyTorch 1.13", ["/usr/bin/python3 bench/torch_cost.py {build}"], TORCH, PARTS["torch"]["lines"],
     PARTS["torch"]["rows"], heads=PARTS["torch"]["heads"])

part("torch_parts", "The same in the run of `make bench`", BENCH, TORCH, [
    "PyTorch 2...x.add_(1), operators: of what torch.profiler adds: {operators} %",
    "PyTorch 2...x.add_(1), shapes: of what torch.profiler adds: {shapes} %",
    "PyTorch 2...x.add_(1), memory: of what torch.profiler adds: {memory} %",
], [("dwell's own part of what torch.profiler adds: operators, with shapes, with memory", "{operators}%, {shapes}%, {memory}%")],
    heads=("", "measured"))

part("torch_native", "An operator of PyTorch in C++ and in Python", ["{torch} bench/torch_native.py {build}"], TORCH, [
    "C++ an operator takes {alone_cpp} ns alone, an empty callback adds {empty_cpp} ns, recording adds {cpp} ns, beyond the empty one {own_cpp} ns",
    "Python an operator takes {alone_python} ns alone, an empty callback adds {empty_python} ns, recording adds {python} ns, "
    "beyond the empty one {own_python} ns", "in C++ {ratio} of dwell's own part in Python",
], [("in C++", "{alone_cpp} ns", "{cpp} ns", "{empty_cpp} ns", "{own_cpp} ns"),
    ("in Python", "{alone_python} ns", "{python} ns", "{empty_python} ns", "{own_python} ns"),
    ("the first of the second", "", "", "", "{ratio}")],
    heads=("`x.neg()` of one element", "alone", "recording adds", "an empty callback of PyTorch adds", "dwell's own part"))

part("torch_run", "A training run in PyTorch", BENCH, TORCH, [
    "PyTorch 2...ResNet-18 by default: records times cost: {share} %",
    "PyTorch 1...ResNet-18 by default: records times cost: {share_1} %",
], [("ResNet-18 recorded by default: ranges times their cost, PyTorch 2.13", "{share}% of a step"), ("the same, PyTorch 1.13", "{share_1}%")],
    heads=("", "measured"))

part("torch_million", "A million operators of PyTorch", BENCH, TORCH + READER, [
    "PyTorch 2...a million operators: stop and table, of torch.profiler's: 1/{times}",
    "PyTorch 1...a million operators: stop and table, of torch.profiler's: 1/{times_1}",
    "PyTorch 2...a million operators: added memory: {memory} MB",
    "PyTorch 1...a million operators: added memory: {memory_1} MB",
], [
    ("to stop and print the table, PyTorch 2.13", "1/{times} of torch.profiler's time", "{memory} MB"),
    ("the same, PyTorch 1.13", "1/{times_1}", "{memory_1} MB"),
], heads=("", "time", "added memory"))

part("torch_worst", "A step of tiny operators, the worst case", ["{torch} bench/torch_stated.py {build}"], TORCH, [
    "PyTorch {version}... {operators} operators and {layers} layers a step", "empty ... us a step, {empty} times", "dwell ... us a step, {dwell} times",
], [
    ("{operators} operators in {layers} layers, forward, backward and optimizer, with empty callbacks of PyTorch", "{empty} times the step alone"),
    ("the same under `dwell run --cost full`", "{dwell} times"),
], heads=("", "CPU time"),
    text="Half of the added time is spent on names that PyTorch makes for each node of the backward pass as soon as a callback is registered; "
         "[the probe's page](../../probes/torch/README.md) lists the parts. `dwell info` prints what an operator and a layer cost in the "
         "recorded run (`torch.callback_ns`, `torch.hook_ns`), accurate to a factor of two.")

part("torch_small", "Steps of small operators, recorded by default", ["{torch} bench/torch_small.py {build}"], TORCH, [
    f"{name}: {{{name}_operators}} operators a step of {{{name}_us}} us: {{{name}}}% more, quartiles {{{name}_low}} and {{{name}_high}}; "
    f"the report states {{{name}_stated}}%" for name in ("few", "many", "most")
], [(f"{{{name}_operators}} operators in {{{name}_us}} us", f"{{{name}}}% ({{{name}_low}} to {{{name}_high}})", f"{{{name}_stated}}%")
    for name in ("few", "many", "most")],
    heads=("a step", "more CPU time of the whole loop under `dwell run` (quartiles of the pairs)", "what the report states"),
    text="The report states what records and hooks cost, less what PyTorch is spared.")

part("torch_lines", "Source lines of PyTorch's operators", ["{torch} bench/torch_lines.py {build} 20"], TORCH, [
    "source lines: {cost} ns (quartiles {low} and {high}), {readings} readings",
], [("the line that called an operator, in the main thread", "{cost} ns", "{readings} of a clock reading")],
    text="Rounds differ by more than this.")

part("collectives", "A collective of torch.distributed", ["{torch} bench/collectives.py {build}"], TORCH, [
    "all_reduce: {plain} us, recorded {recorded} us, added {added} us: {share}%",
], [("an all-reduce in a group of one rank", "{plain} us"), ("the same recorded: the operator, the range and the collective", "{recorded} us"),
    ("added, of a step of 15.9 ms with one of them", "{share}%")], heads=("", "measured"))

# ---- other interfaces -----------------------------------------------------------------

part("actions", "Functions of Python and Lightning's actions", BENCH, ["probes/functions/**", "python/dwell/**", "src/**/record/**"], [
    "an empty action from Python: {action} ns = {action_x} x",
    "a call of a Python function: {function} ns = {function_x} x",
    "the same, with C functions: {both} ns = {both_x} x",
], [
    ("a call with `--functions=python`", "{function} ns", "{function_x} of cProfile's"),
    ("a call with `--functions`, C functions too", "{both} ns", "{both_x} of cProfile's"),
    ("an empty action from Python", "{action} ns", "{action_x} of SimpleProfiler's"),
])

part("engine", "Engines of Ignite and of dwell", ["{python} bench/engine {build} {torch}"], ["src/**/compat/**", "python/dwell/**"], [
    "Ignite's engine {ignite} us", "... with its HandlersTimeProfiler {ignite_profiled} us", "... with dwell.ignite's {dwell_ignite} us",
    "dwell's engine {plain} us", "... with its profiler {profiled} us", "dwell's engine, profiled, to Ignite's without: {times} x",
], [
    ("Ignite's engine", "{ignite} us"), ("with its HandlersTimeProfiler", "{ignite_profiled} us"), ("with dwell.ignite's", "{dwell_ignite} us"),
    ("dwell's engine in C", "{plain} us"), ("with its profiler", "{profiled} us, 1/{times} of Ignite's without"),
], heads=("an empty iteration with 8 handlers", "median of 5 rounds"))

part("layers", "A call of a layer beside torchprof", ["{torch} bench/torch_layers.py {build} 5 {torchprof}"], TORCH, [
    "recorded {} {recorded} = ", "torchprof's to dwell.torchprof's: {times} x",
], [
    ("a module's call, what recording it adds", "{recorded} ns"),
    ("what torchprof adds to it, of what dwell.torchprof adds", "{times} times"),
], heads=("an empty layer", "measured"))

part("captures", "Captures", BENCH, ["src/**/serve/**"], [
    "capture of 1 s, {events} events: answered after its window: {late} s", "capture: the most memory of a process: {memory} MB",
    "the idle server's private memory, before and after captures: {idle} and {after} MB", "ResNet-18, armed and idle: {armed} %",
], [
    ("a capture of 1 s with {events} events, answered after its window", "{late} s", "1 s"),
    ("the most memory of a process for it", "{memory} MB", "200 MB"),
    ("the idle server's own memory, before and after captures", "{idle} and {after} MB", "3 MB"),
    ("a ResNet-18 that waits for a capture", "{armed}% of its time", "0.1%"),
], heads=("", "measured", "limit"))

part("injected", "ITT and NVTX", ["ninja -C {build} bench/bench_injected", "{python} bench/injected_figures.py {build}"],
     ["probes/injected/**", "src/**/record/**"], [
         "ITT ... {itt} times two readings beyond an empty one", "NVTX ... {nvtx} times two readings beyond an empty one",
         "of {nothing} us longer with all than with none",
         "oneDNN's plain ResNet-18: {primitives} operators by ITT", "its records cost ...: {share}%",
     ], [
         ("an ITT task beyond an empty collector", "{itt} times two clock readings"),
         ("an NVTX push and pop beyond an empty collector", "{nvtx} times two clock readings"),
         ("a program that announces nothing, once", "{nothing} us of CPU time"),
         ("[examples/onednn_plain](../../examples/onednn_plain/main.c), {primitives} primitives", "{share}% of its time"),
     ], heads=("", "measured"),
     text="With the trace in `/dev/shm` the first two were 1.47 and 1.52. While the disk still wrote what other programs had left, it was 2.7 times.")

part("onnx", "Calls and nodes of ONNX Runtime", ["{python} bench/onnx_nodes.py {build}"], ["probes/onnx/**", "src/**/record/**"], [
    "a call of {nodes} nodes: {alone} us alone", "a node costs {node} us, of which ONNX Runtime's profile {profile} us, a call {call} us",
], [
    ("a call of `Run()` with {nodes} nodes, recorded by default", "{call} us"),
    ("each of its nodes with `--shapes`, which joins them to the call", "{node} us"),
    ("of it ONNX Runtime's own profile of each run, without dwell", "{profile} us"),
    ("the call alone", "{alone} us"),
], heads=("processor time, one thread", "measured"))

part("cuda", "Records of CUDA", None, ["probes/cuda/**"], [],
     [("a record, in CUPTI's own thread", "at most {record} us, {bytes} bytes")], heads=("", "measured"),
     how="the processor time of 1.6 million records of the stand-in of `tests/probes/cupti_test.py`",
     text="The stand-in makes the records in this time too. What CUPTI itself costs needs a GPU, and is not measured.")

# ---- the reader -----------------------------------------------------------------------

part("reading", "Reading a trace", BENCH, READER, [
    "reader: flat: {operators} M events/s", "reader: tree: {tree} M events/s",
], [("`operators`, percentiles included, one core", "{operators} million events/s"), ("`tree`, one core", "{tree} million events/s")],
    heads=("", "measured"))

part("memory", "A report of a large trace, and stored traces", BENCH, READER, [
    "dwell report of ... GB: RssAnon: {memory} MB in {seconds} s", "bytes a range as stored by dwell pack: {packed}",
], [("`dwell report` of a trace of 1.02 GB and 85 million ranges of one thread, cached: time", "{seconds} s"), ("its memory (RssAnon)", "{memory} MB"),
    ("bytes a range of a C program, as `dwell pack` stores it", "{packed}")], heads=("", "measured"))

part("exports", "Exports", BENCH, ["src/**/export/**", "src/**/pictures/**"], [
    "export to chrome: {chrome} MB/s",
    "flame graph of 1,000,000 call stacks (ranges): {ranges} s, RssAnon {ranges_mb} MB",
    "flame graph of 1,000,000 call stacks (stacks): {stacks} s, RssAnon {stacks_mb} MB",
], [
    ("for Chrome's viewers, one core", "{chrome} MB/s of JSON", ""),
    ("a flame graph of a million call stacks, as ranges", "{ranges} s", "{ranges_mb} MB"),
    ("the same as recorded stacks", "{stacks} s", "{stacks_mb} MB"),
], heads=("", "measured", "memory (RssAnon)"))

part("imports", "Reading Kineto's JSON", ["{python} bench/import_speed.py {build}/dwell {kineto}"], ["src/**/import/**"], [
    "{size} MB: {rate} MB/s", "at most {memory} MiB",
], [("the largest trace of the tests, {size} MB, uncompressed and cached, one core", "{rate} MB/s", "{memory} MiB")],
    heads=("", "measured", "memory (RSS)"))

part("hta", "Views of devices beside HolisticTraceAnalysis", ["{hta} bench/hta_speed.py {build}/dwell {kineto}"],
     ["src/**/model/device/**", "src/**/import/**"], [
         "HTA: {hta} s, {hta_mib} MiB; dwell: {dwell} s, {mib} MiB; dwell is {times} times as fast ... with 1/{less} of the memory",
     ], [
         ("HolisticTraceAnalysis after its imports", "{hta} s", "{hta_mib} MiB"),
         ("`dwell report` with the views `device`, `kernels` and `streams`", "{dwell} s", "{mib} MiB"),
         ("ratio, median of five pairs", "{times} times as fast", "1/{less}"),
     ], heads=("the largest trace of Kineto of the tests", "time", "memory"))

part("query", "Questions", ["ninja -C {build} bench/reader_speed", "{python} bench/questions.py {build} {folder}"],
     ["src/**/query/**", "src/**/diff/**", "src/**/read/**"], [
         "count: {count} s", "group: {group} s", "group of a step: {step} s", "diff: {diff} s",
     ], [
         ("`dwell query 'select count(*) from ranges'`", "{count} s"),
         ("`select name, count(*), sum(duration_ns) from ranges group by name`", "{group} s"),
         ("the same with `where step = 500`", "{step} s"),
         ("`dwell diff` of two such traces", "{diff} s"),
     ], heads=("a trace of 10,000,000 ranges in 1,000 steps (120 MB)", "the whole command, median of 3"))

part("page", "The HTML report", ["{python} bench/page.py {build}"], ["src/**/page/**", "src/**/model/**"], [
    "ranges ... MB: {ranges} s, {ranges_mb} MB", "operators ... MB: {operators} s, {operators_mb} MB", "pytorch ... MB: {pytorch} s, {pytorch_mb} MB",
], [
    ("ranges alone", "{ranges} s", "{ranges_mb} MB"),
    ("operators and their shapes", "{operators} s", "{operators_mb} MB"),
    ("with allocations and links as PyTorch makes them", "{pytorch} s", "{pytorch_mb} MB"),
], heads=("10 million events", "time", "memory"))

part("view", "The timeline of `dwell view`: a large trace", ["{page} bench/view.py {build} --ranges 850 --pans 0 --folder {folder}"],
     ["src/**/page/**", "web/src/**"], [
         "ready after {ready} s; all read after {all} s; ... {'VmHWM': {memory}",
     ], [("the first picture", "{ready} s"), ("all is read", "{all} s"), ("memory of the server", "{memory} MB")],
     heads=("850 million ranges in 4 threads, 10.2 GB", "measured"), text="If the headers of the trace's 155,536 chunks came from the disk, the "
     "first picture took 2.8 s. Until all is read the timeline shows how far. Making that trace takes 10 GB of memory.")

part("frames", "The timeline of `dwell view`: frames", ["{page} bench/view.py {build} --pans 10"], ["src/**/page/**", "web/src/**"], [
    "panning the whole run: ... frame: median {whole} ms, 99% {whole_99} ms, most {whole_most} ms",
    "panning a hundredth: ... frame: median {hundredth} ms, 99% {hundredth_99} ms, most {hundredth_most} ms",
    "panning a hundred-thousandth: ... frame: median {near} ms, 99% {near_99} ms, most {near_most} ms",
], [
    ("the whole run", "{whole} ms", "{whole_99} ms", "{whole_most} ms"),
    ("a hundredth of it", "{hundredth} ms", "{hundredth_99} ms", "{hundredth_most} ms"),
    ("a hundred-thousandth", "{near} ms", "{near_99} ms", "{near_most} ms"),
], heads=("10 million ranges are panned", "main thread a frame, median", "99%", "most"),
    text="Chromium without a GPU, 1500 by 900 pixels. A part of it is waiting for a processor, which the browser's own threads use.")

part("top", "`dwell top`", ["{python} bench/top.py {build}"], ["src/**/top/**", "src/**/read/**"], [
    "33 steps a second in C: {c}% of a core", "PyTorch, tests/ask/work.py: {torch}% of a core",
], [("beside a PyTorch program, in a terminal of 80x24", "{torch}% of a core"), ("beside a program in C with 33 steps a second", "{c}%")],
    heads=("", "measured"))

# ---- ranks ----------------------------------------------------------------------------

part("ranks", "Comparing many ranks",
     ["OMP_NUM_THREADS=1 {build}/dwell run -o {folder}/ranks.dwell -- {torch} examples/pytorch/ddp_ranks.py --fork 4 300",
      "{python} bench/ranks.py {build} {folder} make {folder}/ranks.dwell 1024", "{python} bench/ranks.py {build} {folder} ranks",
      "{python} bench/ranks.py {build} {folder} summaries {folder}/ranks.dwell"],
     ["src/**/ranks/**", "src/**/summary/**", "src/**/read/**"],
     [f"{count} {what}, {how} processor{s} {{{key}}} s  processors {{{key}_cpu}} s  {{{key}_mb}} MB"
      for count, what, name in ((64, "ranks", "r64"), (256, "ranks", "r256"), (1024, "ranks", "r1024"), (100000, "summaries", "sums"))
      for how, s, key in (("one", "", name), ("all", "s", name + "_all"))],
     [(label, *(f"{{{key}}} s, {{{key}_cpu}} s, {{{key}_mb}} MB" for key in (name, name + "_all")))
      for label, name in (("64 ranks, 0.7 GB", "r64"), ("256 ranks, 2.7 GB", "r256"), ("1,024 ranks, 10.8 GB", "r1024"),
                          ("100,000 summaries of a rank", "sums"))],
     heads=("`dwell ranks` of", "one processor: time, CPU time, memory of the largest process", "both"),
     text="Each rank has 2,080 steps with ranges, allocations, parts and noise of a recorded run of four. Files are in the page cache; in the "
          "row of 1,024 ranks a part is read from the disk again.")

part("simulated", "How often a slow rank is found: simulated jobs",
     ["ninja -C {build} tests/ranks/simulate",
      "for job in '1000 64 200 5 5 0.3 0.3' '100 64 200 5 5 0 0' '100 64 200 5 5 0.5 0' '100 64 200 5 10 0.5 0.5' '100 64 200 5 5 1 0.5'; "
      "do {build}/tests/ranks/simulate $job; done; true"],
     ["src/**/ranks/**"],
     [f"noise {noise}%, between {between}%, correlation {correlation}: found {{{key}}}%, its part right {{{key}_part}}%, ... false alarms {{{key}_false}}%"
      for noise, between, correlation, key in ((5, "0.3", "0.3", "a"), (5, "0", "0", "b"), (5, "0.5", "0", "c"), (10, "0.5", "0.5", "d"),
                                              (5, "1", "0.5", "e"))],
     [(*settings, f"{{{key}}}%", f"{{{key}_part}}%", f"{{{key}_false}}%")
      for settings, key in ((("5%", "0.3%", "0.3"), "a"), (("5%", "0", "0"), "b"), (("5%", "0.5%", "0"), "c"), (("10%", "0.5%", "0.5"), "d"),
                            (("5%", "1%", "0.5"), "e"))],
     heads=("noise of a part", "constant difference between ranks", "correlation of following steps", "slow rank found", "its part right",
            "jobs with a false alarm"),
     text="64 ranks, 200 steps, one rank 5% slower in a part that is drawn; 1,000 jobs with a slow rank and 1,000 without in the first row, 100 in "
          "the others. A rank that is 5% slower is hard to tell from others if all ranks differ by 1% anyway: it is five standard deviations from "
          "them, which is the threshold.")

part("noise", "How often a slow rank is found: the noise of a real program", None, ["src/**/ranks/**"], [],
     [("300", "5%", "{few} of 8 jobs", "{few_false}"), ("300", "10%", "{ten} of 8", "{ten_false}"), ("1,500", "5%", "{many} of 4", "{many_false}")],
     heads=("steps", "slower by, of a step", "slow rank and its part found", "false alarms"),
     how="`make_ranks FOLDER 64 STEPS like TRACE slow 17 PART PERCENT`, then `dwell ranks`",
     text="The steps of 64 ranks are drawn from a trace of four ranks that share two cores. A step works for 4.3 ms and communicates for the "
          "rest. The part is drawn in turn.")

part("demo", "`make demo`", ["git clone -q . {folder}/demo && cd {folder}/demo && python3 -c 'import subprocess, time; began = time.time(); "
                             "subprocess.run([\"make\", \"demo\"], check=True, capture_output=True); "
                             "print(f\"make demo: {time.time() - began:.0f} s\")'"],
     ["src/**", "tools/make/demo"], ["make demo: {seconds} s"], [("in a fresh clone, its packages installed", "{seconds} s")], heads=("", "measured"))

# ---- the report and README -----------------------------------------------------------------------------

part("report", "The report as text", ["{build}/dwell run -o {folder}/report.dwell -- {build}/examples/resnet18/resnet18 >/dev/null 2>&1",
                                        "{build}/dwell report --limit 4 {folder}/report.dwell"],
     ["src/**/views/**", "src/**/rules/**", "src/**/facts/**"], None, [])


def report():
    """The lines with a report and what it is of."""
    result = kept("report")
    return [f"For a ResNet-18 in C on oneDNN (1,498 handwritten digits; {result['machine']}; {result['date']}):", "```",
            *result["figures"]["text"], "```"]


# ---- what was asked -------------------------------------------------------------------------

part("turns", "Two commits in turns", None, RECORDER + READER, [], [], how="`bench/turns.py`")

# Work, its floor, what it took in commit 105dd6b1, today, what was asked, and both commits in turns (bench/turns.py).
ASKED = [
    ("`dwell run true`, beyond `true`", "1 ms", "13 ms", "{startup.true} ms", "4 ms", "{turns.true_before}, {turns.true} ms"),
    ("`dwell run python -c pass`, beyond Python", "0", "20 to 60 ms", "{startup.pass} ms", "8 ms", "{turns.pass_before}, {turns.pass} ms"),
    ("`import torch` under `dwell run`, beyond bare", "0", "550 ms", "{startup.added} s", "50 ms", "{turns.torch_before}, {turns.torch} ms"),
    ("a spawned worker of a DataLoader until its first batch, beyond bare", "0", "", "{startup.spawned} s", "50 ms", ""),
    ("a range, one thread, in multiples of two clock readings", "1", "1.17", "{recorder.range_x}", "1.12", "{turns.range_before}, {turns.range}"),
    ("the same, two threads at once", "1", "1.28", "{recorder.range2_x}", "1.15", "{turns.two_before}, {turns.two}"),
    ("a step", "{recorder.floor} ns", "67 ns", "{stacks.step} ns", "45 ns", "{turns.step_before}, {turns.step} ns"),
    ("a step of a profile that waits", "{recorder.floor} ns", "115 ns", "{stacks.waiting} ns", "40 ns", "{turns.waiting_before}, {turns.waiting} ns"),
    ("an operator with its stack of 20 frames", "{recorder.floor} ns", "90 ns", "{stacks.stack} ns", "60 ns", "{turns.stack_before}, {turns.stack} ns"),
    ("an operator of PyTorch, of torch.profiler's: `add_`", "10 readings", "15.6%", "{torch.operators_part}%", "8%", ""),
    ("the same with shapes", "10 readings", "9.3%", "{torch.shapes_part}%", "6%", ""),
    ("the same with memory", "12 readings", "10.0%", "{torch.memory_part}%", "6%", ""),
    ("a step of 1,025 tiny operators, CPU time", "{torch_worst.empty} (empty callbacks)", "1.23", "{torch_worst.dwell}", "1.12", ""),
    ("cost by default of a script with 100, 1,000, 25,000 small operators a step", "0", "9.8 to 10.5%", "{torch_small.few}%, {torch_small.many}%, {torch_small.most}%", "1%", ""),
    ("bytes a range, as `dwell pack` stores it", "", "12.0", "{memory.packed}", "2.5", ""),
    ("`operators`, one core", "memory's bandwidth", "150 M/s", "{reading.operators} M/s", "220 M/s", "{turns.operators_before}, {turns.operators} M/s"),
    ("`tree`, one core", "", "65 M/s", "{reading.tree} M/s", "140 M/s", "{turns.tree_before}, {turns.tree} M/s"),
    ("`dwell report` of 1.02 GB, two cores, cached", "0.1 s", "2.1 s", "{memory.seconds} s", "0.9 s", "{turns.report_before}, {turns.report} s"),
    ("a flame graph of a million stacks", "", "0.79 s, 252 MB", "{exports.stacks} s, {exports.stacks_mb} MB", "0.5 s, 120 MB", "{turns.flames_before}, {turns.flames} s"),
    ("Kineto's JSON, one core", "1 GB/s", "481 MB/s", "{imports.rate} MB/s", "700 MB/s", "{turns.kineto_before}, {turns.kineto} MB/s"),
    ("`make demo` in a fresh clone, two cores", "", "93 s", "{demo.seconds} s", "60 s", ""),
]


def asked():
    """The table of doc/measured/account.md: what was asked of the most important work."""
    return table(("work", "floor", "at first", "now", "asked", "at first and now, in turns"), ASKED)


README = [
    ("a range in C", "{recorder.range} ns, {recorder.bytes} bytes", "{recorder.range_x} times two clock readings"),
    ("a probe in a program that is not recorded", "{recorder.disabled} ns", ""),
    ("ResNet-18 in PyTorch, recorded by default", "{torch_run.share}% of a step", ""),
    ("a Python function's call", "{actions.function} ns", "{actions.function_x} of cProfile's"),
    ("reading a trace, one core", "{reading.operators} million events/s", ""),
]
