#!/usr/bin/python3
"""A program of C++ on LibTorch, unmodified under `dwell run`: what is recorded is what the program counts itself.

usage: torch_native_test.py path/to/dwell [--recorded | program]

The program (torch_native_program.cpp) is built with the PyTorch of this Python, or with Debian's libtorch-dev.
--recorded: only what depends on PyTorch's version, and not how a program loads PyTorch or which name begins its steps.
It counts operators with a callback of its own, or with PyTorch's profiler, and its steps, evaluations and bytes of parameters.

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here, or no compiler and headers for it.
"""
import bisect
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import installed

TORCH = installed.need("torch")
MOST_APART_NS = 200000  # a wait, by the program's clock and as it is recorded
HERE = os.path.dirname(os.path.abspath(__file__))

HOST = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* Calls main() of a plugin. FORK: in a child process. SECOND: a library that is loaded then. UNLOAD: loads and unloads the
 * plugin twice. APART: among libraries of its own. */
int main(int count, char **words)
{
	pid_t child = getenv("FORK") ? fork() : 0;
	int status = 1, (*plugin_main)(int count, char **words);

	if (child) {
		waitpid(child, &status, 0);
		return status != 0;
	}
	for (int i = 0; i < (getenv("UNLOAD") ? 2 : 1); i++) {
		void *plugin = getenv("APART") ? dlmopen(LM_ID_NEWLM, words[1], RTLD_NOW) : dlopen(words[1], RTLD_NOW | RTLD_LOCAL);
		*(void **)&plugin_main = plugin ? dlsym(plugin, "main") : NULL;
		if (getenv("SECOND"))
			dlopen(getenv("SECOND"), RTLD_NOW);
		status = plugin_main ? plugin_main(count - 1, words + 1) : 1;
		if (getenv("UNLOAD") && (dlclose(plugin) || dlopen(words[1], RTLD_NOW | RTLD_NOLOAD)))
			return 2;
	}
	return status;
}
"""

# A model that AOTInductor compiles for a program without Python, and that program.
COMPILE = """
import sys
import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval()
with torch.no_grad():
    torch._inductor.aoti_compile_and_package(torch.export.export(model, (torch.ones(4, 8),)), package_path=sys.argv[1])
"""
PACKAGE = """
#include <ATen/ATen.h>
#include <torch/csrc/inductor/aoti_package/model_package_loader.h>

int main(int count, char **words)
{
	torch::inductor::AOTIModelPackageLoader loader(words[1]);
	std::vector<at::Tensor> inputs = { at::ones({ 4, 8 }) };

	for (int i = 0; i < 20; i++)
		if (loader.run(inputs).at(0).numel() != 32)
			return 1;
	return 0;
}
"""


def flags():
    """How to compile with this PyTorch; None: it has no headers."""
    folder = os.path.dirname(installed.place("torch"))
    include, library = os.path.join(folder, "include"), os.path.join(folder, "lib")
    if os.path.exists(os.path.join(include, "torch/csrc/api/include/torch/torch.h")):
        # Old builds have the older strings of C++.
        new = any(b"__cxx11" in open(file, "rb").read(1 << 20) for file in glob.glob(os.path.join(library, "libc10.so")))
        return [f"-D_GLIBCXX_USE_CXX11_ABI={int(new)}", "-I", include, "-I", os.path.join(include, "torch/csrc/api/include"),
                "-L", library, "-Xlinker", f"-rpath={library}"]
    if os.path.exists("/usr/include/torch/csrc/api/include/torch/torch.h"):
        return ["-I", "/usr/include/torch/csrc/api/include"]
    return None


def library():
    return (glob.glob(os.path.join(os.path.dirname(installed.place("torch")), "lib/libtorch_cpu.so")) or
            glob.glob("/usr/lib/*/libtorch_cpu.so"))[0]


def main():
    dwell, failures, options, said = os.path.abspath(sys.argv[1]), 0, flags(), ""
    if not options or not shutil.which("g++"):
        print(f"skip torch_native_test: PyTorch {TORCH} has no headers here (Debian: libtorch-dev), or there is no g++")
        return 77

    def check(name, passed, detail):
        nonlocal failures
        failures += not passed
        print(f"{'ok  ' if passed else 'FAIL'} {name}: {detail}", flush=True)

    def equal(name, mine, theirs):
        check(name, mine == theirs, f"{mine}, the program counted {theirs}" if mine != theirs else str(mine)[:90])

    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "torch_native_program")
        recorded = "--recorded" in sys.argv
        if len(sys.argv) > 2 and not recorded:  # it is built
            program = os.path.abspath(sys.argv[2])
        else:
            libraries = ("-ltorch", "-ltorch_cpu", "-lc10", "-pthread")
            source = os.path.join(HERE, "torch_native_program.cpp")
            installed.compile_once("torch", ["g++", "-std=c++17", "-w", "-fPIC", "-c", source, *options], program + ".o", source)
            subprocess.run(["g++", program + ".o", "-o", program, *options, *libraries], check=True)
            if not recorded:
                with open(program + ".map", "w", encoding="utf-8") as file:  # without it, the plugin is never unloaded
                    file.write("{ global: main; local: *; };")
                subprocess.run(["g++", "-shared", program + ".o", "-o", program + ".so", "-Xlinker", f"--version-script={program}.map",
                                *options, *libraries], check=True)

        def run(mode, *more, command=(program,), options=(), **environment):
            trace = os.path.join(folder, f"{mode}.dwell")
            done = subprocess.run([dwell, "run", "--cost", "full", "--shapes", *options, "-o", trace, *command, mode,
                                   os.path.join(folder, "file.pt"), *more], capture_output=True, text=True,
                                  env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
            nonlocal said
            said = done.stderr
            if done.returncode:
                print(done.stdout, done.stderr)
            check(f"{mode}: the run", done.returncode == 0 and "dwell does not know" not in done.stderr,
                  "\n".join(done.stderr.strip().splitlines()[-8:]))
            return trace, json.loads(done.stdout.strip().splitlines()[-1])

        def events(trace):
            chrome = trace + ".json"
            subprocess.run([dwell, "export", "-f", "chrome", "-o", chrome, trace], check=True)
            with open(chrome, encoding="utf-8") as file:
                return json.load(file)["traceEvents"]

        def rows(trace, view):
            done = subprocess.run([dwell, "report", "--view", view, "--format", "csv", trace], capture_output=True, text=True)
            return done.stdout.splitlines()

        def count(found, category):
            counted = {}
            for event in found:
                if event["ph"] == "X" and event["cat"] == category:
                    counted[event["name"]] = counted.get(event["name"], 0) + 1
            return counted

        def steps(trace):
            return len(rows(trace, "steps")) - 1

        def equal_but_lost(name, trace, theirs):
            """Each operator is recorded, or counted as lost: a thread waits for the recorder for a bounded time."""
            found = count(events(trace), "cpu_op")
            lost = re.search(r"^lost +([\d,]+) records", subprocess.run([dwell, "info", trace], capture_output=True, text=True).stdout, re.M)
            missing = {what: times - found.get(what, 0) for what, times in theirs.items() if times != found.get(what)}
            check(name, set(found) == set(theirs) and min(missing.values(), default=0) >= 0 and
                  sum(missing.values()) <= int(lost[1].replace(",", "") if lost else 0), f"missing {missing}, {lost and lost[0]}")

        def equal_waits(name, found, own_ns, unknown=0):
            """All waits are recorded, except for `unknown` ones. The program measured each wait with its own clock. Half of the recorded
            waits agree with it; the others may differ, because the clock also runs while other programs have the processor."""
            own = sorted(own_ns)
            apart = sorted(min(abs(wait * 1000 - nearest) for nearest in own[max(at - 1, 0):at + 1])
                           for wait, at in ((wait, bisect.bisect(own, wait * 1000)) for wait in found))
            check(name, len(found) >= len(own) - unknown > 0 and apart[len(apart) // 2] < MOST_APART_NS,
                  f"{len(found)} of {len(own)}, of which half are {apart[len(apart) // 2] if apart else 0:.0f} ns apart or less")

        def check_own_steps():
            """A program that marks its steps itself: only these."""
            build, marked = os.path.dirname(dwell), os.path.join(folder, "marked")
            subprocess.run(["gcc", "-x", "c", "-", "-o", marked, "-I", os.path.join(HERE, "../../include"), "-Wl,--no-as-needed",
                            "-L", build, "-ldwell", "-Xlinker", f"-rpath={build}", *options, "-ltorch_cpu", "-lc10"],
                           input="#include <dwell/probe.h>\nint main(void) { for (int i = 0; i < 5; i++) { DWELL_STEP(); } return 0; }\n",
                           text=True, check=True)
            trace = os.path.join(folder, "marked.dwell")
            subprocess.run([dwell, "run", "--cost", "full", "-o", trace, marked], check=True, capture_output=True)
            equal("a program's own steps", steps(trace), 5)

        def check_package():
            """Each run of a compiled model is a step, as that of a TorchScript module."""
            package, program = os.path.join(folder, "model.pt2"), os.path.join(folder, "package")
            done = subprocess.run([sys.executable, "-c", COMPILE, package], capture_output=True, text=True, cwd=folder)
            if done.returncode:
                print(f"skip AOTInductor's package: {done.stderr.strip().splitlines()[-1]}")
                return
            installed.compile_once("torch", ["g++", "-std=c++20", "-w", "-x", "c++", "-", *options, "-ltorch", "-ltorch_cpu", "-lc10", "-pthread"],
                                   program, text=PACKAGE)
            trace = os.path.join(folder, "package.dwell")
            subprocess.run([dwell, "run", "--cost", "full", "-o", trace, program, package], check=True, capture_output=True)
            equal("runs of AOTInductor's package", steps(trace), 20)

        def check_ranks():
            """Two ranks with gloo: each collective with its group and bytes, and the program's own time in waits."""
            program = os.path.join(folder, "ranks")
            if not any(os.path.exists(os.path.join(include, "gloo/context.h")) for include in ["/usr/include", *options]):
                print("skip ranks: no headers of gloo (Debian: libgloo-dev)")
                return
            source = os.path.join(HERE, "torch_native_ranks.cpp")
            installed.compile_once("torch", ["g++", "-std=c++17", "-w", "-DUSE_C10D_GLOO", source, *options, "-ltorch", "-ltorch_cpu", "-lc10", "-pthread"],
                                   program, source)
            check_group(program, "Work.wait", ())
            if TORCH[0] != "1":
                check_group(program, "DistributedDataParallel.finalize_backward", ("reducer",))

        def check_group(program, wait, way):
            traces = [os.path.join(folder, f"rank{rank}{''.join(way)}.dwell") for rank in range(2)]
            store = tempfile.mkdtemp(dir=folder)
            running = [subprocess.Popen([dwell, "run", "--cost", "full", "-o", trace, program, str(rank), store, *way], text=True,
                                        stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"})
                       for rank, trace in enumerate(traces)]
            truths = [json.loads(process.communicate(timeout=120)[0].strip().splitlines()[-1]) for process in running]
            for rank, (trace, truth) in enumerate(zip(traces, truths)):
                equal(f"{wait}: steps of rank {rank}", steps(trace), truth["steps"])
                waits = [event["dur"] for event in events(trace) if event["ph"] == "X" and event["name"] == wait]
                if way:  # rank 1 sleeps 20 ms
                    check(f"{wait}: each backward", len(waits) == truth["steps"] and (rank == 1 or sorted(waits)[len(waits) // 2] > 10000), waits)
                else:
                    equal_waits(f"{wait}: time of rank {rank}", waits, truth["waits_ns"])
            said = json.loads(subprocess.run([dwell, "ranks", "--format", "json", *traces], capture_output=True, text=True,
                                             check=True).stdout)
            tables = {view["part"]: [dict(zip([column["name"] for column in view["columns"]], row)) for row in view["rows"]]
                      for view in said["views"]}
            equal(f"{wait}: ranks", [row["rank"] for row in tables["ranks"]], [0, 1])
            found = {row["operation"]: (row["group"], row["ranks"], row["count"], (row["bytes"] or 0) * row["count"])
                     for row in tables["collectives"] if row["count"]}
            equal(f"{wait}: group, ranks, calls, bytes of collectives", found,
                  {name: (*{"all_reduce": ("gradients", 2), "send": ("0 -> 1 of others", 1), "recv": ("0 -> 1 of others", 1)}.get(name, ("others", 2)),
                          calls, sum_bytes)
                   for truth in truths for name, (calls, sum_bytes) in truth["collectives"].items()})
            equal(f"{wait}: the last rank of all_reduce",
                  [row["last_rank"] for row in tables["collectives"] if row["operation"] == "all_reduce"], [1])

        def check_limits():
            """More modules than get names, a large model that is asked for its parameters, and many threads."""
            trace, truth = run("modules")
            found = count(events(trace), "user_annotation")
            equal("many modules: calls", sum(times for name, times in found.items() if name.startswith(("Many.m", "Identity"))), 120000)
            check("many modules: names", sum(name.startswith("Many.m") for name in found) == 16383 and found["Identity"] > 0, len(found))
            check("many modules: the limit", "the program has had more than 16,384 modules" in said, said[:120])
            trace, truth = run("asks")
            alone = json.loads(subprocess.run([program, "asks"], capture_output=True, text=True, check=True).stdout.splitlines()[-1])
            check("asking a model for its parameters", truth["waited_us"] < 5 * alone["waited_us"],
                  f"{truth['waited_us'] / 100:.0f} us recorded, {alone['waited_us'] / 100:.0f} us alone")
            trace, truth = run("crowd")
            equal_but_lost("300 threads: each operator", trace, truth["operators"])
            equal("300 threads: steps", steps(trace), truth["steps"])
            equal("300 threads: a layer", count(events(trace), "user_annotation").get("Net.block.inner"), truth["steps"])

        def check_classes():
            """Each class of torch::nn whose forward() is in the library is a layer."""
            with open(os.path.join(HERE, "../../probes/torch/abi/entries.c"), encoding="utf-8") as file:
                known = set(re.findall(r"X\((\w+)\)", file.read().split("#define ENTRY_LAYERS")[1].split("#define X")[0]))
            names = subprocess.run(["nm", "-D", "--defined-only", library()], capture_output=True, text=True, check=True).stdout
            classes = set(re.findall(r" _ZN5torch2nn\d+(\w+)Impl7forwardE", names))
            check("classes of torch::nn", len(classes) > 100 and not classes - known, f"{len(classes)}, not known {classes - known}")

        def check_static():
            """No package has a LibTorch that can be linked statically. This program contains the library's bytes instead."""
            program = os.path.join(folder, "static")
            subprocess.run(["gcc", "-x", "c", "-", "-o", program], input="int main(void) { return 0; }", text=True, check=True)
            subprocess.run(["objcopy", "--add-section", f".torch={library()}", program], check=True)
            done = subprocess.run([dwell, "run", "-o", os.path.join(folder, "static.dwell"), program], capture_output=True, text=True)
            said = [line for line in done.stderr.splitlines() if "PyTorch" in line]
            check("a LibTorch inside the program", len(said) == 1 and "PyTorch is not recorded: it is a part of" in said[0], said)
            os.remove(program)

        check_static()
        check_classes()
        check_ranks()
        check_limits()
        # The program as a plugin: PyTorch is loaded with it.
        if os.path.exists(program + ".so"):
            host, plugin = os.path.join(folder, "host"), program + ".so"
            subprocess.run(["gcc", "-x", "c", "-", "-o", host, "-ldl", "-Xlinker", f"-rpath={folder}", "-Wl,--enable-new-dtags"], input=HOST,
                           text=True, check=True)
            for name, environment in (("plugin", {}), ("plugin after a fork", {"FORK": "1"})):
                trace, truth = run("train", command=(host, plugin), **environment)
                equal(f"{name}: each operator", count(events(trace), "cpu_op"), truth["operators"])
                equal(f"{name}: steps", steps(trace), truth["steps"])
                equal(f"{name}: a layer", count(events(trace), "user_annotation").get("Net.block.inner"),
                      truth["steps"] + 3 * truth["evaluations"])
            trace, truth = run("train", command=(host, plugin), UNLOAD="1")
            equal("a plugin that is unloaded and loaded again: each operator", count(events(trace), "cpu_op"),
                  {name: 2 * times for name, times in truth["operators"].items()})
            equal("a plugin that is unloaded and loaded again: steps", steps(trace), 2 * truth["steps"])
            trace, truth = run("closure", command=(host, plugin), APART="1")
            check("a LibTorch of dlmopen() is not recorded", count(events(trace), "cpu_op") == {} and truth["steps"] == 4, said[:90])
            run("closure", command=(host, os.path.basename(plugin)))
            check("a plugin of the caller's folders", "it was loaded by a dlopen() that looks in the folders of its caller" in said,
                  said[:200])
            os.mkdir(os.path.join(folder, "second"))
            second = os.path.join(folder, "second/libtorch_cpu.so")
            subprocess.run(["gcc", "-shared", "-x", "c", "-", "-o", second], input="int second;", text=True, check=True)
            trace, truth = run("closure", command=(host, plugin), SECOND=second)
            check("a second LibTorch", "the process has two LibTorch, and the second one is not recorded" in said, said[:200])
            equal("a second LibTorch: operators of the first", count(events(trace), "cpu_op"), truth["operators"])
        for name, times in () if recorded else (("the rest", 5), ("scores", 5), ("Net.first", 5), ("Linear", 15)):
            trace, truth = run("zones", options=("--step-on", name))
            equal(f"--step-on {name}", steps(trace), times)
        if not recorded:
            trace, truth = run("zones", options=("--step-on", "a typing error"))
            check("--step-on without such a name", steps(trace) < 1 and "--step-on a typing error: " in said, said[:200])
            check_own_steps()
            if TORCH[0] != "1":
                check_package()

        trace, truth = run("train")
        found = events(trace)
        equal("each operator", count(found, "cpu_op"), truth["operators"])
        equal("steps", steps(trace), truth["steps"])
        ranges = count(found, "user_annotation")
        layers = ("Net.first", "Net.block.inner", "Net.rest.0", "Net.rest.1")
        calls = truth["steps"] + 3 * truth["evaluations"]
        equal("layers by their path", {name: ranges.get(name) for name in layers}, dict.fromkeys(layers, calls))
        for name, times in (("forward", truth["steps"]), ("backward", truth["steps"]), ("optimizer", 2 * truth["steps"]),
                            ("evaluation", truth["evaluations"]), ("torch::save", 1)):
            equal(name, ranges.get(name), times)
        linked = [event["args"] for event in found if event.get("name") == "AddmmBackward0"]
        check("each backward knows its forward", linked and all("Sequence number" in args and args["Fwd thread id"]
                                                                for args in linked), len(linked))
        shapes = {json.dumps(event["args"].get("Input Dims")) for event in found if event.get("name") == "aten::relu"}
        equal("shapes", shapes, {"[[32, 16]]"})
        held = [row.split(",") for row in rows(trace, "memory") if row.startswith("parameter,")]
        check("bytes of parameters", held and str(truth["parameters"]) in held[0], f"{truth['parameters']} in {held}")
        trace, truth = run("zones")
        found = [event for event in events(trace) if event["ph"] == "X"]
        equal("zones: operators", count(found, "cpu_op"), truth["operators"])
        for zone, name, times in (("scores", "aten::addmm", 3), ("scores", "aten::log_softmax", 0), ("the rest", "AddmmBackward0", 3)):
            inside = [sum(event["name"] == name and around["ts"] <= event["ts"] and event["ts"] + event["dur"]
                          <= around["ts"] + around["dur"] for event in found) for around in found if around["name"] == zone]
            equal(f"zones: {name} in {zone}", inside, [times] * truth["steps"])
        trace, truth = run("loader")
        # The first wait of a loader is not known as one.
        equal_waits("waits for a DataLoader's threads", [event["dur"] for event in events(trace) if event.get("args", {}).get("Category") == "data"],
                    truth["waits_ns"], 1)
        equal("steps with a DataLoader", steps(trace), truth["steps"])
        for mode in ("closure", "manual", "script", "threads", "throws", "fork", "nothing", "profiler"):
            trace, truth = run(mode)
            equal(f"{mode}: operators", count(events(trace), "cpu_op"), truth["operators"])
            equal(f"{mode}: steps", steps(trace), truth["steps"])
    print(f"PyTorch {TORCH}: {'all passed' if not failures else f'{failures} failed'}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
