#!/usr/bin/env python3
"""dwell.lightning's profilers in programs as people write them.

usage: lightning_profilers_test.py BUILD

Run by a Python that has Lightning (both packages), PyTorch and snakeviz. Scripts run as
programs of their own: the documentation's custom profiler and custom action, an unchanged
script under `dwell run`, each profiler beside Lightning's clock. Then all options of
PyTorchProfiler and AdvancedProfiler, bad input, and what the originals do wrong, numbered as
in doc/how/from-lightning.md. The last line is "N passed, N failed"; 77: cannot run here.
"""
import contextlib
import copy
import io
import json
import logging
import os
import pickle
import pstats
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import again
import built
import forked
import installed

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.abspath(os.path.join(HERE, "..", "..", "python"))
BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
LOGGER = "pytorch_lightning.profilers.profiler"
counts = {True: 0, False: 0}

built.enter(BUILD, "src/interfaces/compat/lightning", PYTHONWARNINGS="ignore")
warnings.filterwarnings("ignore")
try:
    import pytorch_lightning  # noqa: F401
    import torch
    from snakeviz.stats import json_stats, table_rows
except ImportError as error:
    print(f"skip lightning_profilers_test: {error}")
    sys.exit(77)
sys.path.insert(0, PACKAGE)
SERVER = forked.Server("lightning.pytorch", "pytorch_lightning", env={**os.environ, "PYTHONPATH": PACKAGE})
import dwell.lightning as own  # noqa: E402

COMMON = """
import json, sys, time, warnings
warnings.filterwarnings("ignore")
import torch
from torch.utils.data import DataLoader, Dataset
pl = __import__(sys.argv[1], fromlist=["Trainer"])
class Ones(Dataset):
    def __len__(self): return 8
    def __getitem__(self, index): return torch.ones(4)
class Model(pl.LightningModule):
    def __init__(self, profiler=None):
        super().__init__()
        self.layer, self.profiler = torch.nn.Linear(4, 2), profiler or pl.profilers.PassThroughProfiler()
    def custom_processing_step(self, data):
        with self.profiler.profile("my_custom_action"): time.sleep(0.03)
        return self.layer(data).sum()
    def training_step(self, batch, index): return self.custom_processing_step(batch)
    def validation_step(self, batch, index): self.custom_processing_step(batch)
    def test_step(self, batch, index): self.custom_processing_step(batch)
    def predict_step(self, batch, index): return self.custom_processing_step(batch)
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), 0.1)
def train(profiler, stages="fit validate test predict", model=None):
    trainer = pl.Trainer(profiler=profiler, max_epochs=1, enable_progress_bar=False, logger=False,
                         enable_checkpointing=False, enable_model_summary=False, accelerator="cpu")
    data = DataLoader(Ones(), batch_size=2)
    for stage in stages.split():
        taken = model or Model(None if isinstance(profiler, str) else profiler)
        getattr(trainer, stage)(taken, *([data, data] if stage == "fit" else [data]))
"""
CUSTOM = COMMON + """
from collections import defaultdict
from dwell.lightning import BaseProfiler
class ActionCountProfiler(BaseProfiler):
    def __init__(self, dirpath=None, filename=None):
        super().__init__(dirpath=dirpath, filename=filename)
        self._action_count, self._action_first_occurrence = defaultdict(int), {}
    def start(self, action_name):
        self._action_first_occurrence.setdefault(action_name, time.strftime("%m/%d/%Y, %H:%M:%S"))
    def stop(self, action_name):
        self._action_count[action_name] += 1
    def summary(self):
        width = max(len(name) for name in self._action_count)
        return "\\nProfile Summary: \\n" + "".join(
            f"{name:<{width}s} \\t {self._action_first_occurrence[name]} \\t {count} \\n"
            for name, count in self._action_count.items() if count > 1)
    def teardown(self, stage):
        self._action_count.clear()
        self._action_first_occurrence.clear()
        super().teardown(stage=stage)
train(ActionCountProfiler(), "fit test")
"""
ACTION = COMMON + """
from dwell.lightning import PassThroughProfiler, SimpleProfiler
train(SimpleProfiler(), "fit")
train(PassThroughProfiler(), "fit")
"""
PLAIN = COMMON + """
train("simple" if len(sys.argv) > 2 else None, "fit test", Model())
"""
# Ours with Lightning's clock within each action: what it measured goes to theirs.json.
BOTH = COMMON + """
import dwell.lightning as own
class Both(getattr(own, sys.argv[2])):
    theirs, stages = pl.profilers.SimpleProfiler(), {}
    def start(self, action):
        super().start(action)
        self.theirs.start(action)
    def stop(self, action):
        self.theirs.stop(action)
        super().stop(action)
    def setup(self, *arguments, **named):
        self.theirs.recorded_durations.clear()
        super().setup(*arguments, **named)
    def describe(self):
        self.stages[self._stage] = {name: times for name, times in self.theirs.recorded_durations.items()}
        super().describe()
train(Both())
json.dump(Both.stages, open("theirs.json", "w"))
"""
OPERATORS = COMMON + """
import dwell, dwell.lightning
mode, ready = sys.argv[2], []
options = {
    "defaults": {}, "more": dict(record_functions={"optimizer_step"}, row_limit=3, sort_by_key="self_cpu_time_total",
                                 group_by_input_shapes=True, table_kwargs={"header": "a header"}),
    "repeat": dict(schedule=dwell.schedule(wait=0, warmup=0, active=1, repeat=2), on_trace_ready=ready.append),
    "torch": dict(schedule=torch.profiler.schedule(wait=1, warmup=0, active=2, repeat=1), on_trace_ready=ready.append),
    "files": dict(dirpath="out", filename="perf", export_to_flame_graph=True),
}[mode]
train(dwell.lightning.PyTorchProfiler(**options), "fit test" if mode == "defaults" else "fit")
print(len(ready), "cycles")
"""
ADVANCED = COMMON + """
if sys.argv[2] == "theirs":
    train(pl.profilers.AdvancedProfiler(dirpath="theirs", filename="perf"), "fit")
else:
    from dwell.lightning import AdvancedProfiler
    train(AdvancedProfiler(dirpath="ours", filename="perf", dump_stats=True), "fit")
"""
# The order of a fit of two batches and one of validation, indented.
ORDER = COMMON + """
class Order(pl.profilers.Profiler):
    depth = 0
    def start(self, action):
        print("|" + "  " * self.depth + action)
        self.depth += 1
    def stop(self, action): self.depth -= 1
    def summary(self): return ""
trainer = pl.Trainer(profiler=Order(), max_epochs=1, limit_train_batches=2, limit_val_batches=1, num_sanity_val_steps=0,
                     logger=False, enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False,
                     accelerator="cpu")
trainer.fit(Model(), DataLoader(Ones(), batch_size=2), DataLoader(Ones(), batch_size=2))
"""


def check(good, what):
    counts[bool(good)] += 1
    if not good:
        print(f"FAILED: {what}")


def run(program, *arguments, under=()):
    """What a script of its own prints."""
    with open("script.py", "w", encoding="utf-8") as file:
        file.write(installed.LIGHT + program)
    done = SERVER.alone("script.py", *arguments) if not under else subprocess.run(
        [*under, sys.executable, "script.py", *arguments], capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": PACKAGE})
    check(done.returncode == 0, f"{arguments}: {done.stderr[-600:]}")
    check("Exception ignored" not in done.stderr, f"{arguments}: {done.stderr[-600:]}")
    return done.stdout + done.stderr  # where Lightning's own reports go


def rows(report):
    found = {}
    for line in report.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("Action", "Total"):
            found[cells[0]] = (int(cells[2]), float(cells[3]), float(cells[4]))
    return found


def report(trace, *options):
    return subprocess.run([DWELL, "report", *options, trace], capture_output=True, text=True, check=False).stdout


# ---- scripts -----------------------------------------------------------------------------


def test_documented(package):
    text = run(CUSTOM, package)
    check(text.count("Profile Summary") == 2 and re.search(r"my_custom_action +\t [\d/]+, [\d:]+ \t 10 ", text),
          f"{package}: the custom profiler: {text[-300:]}")
    text = run(ACTION, package)
    mine = rows(text).get("my_custom_action", (0, 0, 0))
    check(mine[0] == 10 and 0.3 <= mine[1] < 0.59, f"{package}: my_custom_action: {mine}")
    check(60 < mine[2] <= 100, f"1. of the stage's own time: {mine[2]}%")


def test_unchanged(package):
    """No line of the script knows dwell."""
    for simple in ((), ("simple",)):
        text = run(PLAIN, package, *simple, under=(DWELL, "run", "-o", "plain.dwell"))
        for stage, step, calls in (("fit", "training_step", 4), ("test", "test_step", 4)):
            mine = rows(report("plain.dwell", "--layout", "lightning", "--profile", stage))
            got = mine.get(f"[Strategy]SingleDeviceStrategy.{step}", (0, 0, 0))
            check(got[0] == calls and got[1] >= 0.12, f"{package} {simple}: {step} {got}")
        theirs = rows(text.partition("TEST Profiler Report")[0])
        if simple:
            mine = rows(report("plain.dwell", "--layout", "lightning", "--profile", "fit"))
            differ = {name for name in theirs if theirs[name][0] != mine.get(name, (0,))[0]}
            check(theirs and differ <= {"[LightningModule]Model.configure_callbacks"}, f"{package}: calls of {differ}")


def test_order():
    """What tests/probes/resnet18_actions_test.py wants is Lightning's."""
    with open(os.path.join(HERE, "lightning_fit.txt"), encoding="utf-8") as file:
        wanted = file.read().replace("MODEL.", "Model.").splitlines()
    got = re.findall(r"^\|(.*)$", run(ORDER, "lightning.pytorch"), re.M)
    check(got == wanted, f"the order of actions: {[pair for pair in zip(got, wanted) if pair[0] != pair[1]][:2]}")


def beside_theirs(name):
    """(trace, Lightning's times by stage and action) of a run with both profilers."""
    run(BOTH, "lightning.pytorch", name)
    with open("theirs.json", encoding="utf-8") as file:
        theirs = json.load(file)
    return max((f for f in os.listdir(".") if f.endswith(".dwell")), key=os.path.getmtime), theirs


def is_near(mine, times):
    """The two clocks of an action are read one after the other; between, another program may run."""
    return sum(times) <= 0.02 or abs(mine[1] - sum(times)) < 0.05 * sum(times)


def are_near(found):
    trace, theirs = found
    for stage, actions in theirs.items():
        mine = rows(report(trace, "--layout", "lightning", "--profile", stage))
        if not all(is_near(mine[action], times) for action, times in actions.items() if action in mine):
            return False
    return True


def test_beside_theirs(name):
    """All four stages, in a program without `dwell run`."""
    trace, theirs = again.until(are_near, lambda: beside_theirs(name))
    check(sorted(theirs) == ["fit", "predict", "test", "validate"], f"{name}: {sorted(theirs)}")
    for stage, actions in theirs.items():
        mine = rows(report(trace, "--layout", "lightning", "--profile", stage))
        check({a: n for a, (n, *_) in mine.items()} == {a: len(t) for a, t in actions.items()},
              f"{name}, {stage}: calls: {set(mine) ^ set(actions)}")
        for action, times in actions.items():
            if sum(times) > 0.02 and action in mine:
                check(is_near(mine[action], times),
                      f"{name}, {stage}, {action}: {mine[action][1]} s, Lightning {sum(times)} s")


# ---- options -------------------------------------------------------------------------------


def test_operators():
    text = run(OPERATORS, "lightning.pytorch", "defaults")
    titles = re.findall(r"Profile stats for: \S*?([a-z_]+)\n", text)
    check(sorted(titles) == ["backward", "test_step", "training_step", "validation_step"], f"tables: {titles}")
    check("aten::linear" in text and "FIT Profiler Report" in text and "TEST Profiler Report" in text, "operators")
    text = run(OPERATORS, "lightning.pytorch", "more")
    check("Profile stats for: [LightningModule]Model.optimizer_step\n" in text, "record_functions")
    check(text.count("a header") == text.count("Profile stats") > 0 and "Input Shapes" in text, "table_kwargs, shapes")
    table = text.partition("optimizer_step\n")[2].partition("Profile stats")[0]
    check(len(re.findall(r"^ +\S.* +\d+ +\[.*$", table, re.M)) == 3, f"row_limit: {table}")
    text = run(OPERATORS, "lightning.pytorch", "repeat")
    check("2 cycles" in text, f"5. repeat, 10. of one step: {text[-40:]}")
    text = run(OPERATORS, "lightning.pytorch", "torch")
    check("1 cycles" in text and re.search(r"aten::linear .* 2  \n", text), "torch.profiler.schedule")
    run(OPERATORS, "lightning.pytorch", "files")
    files = os.listdir("out")
    chrome = [name for name in files if re.fullmatch(r"fit-perf\.\d+\.pt\.trace\.json", name)]
    check("fit-perf.txt" in files and "fit-perf.stack" in files and len(chrome) == 1, files)
    with open(os.path.join("out", chrome[0]), encoding="utf-8") as file:
        names = {event.get("name") for event in json.load(file)["traceEvents"]}
    check("[Strategy]SingleDeviceStrategy.training_step" in names and "aten::linear" in names, "the Chrome trace")
    with open("out/fit-perf.stack", encoding="utf-8") as file:
        check(re.search(r"training_step.* \d+$", file.read(), re.M), "the stacks")


def refused(kind, text, make):
    try:
        make()
        check(False, f"not refused: {text}")
    except kind as error:
        check(text in str(error), f"{text}: {error}")


def test_refused():
    refused(TypeError, "no_such_option", lambda: own.PyTorchProfiler(no_such_option=1))  # 6.
    refused(ValueError, "Found sort_by_key: nope. Should be within", lambda: own.PyTorchProfiler(sort_by_key="nope"))
    own.PyTorchProfiler(sort_by_key="self_cuda_time_total")  # 7.
    refused(KeyError, "Found invalid table_kwargs key: row_limit. This is already a positional argument",
            lambda: own.PyTorchProfiler(table_kwargs={"row_limit": 1}))
    refused(KeyError, "Found invalid table_kwargs key: nope.", lambda: own.PyTorchProfiler(table_kwargs={"nope": 1}))
    refused(ValueError, "ProfilerAction", lambda: own.PyTorchProfiler(schedule=lambda step: 7))
    emitting = own.PyTorchProfiler(emit_nvtx=True)
    with emitting.profile("an action"):  # without a tool nothing is emitted, and nothing is recorded either way
        pass
    emitting.describe()
    check(emitting.summary() == "" and emitting.function_events is None, "emit_nvtx records nothing")
    refused(ValueError, "Attempting to stop recording an action (never) which was never started.",
            lambda: own.SimpleProfiler().stop("never"))
    with open("a file", "w", encoding="utf-8"):
        pass
    profiler = own.SimpleProfiler(dirpath="a file/below", filename="x")
    refused(OSError, "a file is not a folder; give another dirpath", lambda: profiler.setup("fit"))
    used(profiler)
    refused(OSError, "a file", profiler.describe)
    refused(ValueError, "a number of rows", lambda: own.AdvancedProfiler(line_count_restriction=-1))
    refused(ValueError, "a number from 1 to 65535", lambda: own.XLAProfiler(port=99999))


def functions(path):
    """Calls of the script's own functions, each action's."""
    found = {}
    for name in os.listdir(path):
        if name.endswith(".prof"):
            stats = pstats.Stats(os.path.join(path, name)).stats
            found[name] = {key[2].rpartition(".")[2]: row[:2] for key, row in stats.items()
                           if key[0].endswith("script.py")}
    return found


def test_advanced():
    run(ADVANCED, "lightning.pytorch", "theirs")
    run(ADVANCED, "lightning.pytorch", "ours")
    mine = functions("ours")
    with open("theirs/fit-perf.txt", encoding="utf-8") as file:
        theirs = file.read()
    compared = 0
    for part in re.split(r"^Profile stats for: ", theirs, flags=re.M)[1:]:
        action = part.partition("\n")[0].strip()
        path = "fit-perf-" + re.sub(r'[\\/:*?"<>|]', "_", action) + ".prof"
        for calls, function in re.findall(r"^ +([\d/]+) .* script.py:\d+\((\w+)\)$", part, re.M):
            calls, _, primitive = calls.partition("/")
            got = mine.get(path, {}).get(function, ("none",))
            compared += 1
            check(got == (int(primitive or calls), int(calls)), f"{action}: {function}: {got}, cProfile {calls}")
    check(compared > 4, f"{compared} functions compared")
    path = "ours/fit-perf-my_custom_action.prof"
    stats = pstats.Stats(path)
    check("time.sleep" in str(table_rows(stats)), "snakeviz's table")
    stats = pstats.Stats("ours/fit-perf-[Strategy]SingleDeviceStrategy.training_step.prof")
    check(any("training_step" in name for name in json_stats(stats)), "snakeviz's picture")
    shown = subprocess.run([sys.executable, "-m", "pstats", path], input="sort cumulative\nstats 3\n", text=True,
                           capture_output=True, check=False).stdout
    check("time.sleep" in shown, f"python3 -m pstats: {shown[-200:]}")


# ---- actions -------------------------------------------------------------------------------


def sleep():
    time.sleep(0.02)


def profile_sleeps():
    """A profiler with an action within itself, and one in two threads."""
    profiler = own.SimpleProfiler()
    profiler.setup("fit")
    with profiler.profile("x"):
        sleep()
        with profiler.profile("x"):  # 3.
            sleep()
        sleep()
    thread = threading.Thread(target=lambda: (profiler.start("t"), sleep(), profiler.stop("t")))
    with profiler.profile("t"):
        thread.start()
        thread.join()
    return profiler


def test_actions():
    """Nested, in threads, of any bytes, left open."""
    def is_undisturbed(profiler):
        mine = rows(profiler.summary())
        return mine["x"][1] < 0.14 and mine["t"][1] < 0.1

    profiler = again.until(is_undisturbed, profile_sleeps)
    odd = "bytes \udcff\n\ud800 \u00e9"
    with profiler.profile(odd) as name:
        check(name == odd, "what the block is given")
    profiler.start(odd)
    profiler.stop(odd)
    with profiler.profile(7):
        pass
    mine = rows(profiler.summary())
    check(mine["x"][0] == 2 and 0.08 <= mine["x"][1] < 0.14, f"3. an action within itself: {mine['x']}")
    check(mine["t"][0] == 2 and 0.04 <= mine["t"][1] < 0.1, f"in two threads: {mine['t']}")
    check(mine["7"][0] == 1, "a name that is no str")
    check(re.search(r"\|  bytes .*\n.*\u00e9 *\t\|  \S+ *\t\|  2 ", profiler.summary()), "a name of any bytes")
    profiler.start("left open")
    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        profiler.teardown()
    check("action 'left open' was open at the end of stage 'fit'" in text.getvalue(), text.getvalue())
    profiler.setup("test")  # 2.
    check(profiler.summary() == "TEST Profiler Report\n\n", profiler.summary())
    profiler.teardown()
    brief = own.SimpleProfiler(extended=False)
    brief.setup("fit")
    check(brief.summary().startswith("FIT Profiler Report"), "9. no actions, extended=False")
    brief.teardown()
    thawed = pickle.loads(pickle.dumps(own.SimpleProfiler("a", "b")))
    check((thawed.dirpath, thawed.filename) == ("a", "b"), "pickled")
    thawed.start("x")
    thawed.stop("x")


def test_synchronize():
    """8. An action waits for what it launched: a device that is a sleep stands for CUDA."""
    cuda, waits = torch.cuda, []
    real = cuda.is_initialized, cuda.synchronize
    cuda.is_initialized, cuda.synchronize = lambda: True, lambda: (waits.append(1), sleep())
    try:
        def launch():
            waits.clear()
            profiler = own.SimpleProfiler(synchronize=True)
            profiler.setup("fit")
            with profiler.profile("launch"):
                pass
            mine = rows(profiler.summary())
            profiler.teardown()
            return mine

        mine = again.until(lambda mine: mine["launch"][1] < 0.035, launch)
    finally:
        cuda.is_initialized, cuda.synchronize = real
    check(len(waits) == 2, f"8. waits before an action and at its end: {len(waits)}")
    check(0.02 <= mine["launch"][1] < 0.035, f"8. the wait at its end is the action's: {mine['launch']}")
    thawed = pickle.loads(pickle.dumps(own.SimpleProfiler(synchronize=True)))
    thawed.start("x")  # no device: no wait
    thawed.stop("x")


def test_functions_of_nested_actions():
    profiler = own.AdvancedProfiler()
    profiler.setup("fit")
    with profiler.profile("outer"):
        sleep()
        with profiler.profile("inner"):
            sleep()
        sleep()
    text = profiler.summary()
    profiler.teardown()
    outer = text.partition("Profile stats for: outer")[2].partition("Profile stats")[0]
    check(re.search(r"^ +3 .*\(sleep\)$", outer, re.M), f"4. the outer action's functions: {outer}")


def logged(function):
    """What a function writes to the logger of Lightning's own reports."""
    text, logger = io.StringIO(), logging.getLogger(LOGGER)
    handler = logging.StreamHandler(text)
    logger.addHandler(handler)
    logger.propagate = False
    try:
        function()
    finally:
        logger.removeHandler(handler)
        logger.propagate = True
    return text.getvalue()


def test_without_a_trainer():
    """Each profiler as a program of its own uses it: actions, describe(), results."""
    simple = own.SimpleProfiler(dirpath="alone", filename="simple")
    check(simple.recorded_durations == {} and simple.summary() == "" and logged(simple.describe) == "", "nothing yet")
    for _ in range(2):
        with simple.profile("x"):
            sleep()
    simple.start("y")
    simple.stop("y")
    times = simple.recorded_durations
    check(sorted(times) == ["x", "y"] and len(times["x"]) == 2 and min(times["x"]) >= 0.02 and times["none"] == [],
          f"recorded_durations within the stage: {times}")
    check(logged(simple.describe) == "", "a report that has a file is not logged")
    check(simple.recorded_durations == times == dict(copy.deepcopy(times)), "recorded_durations after the stage")
    with open("alone/simple.txt", encoding="utf-8") as file:
        report_text = file.read()
    check(report_text.startswith("Profiler Report\n") and rows(report_text)["x"][0] == 2, report_text)
    refused(TypeError, "begin anew call profiler.setup(stage)", times.clear)
    with simple.profile("x"):
        pass
    check(len(simple.recorded_durations["x"]) == 1, "describe() ends the stage without a name")
    simple.setup("fit")
    check(simple.recorded_durations == {}, "setup() begins anew")
    simple.teardown("fit")
    with simple.profile("[data] x"):
        pass
    check(list(simple.recorded_durations) == ["[data] x"], "a name like that of a Trainer's hook")
    simple.teardown()
    # What a Trainer calls after its stages begins none.
    simple._lightning_module = None
    with simple.profile("[Callback]X.on_fit_end"):
        pass
    check(not simple._in_stage, "a hook after the stage")

    advanced = own.AdvancedProfiler(dirpath="alone", dump_stats=True)
    with advanced.profile("sleeps"):
        sleep()
    with advanced.profile("nothing"):
        pass
    advanced.describe()
    functions = advanced.profiled_actions
    entries = {entry.code: entry for entry in functions["sleeps"].getstats()}
    called = entries.get("{built-in method time.sleep}") or entries.get("{time.sleep}") or next(
        (entry for code, entry in entries.items() if "sleep" in code), None)
    check(called and called.callcount == 1 and called.totaltime >= 0.02, f"getstats(): {entries}")
    check(pstats.Stats(functions["sleeps"]).total_tt >= 0.02, "pstats takes a profiled action")
    check(set(functions) == {"sleeps", "nothing"} and functions.get("other") is None, list(functions))
    for name in ("sleeps", "nothing"):
        pstats.Stats(f"alone/{name}.prof")
    check([entry.callcount for entry in functions["nothing"].getstats()] == [1], "an action that calls nothing")

    torch_profiler = own.PyTorchProfiler(dirpath="alone", filename="torch", export_to_chrome=False)
    check(torch_profiler.function_events is None, "no events yet")
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    with torch_profiler.profile("a"):
        model(torch.ones(2))
    torch_profiler.describe()
    names = [event.name for event in torch_profiler.function_events]
    check({"[pl][profile]a", "aten::ones", "[pl][module]Linear: 0"} <= set(names), f"function_events: {names}")
    with open("alone/torch.txt", encoding="utf-8") as file:
        check("Profile stats for: records" in file.read(), "one table where no step ran")
    bare = own.PyTorchProfiler(record_module_names=False)
    with bare.profile("a"):
        model(torch.ones(2))
    logged(bare.describe)
    names = {event.name for event in bare.function_events}
    check("aten::linear" in names and not any(name.startswith("[pl][module]") for name in names),
          f"record_module_names=False: {sorted(names)}")
    for kind in (own.SimpleProfiler, own.AdvancedProfiler, own.PyTorchProfiler):
        check("Profiler Report" in logged(lambda: used(kind()).describe()), f"{kind.__name__}: the report is logged")
        check(copy.deepcopy(used(kind())) and pickle.loads(pickle.dumps(used(kind()))), f"{kind.__name__}: copies")


def used(profiler):
    with profiler.profile("x"):
        torch.ones(1)
    return profiler


def test_across_stages():
    """An action that the program starts before a Trainer's stages and stops after them."""
    ready = []
    for kind in (own.SimpleProfiler, own.AdvancedProfiler, own.PyTorchProfiler):
        profiler = kind() if kind is not own.PyTorchProfiler else kind(
            on_trace_ready=lambda prof: ready.append(profiler._stage))
        profiler.start("whole")
        for stage in ("fit", "test"):
            profiler.setup(stage)
            with profiler.profile("step"):
                torch.ones(1)
            check(f"{stage.upper()} Profiler Report" in logged(profiler.describe), f"{kind.__name__}: {stage}")
        profiler.stop("whole")
        if kind is own.PyTorchProfiler:
            check(ready == ["fit", "test"], f"results of the stages alone: {ready}")
        refused(ValueError, "(whole) which was never started", lambda: profiler.stop("whole"))


class Eager(own.SimpleProfiler):
    """A derived class as Lightning's users write them: teardown() wants its argument."""

    def teardown(self, stage):
        self.ended = getattr(self, "ended", []) + [stage]
        super().teardown(stage=stage)


def test_derived():
    profiler = Eager()
    profiler.setup("fit")
    profiler.setup("test")  # as after an exception in fit
    logged(profiler.describe)
    check(profiler.ended == ["fit", "test"], f"teardown() of a derived class: {profiler.ended}")


def test_first_actions_of_threads():
    """Threads that meet before any stage begin one together."""
    profiler, barrier = own.SimpleProfiler(), threading.Barrier(8)

    def act():
        barrier.wait()
        with profiler.profile("t"):
            sleep()

    threads = [threading.Thread(target=act) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check(len(profiler.recorded_durations["t"]) == 8, f"8 threads: {profiler.recorded_durations}")
    profiler.teardown()


def test_steps_of_captures():
    """XLAProfiler: a fit's steps are the loop's, until steps have been marked in other stages."""
    seen = []
    real = own.begin_step, own.end_step, own.xla.start_server
    own.begin_step, own.end_step = lambda: seen.append("begin"), lambda: seen.append("end")
    own.xla.start_server = lambda port: seen.append(port) or True
    wanted = {"fit": [9], "test": ["begin", "end"], "validate": ["begin", "end"]}
    try:
        profiler = own.XLAProfiler(port=9)
        for stage in ("fit", "test", "validate", "fit"):
            seen.clear()
            profiler.setup(stage)
            for outer, inner in (("run_training_batch", "[Strategy]S.training_step"),
                                 ("[Strategy]S.validation_step", "x"), ("x", "[Strategy]S.test_step")):
                if outer.startswith("run") == (stage == "fit") and ("test" in inner) == (stage == "test"):
                    with profiler.profile(outer), profiler.profile(inner):
                        pass
            profiler.describe()
            check(seen == wanted[stage], f"steps of {stage}: {seen}")
            wanted["fit"] = ["begin", "end"]
    finally:
        own.begin_step, own.end_step, own.xla.start_server = real
        own.XLAProfiler._server, own.XLAProfiler._marks = None, False


def test_files():
    """Where files go that are not on this machine."""
    there = os.path.join(os.getcwd(), "there")
    address = f"file://{there}"
    for profiler in (own.SimpleProfiler(address, "perf"), own.AdvancedProfiler(address, "functions", dump_stats=True),
                     own.PyTorchProfiler(address, "operators", export_to_flame_graph=True)):
        profiler.setup("fit")
        used(profiler).describe()
    found = sorted(re.sub(r"\d{6,}", "N", name) for name in os.listdir(there))
    check(found == ["fit-functions-x.prof", "fit-functions.txt", "fit-operators.N.pt.trace.json", "fit-operators.stack",
                    "fit-operators.txt", "fit-perf.txt"], f"an address that fsspec knows: {found}")
    with open("there/fit-perf.txt", encoding="utf-8") as file:
        check("Profiler Report" in file.read(), "the report there")


GONE = COMMON + """
import glob, os
import dwell.lightning as own
profiler = getattr(own, sys.argv[2])(dirpath="gone")
class Removes(Model):
    def on_train_end(self):
        for name in glob.glob(f"*-{os.getpid()}.dwell"): os.unlink(name)
train(profiler, "fit", Removes())
print("the program went on")
"""


def test_trace_is_gone():
    """A report that cannot be made does not end the program after its training."""
    for name in ("SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler"):
        check("the program went on" in run(GONE, "lightning.pytorch", name), f"{name} without its trace")


def test_ranks():
    for rank in (0, 1):
        profiler = own.SimpleProfiler()
        profiler.setup("fit", local_rank=rank)
        with profiler.profile("x"):
            pass
        check(bool(logged(profiler.describe)) == (rank == 0), f"the console on rank {rank}")
        profiler = own.PyTorchProfiler("ranks", "perf", export_to_chrome=False)
        profiler.setup("fit", local_rank=rank)
        with profiler.profile("training_step"):
            torch.ones(3) + 1
        profiler.describe()
        with open(f"ranks/fit-perf-{rank}.txt", encoding="utf-8") as file:
            check("aten::add" in file.read(), f"the file of rank {rank}")


def test_library_is_missing():
    """A package whose libraries are elsewhere: the script is trained, and what is not recorded is said."""
    with open("missing.py", "w", encoding="utf-8") as file:
        file.write(installed.LIGHT + PLAIN)
    known = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    done = subprocess.run([DWELL, "run", "-o", "missing.dwell", sys.executable, "missing.py", "lightning.pytorch"], capture_output=True,
                          text=True, check=False, env={**known, "PYTHONPATH": PACKAGE})
    check(done.returncode == 0 and "Lightning's actions are not recorded" in done.stderr and "libdwell-lightning" in done.stderr,
          f"without libdwell-lightning: {done.stderr[-600:]}")


def test_modules():
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    from dwell import profile  # pylint: disable=import-outside-toplevel
    with own.RegisterRecordFunction(model), profile() as prof:
        model(torch.ones(2))
    names = {event.name for event in prof.events()}
    check("[pl][module]torch.nn.modules.linear.Linear: 0" in names, sorted(names))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for package in ("lightning.pytorch", "pytorch_lightning"):
            test_documented(package)
            test_unchanged(package)
        test_order()
        # XLAProfiler records nothing until a capture asks: lightning_test.py trains with it.
        for name in ("SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler"):
            test_beside_theirs(name)
        test_operators()
        test_advanced()
        test_refused()
        test_actions()
        test_synchronize()
        test_functions_of_nested_actions()
        test_without_a_trainer()
        test_across_stages()
        test_derived()
        test_first_actions_of_threads()
        test_steps_of_captures()
        test_files()
        test_trace_is_gone()
        test_ranks()
        test_library_is_missing()
        test_modules()
        os.chdir("/")
    print(f"{counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


sys.exit(main())
