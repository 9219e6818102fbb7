"""Compares what dwell reported with what is true, and counts.

An outcome is one rule in one run of a scenario: found (planted and reported), missed (planted, not
reported), false (reported, not true), right (neither). A rule may count as another, coarser one: see KINDS. Rules that may be reported count as nothing:
`also` and `first` of scenarios.py, and causes whose measured share lies between the limits there.
"""
import math
from dataclasses import dataclass, field

from scenarios import ALWAYS, CERTAIN, RULES, SILENT

FOUND, MISSED, FALSE, RIGHT = "found", "missed", "false", "right"
FACTOR = 1.5  # how far an estimated gain may be from the measured one
# Rules whose gain is what a better form of the same work saves, and not what its removal would.
GAIN_IS_A_PART = {"one-operator", "optimizer-dominates", "memory-bound-chain", "roofline", "precision", "half-precision", "thread-count"}
# Rules whose gain is what the clean scenario's form of the same work saves: compared with that scenario only.
GAIN_OF_FORM = {"optimizer-unfused"}

# Truths name some causes by a coarser kind than the report does: a report that says more is right, too. {rule: {kind: why}}
KINDS = {
    "sleeping": {"idle": "the thread uses no CPU, and waits for no data"},
    "waiting-answer": {"idle": "the same: another program has not answered yet"},
    "waiting-child": {"idle": "the same: another program has not ended yet"},
    "waiting-thread": {"waiting-lock": "a lock is one way to wait for another thread", "team-rests": "while that one works, this one rests"},
    "spinning": {"waiting-lock": "it waits for another thread, too, and uses the CPU", "team-rests": "the same"},
    "waiting-file": {"idle": "a pipe is the answer of another program", "logging": "what is logged is written to a file"},
    "copies": {"layout-copies": "a copy in another order is a copy", "memory-bound-chain": "work that moves data and computes little"},
    "text": {"waiting-file": "text is made to be written, and read to be used", "logging": "what is logged is text"},
    "allocator": {"page-faults": "memory that is allocated anew is touched anew", "memory-temporaries": "they are allocated"},
    "libraries": {"compute": "it only says where the work is", "nameless": "and in no range of the program"},
    "own-code": {"compute": "it only says where the work is", "nameless": "and in no range of the program"},
}
# What the truths of scripts may name.
RULES_OF_TRUTHS = set(RULES).union(*KINDS.values())
# Rules whose sentence may name the range of the program in which most of the time lies: then they say that of the range.
SAY_RANGE = set(KINDS) - {"libraries", "own-code"} | {"waiting-lock", "idle", "look-ups", "compression", "random-numbers"}


def kinds(row):
    """The rules as which a row of the verdict counts: its own, and coarser ones."""
    rule, named = row["rule"], {row["rule"], *KINDS.get(row["rule"], ())}
    if rule in SAY_RANGE and "in the range " in str(row.get("statement", "")):
        named.add("named-part")
    return named


def kinds_of_first(rows):
    return kinds(rows[0]) if rows else {"compute"}


@dataclass
class Judgement:
    """One run of one scenario."""
    certain: bool            # the truth is clear: planted and large enough, or not planted
    first: str
    first_right: bool
    outcomes: dict = field(default_factory=dict)  # rule: FOUND, MISSED, FALSE or RIGHT

    def faults(self, only_missed=False):
        return [rule for rule, outcome in self.outcomes.items()
                if outcome == MISSED or outcome == FALSE and not only_missed]


def certainty(scenario, truth):
    """What the truth requires. "yes": the rules must be reported. "no": too little was planted, so that they
    need not be reported. "may": both are right."""
    if scenario.only_if:
        key, limit = scenario.only_if
        if truth.get(key, limit) >= limit:
            return "may"
    share = truth.get("share", 0)
    if not scenario.rules:  # no rule is required; if the script measured enough, one of `also` may come first
        return "may" if scenario.also and scenario.measured and share >= SILENT else "yes"
    if not scenario.measured or scenario.kind == "decoy":
        return "yes"
    return "yes" if share >= CERTAIN else "may" if share >= SILENT else "no"


def judge(scenario, truth, rows):
    """`rows` are the rows of dwell's verdict, each with its "rule"; the first is the first sentence."""
    named = {row["rule"]: kinds(row) for row in rows if row["rule"] != "compute"}
    said = set().union(*named.values()) if named else set()
    sure = certainty(scenario, truth)
    allowed = scenario.allowed()
    first = kinds_of_first(rows)
    result = Judgement(sure != "may", rows[0]["rule"] if rows else "compute", True)
    if sure == "yes":
        result.first_right = bool(first & scenario.may_be_first())
        for names in scenario.expected():
            hits = [name for name in names if name in said]
            for name in hits:
                result.outcomes[name] = FOUND
            if not hits:
                result.outcomes[names[0]] = MISSED
    else:
        result.first_right = bool(first & (allowed | {"compute"}))
    for rule in RULES:
        if rule == "compute":
            continue
        if rule in result.outcomes:
            continue
        if rule in named and not named[rule] & (allowed | {"compute"}):
            result.outcomes[rule] = FALSE
        elif rule not in named and (rule not in allowed or rule in ALWAYS and rule not in scenario.named()):
            result.outcomes[rule] = RIGHT
    for rule in set(named) - set(RULES):  # a rule that RULES does not list must not be ignored
        if not named[rule] & (allowed | {"compute"}):
            result.outcomes[rule] = FALSE
    causes = {rule for rule, counts_as in named.items() if "compute" not in counts_as or FOUND in result.outcomes.values()}
    judge_compute(result, scenario, sure, "compute" if not causes - ALWAYS else rows[0]["rule"])
    return result


def judge_compute(result, scenario, sure, first):
    """The rule `compute` says that nothing stands out, which is right if nothing was planted. `first` is the
    first sentence that is more than an information."""
    if sure != "yes" or "compute" in scenario.first:
        return
    if scenario.rules:
        result.outcomes["compute"] = FALSE if first == "compute" else RIGHT
    elif not scenario.first:
        result.outcomes["compute"] = FOUND if first == "compute" else MISSED


def wilson(hits, count, z=1.96):
    """The 95% interval of a ratio; None without outcomes."""
    if not count:
        return None
    p, square = hits / count, z * z / count
    middle, spread = p + square / 2, z * math.sqrt(p * (1 - p) / count + square / (4 * count))
    return max(0.0, (middle - spread) / (1 + square)), min(1.0, (middle + spread) / (1 + square))


class Counts:
    """Outcomes of one rule, or of all."""

    def __init__(self):
        self.of = dict.fromkeys((FOUND, MISSED, FALSE, RIGHT), 0)

    def add(self, outcome):
        self.of[outcome] += 1

    def precision(self):
        return self.of[FOUND], self.of[FOUND] + self.of[FALSE]

    def recall(self):
        return self.of[FOUND], self.of[FOUND] + self.of[MISSED]


def count(judgements):
    """Counts by rule, in the order of the rules, and of all rules together."""
    rules, total = {rule: Counts() for rule in RULES}, Counts()
    for judgement in judgements:
        for rule, outcome in judgement.outcomes.items():
            rules.setdefault(rule, Counts()).add(outcome)
            total.add(outcome)
    return rules, total


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else None


@dataclass
class Gain:
    """A rule's estimated gain, and the time that the fault took by two measures; milliseconds per step."""
    scenario: str
    rule: str
    estimated: float
    planted: float  # by the script's clock
    removed: float  # against the scenario without the fault; None if it was not run

    def near(self, measured):
        return bool(measured) and measured > 0 and 1 / FACTOR <= self.estimated / measured <= FACTOR


def gains(results):
    """`results`: (scenario, truth, rows) of each run. Medians of each scenario's runs."""
    means, found = {}, []
    for scenario, truth, _ in results:
        means.setdefault(scenario.name, []).append(truth["mean_ms"])
    estimates = {}
    for scenario, truth, rows in results:
        if scenario.kind not in ("weak", "strong") or certainty(scenario, truth) != "yes":
            continue
        row = next((row for row in rows if kinds(row) & scenario.named() - GAIN_IS_A_PART and row.get("gain_ns")), None)
        if row:
            estimates.setdefault(scenario.name, []).append((row, truth["planted_ms"], scenario))
    for name, runs in estimates.items():
        scenario = runs[0][2]
        rule = runs[0][0]["rule"]
        planted = median([planted for _, planted, _ in runs]) if scenario.measured and rule not in GAIN_OF_FORM else 0
        clean = means.get(scenario.clean)
        found.append(Gain(name, rule, median([row["gain_ns"] for row, _, _ in runs]) / 1e6, planted,
                          median(means[name]) - median(clean) if clean else None))
    return found

