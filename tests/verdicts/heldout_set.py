"""Scripts with a truth of their own, which were in sets that no rule was made with: what of a verdict is right, the page.

For each script, once recorded: its planted causes are found or missed; each other rule in the verdict is true besides,
not judged, or false; and the first sentence is right or wrong. Which rules are which, the file heldout.json of a new set says,
and store/scripts.json.xz of all earlier ones. A few of their scripts are in the folder programs; git has the others, at the commit
and path that the list names.
"""
import json
import lzma
import os
from dataclasses import dataclass, field

from judge import kinds, kinds_of_first, wilson
from scenarios import ALWAYS

HERE = os.path.dirname(os.path.abspath(__file__))
STORE = os.path.join(HERE, "store")
PROGRAMS = os.path.join(HERE, "programs")
LIST = "heldout.json"  # of a folder with a new set
SCRIPTS = os.path.join(STORE, "scripts.json.xz")  # of all earlier sets
PLANTED_AT_LEAST = 0.10  # of the loop; with less, in this run, nothing was planted
CLEAN_AT_MOST = 0.05     # with more, in this run, the script was not clean
SYSTEM_AT_LEAST = 0.05   # of the loop in the kernel: rules about page faults are then true

# True of much work of this size, whatever is planted; the scripts do not measure it.
NOT_JUDGED = ALWAYS | {"one-operator", "roofline", "precision", "half-precision", "memory-owners", "profiler-cost"}
IN_THE_KERNEL = {"page-faults", "allocator", "memory-temporaries"}
KINDS = {"planted": "a planted cause", "clean": "clean", "decoy": "a decoy"}


@dataclass
class Case:
    """One script."""
    folder: str
    source: str
    kind: str
    plants: str
    true: list = field(default_factory=list)
    also: list = field(default_factory=list)
    first: object = None
    options: list = field(default_factory=list)
    ranks: int = 0
    set: int = 0  # its number; 0: of none, but written to correct rules with
    at: str = ""  # where git has it: COMMIT:FOLDER/

    @property
    def name(self):
        return os.path.splitext(self.source)[0]

    @property
    def script(self):
        return os.path.join(self.folder, self.source)

    @property
    def launcher(self):
        """Between python and the script."""
        return ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={self.ranks}"] if self.ranks else []

    def causes(self):
        """The planted causes, each the rules of which one must be named."""
        return [names.split("|") for names in self.true]

    def may_be_first(self, ignored):
        named = {name for names in self.causes() for name in names}
        if self.first == "any":
            return named | set(self.also) | ignored | {"compute"}
        if self.kind != "planted":
            return ignored | {"compute"}
        return set(self.first or named)

    def description(self):
        named = ", ".join(self.true) or "nothing"
        also = f"; also {', '.join(self.also)}" if self.also else ""
        return f"{self.name:<30} {self.kind:<7} {named}{also}: {self.plants}"


def read_entries(path):
    opener = lzma.open if path.endswith(".xz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def write_entries(path, entries):
    """A line an entry, so that a diff shows which ones changed."""
    text = "[\n" + ",\n".join(map(json.dumps, entries)) + "\n]\n"
    with open(path, "wb") as file:
        file.write(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME) if path.endswith(".xz") else text.encode())


def read_list(path, folder):
    return [Case(folder, entry.pop("script"), **entry) for entry in read_entries(path)]


def load(folder):
    """The scripts of a new set; none if the folder has none."""
    try:
        return read_list(os.path.join(folder, LIST), folder)
    except FileNotFoundError:
        return []


def stored():
    """All scripts that ever were in a set, by set."""
    return read_list(SCRIPTS, PROGRAMS)


def programs():
    """Those of them that are in the tree."""
    return [case for case in stored() if os.path.exists(case.script)]


@dataclass
class Outcome:
    """What of one verdict was right. `why_not`: why it was not counted."""
    found: list = field(default_factory=list)
    missed: list = field(default_factory=list)
    false: list = field(default_factory=list)
    first: str = "compute"
    first_right: bool = False
    why_not: str = ""

    def right(self):
        return self.first_right and not self.missed and not self.false

    def faults(self):
        texts = [] if self.first_right else [f"first: {self.first}"]
        return "; ".join(texts + ["missed: " + name for name in self.missed] + ["false: " + name for name in self.false])


def why_not_counted(case, one):
    if "error" in one:
        return one["error"]
    share = one["truth"]["share"]
    if case.kind == "planted" and share < PLANTED_AT_LEAST:
        return f"only {share:.0%} were planted in this run"
    if case.kind != "planted" and share > CLEAN_AT_MOST:
        return f"the script was not clean in this run: {share:.0%}"
    return ""


def judge(case, one):
    """`one`: {"truth", "rows"} or {"error"} of a run."""
    result = Outcome(why_not=why_not_counted(case, one))
    if "error" in one:
        return result
    named = {row["rule"]: kinds(row) for row in one["rows"] if row["rule"] != "compute"}
    said = set().union(*named.values()) if named else set()
    ignored = set(NOT_JUDGED)
    if one["truth"].get("system_share", 0) >= SYSTEM_AT_LEAST:
        ignored |= IN_THE_KERNEL
    for names in case.causes():
        (result.found if said & set(names) else result.missed).append("|".join(names))
    true = {name for names in case.causes() for name in names}
    result.false = sorted(rule for rule, counts_as in named.items() if not counts_as & (true | set(case.also) | ignored | {"compute"}))
    result.first = one["rows"][0]["rule"] if one["rows"] else "compute"
    result.first_right = bool(kinds_of_first(one["rows"]) & case.may_be_first(ignored))
    return result


def line(case, one):
    outcome = judge(case, one)
    said = ", ".join(row["rule"] for row in one.get("rows", [])) or "nothing"
    state = "skip" if outcome.why_not else "ok  " if outcome.right() else "FAIL"
    return f"{state} {case.name:<30} {outcome.why_not or outcome.faults()}{' ' if outcome.faults() else ''}[{said}]"


def ratio(hits, count):
    if not count:
        return "none"
    low, high = wilson(hits, count)
    return f"{hits} of {count}: {hits / count:.0%} ({low:.0%} to {high:.0%})"


class Page:
    """All outcomes, as text and as doc/measured/verdict-heldout.md. `runs`: (case, run)."""

    def __init__(self, runs, machine):
        self.all = [(case, one, judge(case, one)) for case, one in runs]
        self.counted = [each for each in self.all if not each[2].why_not]
        self.machine = machine

    def summary(self):
        """(what, ratio) lines."""
        def pick(*kinds):
            return [(case, outcome) for case, _, outcome in self.counted if case.kind in kinds]
        lines = [("verdicts that are right in all", ratio(sum(o.right() for _, o in pick(*KINDS)), len(pick(*KINDS)))),
                 ("first sentences that are right", ratio(sum(o.first_right for _, o in pick(*KINDS)), len(pick(*KINDS))))]
        for kind, text in KINDS.items():
            lines.append((f"- of scripts with {text}" if kind != "clean" else "- of clean scripts",
                          ratio(sum(o.first_right for _, o in pick(kind)), len(pick(kind)))))
        found = sum(len(o.found) for _, o in pick("planted"))
        lines.append(("planted causes that are named", ratio(found, found + sum(len(o.missed) for _, o in pick("planted")))))
        false = sum(len(o.false) for _, o in pick(*KINDS))
        lines.append(("judged rules that name a planted cause", ratio(found, found + false)))
        lines.append(("scripts without a false rule", ratio(sum(not o.false for _, o in pick(*KINDS)), len(pick(*KINDS)))))
        lines.append(("clean scripts and decoys without a false rule",
                      ratio(sum(not o.false for _, o in pick("clean", "decoy")), len(pick("clean", "decoy")))))
        lines.append(("- that begin with compute",
                      ratio(sum(o.first == "compute" for _, o in pick("clean", "decoy")), len(pick("clean", "decoy")))))
        return lines

    def text(self):
        lines = [f"{what:<46} {value}" for what, value in self.summary()]
        lines += [f"not counted: {case.name}: {outcome.why_not}" for case, _, outcome in self.all if outcome.why_not]
        return "\n".join(lines)

    def failures(self):
        lines = []
        for case, one, outcome in self.counted:
            if outcome.right():
                continue
            wanted = ", ".join(name.replace("|", " or ") for name in case.true) or "nothing that stands out"
            lines += ["", f"#### {case.source}", "",
                      f"{'Planted: ' if case.true else 'It plants nothing: '}{case.plants}; {one['truth']['share']:.0%} by the script's clock. Wanted: {wanted}."
                      + (f" True besides: {', '.join(case.also)}." if case.also else ""), "",
                      f"Wrong: {outcome.faults()}. The report said:", ""]
            lines += [f"- `{row['rule']}`: {' '.join(str(row.get('statement', '')).split())}" for row in one["rows"]] or ["- nothing"]
        return lines

    def markdown(self):
        machine = self.machine
        lines = ["# Verdicts on scripts that the rules were not made with", "",
                 "For readers who ask how far to trust a verdict on a script that nobody here has seen.", "",
                 "The scripts of each set were written by authors who did not know dwell's rules, facts and thresholds, and who did not run",
                 "its reports on them. Each set was judged once before any rule was corrected by it: those are the figures at first sight.",
                 "The last column is what today's rules say of accounts, recorded later beside other programs, of the same scripts.", "",
                 "<!-- [tools/generate sets] from tests/verdicts/store/sets.json, right.json -->", "<!-- [tools/generate end] -->", "",
                 "## The newest set", "",
                 "`tools/measure/verdicts --set DIR --page` ran it and wrote this page.", "",
                 f"{machine.get('versions', 'unknown versions')}; {machine.get('processor', 'unknown processor')}, "
                 f"{machine.get('cores', '?')} cores; {machine.get('date', '')}; load {machine.get('load', '?')}; "
                 f"{machine.get('repeat', 1)} run(s) of each, {machine.get('jobs', 1)} at a time."
                 + (f" {machine['note']}" if machine.get("note") else ""), "",
                 "| | with the 95% interval (Wilson) |", "|---|---|"]
        lines += [f"| {what} | {value} |" for what, value in self.summary()]
        lines += ["", "A verdict is right in all if its first sentence is right, no planted cause is missing, and no rule is false. "
                  f"A run is not counted if the script's own clock found less than {PLANTED_AT_LEAST:.0%} planted, or more than "
                  f"{CLEAN_AT_MOST:.0%} in a script that plants nothing. Not judged, because they are true of much work whatever is "
                  f"planted: {', '.join(f'`{name}`' for name in sorted(NOT_JUDGED))}; and {', '.join(f'`{name}`' for name in sorted(IN_THE_KERNEL))} "
                  f"if the kernel took {SYSTEM_AT_LEAST:.0%} of the loop. A clean script's verdict may begin with one of these.",
                  "", "### Failures"]
        lines += self.failures() or ["", "None."]
        left_out = [f"{case.source}: {outcome.why_not.split(':')[0]}" for case, _, outcome in self.all if outcome.why_not]
        lines += ["", f"Not counted: {'; '.join(left_out) or 'none'}.", ""]
        return "\n".join(lines)
