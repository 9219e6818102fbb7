#!/usr/bin/env python3
"""A training of PyTorch under dwell run for an hour, with dwell's commands used on it all the time.

usage: bench/train_hour.py BUILD PYTHON [--minutes N] [--to FILE]

PYTHON has torch. It trains the ResNet-18 of examples/pytorch on the digits of examples/resnet18, with a worker that loads them, and
evaluates it after each epoch; the trace has at most 64 MB. Rounds of dwell capture, top, view over HTTP, report and diff go on until
the training ends, and each answer is checked. The memory of the program may grow by 16 MB between the second fifth of the time and the last.
--to writes a page. Last line: N passed, N failed
"""
import argparse
import collections
import http.client
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
MOST_BYTES, MOST_GROWN_KB, STEPS, PAUSE_S, LIMIT_S, END_S = 64 << 20, 16 << 10, 5, 5, 120, 40
SUMMARY_BYTES = 64 << 10  # what doc/reference/machine-summary.md promises


def train(seconds):
    sys.path.insert(0, os.path.join(ROOT, "examples/pytorch"))
    import torch
    from resnet import ResNet
    sys.path.insert(0, os.path.join(ROOT, "examples/resnet18/data"))
    from make_digits import SIDE_OUT, read_sets
    torch.manual_seed(0)
    torch.set_num_threads(1)

    def digits(images, labels):
        images = torch.frombuffer(bytearray(b"".join(images)), dtype=torch.uint8).view(-1, 1, SIDE_OUT, SIDE_OUT) / 255
        return torch.utils.data.TensorDataset(images, torch.tensor(labels))

    sets = {name: digits(*read) for name, read in read_sets().items()}
    net, until, steps = ResNet(), time.monotonic() + seconds, 0
    optimizer = torch.optim.SGD(net.parameters(), lr=.01, momentum=.9)
    batches = torch.utils.data.DataLoader(sets["train"], batch_size=8, shuffle=True, num_workers=1, persistent_workers=True)
    tests = sets["t10k"].tensors
    while True:
        for x, y in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
            steps += 1
            if time.monotonic() > until:
                break
        net.eval()
        with torch.no_grad():
            right = sum((net(x).argmax(1) == y).sum().item() for x, y in zip(tests[0].split(64), tests[1].split(64)))
        net.train()
        if time.monotonic() > until:
            break
    print("RESULT", steps, right / len(tests[1]))


class Hour:
    def __init__(self, options, folder):
        self.dwell, self.folder = os.path.join(os.path.abspath(options.build), "dwell"), folder
        self.job, self.trace = folder + "/job", folder + "/job/train.dwell"
        os.mkdir(self.job)
        self.until = time.monotonic() + options.minutes * 60  # before it ends: the training begins later
        self.counts, self.slowest, self.failed = collections.Counter(), collections.Counter(), []
        self.captures, self.memory, self.most_file, self.steps = [], [], 0, 0
        with open(folder + "/printed", "wb") as out:
            self.runner = subprocess.Popen(
                [self.dwell, "run", "--max-size", str(MOST_BYTES), "--summary-every", "10s", "-o", self.trace, "--",
                 options.python, os.path.abspath(__file__), "train", str(options.minutes * 60)], stdout=out, stderr=subprocess.STDOUT)

    def check(self, what, holds, said=""):
        self.counts[what] += 1
        if not holds:
            self.failed.append((what, str(said)[-300:]))
            print("FAIL", what, str(said)[-300:], flush=True)

    def ask(self, what, *command):
        """What a command printed; its exit status must be 0."""
        began = time.monotonic()
        done = subprocess.run([self.dwell, *command], capture_output=True, text=True, check=False, timeout=LIMIT_S, cwd=self.folder)
        self.slowest[what] = max(self.slowest[what], time.monotonic() - began)
        self.check(f"{what}: exit status 0", done.returncode == 0, done.stdout + done.stderr)
        return done.stdout

    def rows(self, what, trace, view):
        table = json.loads(self.ask(what, "report", "-f", "json", "--view", view, trace) or '{"views": [{"columns": [], "rows": []}]}')["views"][0]
        return [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]

    def start_view(self):
        self.view = subprocess.Popen([self.dwell, "view", "--no-browser", self.trace], stderr=subprocess.PIPE, text=True)
        self.port, token = re.search(r":(\d+)/\?token=(\w+)", self.view.stderr.readline()).groups()
        self.cookie = ""
        self.cookie = self.get(f"/?token={token}")[1]["Set-Cookie"].split(";")[0]

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=LIMIT_S)
        connection.request("GET", path, headers={"Cookie": self.cookie} if self.cookie else {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, answer.headers, content

    def capture(self):
        if time.monotonic() > self.until - END_S:
            return
        said = self.ask("capture", "capture", self.job, "--steps", str(STEPS))
        match = re.search(r"steps (\d+) to (\d+), .* in (\S+)$", said, re.M)
        self.check("capture: five steps", match and int(match[2]) - int(match[1]) == STEPS - 1, said)
        if match:
            steps = sorted(row["step"] for row in self.rows("report of a capture", match[3], "steps"))
            self.check("report of a capture: its steps", steps == list(range(int(match[1]), int(match[2]) + 1)), steps)
            self.captures = self.captures[:1] + self.captures[1:][-1:] + [match[3]]

    def look(self):
        said = self.ask("top", "top", "--once", str(self.runner.pid))
        self.check("top: an operator of the model", "convolution" in said, said)
        summary = self.ask("report", "report", "--summary", "-f", "json", self.trace)
        self.check("report: at most 64 KB of JSON", 0 < len(summary.encode()) <= SUMMARY_BYTES and json.loads(summary), len(summary))
        status, _, content = self.get("/api/live")
        self.check("view: the run is live", status == 200 and "complete" in json.loads(content), status)
        end = json.loads(content).get("end_ns", 10**9) if status == 200 else 10**9
        status, _, content = self.get(f"/api/span?begin={max(0, end - 10**9)}&end={end}&pixels=1000")
        self.check("view: the last second", status == 200 and json.loads(content)["tracks"], (status, content[:200]))
        until = time.monotonic() + LIMIT_S
        while b'http-equiv="refresh"' in (answer := self.get("/report"))[2] and time.monotonic() < until:
            time.sleep(1)
        status, _, content = answer
        self.check("view: the report", status == 200 and b"convolution" in content, status)

    def compare(self):
        if len(self.captures) < 2:
            return
        said = self.ask("diff", "diff", "-f", "json", self.captures[0], "--", self.captures[-1])
        self.check("diff: a verdict on two captures", '"verdict"' in said and json.loads(said), said)

    def measure(self):
        for pid in subprocess.run(["pgrep", "-P", str(self.runner.pid)], capture_output=True, text=True, check=False).stdout.split():
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:
                if "train_hour.py\0train" not in file.read():
                    continue
            with open(f"/proc/{pid}/status", encoding="utf-8") as file:
                self.memory.append(int(re.search(r"RssAnon:\s*(\d+)", file.read())[1]))
        self.most_file = max(self.most_file, os.stat(self.trace).st_size)

    def run(self):
        began, rounds = time.monotonic(), 0
        while not os.path.exists(self.trace + ".sum"):
            if self.runner.poll() is not None or time.monotonic() > began + LIMIT_S:
                sys.exit("the training does not start: " + self.printed())
            time.sleep(1)
        self.start_view()
        while self.runner.poll() is None:
            try:
                self.measure()
                for command in (self.capture, self.look, self.compare):
                    if self.runner.poll() is None:
                        command()
                rounds += 1
            except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
                self.check("no exception", self.runner.poll() is not None, repr(error))
            time.sleep(PAUSE_S)
        self.finish(time.monotonic() - began, rounds)

    def printed(self):
        with open(self.folder + "/printed", encoding="utf-8", errors="replace") as file:
            return file.read()

    def finish(self, seconds, rounds):
        self.view.terminate()
        self.view.wait()
        result = re.search(r"RESULT (\d+) (\S+)", self.printed())
        self.check("the training ends with its result", self.runner.returncode == 0 and result, self.printed())
        self.steps, self.right = int(result[1]) if result else 0, float(result[2]) if result else 0
        overview = self.rows("report at the end", self.trace, "overview")
        self.check("report at the end: all steps", overview and overview[0].get("steps") == self.steps, (overview, self.steps))
        self.check("the file is within its size", self.most_file <= MOST_BYTES, self.most_file)
        fifth = len(self.memory) // 5
        self.early, self.late = (statistics.median(part) for part in (self.memory[fifth:2 * fifth + 1], self.memory[-fifth - 1:]))
        self.check("memory is flat", self.late - self.early <= MOST_GROWN_KB, (self.early, self.late))
        self.seconds, self.rounds = seconds, rounds


def page(hour, options):
    commit = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h"], capture_output=True, text=True, check=False).stdout.strip()
    lines = ["# A training with dwell's commands used on it", "",
             "For users who ask whether looking at a long run disturbs it.", "",
             f"`bench/train_hour.py --minutes {options.minutes:g}` wrote this (commit {commit}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, "
             f"{time.strftime('%Y-%m-%d', time.gmtime())}). A ResNet-18 in PyTorch trained for {hour.seconds:,.0f} s: {hour.steps:,} steps, {hour.right:.0%} of the "
             f"test digits right. In {hour.rounds:,} rounds each command was used on it and its answer checked.", "",
             "| check | times | failed |", "|---|---:|---:|"]
    failures = collections.Counter(what for what, _ in hour.failed)
    lines += [f"| {what} | {count:,} | {failures[what]} |" for what, count in hour.counts.items()]
    lines += ["", f"Memory of its own that the program had: {hour.early / 1024:.0f} MB in the second fifth of the time, {hour.late / 1024:.0f} MB in the last. The file had "
                  f"{hour.most_file / 1e6:.1f} MB at most, and might have {MOST_BYTES / 1e6:.1f} MB. The slowest answers: "
              + ", ".join(f"{what} {seconds:.1f} s" for what, seconds in hour.slowest.items()) + "."]
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["train"]:
        return train(float(sys.argv[2]))
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("python")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--to")
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="dwell-train-")
    hour = Hour(options, folder)
    try:
        hour.run()
    finally:
        if hour.runner.poll() is None:
            hour.runner.terminate()
            hour.runner.wait()
    text = page(hour, options)
    print(text)
    if options.to:
        with open(options.to, "w", encoding="utf-8") as file:
            file.write(text)
    shutil.rmtree(folder)
    print(f"{sum(hour.counts.values()) - len(hour.failed)} passed, {len(hour.failed)} failed")
    return bool(hour.failed)


if __name__ == "__main__":
    sys.exit(main())
