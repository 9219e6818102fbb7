"""Nightly reconciliation: matches the settlement lines that each branch sent
against the central ledger, in a pool of processes, and reports the breaks."""
import collections
import multiprocessing
import random
import re

ACCOUNTS = 50_000
BRANCHES = 40
LINES = 3_000
LINE = re.compile(r"^(?P<ref>[A-Z]{2}\d{8})\|(?P<account>\d{9})\|(?P<date>\d{4}-\d{2}-\d{2})\|"
                  r"(?P<cur>[A-Z]{3})\|(?P<amount>-?\d+\.\d{2})\|(?P<note>.*)$")
RATES = {"EUR": 100, "USD": 92, "GBP": 117, "CHF": 104}

LedgerEntry = collections.namedtuple("LedgerEntry", "account holder currency limit opened expected")


def build_ledger():
    rng = random.Random(5)
    currencies = list(RATES)
    ledger = {}
    for i in range(ACCOUNTS):
        account = f"{100_000_000 + i * 17:09d}"
        ledger[account] = LedgerEntry(account, f"holder {i}", currencies[i % 4], 1000 + rng.randrange(90_000),
                                      f"20{i % 25:02d}-0{i % 9 + 1}-11", rng.randrange(100, 2_000_000))
    return ledger


def branch_file(branch, ledger_keys, ledger):
    rng = random.Random(1000 + branch)
    lines = []
    for n in range(LINES):
        account = rng.choice(ledger_keys)
        entry = ledger[account]
        cents = entry.expected if rng.random() < 0.93 else entry.expected + rng.randrange(-5000, 5000)
        if rng.random() < 0.01:
            account = f"{rng.randrange(10**8, 10**9):09d}"
        currency = entry.currency if rng.random() < 0.98 else "USD"
        lines.append(f"BR{branch:03d}{n:05d}|{account}|2024-03-{n % 28 + 1:02d}|{currency}|"
                     f"{cents // 100}.{cents % 100:02d}|settlement batch {n // 100} {'late' if n % 97 == 0 else ''}")
    return "\n".join(lines)


def parse(text):
    for line in text.splitlines():
        match = LINE.match(line)
        if match is None:
            yield None
            continue
        whole, cents = match["amount"].split(".")
        yield match["ref"], match["account"], match["cur"], int(whole) * 100 + int(cents), "late" in match["note"]


def similarity(a, b):
    """Edit distance of two account numbers, used to propose a correction."""
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]


def reconcile_branch(branch, text, ledger):
    result = collections.Counter()
    net = 0
    recent = collections.deque(maxlen=40)
    for record in parse(text):
        if record is None:
            result["malformed"] += 1
            continue
        ref, account, currency, cents, late = record
        entry = ledger.get(account)
        if entry is None:
            result["unknown account"] += 1
            if min((similarity(account, other) for other in recent), default=9) <= 4:
                result["correction proposed"] += 1
            continue
        recent.append(account)
        net += cents * RATES[currency] // 100
        if entry.currency != currency:
            result["currency break"] += 1
        elif entry.expected != cents:
            result["amount break"] += 1
            if abs(entry.expected - cents) > 2500:
                result["large break"] += 1
        else:
            result["matched"] += 1
        if late:
            result["late"] += 1
    return branch, result, net


def main():
    ledger = build_ledger()
    keys = list(ledger)
    files = [(branch, branch_file(branch, keys, ledger)) for branch in range(BRANCHES)]
    totals = collections.Counter()
    net = 0
    with multiprocessing.get_context("fork").Pool(2) as pool:
        jobs = [(branch, text, ledger) for branch, text in files]
        for branch, result, amount in pool.starmap(reconcile_branch, jobs, chunksize=1):
            totals.update(result)
            net += amount
    print(f"branches {BRANCHES}, lines {BRANCHES * LINES}, net {net / 100:.2f} EUR")
    for name, count in sorted(totals.items()):
        print(f"  {name:<20} {count}")


if __name__ == "__main__":
    main()
