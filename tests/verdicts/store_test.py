#!/usr/bin/env python3
"""Tests stored accounts: of a trace's account the rules say, word for word, what the report of the trace says; and how the store is
kept and compared.

usage: tests/verdicts/store_test.py DWELL KEEP_ACCOUNT JUDGE_ACCOUNTS [TRACE...]

Without a TRACE those of tests/data are compared. With some, only these: all that tools/measure/verdicts --keep kept, before the form changes.
"""
import concurrent.futures
import glob
import json
import os
import subprocess
import sys
import tempfile

import account_store
import heldout_set
import line_columns
from account_store import Account, Judged
from heldout_set import Case

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

DWELL, KEEP, JUDGE = sys.argv[1:4]
failed = passed = 0


def check(what, holds):
    global failed, passed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print("FAIL " + what)


def judged(text):
    done = subprocess.run([JUDGE], input=text, capture_output=True, text=True, check=False, timeout=100)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else done.stderr


def kept(trace):
    return subprocess.run([KEEP, trace], capture_output=True, text=True, check=True, timeout=100).stdout


def reported(trace):
    done = subprocess.run([DWELL, "report", trace, "--view", "verdict", "--format", "json"], capture_output=True, text=True, check=True,
                          timeout=100)
    [view] = json.loads(done.stdout)["views"]
    names = [column["name"] for column in view["columns"]]
    rows = [dict(zip(names, row)) for row in view["rows"]]
    return [{"rule": row["rule"], "statement": row["statement"], "hint": row["hint"] or ""} for row in rows]


# ---- equality --------------------------------------------------------------------------------------

def adds(account, report):
    """Of what follows the last step, an account has the first sentence: the facts of that time are not kept."""
    return account and report and account["rule"] == report["rule"] == "after-steps" and report["statement"].startswith(account["statement"])


def compare(trace):
    """How many verdicts a trace has, and what differs, as lines."""
    said, wanted = judged(kept(trace)), reported(trace)
    if not isinstance(said, list) or len(said) != 1:
        return 0, [f"the account cannot be judged: {said}"]
    said = said[0]["rows"]
    pairs = zip(said + [None] * len(wanted), wanted + [None] * len(said))
    return len(wanted), [f"account: {a}\n    report:  {b}" for a, b in pairs if a != b and not adds(a, b)]


def test_equal(traces):
    verdicts = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for trace, (count, lines) in zip(traces, pool.map(compare, traces)):
            check(f"{trace}\n    " + "\n    ".join(lines), not lines)
            verdicts += count
    check("the traces have verdicts", verdicts >= len(traces))
    print(f"{len(traces)} traces compared, with {verdicts} verdicts")


def traces_of_data():
    data = unpacked.folder(DWELL)
    return sorted(glob.glob(os.path.join(data, "*.dwell")) + glob.glob(os.path.join(data, "gpu", "*.dwell")) +
                  glob.glob(os.path.join(data, "planted", "*.dwell")))


# ---- the form --------------------------------------------------------------------------------------

HEALTHY = ("account\t1\nscript\ta\nrun\t2\nframework\tPyTorch\niterations\tmarked\nloop\t0\t1\t0\n"
           "fact\tloop.wall\t1e+09\t\t\t1\nfact\tloop.steps\t1\t\t\t1\nfact\tstep.count\t60\t\t\t1\nfact\tstep.steady\t60\t\t\t60\n"
           "fact\tstep.wall\t1.6e+07\t\t\t60\nfact\trun.wall\t1e+09\t\t\t1\n")
ACCOUNT = ("wall\t1e+09\t1e+09\t0\t0\t0\nthread\t0\t1\t1\nstate\twaits\t1e+09\t50\t50\t50\n"
           "cell\tstep\tother\t\tsleeps\twaits\t1e+09\t50\t50\t50\nplace\twait \\\\ \\t\ta.c\t7\t0\t1e+09\t1e+09\n")


def test_form():
    [one] = judged(HEALTHY + ACCOUNT)
    check("who it is", (one["script"], one["run"]) == ("a", 2))
    check("a cell makes a rule speak, with its place: " + str(one),
          one["rows"] and one["rows"][0]["rule"] == "sleeping" and "wait \\ \t (a.c:7)" in one["rows"][0]["statement"])
    check("a fact and a line that are not known are ignored", judged(HEALTHY + "fact\tno.such\t1\t\t\t1\nrecorded\tthen\n" + ACCOUNT) == [one])
    check("a fact without a line is not measured", judged(HEALTHY.replace("fact\trun.wall\t1e+09\t\t\t1\n", "") + ACCOUNT)[0]["rows"] == [])
    check("accounts do not mix", judged(HEALTHY + ACCOUNT + HEALTHY + HEALTHY + ACCOUNT)[0::2] == [one, one])
    for what, text in (("an activity that is not known", ACCOUNT.replace("sleeps", "dreams")), ("a range without a line", ACCOUNT.replace("\t\tsleeps", "\t3\tsleeps")),
                       ("no number", ACCOUNT.replace("\t50\t50\t50\nplace", "\nplace")), ("another version", "account\t2\n")):
        check(f"{what} is an error", isinstance(judged(HEALTHY + text), str))


# ---- the store -------------------------------------------------------------------------------------

def account(script, run=0, share=0.5, number=1):
    head = {"script": script, "run": run, "set": number, "truth": json.dumps({"share": share}), "recorded": "today"}
    return Account(head, HEALTHY.replace("script\ta\nrun\t2\n", "") + ACCOUNT)


def keyed(*accounts):
    return {each.key: each for each in accounts}


def lines_of(accounts):
    return {key: each.lines() for key, each in accounts.items()}


def test_store():
    accounts = keyed(account("a"), account("a", 1), account("b", number=2))
    with tempfile.TemporaryDirectory() as folder:
        account_store.write(accounts, folder)
        check("one file has them", os.listdir(folder) == [account_store.FILE])
        check("what was written is read", lines_of(account_store.read(folder)) == lines_of(accounts))
        with open(os.path.join(folder, os.path.basename(heldout_set.SCRIPTS)), "w", encoding="utf-8"):
            pass
        account_store.write(keyed(account("a")), folder)
        check("what is written anew replaces it, and other files stay", list(account_store.read(folder)) == [("a", 0)] and
              sorted(os.listdir(folder)) == sorted([os.path.basename(heldout_set.SCRIPTS), account_store.FILE]))
    text = "a\tb\nfact\tx\t1\n\nfact\ty\t1\nfact\tx\t2\t\n\u2028\n"
    check("lines by columns are the same lines", line_columns.unpack(line_columns.pack(text)) == text)
    check("all runs of a script are replaced", sorted(account_store.replace(accounts, keyed(account("a", share=0.4)))) == [("a", 0), ("b", 0)])
    check("the rules are asked about each", sorted(account_store.say(JUDGE, accounts)) == sorted(accounts))


def verdict(script, *rules, true="sleeping", share=0.5):
    case = Case("folder", script + ".c", "planted", "a sleep", [true], also=["idle"])
    return Judged(account(script, share=share), case, [{"rule": rule, "statement": f"It is {rule}."} for rule in rules])


def test_difference():
    before = [verdict("a", "sleeping"), verdict("b", "idle"), verdict("c", "sleeping"), verdict("d", "idle", share=0.01), verdict("e", "idle")]
    now = [verdict("a", "idle"), verdict("b", "sleeping"), verdict("c", "sleeping", "idle"), verdict("d", "sleeping", share=0.01)]
    lines = account_store.difference(account_store.saved(before), now)
    check("the numbers, of what is counted in both: " + lines[0], lines[0] == "first sentences that are right: 2 of 3, before 2 (+1 -1)")
    check("first sentences that changed", [line.split()[0] for line in lines[1:4]] == ["a", "b", "d"] and "sleeping (right) -> idle (wrong)" in lines[1])
    check("other rules that changed", lines[4].split() == ["c:", "other", "rules:", "+idle"])
    check("what only one has", lines[5].strip() == "not compared: 0 only now, 1 only before")
    check("equal runs have no lines", len(account_store.difference(account_store.saved(before), before)) == 1)
    with tempfile.TemporaryDirectory() as folder:
        account_store.keep_count(before, folder)
        check("the number holds", account_store.check(before, folder)[1])
        check("more may be right", account_store.check([verdict(name, "sleeping") for name in "abce"], folder)[1])
        check("fewer may not", not account_store.check([verdict(name, "idle") for name in "abce"], folder)[1])
        check("nor may scripts be away", not account_store.check(before[:2], folder)[1])


def main():
    if len(sys.argv) > 4:
        test_equal(sys.argv[4:])
    else:
        test_equal(traces_of_data())
        test_form()
        test_store()
        test_difference()
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
