"""The store of accounts: what rules read of each recorded script, so that its verdicts are judged without running it.

tests/verdicts/store has a file for each set of scripts: accounts in the form of tests/tools/account_form.h, compressed. Behind
the first line of an account are those that the rules do not read: script, run (its number), set, truth (what the script measured
of itself in this run) and recorded (when, and on what). Which rules are right is in heldout.json and practice.json, by the
script's name.
"""
import concurrent.futures
import gzip
import json
import os
import subprocess

import heldout_set

FOLDER = os.path.join(heldout_set.HERE, "store")
COUNT = "right.json"  # how many first sentences are right
HEAD = ("script", "run", "set", "truth", "recorded")


class Account:
    """One run of one script."""

    def __init__(self, head, text):
        self.script, self.run, self.set = head["script"], int(head["run"]), head["set"]
        self.truth = json.loads(head["truth"])
        self.recorded = head["recorded"]
        self.text = text  # what keep_account printed

    @property
    def key(self):
        return self.script, self.run

    def lines(self):
        first, rest = self.text.split("\n", 1)
        truth = json.dumps(self.truth, sort_keys=True)
        head = zip(HEAD, (self.script, str(self.run), self.set, truth, self.recorded))
        return "\n".join([first, *("\t".join(pair) for pair in head), rest])


def parse(text):
    for each in ("\n" + text).split("\naccount\t")[1:]:
        head, body = {}, ["account\t" + each.split("\n", 1)[0]]
        for line in each.rstrip("\n").split("\n")[1:]:
            kind, _, value = line.partition("\t")
            if kind in HEAD:
                head[kind] = value
            else:
                body.append(line)
        yield Account(head, "\n".join(body) + "\n")


def file_of(name):
    return name.replace(" ", "-") + ".gz"


def read_file(path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read()


def read(folder=FOLDER):
    """All accounts of the store, by script and run."""
    files = sorted(name for name in os.listdir(folder) if name.endswith(".gz"))
    found = [account for name in files for account in parse(read_file(os.path.join(folder, name)))]
    return {account.key: account for account in found}


def write(accounts, folder=FOLDER):
    """A file whose accounts are the same stays as it is."""
    sets = {}
    for key in sorted(accounts):
        sets.setdefault(file_of(accounts[key].set), []).append(accounts[key].lines())
    for name in set(os.listdir(folder)) - set(sets):
        if name.endswith(".gz"):
            os.remove(os.path.join(folder, name))
    for name, texts in sets.items():
        path, text = os.path.join(folder, name), "".join(texts)
        if os.path.exists(path) and read_file(path) == text:
            continue
        with open(path, "wb") as file:
            file.write(gzip.compress(text.encode(), 9, mtime=0))


def cases():
    """What is true of each script, by its name without the set's: it stays if the script moves to another set."""
    return {case.name.split(".", 1)[1]: case for name in heldout_set.SETS for case in heldout_set.load(name)}


def keep(program, traces, results, wanted):
    """The accounts of the traces in a folder that a file of results names. `program`: keep_account."""
    known = cases()
    machine = results["machine"]
    recorded = (f"{machine.get('date', '')}; {machine.get('processor', 'unknown processor')}, {machine.get('cores', '?')} cores; "
                f"load {machine.get('load', '?')}")
    found = []
    for name, runs in results["runs"].items():
        script = name.split(".", 1)[-1]
        for number, one in enumerate(runs):
            trace = os.path.join(traces, f"{name}-{number}.dwell")
            if script in known and "truth" in one and os.path.exists(trace) and wanted(script):
                head = {"script": script, "run": number, "set": known[script].origin or known[script].set,
                        "truth": json.dumps(one["truth"]), "recorded": recorded}
                found.append((head, trace))

    def make(entry):
        head, trace = entry
        done = subprocess.run([program, trace], stdout=subprocess.PIPE, text=True, check=True)
        return Account(head, done.stdout)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return {account.key: account for account in pool.map(make, found)}


def replace(accounts, kept):
    """All runs of the scripts that were recorded anew take the place of the earlier ones."""
    scripts = {account.script for account in kept.values()}
    return {key: account for key, account in accounts.items() if account.script not in scripts} | kept


def say(program, accounts):
    """What the rules say of each: {(script, run): rows}. `program`: judge_accounts."""
    text = "".join(account.lines() for account in accounts.values())
    done = subprocess.run([program], input=text, stdout=subprocess.PIPE, text=True, check=True)
    return {(one["script"], one["run"]): one["rows"] for one in map(json.loads, done.stdout.splitlines())}


class Judged:
    """One account with its verdict and what of it is right."""

    def __init__(self, account, case, rows):
        self.account, self.case, self.rows = account, case, rows
        self.outcome = heldout_set.judge(case, {"truth": account.truth, "rows": rows})

    @property
    def name(self):
        return self.account.script + (f" ({self.account.run})" if self.account.run else "")

    def sentence(self):
        return " ".join(self.rows[0]["statement"].split()) if self.rows else "nothing"

    def saved(self):
        return {"first": self.outcome.first, "right": self.outcome.first_right, "rules": [row["rule"] for row in self.rows],
                "counted": not self.outcome.why_not}


def judge(program, accounts):
    """All accounts of scripts whose truth is known."""
    known, rows = cases(), say(program, accounts)
    return [Judged(accounts[key], known[key[0]], rows[key]) for key in sorted(accounts) if key[0] in known]


# ---- the table -------------------------------------------------------------------------------------

COLUMNS = (*heldout_set.KINDS, "all")


def table_part(outcomes, holds):
    return f"{sum(map(holds, outcomes))}/{len(outcomes)}" if outcomes else "-"


FIGURES = (("first sentence right", lambda outcomes: table_part(outcomes, lambda one: one.first_right)),
           ("all rules right", lambda outcomes: table_part(outcomes, lambda one: one.right())),
           ("false rules", lambda outcomes: str(sum(len(one.false) for one in outcomes)) if outcomes else "-"))


def table_row(name, judged):
    by_kind = [[each.outcome for each in judged if column in ("all", each.case.kind)] for column in COLUMNS]
    return [name, *(figure(outcomes) for _, figure in FIGURES for outcomes in by_kind)]


def table(judged):
    """By set: of how many scripts the first sentence and all rules are right, and how many rules are false."""
    counted = [each for each in judged if not each.outcome.why_not]
    order = list(dict.fromkeys(case.origin or case.set for case in cases().values()))
    sets = sorted({each.account.set for each in counted}, key=lambda name: (order + [name]).index(name))
    rows = [["set", *(column for _ in FIGURES for column in COLUMNS)]]
    rows += [table_row(name, [each for each in counted if each.account.set == name]) for name in sets]
    rows.append(table_row("all", counted))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    head = " " * widths[0]
    for i, (title, _) in enumerate(FIGURES):
        of_group = widths[1 + i * len(COLUMNS):1 + (i + 1) * len(COLUMNS)]
        head += "  " + title.ljust(sum(of_group) + 2 * (len(of_group) - 1))
    lines = [head] + ["  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths)))
                      for row in rows]
    return "\n".join(line.rstrip() for line in lines)


# ---- comparisons -----------------------------------------------------------------------------------

def saved(judged):
    return {each.name: each.saved() for each in judged}


def count(judged):
    counted = [each for each in judged if not each.outcome.why_not]
    return {"right": sum(each.outcome.first_right for each in counted), "of": len(counted)}


def difference(before, judged):
    """Which scripts changed their first sentence, as lines."""
    both = [each for each in judged if each.name in before]
    counted = [each for each in both if not each.outcome.why_not and before[each.name]["counted"]]
    gained = [each for each in counted if each.outcome.first_right and not before[each.name]["right"]]
    lost = [each for each in counted if not each.outcome.first_right and before[each.name]["right"]]
    right = sum(each.outcome.first_right for each in counted)
    lines = [f"first sentences that are right: {right} of {len(counted)}, before {right - len(gained) + len(lost)} "
             f"(+{len(gained)} -{len(lost)})"]
    words = {True: "right", False: "wrong"}
    for each in both:
        was = before[each.name]
        if was["first"] != each.outcome.first:
            note = f", not counted: {each.outcome.why_not}" if each.outcome.why_not else ""
            lines.append(f"  {each.name} [{each.account.set}]: {was['first']} ({words[was['right']]}) -> "
                         f"{each.outcome.first} ({words[each.outcome.first_right]}{note}): {each.sentence()}")
    for each in both:
        was, now = set(before[each.name]["rules"]), {row["rule"] for row in each.rows}
        changes = [f"+{rule}" for rule in sorted(now - was)] + [f"-{rule}" for rule in sorted(was - now)]
        if changes and before[each.name]["first"] == each.outcome.first:
            lines.append(f"  {each.name}: other rules: {' '.join(changes)}")
    apart = len(judged) - len(both), len(before) - len(both)
    if any(apart):
        lines.append(f"  not compared: {apart[0]} only now, {apart[1]} only before")
    return lines


def check(judged, folder=FOLDER):
    """Compares the number of right first sentences with the one that is kept: (lines, whether it holds)."""
    with open(os.path.join(folder, COUNT), encoding="utf-8") as file:
        kept = json.load(file)
    now = count(judged)
    lines = [f"first sentences that are right: {now['right']} of {now['of']}; kept: {kept['right']} of {kept['of']}"]
    if now["of"] != kept["of"]:
        lines.append("The store or the truth of scripts has changed: look at the table, then tools/accounts --count")
    elif now["right"] < kept["right"]:
        lines.append("Fewer are right. If that is meant, tools/accounts --count, and the commit says why")
    elif now["right"] > kept["right"]:
        lines.append("More are right: tools/accounts --count keeps the number")
    return lines, now["of"] == kept["of"] and now["right"] >= kept["right"]


def keep_count(judged, folder=FOLDER):
    with open(os.path.join(folder, COUNT), "w", encoding="utf-8") as file:
        json.dump(count(judged), file)
        file.write("\n")
