"""Programs that announce what they do through ITT or NVTX, recorded in this folder's t.dwell."""
import json
import os
import re
import subprocess


class Run:
    """A program under `dwell run`: its output, what dwell printed, and the trace's events."""

    def __init__(self, dwell, *command, arguments=(), **environment):
        self.dwell = dwell
        changed = {**os.environ, **environment}
        self.done = subprocess.run([dwell, "run", "-o", "t.dwell", *arguments, "--", *command], capture_output=True,
                                   text=True, check=False, errors="replace", timeout=300,
                                   env={name: value for name, value in changed.items() if value is not None})
        text = subprocess.run([dwell, "export", "--format", "chrome", "t.dwell"], capture_output=True, check=True,
                              errors="replace").stdout
        everything = json.loads(text)["traceEvents"]
        # A thread without ranges has a track of functions by samples.
        samples = {event["tid"] for event in everything if event["ph"] == "M" and event["name"] == "thread_name" and
                   event["args"]["name"].endswith("(samples)")}
        self.events = [event for event in everything if event["ph"] != "M" and event.get("tid") not in samples]
        self.threads = {event["args"]["name"] for event in everything
                        if event["ph"] == "M" and event["name"] == "thread_name"}

    def of(self, name, phases="X"):
        return [event for event in self.events if event["name"] == name and event["ph"] in phases]

    def is_empty(self):
        """Whether nothing was recorded but what samples of call stacks leave: marks of the run, new chunks."""
        return all(event["ph"] == "i" or event.get("cat") == "overhead" for event in self.events)

    def span(self, name):
        """From when to when the only range of this name lasts, which may be two events if it does not nest."""
        events = self.of(name, "Xbe")
        return events[0]["ts"], max(event["ts"] + event.get("dur", 0) for event in events)

    def count(self, name):
        return len(self.of(name))

    def said(self, word):
        return [line for line in self.done.stderr.splitlines() if word in line]

    def lost(self):
        report = subprocess.run([self.dwell, "report", "t.dwell"], capture_output=True, text=True, check=True)
        match = re.search(r"^ +Lost: ([\d,]+) record", report.stdout, re.M)
        return int(match.group(1).replace(",", "")) if match else 0

    def steps(self):
        report = subprocess.run([self.dwell, "report", "--view", "steps", "--format", "csv", "t.dwell"],
                                capture_output=True, text=True, check=False)
        return max(len(report.stdout.splitlines()) - 1, 0)
