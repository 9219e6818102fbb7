"""Daily alarm report of a mobile network.

Reads the syslog of the operations centre, extracts the alarms of every network
element (each vendor and element has its own prefix and slot layout), pairs
raise and clear messages, and reports the outage minutes per region.
"""
import gzip
import json
import os
import random
import re
import tempfile
from collections import defaultdict
from datetime import datetime, timedelta

REGIONS = ["north", "east", "south", "west", "centre"]
ELEMENTS = 760
LINES = 60_000
SEVERITIES = ["critical", "major", "minor", "warning"]
CAUSES = [
    "link down", "loss of signal", "VSWR over threshold", "temperature high", "fan failure",
    "clock reference lost", "S1 setup failure", "battery low", "door open", "cell unavailable",
]
LINE = re.compile(r"^(\S+ \S+) (\S+) (.*)$")
START = datetime(2026, 5, 4)


def make_elements(rng):
    elements = {}
    for i in range(ELEMENTS):
        vendor = rng.choice(["eri", "nok", "hua"])
        kind = rng.choice(["gnb", "enb", "rtr"])
        region = rng.choice(REGIONS)
        name = f"{vendor}-{kind}.{region[0]}{i:04d}"
        elements[name] = {
            "vendor": vendor,
            "region": region,
            "slots": rng.choice([4, 8, 12]),
        }
    return elements


def format_alarm(rng, name, element, alarm_id, severity, cause, cleared):
    slot, port = rng.randrange(element["slots"]), rng.randrange(4)
    state = "CLEARED" if cleared else "RAISED"
    if element["vendor"] == "eri":
        return f"{name}[{slot}/{port}]: alarm {alarm_id} {state} sev={severity} text=\"{cause}\""
    if element["vendor"] == "nok":
        return f"<{name}> {state} #{alarm_id} ({severity}) slot {slot} port {port} -- {cause}"
    return f"{name}:{slot}:{port}:{state}:{alarm_id}:{severity}:{cause}"


def write_syslog(path, rng, elements):
    names = list(elements)
    active, at = [], START
    with gzip.open(path, "wt", compresslevel=4) as log:
        for n in range(LINES):
            at += timedelta(milliseconds=rng.expovariate(1 / 1400))
            stamp = at.strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
            u = rng.random()
            if u < 0.30:
                name = rng.choice(names)
                log.write(f"{stamp} {name} session {rng.randrange(10**6)} keepalive ok rtt {rng.randrange(90)} ms\n")
            elif u < 0.66 or len(active) < 20:
                name = rng.choice(names)
                alarm = (name, n, rng.choice(SEVERITIES), rng.choice(CAUSES))
                active.append(alarm)
                log.write(f"{stamp} {name} {format_alarm(rng, name, elements[name], *alarm[1:], False)}\n")
            else:
                i = rng.randrange(len(active))
                active[i], active[-1] = active[-1], active[i]
                alarm = active.pop()
                name = alarm[0]
                log.write(f"{stamp} {name} {format_alarm(rng, name, elements[name], *alarm[1:], True)}\n")


def alarm_pattern(name, element):
    """Slots beyond the layout of the element belong to somebody else's alarm."""
    slot = "(?P<slot>%s)" % "|".join(str(s) for s in range(element["slots"]))
    severity = "(?P<severity>%s)" % "|".join(SEVERITIES)
    state = "(?P<state>RAISED|CLEARED)"
    quoted = re.escape(name)
    if element["vendor"] == "eri":
        return rf'{quoted}\[{slot}/(?P<port>[0-3])\]: alarm (?P<id>\d+) {state} sev={severity} text="(?P<cause>[^"]*)"'
    if element["vendor"] == "nok":
        return rf"<{quoted}> {state} #(?P<id>\d+) \({severity}\) slot {slot} port (?P<port>[0-3]) -- (?P<cause>.*)"
    return rf"{quoted}:{slot}:(?P<port>[0-3]):{state}:(?P<id>\d+):{severity}:(?P<cause>.*)"


class AlarmReader:
    def __init__(self, elements):
        self.elements = elements
        self.patterns = {name: re.compile(alarm_pattern(name, e)) for name, e in elements.items()}
        self.skipped = 0

    def read(self, path):
        with gzip.open(path, "rt") as log:
            for line in log:
                stamp, name, text = LINE.match(line).groups()
                found = self.patterns[name].fullmatch(text)
                if found is None:
                    self.skipped += 1
                    continue
                yield datetime.fromisoformat(stamp), name, found.groupdict()


def report(elements, alarms):
    raised = {}
    outage = defaultdict(float)
    by_cause = defaultdict(lambda: defaultdict(int))
    worst = defaultdict(float)
    unmatched = 0
    for at, name, alarm in alarms:
        region = elements[name]["region"]
        key = (name, alarm["id"])
        if alarm["state"] == "RAISED":
            raised[key] = at
            by_cause[alarm["cause"]][alarm["severity"]] += 1
            continue
        start = raised.pop(key, None)
        if start is None:
            unmatched += 1
            continue
        minutes = (at - start).total_seconds() / 60
        if alarm["severity"] in ("critical", "major"):
            outage[region] += minutes
            worst[name] = max(worst[name], minutes)
    return {
        "outage_minutes": {r: round(m, 2) for r, m in sorted(outage.items())},
        "causes": {c: dict(sorted(s.items())) for c, s in sorted(by_cause.items())},
        "worst": sorted(((round(m, 2), n) for n, m in worst.items()), reverse=True)[:3],
        "open": len(raised),
        "unmatched": unmatched,
    }


def main():
    rng = random.Random(112)
    elements = make_elements(rng)
    handle, path = tempfile.mkstemp(suffix=".log.gz")
    os.close(handle)
    try:
        write_syslog(path, rng, elements)
        reader = AlarmReader(elements)
        result = report(elements, reader.read(path))
    finally:
        os.unlink(path)
    result["causes"] = sum(sum(s.values()) for s in result["causes"].values())
    print(json.dumps(result, indent=1))
    print(f"other messages {reader.skipped}")


if __name__ == "__main__":
    main()
