#!/usr/bin/env python3
"""The view requests: threads that come and go, against the times that a server takes itself; tasks of pools, and waits for the interpreter's lock.

usage: requests_test.py BUILD_FOLDER      last line: N passed, N failed
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

DWELL = os.path.join(os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build"), "dwell")

SERVER = """
import http.server, json, socketserver, threading, time, urllib.request

own = []

def model(n):
    return sum([i * i for i in range(n)])

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        n = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["n"]
        time.sleep(0.004)
        body = json.dumps(model(n)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass

class Server(http.server.ThreadingHTTPServer):
    def process_request_thread(self, *arguments):
        begin = time.perf_counter_ns()
        super().process_request_thread(*arguments)
        own.append(time.perf_counter_ns() - begin)

server = Server(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever).start()

def client():
    for _ in range(25):
        urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_port, b'{"n": 200000}').read()

clients = [threading.Thread(target=client) for _ in range(4)]
for one in clients:
    one.start()
for one in clients:
    one.join()
server.shutdown()
while len(own) < 100:
    time.sleep(0.001)
print(json.dumps(sorted(own)))
"""

POOL = """
from concurrent.futures import ThreadPoolExecutor

def work(n):
    return sum([i * i for i in range(n)])

with ThreadPoolExecutor(8) as pool:
    print(sum(pool.map(work, [20000] * 100)))
"""


class Requests(unittest.TestCase):
    def record(self, folder, text):
        program, trace = os.path.join(folder, "program.py"), os.path.join(folder, "program.dwell")
        with open(program, "w", encoding="utf-8") as file:
            file.write(text)
        out = subprocess.run([DWELL, "run", "-o", trace, sys.executable, program], check=True, capture_output=True, text=True)
        return trace, out.stdout

    def report(self, trace, *options):
        return subprocess.run([DWELL, "report", trace, *options], check=True, capture_output=True, text=True).stdout

    def rows(self, trace):
        view = json.loads(self.report(trace, "--view", "requests", "--format", "json"))
        view = view if "columns" in view else view["views"][0]
        names = [column["name"] for column in view["columns"]]
        return [dict(zip(names, row["cells"] if isinstance(row, dict) else row)) for row in view["rows"]]

    def test_requests(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, out = self.record(folder, SERVER)
            own = json.loads(out)
            rows = self.rows(trace)
            first = self.report(trace)
        named = [row for row in rows if row["count"] == 100]
        self.assertEqual(len(named), 1, rows)
        # A thread lives a little longer than the function that it runs, and waits before for the lock.
        for name, truth in ("mean_ns", sum(own) / 100), ("p50_ns", own[50]), ("p95_ns", own[95]), ("max_ns", own[99]):
            self.assertGreater(named[0][name], truth * 0.98, (name, truth, rows))
            self.assertLess(named[0][name], truth * 1.5 + 20e6, (name, truth, rows))
        self.assertLessEqual(named[0]["at_once"], 20)
        parts = rows[rows.index(named[0]) + 1:]
        parts = {row["name"]: row for row in parts[:next((i for i, row in enumerate(parts) if row["count"]), len(parts))]}
        self.assertIn("model", parts["uses the CPU"]["most"])
        self.assertGreater(parts["waits: interpreter's lock"]["mean_ns"], 0)
        self.assertGreater(parts["sleeps"]["mean_ns"], 0)
        self.assertLess(parts["sleeps"]["mean_ns"], 80e6)
        self.assertIn("do_POST", parts["sleeps"]["most"])
        self.assertAlmostEqual(sum(row["share"] for row in parts.values()), 1, delta=0.5)
        self.assertIn("short threads", first)
        self.assertNotIn("hold the lock for less time", first)  # who joins a thread waits for that thread

    def test_pool(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, _ = self.record(folder, POOL)
            rows = [row for row in self.rows(trace) if row["count"]]
            first = self.report(trace)
            self.assertEqual([(row["name"], row["count"]) for row in rows], [("work", 100)])
            self.assertLessEqual(rows[0]["at_once"], 8)
            self.assertIn("100 tasks work", first)
            self.assertIn("interpreter's lock", self.report(trace, "--view", "account", "--limit", "all") +
                          self.report(trace))


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False, verbosity=1).result
    failed = len(result.failures) + len(result.errors)
    print("%d passed, %d failed" % (result.testsRun - failed, failed))
    sys.exit(failed > 0)
