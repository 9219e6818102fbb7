"""The results of tools/measure/verdicts as text and as a page: by rule, by scenario, first sentences, gains."""
import judge
from judge import FALSE, FOUND, MISSED, RIGHT
from scenarios import RULES, SCENARIOS


def description(scenario):
    """A scenario and what is true of it, on one line."""
    truth = ", ".join(scenario.rules) or "nothing stands out"
    also = f"; also true: {', '.join((*scenario.first, *scenario.also))}" if scenario.first or scenario.also else ""
    alike = f" (looks like {scenario.looks_like})" if scenario.looks_like else ""
    return f"{scenario.name:<34} {truth}{also}{alike}"


def line(scenario, one):
    """One run on one line, printed when it has ended."""
    if "error" in one:
        return f"FAIL {scenario.name}: {one['error']}"
    judgement = judge.judge(scenario, one["truth"], one["rows"])
    reported = " ".join(row["rule"] for row in one["rows"]) or "(nothing)"
    wrong = [f"{outcome} {rule}" for rule, outcome in judgement.outcomes.items() if outcome in (MISSED, FALSE)]
    if not judgement.first_right:
        wrong.insert(0, f"first sentence {judgement.first}")
    return (f"{'FAIL' if wrong else 'ok  '} {scenario.name:<34} {100 * one['truth'].get('share', 0):4.0f}%  {reported}"
            + (f"   <- {', '.join(wrong)}" if wrong else ""))


def percent(part, whole):
    return f"{100 * part / whole:.1f}%" if whole else "-"


def interval(part, whole):
    bounds = judge.wilson(part, whole)
    return f"{100 * bounds[0]:.0f}-{100 * bounds[1]:.0f}%" if bounds else "-"


class Page:
    """The counts of all runs, printed as text or as a page in Markdown."""

    def __init__(self, runs, machine):
        self.machine = machine
        self.errors = [(scenario, one["error"]) for scenario, one in runs if "error" in one]
        self.runs = [(scenario, one, judge.judge(scenario, one["truth"], one["rows"]))
                     for scenario, one in runs if "error" not in one]
        self.rules, self.total = judge.count(judgement for _, _, judgement in self.runs)
        self.gains = judge.gains([(scenario, one["truth"], one["rows"]) for scenario, one, _ in self.runs])

    # ---- tables: a list of rows, the first of which are the headings ----------------------

    def by_rule(self):
        rows = [["rule", FOUND, MISSED, FALSE, RIGHT, "precision", "95%", "recall", "95%"]]
        for rule, counts in [*self.rules.items(), ("all rules", self.total)]:
            rows.append([rule, *(str(counts.of[key]) for key in (FOUND, MISSED, FALSE, RIGHT)),
                         percent(*counts.precision()), interval(*counts.precision()),
                         percent(*counts.recall()), interval(*counts.recall())])
        return rows

    def by_kind(self):
        rows = [["scenarios", "runs", "first sentence right", "", "95%", "no rule missed or false", ""]]
        kinds = [("planted, weak", ["weak"]), ("planted, strong", ["strong"]), ("nothing planted", ["clean"]),
                 ("decoys", ["decoy"]), ("all", ["weak", "strong", "clean", "decoy"])]
        for title, names in kinds:
            of_kind = [judgement for scenario, _, judgement in self.runs if scenario.kind in names]
            first = sum(judgement.first_right for judgement in of_kind)
            whole = sum(not judgement.faults() for judgement in of_kind)
            rows.append([title, str(len(of_kind)), str(first), percent(first, len(of_kind)), interval(first, len(of_kind)),
                         str(whole), percent(whole, len(of_kind))])
        return rows

    def wrong_ones(self):
        """The scenarios in which something is wrong, as a table."""
        rows = [["scenario", "share", "planted", "first sentence", "reported", "wrong"]]
        for scenario, one, judgement in self.runs:
            wrong = [f"{outcome}: {rule}" for rule, outcome in judgement.outcomes.items() if outcome in (MISSED, FALSE)]
            if not judgement.first_right:
                wrong.insert(0, "first sentence")
            if not wrong:
                continue
            share = one["truth"].get("share", 0)
            rows.append([scenario.name, f"{100 * share:.0f}%" if share and scenario.measured else "-",
                         ", ".join(scenario.rules) or "-", judgement.first,
                         ", ".join(row["rule"] for row in one["rows"]) or "nothing", "; ".join(wrong)])
        return piped(rows) if len(rows) > 1 else "None."

    def by_planted(self):
        """The matrix: planted rule by reported rule, the cells that are not 0, with counts."""
        cells = {}
        for scenario, one, judgement in self.runs:
            if not judgement.certain:
                continue
            planted = ", ".join(scenario.rules) or "nothing"
            for row in one["rows"] or [{"rule": "compute"}]:
                counts = cells.setdefault(planted, {})
                counts[row["rule"]] = counts.get(row["rule"], 0) + 1
            cells.setdefault(planted, {}).setdefault("runs", 0)
            cells[planted]["runs"] += 1
        order = {rule: number for number, rule in enumerate(RULES)}
        rows = [["planted", "runs", "reported (in how many of the runs)"]]
        for planted in sorted(cells, key=lambda text: order.get(text.split(",")[0].split("|")[0], len(order))):
            counts = cells[planted]
            named = sorted((rule for rule in counts if rule != "runs"), key=lambda rule: (-counts[rule], rule))
            rows.append([planted, str(counts["runs"]), ", ".join(f"{rule} {counts[rule]}" for rule in named)])
        return rows

    def by_gain(self):
        rows = [["scenario", "rule", "estimated, ms", "planted, ms", "ratio", "removed, ms", "ratio"]]
        for gain in self.gains:
            rows.append([gain.scenario, gain.rule, f"{gain.estimated:.2f}", *self.against(gain, gain.planted),
                         *self.against(gain, gain.removed)])
        return rows

    @staticmethod
    def against(gain, measured):
        if not measured or measured <= 0:
            return ["-", "-"]
        return [f"{measured:.2f}", f"{gain.estimated / measured:.2f}"]

    def gain_sentences(self):
        for what, key in (("the planted time", "planted"), ("what the scenario without the fault saves", "removed")):
            known = [gain for gain in self.gains if (getattr(gain, key) or 0) > 0]
            near = sum(gain.near(getattr(gain, key)) for gain in known)
            yield (f"Within a factor of {judge.FACTOR} of {what}: {near} of {len(known)} estimated gains"
                   f" ({percent(near, len(known))}).")

    def heads(self):
        machine = self.machine
        yield (f"{machine.get('processor', '')}, {machine.get('cores', '?')} cores; {machine.get('versions', '')};"
               f" {machine.get('date', '')}.")
        beside = machine.get("busy", 0)
        yield (f"{len(self.runs)} runs, of {len({scenario.name for scenario, _, _ in self.runs})} of the {len(SCENARIOS)} scenarios,"
               f" {machine.get('jobs', 1)} at the same time, load at the end {machine.get('load', '?')}"
               + (f", with {beside} busy loops beside them." if beside else "."))
        if (machine.get("load") or 0) > machine.get("cores", 0) + machine.get("jobs", 1):
            yield "Other programs used the processor as well, so that steps were longer and less even than the scripts made them."
        if machine.get("note"):
            yield machine["note"]
        if self.errors:
            yield f"{len(self.errors)} runs ended with an error: " + "; ".join(f"{scenario.name}: {why}" for scenario, why in self.errors)

    # ---- forms ---------------------------------------------------------------------------------

    def text(self):
        parts = [*self.heads(), "", aligned(self.by_rule()), "", aligned(self.by_kind()), ""]
        if self.gains:
            parts += [aligned(self.by_gain()), *self.gain_sentences()]
        return "\n".join(parts)

    def markdown(self):
        return "\n".join([
            "# How often dwell's verdicts are right", "", "For readers who ask how often each rule is right.", "",
            "Written by `tools/measure/verdicts --page`. Training scripts with a planted cause, the same scripts without it, and"
            " decoys, which only look like one, run under `dwell run`; `dwell report --view verdict` is compared with what"
            " each script measures of itself with its own clock. The scripts and what is true of each are in"
            " [tests/verdicts](../../tests/verdicts/scenarios.py).", "", *self.heads(), "",
            "## First sentences and whole reports", "",
            "A whole report is right if it names each planted rule and none that is not true.", "", piped(self.by_kind()), "",
            "## Rules", "",
            "An outcome is a rule in a run. Found: planted and reported. Missed: planted and not reported. False: reported"
            " and not true. Right: not planted and not reported. Rules that are true besides what was planted do not count."
            " Intervals are Wilson's.", "", piped(self.by_rule()), "",
            "## Planted and reported", "", piped(self.by_planted()), "",
            "## Gains", "",
            "What dwell estimates that a step would save at most; the planted time by the script's clock; the difference to"
            " the scenario without the fault, in another run. Not here: " + ", ".join(sorted(judge.GAIN_IS_A_PART))
            + ", whose work can be made faster, but not left out.", "", piped(self.by_gain()), "", *self.gain_sentences(), "",
            "## Scenarios in which something is wrong", "",
            "Share: what the script measured of the planted cause, as a part of the loop (of memory: of the peak)."
            f" A cause under {100 * judge.SILENT:.0f}% need not be reported, one up to {100 * judge.CERTAIN:.0f}% may be.", "",
            self.wrong_ones(), ""])


def aligned(rows):
    """A table as text: the first column to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) if column == 0 else cell.rjust(width)
                               for column, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in rows)


def piped(rows):
    """A table in Markdown."""
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in escaped]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])
