#!/usr/bin/python3
"""Every public name of torch.profiler's objects is there in dwell's, or listed here.

usage: torch_api_test.py BUILD_FOLDER PACKAGE_FOLDER

The two are asked in one process for what they have, so that a new PyTorch shows what is
missing by itself. Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
import inspect
import os
import subprocess
import sys
import tempfile
import warnings

if __name__ == "__main__" and "DWELL_TEST_FOLDER" not in os.environ:
    build, package = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, LD_LIBRARY_PATH=build, PYTHONPATH=package,
                           DWELL_TEST_FOLDER=folder)
        sys.exit(subprocess.run([sys.executable, os.path.abspath(__file__)], env=environment,
                                cwd=folder).returncode)

try:
    import torch
    import torch.profiler as original
except ImportError as error:
    print(f"skip torch_api_test: {error}")
    sys.exit(77)
import dwell  # noqa: E402
import forked  # noqa: E402

# What torch.profiler keeps for itself under public names.
INSIDE = {
    "profile": {"action_map", "activity_filters", "has_cudagraphs", "mem_tl", "preset_metadata",
                "profiler", "record_steps", "step_rec_fn", "use_device"},
    # Imports of its module, and its other tools.
    "module": {"Any", "DeviceType", "ExecutionGraphObserver", "ExecutionTraceObserver",
               "KinetoStepTracker", "Optimizer", "RecordScope", "TypeVarTuple", "Unpack", "is_fbcode",
               "itt", "os", "python_tracer", "register_optimizer_step_post_hook"},
}
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def compare(what, theirs, ours):
    missing = public(theirs) - public(ours) - INSIDE.get(what, set())
    check(f"{what}: no name is missing", not missing, sorted(missing))


def arguments(function):
    return set(inspect.signature(function).parameters)


def result(module):
    with module.profile(record_shapes=True, profile_memory=True) as prof:
        torch.ones(4, 4) @ torch.ones(4, 4)
    return prof


# A program of its own: what is known of PyTorch's objects is found when dwell is first used.
FIRST_USE = """
import torch
with {around}:
    from dwell import profile
    with profile(record_shapes=True):
        torch.ones(2, device="cpu")
with profile(record_shapes=True) as prof:
    torch.ones(3, requires_grad=True).exp().sum().backward()
exps = [event for event in prof.events() if event.name in ("aten::exp", "ExpBackward0")]
print([event.input_shapes for event in exps], len({{event.sequence_nr for event in exps}}))
"""


def check_first_use():
    """Whatever surrounds it, shapes and links are there."""
    server = forked.Server()
    for around in ("torch.no_grad()", "torch.inference_mode()", "torch.autocast('cpu')",
                   "torch.device('meta') if hasattr(torch.device, '__enter__') else torch.no_grad()"):
        with open("first.py", "w", encoding="utf-8") as file:
            file.write(FIRST_USE.format(around=around))
        done = server.alone("first.py")
        shapes, _, numbers = done.stdout.strip().rpartition(" ")
        check(f"first used within {around}", shapes == "[[[3]], [[3]]]" and numbers == "1" and not done.stderr,
              done.stdout + done.stderr)


def main():
    warnings.simplefilter("ignore")
    theirs, ours = result(original), result(dwell)
    compare("module", original, dwell)
    compare("profile", theirs, ours)
    compare("events()", theirs.events(), ours.events())
    compare("FunctionEvent", theirs.events()[0], ours.events()[0])
    compare("time_range", theirs.events()[0].time_range, ours.events()[0].time_range)
    compare("key_averages()", theirs.key_averages(), ours.key_averages())
    compare("FunctionEventAvg", theirs.key_averages()[0], ours.key_averages()[0])
    for name in ("profile", "schedule", "record_function", "tensorboard_trace_handler"):
        their = getattr(original, name, None) or getattr(torch.autograd.profiler, name)
        missing = arguments(their) - arguments(getattr(dwell, name)) - {"kwargs"}
        check(f"{name}(): no argument is missing", not missing, sorted(missing))
    for name in ("key_averages", "export_chrome_trace", "export_stacks", "add_metadata",
                 "export_memory_timeline"):
        if hasattr(original.profile, name):
            missing = arguments(getattr(original.profile, name)) - arguments(getattr(dwell.profile, name))
            check(f"profile.{name}(): no argument is missing", not missing, sorted(missing))
    missing = arguments(type(theirs.key_averages()).table) - arguments(dwell.EventList.table)
    check("table(): no argument is missing", not missing, sorted(missing))

    # What has no meaning is refused by its name.
    for attempt, name in ((lambda: dwell.profile(experimental_config=object()), "experimental_config"),
                          (lambda: ours.toggle_collection_dynamic(True, []), "toggle_collection_dynamic"),
                          (lambda: ours.set_custom_trace_id_callback(None), "custom_trace_id_callback"),
                          (lambda: ours.events()[0].append_kernel("k", 0, 1), "kernel")):
        try:
            attempt()
            check(f"{name} is refused", False, "it was taken")
        except (ValueError, NotImplementedError) as said:
            check(f"{name} is refused", name in str(said), said)

    check_first_use()
    one, two = ours.key_averages()[:2]
    calls = one.count + two.count
    one += two
    check("averages add up", one.count == calls, one.count)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
