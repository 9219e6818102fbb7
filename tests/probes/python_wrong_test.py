#!/usr/bin/env python3
"""Nothing that a caller gives to the Python package ends the interpreter: every public function, class, method and
attribute, found by looking, with wrong arguments, with objects that are closed, half made or made twice, and from
two threads.

usage: python_wrong_test.py BUILD_FOLDER PACKAGE_FOLDER      last line: N passed, N failed
"""
import os
import subprocess
import sys
import tempfile

if __name__ == "__main__" and "DWELL_TEST_FOLDER" not in os.environ:
    # The loader reads LD_LIBRARY_PATH once: a process of its own, in a folder of its own.
    build, package = map(os.path.abspath, sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        libraries = ":".join([build, *(f"{build}/src/interfaces/compat/{name}" for name in ("lightning", "singa", "ignite"))])
        environment = dict(os.environ, LD_LIBRARY_PATH=libraries, PYTHONPATH=package, DWELL_TEST_FOLDER=folder)
        sys.exit(subprocess.run([sys.executable, os.path.abspath(__file__)], env=environment, cwd=folder).returncode)

import copy  # noqa: E402
import faulthandler  # noqa: E402
import importlib  # noqa: E402
import inspect  # noqa: E402
import pickle  # noqa: E402
import pkgutil  # noqa: E402
import resource  # noqa: E402
import threading  # noqa: E402
import unittest  # noqa: E402
import warnings  # noqa: E402

import dwell  # noqa: E402
from dwell import profile, record_function, schedule  # noqa: E402

# Where the optional modules of the package lie in a build.
dwell.__path__.append(os.path.join(os.environ["LD_LIBRARY_PATH"].split(":")[0], "probes", "ignite"))


def finished():
    """A profile with results."""
    with profile(name="finished") as prof:
        with record_function("outer"):
            with record_function("inner"):
                pass
    return prof


def wrong_values(prof):
    """What no parameter, or only some, can take."""
    return [None, 0, -1, 2**31, 2**63, 2**64, -2**63 - 1, 1e300, float("nan"), "", "a\0b", "\udcff", "\ud800", "x" * 70000,
            "%s%n", b"\xff\xfe", b"a\0b", b"", [], {}, [None], object(), type, len, prof, prof.trace, prof.events(),
            prof.view("calls"), record_function("value"), schedule(wait=0, warmup=0, active=1), Exception("value")]


GOOD = {"name": "operators", "path": "written", "form": "text", "wait": 1, "warmup": 1, "active": 1, "key": "key",
        "value": "1", "metric": "self_cpu_time_total", "dir_name": "written", "items": (), "dirpath": "written",
        "output_path": "written", "port": 2**17}


def shortly(value):
    try:
        return ascii(value[:40] if isinstance(value, (str, bytes)) else value)[:40]
    except Exception:  # pylint: disable=broad-except
        return f"a {type(value).__name__}"


def modules():
    """The package's public modules that this Python can import."""
    found = [dwell]
    for module in pkgutil.walk_packages(dwell.__path__, "dwell."):
        if any(part.startswith("_") for part in module.name.split(".")) and module.name != "dwell._ignite":
            continue
        try:
            found.append(importlib.import_module(module.name))
        except ImportError:  # PyTorch, Ignite or ONNX Runtime is not there
            pass
    return found


def public_of(thing):
    """(name, value) of the attributes that a user may use, without those that Python's own types have; a property that fails is a
    result too."""
    kinds = thing.__mro__ if isinstance(thing, type) else () if inspect.ismodule(thing) else type(thing).__mro__
    for name in dir(thing):
        owner = next((kind for kind in kinds if name in vars(kind)), None)
        if owner and owner.__module__ == "builtins":
            continue
        if not name.startswith("_") or name in ("__enter__", "__exit__", "__call__", "__init__", "__repr__", "__str__",
                                                "__len__", "__iter__", "__getitem__", "__del__", "_repr_html_"):
            try:
                yield name, getattr(thing, name)
            except Exception:  # pylint: disable=broad-except
                continue


def parameters_of(function):
    try:
        return [p for p in inspect.signature(function).parameters.values() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    except (TypeError, ValueError):
        return []


def calls_of(function, values, good):
    """Argument lists: too few, too many, each value in each place."""
    yield (), {}
    yield (None,) * 12, {}
    yield (), {"no_such_argument": 1}
    parameters = parameters_of(function)
    for value in values:
        yield (value,), {}
        yield (value, value), {}
    for parameter in parameters:
        others = {p.name: good.get(p.name) for p in parameters if p is not parameter and (
            p.default is p.empty or p.name in good and p.kind == p.KEYWORD_ONLY)}
        for value in values:
            named = {**others, parameter.name: value}
            first = [named.pop(p.name) for p in parameters if p.kind == p.POSITIONAL_ONLY and p.name in named]
            yield first, named


SKIPPED = {"dwell.start_server",  # a process for each
           "dwell.notebook.load_ipython_extension"}


class Calls:
    """Every call, in an order that does not change."""

    def __init__(self, log, begin):
        self.log, self.at, self.begin = log, 0, begin
        self.prof = finished()
        self.values = wrong_values(self.prof)
        self.good = {**GOOD, "trace": self.prof.trace, "row": {"name": "x"}, "step": 1}
        self.seen = set()

    def call(self, label, function, arguments, named):
        self.at += 1
        if self.at <= self.begin:
            return None
        self.log.seek(0)
        self.log.write(f"{self.at} {label}{' ' * 200}\n")
        self.log.flush()
        try:
            return function(*arguments, **named)
        except BaseException:  # pylint: disable=broad-except
            return None

    def all_calls(self, label, function, values=None):
        for arguments, named in calls_of(function, values or self.values, self.good):
            shown = ", ".join([shortly(a) for a in arguments] + [f"{k}={shortly(v)}" for k, v in named.items()])
            made = self.call(f"{label}({shown})"[:300], function, arguments, named)
            if made is not None and type(made).__module__.startswith("dwell") and type(made) not in self.seen:
                self.seen.add(type(made))
                self.all_methods(f"{label}({shown})[:100]", made, self.values[:22])
                self.common(label, made)
                self.half_made(type(made).__name__, type(made))

    def common(self, label, thing):
        for what in (copy.copy, copy.deepcopy, pickle.dumps, repr, str, list, hash, bool):
            self.call(f"{what.__name__}({label})", what, (thing,), {})

    def all_methods(self, label, thing, values):
        for name, value in public_of(thing):
            if callable(value):
                self.all_calls(f"{label}.{name}", value, values)

    def half_made(self, label, kind):
        """An object that __init__ never saw, and one that saw it twice."""
        for maker in (kind.__new__, object.__new__):
            thing = self.call(f"{maker.__qualname__}({label})", maker, (kind,), {})
            if thing is not None:
                self.all_methods(f"{label}.__new__()", thing, self.values[:6])
                self.common(f"{label}.__new__()", thing)
            del thing

    def run(self):
        for module in modules():
            for name, value in public_of(module):
                label = f"{module.__name__}.{name}"
                if not callable(value) or not getattr(value, "__module__", "").startswith("dwell") or label in SKIPPED:
                    continue
                self.all_calls(label, value)
                if isinstance(value, type):
                    self.half_made(label, value)
        events, sums = self.prof.events(), self.prof.key_averages()
        for thing in (self.prof, self.prof.trace, events, events[0], events[0].time_range, sums, sums[0], self.prof.view("calls"),
                      record_function("x"), schedule(wait=1, warmup=0, active=1), sums.total_average()):
            label = f"a {type(thing).__name__}"
            self.common(label, thing)
            self.all_methods(label, thing, self.values)
            self.all_calls(type(thing).__name__, type(thing))
            self.half_made(type(thing).__name__, type(thing))
        return self.at


def child(begin):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))  # an error before the machine has no memory
    warnings.simplefilter("ignore")
    threading.excepthook = lambda _: None
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with open("log", "w", encoding="utf-8") as log:
        count = Calls(log, begin).run()
    with open("count", "w", encoding="utf-8") as file:
        file.write(str(count))
    os._exit(0)  # what half-made servers and profilers do at the end is no part of this


class Wrong(unittest.TestCase):
    def test_every_public_callable(self):
        crashes, begin = [], 0
        while len(crashes) < 40:
            done = subprocess.run([sys.executable, __file__, "child", str(begin)], capture_output=True, text=True,
                                  errors="replace", timeout=300)
            if done.returncode == 0:
                break
            with open("log", encoding="utf-8") as log:
                number, _, label = log.readline().strip().partition(" ")
            begin = int(number)
            crashes.append(f"{label}: status {done.returncode}\n{done.stderr[-1500:]}")
        self.assertEqual([], crashes, "\n".join(crashes))
        with open("count", encoding="utf-8") as file:
            self.assertGreater(int(file.read()), 5000)

    def refused(self, error, words, function, *arguments, **named):
        with self.assertRaises(error) as raised:
            function(*arguments, **named)
        for word in words:
            self.assertIn(word, str(raised.exception))

    def test_errors_name_the_argument_and_the_remedy(self):
        prof = finished()
        self.refused(TypeError, ["trace", "int", "path"], dwell.View, 5, "operators")
        self.refused(dwell.Error, ["nowhere.dwell", "No such file"], dwell.View, "nowhere.dwell", "operators")
        self.refused(TypeError, ["sort", "give a text"], prof.view, "operators", sort=5)
        self.refused(ValueError, ["limit", "give a number"], prof.view, "operators", limit=2**70)
        self.refused(TypeError, ["skip_iteration", "whole number"], prof.view, "sequence", skip_iteration="x")
        self.refused(ValueError, ["name", "NUL"], record_function, "a\0b")
        self.refused(TypeError, ["name", "NoneType", "give a text"], record_function, None)
        self.refused(ValueError, ["name", "NUL"], dwell.mark, "a\0b")
        self.refused(TypeError, ["name", "give a text"], dwell.counter, None, 1)
        self.refused(TypeError, ["on_trace_ready", "function"], profile, on_trace_ready=5)
        self.refused(ValueError, ["activities", "nonsense", "ProfilerActivity.CPU"], profile, activities=["nonsense"])
        self.refused(ValueError, ["wait", "number"], schedule, wait=2**40, warmup=0, active=1)
        self.refused(TypeError, ["key", "give a text"], prof.add_metadata, None, "x")
        self.refused(RuntimeError, ["__init__", "dwell.profile()"], profile.__new__(profile).start)
        self.refused(RuntimeError, ["made already"], prof.__init__)
        trace = prof.trace
        trace.close()
        self.refused(ValueError, ["closed"], dwell.View, trace, "calls")
        self.refused(ValueError, ["without a trace"], dwell.EventList().table)
        self.refused(ValueError, ["port", "at most 65535"], dwell.xla.start_server, 2**17)

    def test_view_of_a_path(self):
        prof = finished()
        path = prof.get_trace_id().rpartition("#")[0]
        for trace in (path, os.fsencode(path)):
            self.assertIn("outer", [row["name"] for row in dwell.View(trace, "calls").rows()])

    def test_reads_and_closes_in_two_threads(self):
        code = """
import threading, dwell
for i in range(30):
    with dwell.profile() as prof:
        for j in range(50):
            with dwell.record_function("x"): pass
    trace, ready = prof.trace, threading.Barrier(3)
    def read():
        ready.wait()
        for j in range(20):
            try:
                dwell.View(trace, "calls").rows(), dwell.events.events_of(trace)
            except ValueError as error:
                assert "closed" in str(error)
    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers: reader.start()
    ready.wait()
    if i % 2: trace.close()
    for reader in readers: reader.join()
"""
        self.assertEqual(0, subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], timeout=120).returncode)

    def test_one_profile_in_two_threads(self):
        code = """
import threading, dwell
for i in range(20):
    prof = dwell.profile(schedule=dwell.schedule(wait=1, warmup=1, active=2), on_trace_ready=lambda prof: prof.events())
    def work():
        for j in range(40):
            for call in (prof.start, prof.step, prof.stop):
                try: call()
                except dwell.Error: pass
    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
"""
        done = subprocess.run([sys.executable, "-X", "faulthandler", "-W", "ignore", "-c", code], timeout=120)
        self.assertEqual(0, done.returncode)


if __name__ == "__main__":
    if sys.argv[1:2] == ["child"]:
        child(int(sys.argv[2]))
    import dwell.events  # noqa: F401
    import dwell.xla  # noqa: F401
    program = unittest.main(exit=False, verbosity=0)
    failed = len(program.result.failures) + len(program.result.errors)
    print(f"{program.result.testsRun - failed} passed, {failed} failed")
    sys.exit(failed != 0)
