"""The store of accounts: what rules read of each recorded script, so that its verdicts are judged without running it.

tests/verdicts/store/accounts.xz has the accounts of all sets of scripts in the form of tests/tools/account_form.h, in one file because
they are alike and compress well together, by columns (line_columns.py). Behind the first line of an account are those that the rules do
not read: script, run (its number), set, truth (what the script measured of itself in this run) and recorded (when, and on what).
scripts.json.xz says of each script which rules are right, and where git has it; sets.json has of each set how many first sentences were right when it was judged first.
"""
import concurrent.futures
import json
import lzma
import os
import subprocess

import heldout_set
import line_columns

FOLDER = heldout_set.STORE
FILE = "accounts.xz"
COUNT = "right.json"  # how many first sentences are right
HEAD = ("script", "run", "set", "truth", "recorded")


class Account:
    """One run of one script."""

    def __init__(self, head, text):
        self.script, self.run, self.set = head["script"], int(head["run"]), int(head["set"])
        self.truth = json.loads(head["truth"])
        self.recorded = head["recorded"]
        self.text = text  # what keep_account printed

    @property
    def key(self):
        return self.script, self.run

    def lines(self):
        first, rest = self.text.split("\n", 1)
        truth = json.dumps(self.truth, sort_keys=True)
        head = zip(HEAD, (self.script, str(self.run), str(self.set), truth, self.recorded))
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


def read_file(path):
    return line_columns.read(path)


def read(folder=FOLDER):
    """All accounts of the store, by script and run."""
    path = os.path.join(folder, FILE)
    return {account.key: account for account in parse(read_file(path))} if os.path.exists(path) else {}


FOR_TEXT = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0}]  # bytes of a text have no alignment


def write(accounts, folder=FOLDER):
    """Accounts that are the same leave the file as it is."""
    path = os.path.join(folder, FILE)
    text = "".join(accounts[key].lines() for key in sorted(accounts, key=lambda key: (accounts[key].set, key)))
    if os.path.exists(path) and read_file(path) == text:
        return
    with open(path, "wb") as file:
        file.write(lzma.compress(line_columns.pack(text).encode(), filters=FOR_TEXT))


def cases():
    """What is true of each script, by its name."""
    return {case.name: case for case in heldout_set.stored()}


def keep(program, recorder, wanted):
    """(accounts of all traces in the recorder's cache, what is not there: [(script, why)]). `program`: keep_account."""
    found, missing = [], []
    for case in heldout_set.stored():
        if not wanted(case.name):
            continue
        runs = recorder.runs(case)
        whole = [(number, said) for number, said in runs if "truth" in said]
        if not whole:
            missing.append((case.name, runs[0][1]["error"] if runs else "never recorded here"))
        found += [({"script": case.name, "run": number, "set": case.set, "truth": json.dumps(said["truth"]), "recorded": said["recorded"]},
                   recorder.path(case, number, "dwell")) for number, said in whole]

    def make(entry):
        head, trace = entry
        done = subprocess.run([program, trace], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
        return Account(head, done.stdout) if done.returncode == 0 else (head["script"], f"no account: {done.stderr.strip()[-200:]}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(make, found))
    return {each.key: each for each in made if isinstance(each, Account)}, missing + [each for each in made if isinstance(each, tuple)]


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

RIGHT, BELOW, WRONG, NOTHING = "right", "below", "wrong", "nothing"
SAID = (RIGHT, BELOW, WRONG, NOTHING)
HEADS = ("set", "scripts", "stored", "counted", *SAID, "all right", "false", "now", "at first sight")


def sets():
    """What was right when each set was judged first: {number: {"scripts", "right", "of"}}."""
    with open(os.path.join(FOLDER, "sets.json"), encoding="utf-8") as file:
        return {entry["set"]: entry for entry in json.load(file)}


def said(outcome):
    """right; below: a planted cause is named behind another first sentence; wrong; nothing: none is named at all."""
    if outcome.first_right:
        return RIGHT
    if outcome.found:
        return BELOW
    return NOTHING if outcome.first == "compute" else WRONG


def percent(right, of):
    return f"{right / of:.0%}" if of else "-"


def first_sight(seen):
    right, of = sum(entry["right"] for entry in seen), sum(entry["of"] for entry in seen)
    return f"{right}/{of} {percent(right, of)}" if of else "-"


def table_row(name, scripts, accounts, judged, seen):
    outcomes = [each.outcome for each in judged if not each.outcome.why_not]
    counts = {key: sum(said(outcome) == key for outcome in outcomes) for key in SAID}
    return [name, scripts, len({each.script for each in accounts}), len(outcomes), *counts.values(),
            sum(outcome.right() for outcome in outcomes), sum(len(outcome.false) for outcome in outcomes),
            percent(counts[RIGHT], len(outcomes)), first_sight(seen)]


def table_rows(accounts, judged):
    """By set: what the first sentences say today beside what was right when the set was new."""
    seen, known = sets(), list(cases().values())
    numbers = sorted({case.set for case in known})

    def row(name, chosen):
        return table_row(name, sum(case.set in chosen for case in known), [each for each in accounts.values() if each.set in chosen],
                         [each for each in judged if each.account.set in chosen], [seen[number] for number in chosen if number in seen])
    rows = [row(str(number) if number else "practice", {number}) for number in numbers]
    return [*rows, row("all sets", set(numbers) - {0})]


def table(accounts, judged):
    rows = [list(HEADS), *([str(cell) for cell in row] for row in table_rows(accounts, judged))]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADS))]
    return "\n".join("  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(row, widths))) for row in rows)


# ---- comparisons -----------------------------------------------------------------------------------

def saved(judged):
    return {each.name: each.saved() for each in judged}


def count_right(judged):
    counted = [each for each in judged if not each.outcome.why_not]
    return {"right": sum(each.outcome.first_right for each in counted), "of": len(counted)}


def count(judged):
    """How many first sentences are right, of all and by set."""
    by_set = {number: count_right([each for each in judged if each.account.set == number]) for number in sorted({each.account.set for each in judged})}
    return {**count_right(judged), "sets": {str(number): counts for number, counts in by_set.items()}}


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
            lines.append(f"  {each.name} [set {each.account.set}]: {was['first']} ({words[was['right']]}) -> "
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
        lines.append("The store or the truth of scripts has changed: look at the table, then tools/measure/accounts --count")
    elif now["right"] < kept["right"]:
        lines.append("Fewer are right. If that is meant, tools/measure/accounts --count, and the commit says why")
    elif now["right"] > kept["right"]:
        lines.append("More are right: tools/measure/accounts --count keeps the number")
    return lines, now["of"] == kept["of"] and now["right"] >= kept["right"]


def keep_count(judged, folder=FOLDER):
    with open(os.path.join(folder, COUNT), "w", encoding="utf-8") as file:
        json.dump(count(judged), file, indent=1)
        file.write("\n")
