"""What is true of each scenario: the rules that a right report names, and those that it may name.

A scenario is a script of this folder with a cause and a share. fault() makes two scenarios of a cause, a weak
and a strong one. clean() runs a script without a fault. decoy() runs a script that looks like a fault but has
none, or has another one. The scripts' headers say what is planted and how the truth is measured.

rules    each of them must be reported; "a|b" means either
first    what the first sentence may name besides `rules`
also     rules whose statement is true as well, and may be reported
clean    the scenario without the fault, with which the gain is measured
measured False: the script cannot measure the planted share by itself
only_if  (key, limit): the rules are expected only if the script measured less than the limit for the key
options  options of dwell run
memory   bytes that dwell run and the script may use: both run in a control group with this limit
"""
from dataclasses import dataclass, field

WEAK, STRONG = 0.12, 0.40
# True of every script here: first steps are slower, the machine has more memory than they need, and they
# run with one thread. A report may say so, but not first.
ALWAYS = frozenset({
    "warm-up", "memory-room", "thread-count", "memory-kept",
})
# If operators are tiny, dwell itself takes more than 1% of a step: profiler-cost is in `also` there.
# A cause below the first limit (a part of the loop) need not be reported. A cause between the limits may be.
SILENT, CERTAIN = 0.05, 0.08


@dataclass
class Scenario:
    name: str
    script: str
    cause: str
    share: float
    kind: str  # "weak", "strong", "clean" or "decoy"
    rules: tuple = ()
    first: tuple = ()
    also: tuple = ()
    clean: str = ""
    looks_like: str = ""
    measured: bool = True
    only_if: tuple = ()
    options: tuple = ()
    memory: int = 0

    def expected(self):
        """The rules that must be reported, each as a tuple of alternatives."""
        return [tuple(rule.split("|")) for rule in self.rules]

    def named(self):
        """Every rule that a right report may name because of what was planted."""
        return {name for names in self.expected() for name in names}

    def allowed(self):
        return self.named() | set(self.first) | set(self.also) | ALWAYS

    def may_be_first(self):
        return self.named() | set(self.first) if self.rules else set(self.first) | {"compute"}


@dataclass
class Script:
    """Adds the scenarios of one script to `all`."""
    name: str
    all: list = field(default_factory=list)

    def add(self, cause, kind, share, **facts):
        facts = {key: tuple(value.split()) if isinstance(value, str) and key in ("rules", "first", "also", "options") else value
                 for key, value in facts.items()}
        stem = self.name.partition(".")[0]
        facts.setdefault("clean", f"{stem}.none")
        self.all.append(Scenario(f"{stem}.{cause}" + ("" if kind == "decoy" or cause == "none" else f".{kind}"), self.name,
                                 cause, share, kind, **facts))

    def fault(self, cause, rules, weak=WEAK, strong=STRONG, **facts):
        for kind, share in (("weak", weak), ("strong", strong)):
            self.add(cause, kind, share, rules=rules, **facts)

    def clean(self, cause="none", **facts):
        self.add(cause, "clean", 0.0, clean="", **facts)

    def decoy(self, cause, looks_like="", share=0.0, **facts):
        self.add(cause, "decoy", share, looks_like=looks_like, **facts)


SCENARIOS = []

loading = Script("loading.py", SCENARIOS)
loading.clean()
loading.fault("in-process", "loader-in-process", also="loader-part")
loading.fault("read", "loader-in-process loader-part", also="idle profiler-cost", options="--functions")
loading.fault("collate", "loader-in-process loader-part", also="profiler-cost", options="--functions")
loading.fault("workers", "loader-slow-workers", also="loader-part", clean="loading.workers.clean")
loading.fault("decode-worker", "loader-slow-workers", also="loader-part", clean="loading.workers.clean")
# To unpickle and to free so many objects also takes Python's time and the collector's.
loading.fault("handover", "loader-handover", also="loader-part collector python", clean="loading.handover.clean")
loading.fault("restart", "loader-restart", also="loader-part loader-handover", clean="loading.persistent")
loading.fault("one-slow", "loader-one-slow-worker", first="loader-slow-workers", also="loader-part",
              clean="loading.workers.clean")
loading.fault("burst", "loader-shallow-queue", also="loader-part slow-steps", clean="loading.workers.clean")
# To get a batch from a worker, the loop waits for another process: some milliseconds on a busy machine.
loading.clean("workers", also="loader-handover")
loading.clean("handover", also="loader-handover")
loading.decoy("prepare", "loader-in-process")
loading.decoy("small-samples", "small-operators")
loading.decoy("full-queue", "loader-slow-workers", also="loader-handover")
loading.decoy("persistent", "loader-restart", share=WEAK, also="loader-handover")
loading.decoy("slow-start", "loader-slow-workers", also="loader-handover")

outside = Script("outside.py", SCENARIOS)
outside.clean()
outside.fault("checkpoint", "checkpoint", also="waiting-file")
outside.fault("evaluation", "evaluation")
outside.fault("each", "evaluation")
outside.fault("graphs", "evaluation-graphs", first="evaluation")
outside.fault("logging", "logging", also="waiting-file profiler-cost", options="--functions")
outside.fault("metrics", "between-steps|python", first="between-steps python")
outside.fault("operators", "between-steps", also="memory-bound-chain small-operators one-operator")
outside.decoy("evaluate-first", "evaluation")
outside.decoy("evaluate-last", "evaluation")
outside.decoy("teacher", "evaluation")
outside.decoy("save-last", "checkpoint")
outside.decoy("save-small", "checkpoint")
outside.decoy("log-rarely", "logging")
outside.decoy("count-first", "python")
outside.decoy("sleep-last", "idle")

waiting = Script("waiting.py", SCENARIOS)
waiting.clean()
waiting.fault("sleep", "idle")
waiting.fault("pipe", "idle|waiting-file")
waiting.fault("fsync", "waiting-file", also="idle profiler-cost", options="--functions")
waiting.fault("lock", "waiting-lock", also="idle")
waiting.fault("python", "python")
waiting.fault("numpy", "python")
waiting.fault("items", "synchronising-call", first="python small-operators", also="one-operator profiler-cost")
waiting.fault("collector", "collector")
waiting.decoy("sleep-first", "python", share=STRONG, rules="idle")
waiting.decoy("other-thread", "waiting-lock")
waiting.decoy("helper-waits", "waiting-file")
waiting.decoy("frozen", "collector", share=STRONG)
waiting.decoy("one-item", "synchronising-call")
waiting.decoy("collect-first", "collector")

operators = Script("operators.py", SCENARIOS)
operators.clean()
operators.fault("small-forward", "small-operators", also="one-operator python profiler-cost")
# All scripts compute in one thread: that is true of them, and a report may say it before the operator that has no other.
operators.fault("one", "one-operator", weak=0.48, strong=0.70, first="thread-count", also="roofline half-precision")
operators.fault("layout", "layout-copies", also="one-operator memory-bound-chain allocator page-faults memory-temporaries")
operators.fault("chain", "memory-bound-chain", also="roofline half-precision", options="--shapes")
# roofline and precision are about most of a step: products of a tenth of it are no fault.
operators.fault("slow-product", "roofline", weak=0.55, strong=0.65, first="one-operator", also="half-precision", options="--flops")
operators.fault("float64", "precision", weak=0.48, strong=0.60, first="one-operator thread-count")
operators.fault("bf16", "half-precision", weak=0.48, strong=0.60, first="one-operator roofline thread-count", options="--flops",
                only_if=("bfloat16_ratio", 0.7))
operators.fault("many-tensors", "optimizer-unfused", first="optimizer-dominates", also="small-operators python profiler-cost",
                clean="operators.fused-adam")
operators.fault("large-adam", "optimizer-dominates", weak=0.2, strong=0.4,
                also="one-operator memory-owners memory-bound-chain roofline", clean="operators.fused-adam")
operators.fault("fresh-memory", "page-faults|allocator",
                also="memory-temporaries memory-bound-chain one-operator")
operators.fault("allocator", "allocator|page-faults", also="memory-temporaries small-operators profiler-cost")
operators.fault("threads", "oversubscribed", measured=False, also="one-operator")
operators.fault("worker-threads", "oversubscribed", measured=False, also="loader-slow-workers loader-part loader-handover",
                clean="operators.worker-threads.clean")
operators.clean("worker-threads", first="loader-part")
operators.fault("one-thread", "thread-count", weak=0.48, strong=0.60, first="one-operator", also="roofline half-precision",
                only_if=("threads_ratio", 0.75))
operators.fault("functions", "profiler-cost", weak=0.45, strong=0.60, measured=False, first="python",
                options="--functions", clean="operators.none")
operators.decoy("fused-adam", "optimizer-unfused", share=STRONG, first="optimizer-dominates", also="profiler-cost")
operators.decoy("few-large", "memory-bound-chain", share=WEAK, measured=False, first="small-operators", also="profiler-cost")
operators.decoy("reorder-once", "layout-copies")
operators.decoy("reuse", "page-faults", share=WEAK, measured=False, first="memory-bound-chain")
operators.decoy("idle-threads", "oversubscribed", also="profiler-cost small-operators python optimizer-dominates optimizer-unfused one-operator",
                first="small-operators python optimizer-dominates optimizer-unfused one-operator")
operators.decoy("prepare-small", "small-operators")
operators.decoy("views", "layout-copies")

over_time = Script("over_time.py", SCENARIOS)
over_time.clean()
over_time.fault("spikes", "slow-steps")
over_time.fault("sleep-spikes", "slow-steps")
over_time.fault("drift", "drift", first="python")
over_time.fault("change", "change-point", first="python")
over_time.fault("sizes", "input-size-variance", first="slow-steps")
# The sizes differ in all three: a report may say so first.
over_time.fault("shapes", "first-shapes", also="slow-steps input-size-variance half-precision", clean="over_time.shapes.clean",
                options="--shapes --cost full")
over_time.clean("shapes", first="input-size-variance half-precision", options="--shapes --cost full")
# To compile makes many objects: the collector runs.
over_time.fault("compilation", "compilation", also="slow-steps first-shapes collector", clean="over_time.compile-once")
# A step takes a millisecond: to make its batch takes a part of it.
over_time.fault("breaks", "graph-breaks", also="python small-operators optimizer-dominates optimizer-unfused one-operator profiler-cost "
                "between-steps", clean="over_time.breaks.clean")
over_time.clean("breaks", also="python small-operators optimizer-dominates optimizer-unfused one-operator profiler-cost between-steps",
                first="python small-operators optimizer-dominates optimizer-unfused one-operator")
over_time.decoy("first", "python", rules="warm-up", first="compute")
over_time.decoy("jitter", "slow-steps")
over_time.decoy("early-change", "change-point", rules="warm-up", first="compute")
over_time.decoy("same-sizes", "input-size-variance", also="input-size-variance")
over_time.decoy("compile-once", "compilation")
over_time.decoy("spike-last", "slow-steps")

memory = Script("memory.py", SCENARIOS)
memory.clean()
memory.fault("keep-graphs", "memory-growth")
memory.fault("keep-outputs", "memory-growth")
# Each step's new gradient is added to the one that was kept, and dropped: a temporary.
# No step is longer because of it: a fifth of the peak may be named after what takes the time.
memory.fault("gradients", "memory-owners", weak=0.2, strong=0.5, first="compute", also="memory-temporaries")
memory.fault("temporaries", "memory-temporaries", weak=0.3, strong=0.6,
             first="between-steps page-faults allocator memory-bound-chain")
memory.fault("small-batch", "memory-room", first="small-operators python optimizer-dominates optimizer-unfused",
             measured=False, only_if=("time_ratio", 1.5), also="memory-room profiler-cost")
memory.decoy("cache", "memory-growth")
# Whether a tensor is used is not recorded, so that no rule can be about it.
memory.decoy("old-copy", "memory-owners", share=STRONG, measured=False)
memory.decoy("keep-numbers", "memory-growth")
memory.decoy("sawtooth", "memory-growth")
# The sizes of batches differ, and steps with them: that is true, and a report may say it first.
memory.decoy("large-batch", "memory-room", first="input-size-variance")

ranks = Script("ranks.py", SCENARIOS)
ranks.clean(also="communication rank-waits", first="communication rank-waits")
ranks.fault("reduce", "communication", also="rank-waits")
ranks.fault("straggler", "rank-waits", first="communication", also="idle")
# What the busy rank does is Python: the cause of the others' wait.
ranks.fault("busy-rank", "rank-waits", first="communication python")
ranks.decoy("both-wait", "rank-waits", share=STRONG, rules="idle", also="communication")
ranks.decoy("small", "communication", also="communication rank-waits", first="communication rank-waits")

in_c = Script("in_c.c", SCENARIOS)
in_c.clean()
for _cause, _rules, _facts in (
        # The waiting time also has no range: a report may say so.
        ("sleep", "idle", {"also": "nameless"}),
        ("fsync", "waiting-file", {"also": "idle nameless"}),
        ("lock", "waiting-lock", {"also": "idle nameless"}),
        ("data", "loader-in-process", {"also": "loader-part"}),
        ("small", "small-operators", {"also": "profiler-cost"}),
        ("nameless", "nameless", {}),
        ("between", "between-steps", {"also": "nameless"}),
        ("checkpoint", "checkpoint", {}),
        ("evaluation", "evaluation", {"also": "one-operator"}),
        ("communication", "communication", {"also": "idle"}),
        ("growth", "memory-growth", {}),
        ("temporaries", "memory-temporaries", {"weak": 0.3, "strong": 0.6}),
        ("faults", "page-faults|allocator", {"also": "nameless"}),
        ("spikes", "slow-steps", {}),
        ("drift", "drift", {"also": "one-operator"}),
        ("change", "change-point", {"also": "one-operator"}),
        ("threads", "oversubscribed", {"measured": False, "also": "one-operator"})):
    in_c.fault(_cause, _rules, **_facts)
in_c.fault("one", "one-operator", weak=0.48, strong=0.70)
# A range under a name of its own; with less than half of the step, backward is as large.
in_c.fault("metrics", "named-part", weak=0.48, strong=0.70)
in_c.fault("journal", "named-part waiting-file|idle", weak=0.48, strong=0.70, also="waiting-file idle page-faults")
in_c.fault("team", "named-part", weak=0.2)  # that its team rests meanwhile, no rule says: no thread waits for it
in_c.fault("full", "memory-limit", weak=0.92, strong=0.95, memory=1 << 30)
in_c.decoy("first", "slow-steps", rules="warm-up", first="compute")
in_c.decoy("team-works", "waiting-lock", share=0.29, rules="named-part")  # a range under a name of its own, and both threads work
for _cause, _looks_like in (("sleep-first", "idle"), ("work-first", "nameless"), ("sleep-last", "idle"), ("sleeper", "waiting-lock"),
                            ("small-first", "small-operators"), ("evaluate-first", "evaluation"), ("save-last", "checkpoint"),
                            ("zones", "nameless"), ("sawtooth", "memory-growth"), ("jitter", "slow-steps"),
                            ("spike-last", "slow-steps"), ("reused", "page-faults")):
    in_c.decoy(_cause, _looks_like)
in_c.decoy("full", "memory-limit", share=0.95)  # the same bytes, where there are many more

PLANTED = """
loader-in-process loader-slow-workers loader-part loader-handover loader-restart loader-one-slow-worker
loader-shallow-queue communication rank-waits collector idle waiting-file waiting-lock python small-operators
one-operator memory-growth checkpoint logging evaluation evaluation-graphs oversubscribed synchronising-call
first-shapes compilation graph-breaks layout-copies optimizer-unfused optimizer-dominates allocator slow-steps drift
change-point memory-limit memory-room memory-owners memory-temporaries roofline memory-bound-chain precision
half-precision thread-count page-faults input-size-variance profiler-cost between-steps named-part nameless warm-up compute""".split()
# Every rule of dwell: those of ALWAYS need no script.
RULES = (*PLANTED, *sorted(ALWAYS - set(PLANTED)))
# What tools/check runs: strong causes of many kinds, which a busy machine does not hide. tests/probes/torch_verdict_test.py
# has others in PyTorch: a loader in the process, sleeps, Python, evaluation, small operators.
SUBSET = frozenset("""
outside.checkpoint.strong outside.evaluate-first operators.layout.strong memory.keep-outputs.strong in_c.none in_c.sleep.strong in_c.data.strong in_c.checkpoint.strong in_c.evaluation.strong
in_c.between.strong in_c.communication.strong in_c.spikes.strong in_c.one.strong in_c.first in_c.zones in_c.sleep-last
in_c.save-last""".split())
