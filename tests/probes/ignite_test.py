#!/usr/bin/env python3
"""dwell.ignite on real Ignite: nothing changes for the engine, and the figures are right.

usage: ignite_test.py BUILD [--resnet18]

Run by a Python that has PyTorch and Ignite (tools/venv torch). Handlers' order with and
without a profiler; what Ignite's own profilers get wrong; times of known sleeps; the
tutorial with both attached to one trainer, counts equal and rows above 20 ms within 5%;
its trace under `dwell run`. The last line is "N passed, N failed"; 77: cannot run here.
"""
import contextlib
import copy
import csv
import io
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import tempfile
import time

import again
import built

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, "..", ".."))
BUILD = os.path.abspath(sys.argv[1])
counts = {True: 0, False: 0}


def cannot(why):
    print(f"skip ignite_test: {why}")
    sys.exit(77)


built.enter(BUILD)

try:
    import torch  # noqa: F401
    from ignite.engine import Engine, Events
    from ignite.engine.events import EventEnum
    from ignite import handlers as original
except ImportError as error:
    cannot(error)


def make_package(folder):
    """dwell as users have it: Python files and the build's extension."""
    built = os.path.join(BUILD, "probes", "ignite")
    names = [name for name in os.listdir(built) if re.fullmatch(r"_ignite\..*\.so", name)] \
        if os.path.isdir(built) else []
    if not names:
        cannot(f"{BUILD} has no dwell._ignite: Python's headers were missing")
    shutil.copytree(os.path.join(ROOT, "python", "dwell"), os.path.join(folder, "dwell"))
    os.symlink(os.path.join(built, names[0]), os.path.join(folder, "dwell", names[0]))
    sys.path.insert(0, folder)
    os.environ["PYTHONPATH"] = folder


def check(what, good, detail=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED {what} {detail}")


def same(what, got, wanted):
    # Not written out without need: under Python 3.11.2 Ignite's events have no repr().
    check(what, got == wanted, "" if got == wanted else f"\n  got    {got}\n  wanted {wanted}")


def waited():
    """Seconds for which this thread was ready and waited for a processor, until now."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            return int(file.read().split()[1]) / 1e9
    except OSError:
        return 0


def near(what, got, wanted, part=0.05, slack=0):
    check(what, abs(got - wanted) <= part * wanted + slack, f"{got} is not near {wanted} (waited for {slack} s)")


def is_sleep(got, wanted):
    """Whether a time is that of a sleep: never shorter, and only a little longer."""
    return wanted <= got < 1.5 * wanted + 0.05


def slept(what, got, wanted):
    check(what, is_sleep(got, wanted), f"{got} is no sleep of {wanted}")


class Batches:
    """`count` batches; fetching the k-th of a run takes `wait` * k."""

    def __init__(self, count, wait=0.0):
        self.count, self.wait, self.fetched = count, wait, 0

    def __len__(self):
        return self.count

    def __iter__(self):
        for i in range(self.count):
            self.fetched += 1
            time.sleep(self.wait * self.fetched)
            yield i


class Custom(EventEnum):
    BACKWARD = "backward"


# ---- the engine does what it did --------------------------------------------------------


def scenario(kind, attach):
    """What is called in which order, as text, and how the run ended."""
    seen = []

    def step(engine, batch):
        if kind == "failure" and engine.state.iteration == 2:
            raise ValueError("boom")
        engine.fire_event(Custom.BACKWARD)
        return batch

    engine = Engine(step)
    engine.register_events(*Custom, "text_event", event_to_attr={Custom.BACKWARD: "iteration"})

    def note(*args, **kwargs):
        seen.append((engine.last_event_name, engine.state.epoch, engine.state.iteration,
                     [str(arg) for arg in args if arg is not engine], sorted(kwargs.items())))

    for event in list(Events):
        if event != Events.EXCEPTION_RAISED or kind == "handled failure":
            engine.add_event_handler(event, lambda *args, **kwargs: note(*args, **kwargs))
    engine.add_event_handler(Events.ITERATION_STARTED(every=2), note, "stored", key="word")
    engine.add_event_handler(Events.ITERATION_STARTED(event_filter=lambda engine, value: value == 3), note)
    engine.add_event_handler(Custom.BACKWARD(once=2), lambda: note("no engine"))

    @engine.on(Events.ITERATION_COMPLETED)
    def later(engine):
        if engine.state.iteration == 1:
            engine.add_event_handler(Events.ITERATION_COMPLETED, note, "added in the firing")
            engine.remove_event_handler(later, Events.ITERATION_COMPLETED)
        if kind == "terminate" and engine.state.iteration == 1:
            engine.terminate()

    @engine.on(Events.ITERATION_COMPLETED(once=2))
    def end(engine):
        if kind == "terminate":
            engine.terminate()
        elif kind == "terminate epoch":
            engine.terminate_epoch()
        elif kind == "interrupt":
            engine.interrupt()
        elif kind == "handled failure":
            raise KeyError("in a handler")

    if attach:
        attach(engine)
    for attempt in range(2):
        try:
            engine.run(Batches(3), max_epochs=2)
            seen.append("returned")
        except Exception as error:  # whatever it is, it must be the same
            seen.append(repr(error))
    return seen


def test_order():
    from dwell.ignite import BasicTimeProfiler, HandlersTimeProfiler

    def attach(engine):
        BasicTimeProfiler().attach(engine)
        HandlersTimeProfiler().attach(engine)

    for kind in ("plain", "terminate", "terminate epoch", "interrupt", "failure", "handled failure"):
        same(f"order of {kind}", scenario(kind, attach), scenario(kind, None))


# ---- what the originals get wrong -------------------------------------------------------


def quiet(function, *args):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*args)
    return out.getvalue()


def test_figures():
    from dwell.ignite import BasicTimeProfiler, HandlersTimeProfiler

    engine = Engine(lambda engine, batch: time.sleep(0.03 if engine.state.iteration == 5 else 0.0))

    @engine.on(Events.ITERATION_COMPLETED(every=3))
    def filtered():
        pass

    @engine.on(Events.EPOCH_COMPLETED)
    def slow(engine):
        time.sleep(0.02 * engine.state.epoch)

    for _ in range(2):
        engine.add_event_handler(Events.STARTED, lambda: None)
    engine.add_event_handler(Events.EXCEPTION_RAISED, lambda engine, error: None)
    basic, handlers = BasicTimeProfiler(), HandlersTimeProfiler()
    for profiler in (basic, handlers):
        try:
            profiler.get_results()
            check("results without a run are an error", False)
        except RuntimeError as error:
            check("results without a run are an error", "attach(engine)" in str(error), error)
    basic.attach(engine)
    handlers.attach(engine)

    def measure():
        engine.run(Batches(3, 0.02), max_epochs=2)
        return basic.get_results()

    def is_undisturbed(results):
        fetches, iterations = results["dataflow_stats"], results["processing_stats"]["max/index"]
        return (iterations[1] == 5 and is_sleep(iterations[0], 0.03) and is_sleep(fetches["total"], 0.42) and
                fetches["min/index"][1] == 1 and fetches["max/index"][1] == 6 and
                is_sleep(results["event_handlers_stats"]["EPOCH_COMPLETED"]["total"], 0.06))

    for run in range(3):
        results = again.until(is_undisturbed, measure)
        same(f"run {run}: the longest iteration", results["processing_stats"]["max/index"][1], 5)
        slept("an iteration", results["processing_stats"]["max/index"][0], 0.03)
        same("the shortest fetch", results["dataflow_stats"]["min/index"][1], 1)
        same("the longest fetch", results["dataflow_stats"]["max/index"][1], 6)
        slept("fetches", results["dataflow_stats"]["total"], 0.42)
        slept("EPOCH_COMPLETED", results["event_handlers_stats"]["EPOCH_COMPLETED"]["total"], 0.06)
        rows = {(row[0].split(".")[-1], row[1]): row for row in handlers.get_results()}
        recorded = engine._dwell_recorder.handlers()
        calls = {(name.split(".")[-1], event): stat[0] for name, event, stat in recorded[2]}
        same("calls", calls, {("filtered", "ITERATION_COMPLETED"): 2, ("slow", "EPOCH_COMPLETED"): 2,
                              ("<lambda>", "STARTED"): 1, ("<lambda> #2", "STARTED"): 1,
                              ("<lambda>", "EXCEPTION_RAISED"): 0})
        same("samples do not pile up", recorded[0][0], 6)
        same("the longest epoch", rows["slow", "EPOCH_COMPLETED"][4][1], 2)
        same("never called", rows["<lambda>", "EXCEPTION_RAISED"][2], "not triggered")
    results = handlers.get_results()
    first, second = quiet(handlers.print_results, results), quiet(handlers.print_results, results)
    same("print_results leaves its argument", first, second)
    check("no Nones", "Nones" not in first)
    try:
        basic.attach("x")
    except TypeError as error:
        same("attach", str(error), "Argument engine should be ignite.engine.Engine, but given <class 'str'>")


def count_calls(engine):
    engine.state.calls = getattr(engine.state, "calls", 0) + 1


def test_copies():
    """A copy of a profiled engine is a plain engine, and runs itself."""
    from dwell.ignite import BasicTimeProfiler, HandlersTimeProfiler

    for copied in (copy.deepcopy, copy.copy):
        ends = []
        for profiled in (False, True):
            engine = Engine(lambda engine, batch: count_calls(engine))
            if profiled:
                BasicTimeProfiler().attach(engine)
                HandlersTimeProfiler().attach(engine)
            other = copied(engine)
            ends.append([other.run(Batches(3), max_epochs=2).calls, engine.state.iteration])
        same(f"{copied.__name__} of an engine", ends[1], ends[0])
    profiler = BasicTimeProfiler()
    profiler.attach(Engine(lambda engine, batch: None))
    for other in (copy.deepcopy(profiler), pickle.loads(pickle.dumps(profiler))):
        check("a copied profiler is attached to nothing", other._recorder is None)


def test_types():
    """Results have the types of the installed Ignite's."""
    from dwell import ignite as ours

    def types(value):
        if isinstance(value, dict):
            return {key: types(each) for key, each in value.items()}
        if isinstance(value, (list, tuple)):
            return [type(value).__name__, *map(types, value)]
        return type(value).__name__

    found = []
    for module in (original, ours):
        def step(engine, batch):
            time.sleep(0.001)

        engine, basic, handlers = Engine(step), module.BasicTimeProfiler(), module.HandlersTimeProfiler()
        for event in Events.STARTED, Events.COMPLETED, Events.EPOCH_STARTED, Events.EPOCH_COMPLETED, \
                Events.ITERATION_STARTED, Events.ITERATION_COMPLETED:
            engine.add_event_handler(event, lambda: time.sleep(0.001))
        basic.attach(engine)
        engine.run(Batches(2, 0.001), max_epochs=2)
        results = basic.get_results()
        for event in "GET_BATCH_STARTED", "GET_BATCH_COMPLETED":  # where Ignite's have their own time
            del results["event_handlers_stats"][event]
        found.append([types(results)])
        engine = Engine(step)
        engine.add_event_handler(Events.ITERATION_COMPLETED, lambda: time.sleep(0.001))
        handlers.attach(engine)
        engine.run(Batches(2, 0.001), max_epochs=2)
        found[-1].append(types(handlers.get_results()))
    del found[0][0]["event_handlers_names"], found[1][0]["event_handlers_names"]
    same("types of BasicTimeProfiler's results", found[1][0], found[0][0])
    same("types of HandlersTimeProfiler's results", found[1][1], found[0][1])
    same("the threshold", ours.HandlersTimeProfiler.EVENT_FILTER_THESHOLD_TIME,
         original.HandlersTimeProfiler.EVENT_FILTER_THESHOLD_TIME)


def test_bad_results():
    from dwell.ignite import BasicTimeProfiler, HandlersTimeProfiler

    for profiler, results in ((BasicTimeProfiler, []), (BasicTimeProfiler, {}), (HandlersTimeProfiler, {}),
                              (HandlersTimeProfiler, [[1, 2]] * 4)):
        try:
            profiler.print_results(results)
            check("not results", False)
        except ValueError as error:
            check("not results", f"{profiler.__name__}.get_results()" in str(error), error)


def test_form():
    """Both print the same text but for the figures."""
    from dwell import ignite as ours

    texts = []
    for module in (original, ours):
        def step(engine, batch):
            time.sleep(0.001)

        engine = Engine(step)

        @engine.on(Events.ITERATION_COMPLETED)
        def log(engine):
            time.sleep(0.001)

        @engine.on(Events.EPOCH_COMPLETED(once=9))
        def never(engine):
            pass

        basic, handlers = module.BasicTimeProfiler(), module.HandlersTimeProfiler()
        basic.attach(engine)
        engine.run(Batches(4, 0.001), max_epochs=2)
        text = quiet(lambda: basic.print_results(basic.get_results()))
        engine = Engine(step)
        engine.add_event_handler(Events.ITERATION_COMPLETED, log)
        engine.add_event_handler(Events.EPOCH_COMPLETED(once=9), never)
        handlers.attach(engine)
        engine.run(Batches(4, 0.001), max_epochs=2)
        text += quiet(lambda: handlers.print_results(handlers.get_results()))
        texts.append(re.sub(r" *\d[\d.e-]*(/\d+)?", " N", text))
    same("what is printed", texts[1], texts[0])


def test_timer():
    from dwell.ignite import Timer

    def script(kind):
        engine, timer = Engine(lambda engine, batch: time.sleep(0.02)), kind(average=True)
        timer.attach(engine, start=Events.EPOCH_STARTED, resume=Events.ITERATION_STARTED,
                     pause=Events.ITERATION_COMPLETED, step=Events.ITERATION_COMPLETED)
        engine.run(Batches(3), max_epochs=1)
        return timer

    ours, theirs = again.until(lambda two: abs(two[0].total - two[1].total) <= 0.3 * two[1].total,
                               lambda: (script(Timer), script(original.Timer)))
    same("steps", ours.step_count, theirs.step_count)
    near("value", ours.value(), theirs.value(), 0.3)
    near("total", ours.total, theirs.total, 0.3)
    same("running", ours.running, theirs.running)
    check("reset", ours.reset() is ours and ours.step_count == 0 and ours.running)


# ---- the tutorial ------------------------------------------------------------------------


def compare_stats(what, ours, theirs, slack):
    """An OrderedDict of BasicTimeProfiler each; theirs counts from 0."""
    if theirs["total"] == "not yet triggered":
        return same(what, ours["total"], theirs["total"])
    if theirs.get("mean", theirs["total"]) > 0.02:
        near(f"{what}: total", ours["total"], float(theirs["total"]), slack=slack)
    if theirs.get("mean", 0) > 0.02:
        near(f"{what}: mean", ours["mean"], float(theirs["mean"]), slack=slack)
        near(f"{what}: min", ours["min/index"][0], float(theirs["min/index"][0]), slack=slack)
        near(f"{what}: max", ours["max/index"][0], float(theirs["max/index"][0]), slack=slack)
    return None


def test_tutorial(folder):
    import ignite_tutorial

    os.chdir(folder)
    model = ignite_tutorial.resnet18 if "--resnet18" in sys.argv else ignite_tutorial.small
    profilers, before = {}, waited()
    text = quiet(lambda: profilers.update(ignite_tutorial.profile("both", model)))
    slack = waited() - before  # one profiler may count it and the other not
    with open("output.txt", "w", encoding="utf-8") as file:
        file.write(text)
    if "--resnet18" in sys.argv:
        print(text)
    ours, theirs = profilers["dwell basic"].seen, profilers["ignite basic"].seen
    compare_stats("processing", ours["processing_stats"], theirs["processing_stats"], slack)
    compare_stats("dataflow", ours["dataflow_stats"], theirs["dataflow_stats"], slack)
    for event in ("STARTED", "EPOCH_STARTED", "ITERATION_STARTED", "ITERATION_COMPLETED", "EPOCH_COMPLETED"):
        compare_stats(event, ours["event_handlers_stats"][event], theirs["event_handlers_stats"][event], slack)
    same("the longest iteration", ours["processing_stats"]["max/index"][1],
         theirs["processing_stats"]["max/index"][1] + 1)
    with open("basic_dwell.csv", encoding="utf-8") as a, open("basic_ignite.csv", encoding="utf-8") as b:
        a, b = list(csv.reader(a)), list(csv.reader(b))
    same("columns of the file", a[0], b[0])
    same("rows of the file", [[float(x) for x in row[:2]] for row in a[1:]],
         [[float(x) for x in row[:2]] for row in b[1:]])

    def rows(profiler):
        return {(row[0].split(".")[-1], row[1]): row for row in profiler.seen[:-3]
                if "TimeProfiler" not in row[0] and "Timer." not in row[0]}

    ours, theirs = rows(profilers["dwell handlers"]), rows(profilers["ignite handlers"])
    same("handlers", sorted(ours), sorted(theirs))
    for key, row in theirs.items():
        if key in ours and row[2] != "not triggered" and row[5] > 0.02:
            near(f"{key[0]}: total", ours[key][2], row[2], slack=slack)
            near(f"{key[0]}: max", ours[key][4][0], row[4][0], slack=slack)
    with open("handlers_dwell.csv", encoding="utf-8") as a, open("handlers_ignite.csv", encoding="utf-8") as b:
        a, b = list(csv.reader(a)), list(csv.reader(b))
    same("rows of the handlers' file", len(a), len(b))


def test_trace(folder):
    """The tutorial under `dwell run`: the same in the trace."""
    os.chdir(folder)
    dwell = os.path.join(BUILD, "dwell")
    subprocess.run([dwell, "run", "--cost", "full", "-o", "tutorial.dwell", sys.executable,
                    os.path.join(HERE, "ignite_tutorial.py"), "dwell", "--small"], check=True,
                   capture_output=True)
    done = subprocess.run([dwell, "report", "tutorial.dwell", "--view", "handlers", "--view", "events",
                           "--format", "json"], check=True, capture_output=True, text=True)
    views = json.loads(done.stdout)["views"]
    calls = {row[0].split(".")[-1]: row[2] for row in views[0]["rows"]}
    same("calls in the trace", calls, {"log_training_results": 4, "log_validation_results": 4,
                                       "log_epoch_time": 4, "log_total_time": 2})
    events = {row[0]: row[1] for view in views if "event" in view["columns"][0]["name"] for row in view["rows"]}
    same("iterations in the trace", (events["processing"], events["dataflow"]), (48, 48))
    done = subprocess.run([dwell, "report", "tutorial.dwell", "--layout", "ignite:basic"], check=True,
                          capture_output=True, text=True)
    check("the layout", "- Events.COMPLETED: ['make_trainer.<locals>.log_total_time']" in done.stdout)


def test_every_engine(folder):
    """The tutorial with Ignite's own profilers, unchanged: trainer and evaluator are in the trace."""
    os.chdir(folder)
    dwell = os.path.join(BUILD, "dwell")
    subprocess.run([dwell, "run", "--cost", "full", "-o", "every.dwell", sys.executable,
                    os.path.join(HERE, "ignite_tutorial.py"), "ignite", "--small"], check=True, capture_output=True)

    def processing(*words):
        done = subprocess.run([dwell, "report", "every.dwell", "--view", "events", "--format", "json", *words],
                              check=True, capture_output=True, text=True)
        return json.loads(done.stdout)["views"][0]["rows"][0][:2]

    same("the trainer", processing(), ["processing", 48])
    same("the evaluator", processing("--engine", "engine 2"), ["processing", 4 * (12 + 2)])


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_package(folder)
        sys.path.insert(0, HERE)
        test_order()
        test_figures()
        test_copies()
        test_types()
        test_bad_results()
        test_form()
        test_timer()
        test_tutorial(folder)
        test_trace(folder)
        test_every_engine(folder)
        os.chdir(ROOT)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 1 if counts[False] else 0


sys.exit(main())
