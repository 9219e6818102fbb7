#!/usr/bin/python3
"""Every public name, parameter and default of the profilers whose place dwell takes, held against dwell's.

usage: drop_ins_test.py BUILD_FOLDER [TORCHPROF_PACKAGES] [--write]

python/drop_ins.txt has a line for each name of each original. Original and dwell run the same work in one process, and this
test fails for a name, a parameter or a default of the original that has no line; for a line whose name the original has
not; for `same` where kind, parameters, type or value differ; for `refused` where dwell takes it; for `better` where
dwell lacks it. --write adds lines for what has none, marked "undecided". Originals that are not installed are
skipped. Last line: "N passed, N failed"; 77: no PyTorch here.
"""
import inspect
import os
import re
import sys
import tempfile
import types
import warnings

import built

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.path.abspath(sys.argv[1])
TABLE = os.path.join(ROOT, "python", "drop_ins.txt")
ARGUMENTS = [argument for argument in sys.argv[2:] if argument != "--write"]
built.enter(BUILD, "src/interfaces/compat/lightning")
warnings.simplefilter("ignore")
try:
    import torch
    import torch.autograd.profiler
    import torch.autograd.profiler_util
    import torch.profiler
except ImportError as error:
    print(f"skip drop_ins_test: {error}")
    sys.exit(77)
torch.set_num_threads(1)
# An only child that has its parent's name is merged into it, and its call is lost: dwell counts it.
torch.autograd.profiler_util.EventList._remove_dup_nodes = lambda self: None
GENERATION = torch.__version__.partition(".")[0]
counts = {True: 0, False: 0}


def check(what, good, said=""):
    counts[bool(good)] += 1
    if not good:
        print(f"FAIL {what}: {said}")


# ---- the table ----------------------------------------------------------------------------


class Line:
    """NAME or NAME(PARAMETER), what of it, of which generation of PyTorch ("": of each), and the reason."""

    def __init__(self, text):
        match = re.fullmatch(r"(\S+)(?: @(\d))?: (same|inside|better|refused|undecided)(?:: (.+))?", text)
        if not match or (match.group(3) in ("better", "refused")) != bool(match.group(4)):
            sys.exit(f"{TABLE}: {text!r}: NAME: same, NAME: inside, NAME: better: REASON or NAME: refused: REASON")
        self.name, self.generation, self.verdict, self.reason = match.groups()

    def is_here(self):
        return self.generation in (None, GENERATION)


def read_table():
    sections = {}
    with open(TABLE, encoding="utf-8") as file:
        for text in file.read().splitlines():
            if text.startswith("["):
                lines = sections.setdefault(text.strip("[]").partition(" = ")[0], [])
            elif text and not text.startswith("#"):
                lines.append(Line(text))
    return sections


# ---- what both have ------------------------------------------------------------------------


def public(thing):
    if inspect.ismodule(thing) and hasattr(thing, "__all__"):
        return set(thing.__all__)
    names = {name for name in dir(thing) if not name.startswith("_")}
    if inspect.ismodule(thing):  # what it imports is not its own
        names = {name for name in names if (getattr(getattr(thing, name), "__module__", None) or "").startswith(thing.__name__)}
    return names


def kind(thing, name):
    """method or value; of a class or a module, too."""
    static = inspect.getattr_static(thing, name, None)
    if isinstance(static, (property, type)):
        return "value"
    return "method" if callable(getattr(thing, name)) else "value"


def parameters(function):
    """{name: default}; None where Python does not know them."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return {each.name: each.default for each in found if each.name not in ("self", "cls", "args", "kwargs", "_")}


def same_default(one, other):
    return one is other or one == other or (one is not inspect.Parameter.empty and other is not inspect.Parameter.empty
                                            and repr(one) == repr(other))


# Values that no two runs have alike: only their types are compared.
VARIES = re.compile(r".*(time|percent|_str|start|end|timer)$|.*time.*|.*id|thread|device_resource_id|sequence_nr|.*_ns|"
                    r"traces|trace_profile_events|cpu_children|cpu_parent|stack|function_events|path|name|state.*|total")


def type_name(value):
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    return "number" if isinstance(value, (int, float)) else type(value).__name__


def same_value(name, one, other):
    """Why not, or an empty text. PyTorch 1.13 knows whole microseconds, and gives some allocations to another operator or
    twice, so that its bytes are others in each run."""
    if "memory_usage" in name and GENERATION == "1":
        return ""
    if type_name(one) != type_name(other):
        return f"{one!r:.80} is no {other!r:.80}"
    if VARIES.fullmatch(name) or not isinstance(one, (bool, int, float, str, list, tuple, type(None))):
        return ""
    return "" if one == other else f"{one!r:.200}, not {other!r:.200}"


class Walk:
    """One original and dwell's. A title "CLASS()" is of its constructor alone; what follows ": " tells several objects apart."""

    def __init__(self, title, section, theirs, ours):
        self.title, self.theirs, self.ours = title, theirs, ours
        self.section, self.lines, self.met = section, section.lines, section.met

    def line(self, name):
        self.met.add(name)
        return self.lines.get(name)

    def name(self, name):
        line, label = self.line(name), f"{self.title}.{name}"
        has = hasattr(self.ours, name)
        why = self.difference(name) if has else "missing"
        if line is None:
            self.section.lack(name, why)
            check(label, False, f"no line in {TABLE}; {why or 'same'}")
        elif line.verdict in ("same", "undecided"):
            check(label, not why and line.verdict == "same", why)
        elif line.verdict == "better":
            check(label, has, "missing")
        elif line.verdict == "refused" and has:
            self.refusal(label, getattr(self.ours, name), name)
        if has and kind(self.theirs, name) == "method" == kind(self.ours, name):
            self.signature(name, getattr(self.theirs, name), getattr(self.ours, name))

    def difference(self, name):
        kinds = kind(self.theirs, name), kind(self.ours, name)
        if kinds[0] != kinds[1]:
            return f"a {kinds[1]}, and a {kinds[0]} there"
        if kinds[0] == "method" or inspect.ismodule(self.theirs) or inspect.isclass(self.theirs):
            return ""
        return same_value(name, getattr(self.ours, name), getattr(self.theirs, name))

    def refusal(self, label, value, name):
        if not callable(value):
            check(label, value is None or value is False, f"{value!r} is there")
            return
        try:
            given = parameters(value) or {}
            value(*[None for default in given.values() if default is inspect.Parameter.empty])
            check(label, False, "it was taken")
        except (ValueError, NotImplementedError, TypeError) as said:
            check(label, name.removeprefix("set_") in str(said) or "kernel" in str(said), said)

    def signature(self, name, theirs, ours, call=None):
        wanted, got = parameters(theirs), parameters(ours)
        if wanted is None or got is None:
            return
        for parameter, default in wanted.items():
            label, line = f"{name}({parameter})", self.line(f"{name}({parameter})")
            why = ("missing" if parameter not in got else "" if same_default(default, got[parameter])
                   else f"default {got[parameter]!r}, not {default!r}")
            if not why and line is None:
                counts[True] += 1
                continue
            if line is None:
                self.section.lack(label, why)
            check(f"{self.title}.{label}", line is not None and line.verdict in ("better", "refused", "inside"), why or "no difference")
            if line is not None and line.verdict == "refused" and parameter in got:
                self.refused_argument(f"{self.title}.{label}", call or ours, parameter, got)

    def refused_argument(self, label, ours, parameter, got):
        given = [None for default in got.values() if default is inspect.Parameter.empty]
        try:
            ours(*given, **{parameter: object()})
            check(label, False, "it was taken")
        except (ValueError, NotImplementedError, TypeError) as said:
            check(label, parameter in str(said), said)

    def all(self):
        if self.title.endswith("()"):
            self.signature("", self.theirs.__init__, self.ours.__init__, self.ours)
            return
        for name in sorted(public(self.theirs)):
            self.name(name)


class Section:
    """The lines about one class or module of an original, and for which of them it has the name."""

    def __init__(self, title, lines):
        self.title, self.met, self.lacking = title, set(), {}
        self.lines = {line.name: line for line in lines if line.is_here()}

    def lack(self, name, why):
        if why or name not in self.lacking:
            self.lacking[name] = f"{name}: {'undecided' if why else 'same'}"

    def end(self):
        stale = sorted(set(self.lines) - self.met)
        check(f"{self.title}: lines of names that are there", not stale, stale)


# ---- the same work for both ----------------------------------------------------------------------


NET = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 3))
BATCH = torch.ones(2, 1, 8, 8)


def train():
    with torch.profiler.record_function("zone"):
        NET(BATCH).sum().backward()


def work(module, **options):
    NET.zero_grad(set_to_none=True)
    with module.profile(record_shapes=True, profile_memory=True, with_flops=True, **options) as prof:
        train()
    return prof


def members(activity):
    """Names alone: their numbers are others in each PyTorch."""
    return types.SimpleNamespace(**{name: name for name in dir(activity) if name[0].isupper()})


def torch_pairs():
    import dwell
    from dwell import autograd
    work(torch.profiler)
    both = work(torch.profiler), work(dwell)
    older = work(torch.autograd.profiler), work(autograd)

    def pick(events, name):
        return next(event for event in events if event.key == name)

    lists = [prof.events() for prof in both]
    averages = [prof.key_averages(group_by_input_shape=True) for prof in both]
    yield "torch.profiler", torch.profiler, dwell
    yield "torch.profiler.profile", *both
    yield "torch.profiler.profile()", torch.profiler.profile, dwell.profile
    yield "torch.profiler.record_function", torch.profiler.record_function("a"), dwell.record_function("a")
    yield "torch.profiler.ProfilerAction", torch.profiler.ProfilerAction, dwell.ProfilerAction
    yield "torch.profiler.ProfilerActivity", members(torch.profiler.ProfilerActivity), members(dwell.ProfilerActivity)
    yield "torch.autograd.profiler", torch.autograd.profiler, autograd
    yield "torch.autograd.profiler.profile", *older
    yield "torch.autograd.profiler.profile()", torch.autograd.profiler.profile, autograd.profile
    yield "torch.autograd.profiler.emit_nvtx", torch.autograd.profiler.emit_nvtx(False), dwell.emit_nvtx(False)
    yield "torch.autograd.profiler.emit_nvtx()", torch.autograd.profiler.emit_nvtx, dwell.emit_nvtx
    yield "EventList", *lists
    for name in ("zone", "aten::conv2d", "aten::mm", "autograd::engine::evaluate_function: AddmmBackward0", "AddmmBackward0"):
        yield f"FunctionEvent: {name}", *(pick(each, name) for each in lists)
    yield "Interval", *(each[0].time_range for each in lists)
    for name in ("zone", "aten::conv2d", "aten::mm", "AddmmBackward0"):
        yield f"FunctionEventAvg: {name}", *(pick(each, name) for each in averages)
    yield "FunctionEventAvg: total", *(each.total_average() for each in lists)


def ignite_pairs():
    from ignite import handlers as original
    from ignite.engine import Engine
    from dwell import ignite as own
    for name in ("BasicTimeProfiler", "HandlersTimeProfiler", "Timer"):
        pair = [getattr(module, name)() for module in (original, own)]
        for one in pair:
            engine = Engine(lambda engine, batch: batch)
            one.attach(engine)
            engine.run([1, 2, 3], max_epochs=2)
        yield f"ignite.handlers.{name}", *pair
        yield f"ignite.handlers.{name}()", *(getattr(module, name) for module in (original, own))


def lightning_pairs():
    from lightning.pytorch import profilers as original
    from dwell import lightning as own
    yield "lightning.pytorch.profilers", original, own
    for name in ("Profiler", "PassThroughProfiler", "SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler", "XLAProfiler"):
        yield f"lightning.pytorch.profilers.{name}", *(getattr(module, name) for module in (original, own))
        yield f"lightning.pytorch.profilers.{name}()", *(getattr(module, name) for module in (original, own))
    for name in ("SimpleProfiler", "AdvancedProfiler", "PyTorchProfiler"):
        pair = [getattr(module, name)() for module in (original, own)]
        for one in pair:
            with one.profile("training_step"):
                torch.ones(2)
            one.summary()
        yield f"lightning.pytorch.profilers.{name}: used", *pair
    pair[1].teardown("fit")
    rows = sums(pair[1].function_events.key_averages())
    check("key_averages() of Lightning's stage has its actions", rows.get("[pl][profile]training_step") == [1] and
          not {"training_step", "ProfilerStep*"} & set(rows), sorted(rows))


def torchprof_pairs():
    sys.path.extend(argument for argument in ARGUMENTS)
    import torchprof
    import torchprof.profile
    from dwell import torchprof as own
    model = torch.nn.Sequential(torch.nn.Linear(2, 2))
    pair = []
    for module in (torchprof, own):
        with module.Profile(model) as prof:
            model(torch.ones(1, 2))
        pair.append(prof)
    yield "torchprof", torchprof, own
    yield "torchprof.profile", torchprof.profile, own
    yield "torchprof.Profile", *pair
    yield "torchprof.Profile()", torchprof.Profile, own.Profile


# ---- what they answer ----------------------------------------------------------------------------


def sums(events, *fields):
    """{name: (calls, sums of the fields)}; without the rows of frees outside of calls, which dwell has not."""
    found = {}
    for event in events:
        if event.key == "[memory]":
            continue
        row = found.setdefault(event.key, [0] * (1 + len(fields)))
        row[0] += event.count
        for at, field in enumerate(fields, 1):
            row[at] += getattr(event, field)
    return found


def differences(one, other):
    return {name: (one.get(name), other.get(name)) for name in {*one, *other} if one.get(name) != other.get(name)}


def stepped(module, acc_events):
    """Names and calls at the end of each of two cycles, and after the profile."""
    found, options = [], {"acc_events": True} if acc_events else {}
    with module.profile(schedule=module.schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=lambda prof: found.append(
            sums(prof.key_averages())), **options) as prof:
        for _ in range(8):
            train()
            prof.step()
    return [*found, sums(prof.events())]


def torch_answers():
    import dwell
    works = [work(torch.profiler), work(dwell)]
    bytes_too = ["self_cpu_memory_usage"] if GENERATION != "1" else []
    theirs, ours = (sums(prof.events(), *bytes_too) for prof in works)
    check("events(): names, calls, bytes", ours == theirs, differences(ours, theirs))
    theirs, ours = (sums(prof.key_averages(), *bytes_too) for prof in works)
    check("key_averages(): names, calls, bytes", ours == theirs, differences(ours, theirs))
    own = sums(works[1].events(), "flops", "self_cpu_memory_usage"), sums(works[1].key_averages(), "flops", "self_cpu_memory_usage")
    check("events() add up to key_averages()", own[0] == own[1], differences(*own))
    theirs, ours = (prof.events() for prof in works)
    counted = [sum(event.flops for event in events if event.name in ("aten::conv2d", "aten::linear", "aten::addmm", "aten::mm"))
               for events in (theirs, ours)]
    check("FLOPs of the operators that PyTorch counts", counted[0] == counted[1], counted)
    check("self times add up to the time of the outermost calls", abs(ours.self_cpu_time_total - sum(
        event.cpu_time_total for event in ours if event.cpu_parent is None)) < 1, ours.self_cpu_time_total)
    averages = [prof.key_averages() for prof in works]
    check("the table's rows", *(lambda rows: (rows[0] == rows[1], rows))([{line[:56].strip() for line in table.table().splitlines()[3:]
                                                                          if "::" in line[:56]} for table in averages]))
    for acc_events in (False,) if GENERATION == "1" else (False, True):
        theirs, ours = stepped(torch.profiler, acc_events), stepped(dwell, acc_events)
        if GENERATION == "1":  # its own range of a step makes a tensor
            for row in (*theirs, *ours):
                for name in ("aten::zeros", "aten::zero_", "aten::empty"):
                    row.pop(name, None)
        check(f"two cycles with acc_events={acc_events}", ours == theirs,
              [differences(one, other) for one, other in zip(ours, theirs)])


# ---- all of it --------------------------------------------------------------------------------------


def write_lines(lacking):
    """Adds what has no line to its section."""
    with open(TABLE, encoding="utf-8") as file:
        text = file.read()
    for title, lines in lacking.items():
        head = re.search(rf"^\[{re.escape(title)}( = [^\n]*)?\]\n", text, re.M)
        if not head:
            text += f"\n[{title}]\n"
            head = re.search(rf"^\[{re.escape(title)}\]\n", text, re.M)
        text = text[:head.end()] + "".join(line + "\n" for line in lines) + text[head.end():]
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text)


def make_package(folder):
    """dwell as users have it: Python files and the build's extension for Ignite."""
    os.symlink(os.path.join(ROOT, "python", "dwell"), os.path.join(folder, "source"))
    os.mkdir(os.path.join(folder, "dwell"))
    extension = os.path.join(BUILD, "probes", "ignite")
    files = [os.path.join(ROOT, "python", "dwell", name) for name in os.listdir(os.path.join(ROOT, "python", "dwell"))]
    if os.path.isdir(extension):
        files += [os.path.join(extension, name) for name in os.listdir(extension) if name.startswith("_ignite.") and name.endswith(".so")]
    for path in files:
        os.symlink(path, os.path.join(folder, "dwell", os.path.basename(path)))
    sys.path.insert(0, folder)


def main():
    sections, met = read_table(), {}
    with tempfile.TemporaryDirectory() as folder:
        make_package(folder)
        os.chdir(folder)
        for pairs in (torch_pairs, ignite_pairs, lightning_pairs, torchprof_pairs):
            try:
                for title, theirs, ours in pairs():
                    kept = title.partition(": ")[0].removesuffix("()")
                    section = met.setdefault(kept, Section(kept, sections.get(kept, [])))
                    Walk(title, section, theirs, ours).all()
            except ImportError as error:
                print(f"skip {pairs.__name__[:-6]}: {error}")
        torch_answers()
        os.chdir(ROOT)
    for section in met.values():
        section.end()
    if "--write" in sys.argv:
        write_lines({title: section.lacking.values() for title, section in met.items() if section.lacking})
    print(f"PyTorch {torch.__version__}: {counts[True]} passed, {counts[False]} failed")
    return counts[False] != 0


if __name__ == "__main__":
    sys.exit(main())
