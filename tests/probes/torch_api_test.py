#!/usr/bin/python3
"""What dwell.profile refuses, and its first use; drop_ins_test.py compares its names with torch.profiler's.

usage: torch_api_test.py BUILD_FOLDER PACKAGE_FOLDER

Exit status 0: all checks pass; 1: one failed; 77: no PyTorch here.
"""
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
except ImportError as error:
    print(f"skip torch_api_test: {error}")
    sys.exit(77)
import dwell  # noqa: E402
import forked  # noqa: E402

counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    print(("ok   " if good else "FAIL ") + what + ("" if good else f": {said}"))


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
    ours = result(dwell)
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
    one, other = (ours.key_averages()[0] for _ in range(2))
    calls = one.count + other.count
    one += other
    check("averages add up", one.count == calls, one.count)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


if __name__ == "__main__":
    sys.exit(main())
