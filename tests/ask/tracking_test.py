#!/usr/bin/env python3
"""The recipes of doc/how/tracking.md, as MLflow, W&B and Lightning read what they logged; and what dwell.otlp sends.

usage: PYTHON tracking_test.py BUILD [PYTHON-WITH-LIGHTNING]     last line: N passed, N failed, N skipped

PYTHON has the packages of `tools/venv tracking`. OTLP is received by OpenTelemetry's own messages of the protocol.
"""
import csv
import glob
import gzip
import http.server
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
BUILD = os.path.abspath(sys.argv[1])
LIGHTNING = sys.argv[2] if len(sys.argv) > 2 else ""
if os.environ.get("LD_LIBRARY_PATH") != BUILD:  # the loader reads it when a program starts
    os.environ.update(LD_LIBRARY_PATH=BUILD, PYTHONPATH=os.path.join(ROOT, "python"), PYTHONDONTWRITEBYTECODE="1",
                      MLFLOW_ALLOW_FILE_STORE="true", MLFLOW_TRACKING_URI="file:mlruns", WANDB_MODE="offline", WANDB_SILENT="true")
    os.execv(sys.executable, [sys.executable, *sys.argv])

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest  # noqa: E402
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest  # noqa: E402
import pyarrow  # noqa: E402

import dwell  # noqa: E402
from dwell import otlp  # noqa: E402

MOST_LINES = 10  # of a recipe


def blocks():
    """The recipes of the page, by the library that they import."""
    with open(os.path.join(ROOT, "doc/how/tracking.md"), encoding="utf-8") as file:
        found = re.findall(r"^```python\n(.*?)^```$", file.read(), re.M | re.S)
    return {re.search(r"^(?:import|from) (?!dwell)(\w+)", block, re.M)[1]: block for block in found}


def records(path):
    """The records of an offline run of W&B: a log as LevelDB's, in blocks of 32 KiB, after a head of 7 bytes."""
    with open(path, "rb") as file:
        data, at, whole = file.read(), 7, b""
    while at + 7 <= len(data):
        length, kind = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
        whole += data[at + 7:at + 7 + length]
        at += 7 + length
        at += (-at % 32768) if -at % 32768 < 7 else 0
        if kind in (1, 4):  # a whole record, or the last part of one
            yield whole
            whole = b""


def attributes(of):
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in of}


class Receiver(http.server.HTTPServer):
    """Takes spans and metrics."""

    def __init__(self):
        self.spans, self.metrics, self.resources = [], {}, []
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        body = gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body
        if self.path == "/v1/traces":
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.server.resources.append(attributes(resource.resource.attributes))
                self.server.spans += [span for scope in resource.scope_spans for span in scope.spans]
        else:
            for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.server.metrics.update((metric.name, metric) for scope in resource.scope_metrics for metric in scope.metrics)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):
        pass


class Tracking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="dwell-tracking-")
        os.chdir(cls.temporary.name)
        for name in "train", "ranks":
            subprocess.run([os.path.join(BUILD, "tests/tools/mktrace"), os.path.join(HERE, "../golden/views", name + ".txt"), name + ".dwell"], check=True)
        with dwell.open("train.dwell") as trace:
            cls.summary, cls.steps = trace.summary(), trace.table("steps").to_pylist()
        cls.lengths = {step["step"]: step["duration_ns"] / 1e6 for step in cls.steps}
        cls.first = " ".join(cls.summary["sentences"][:3])

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        cls.temporary.cleanup()

    def run_block(self, library, python=sys.executable, **environment):
        block = blocks()[library]
        self.assertLessEqual(sum(1 for line in block.splitlines() if line.strip()), MOST_LINES)
        done = subprocess.run([python, "-W", "ignore", "-c", block], capture_output=True, text=True, check=False, timeout=120,
                              env={**os.environ, **environment})
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)

    def test_mlflow(self):
        self.run_block("mlflow")
        import mlflow
        client = mlflow.MlflowClient()
        run, = client.search_runs(["0"])
        self.assertEqual(self.lengths, {one.step: one.value for one in client.get_metric_history(run.info.run_id, "dwell/step_ms")})
        for part in self.summary["parts"]:
            self.assertEqual(part["ns"] / 1e6, run.data.metrics[f"dwell/{part['name']}_ms"])
        self.assertEqual(self.first, run.data.tags["dwell"])

    def test_wandb(self):
        self.run_block("wandb")
        from wandb.proto.wandb_internal_pb2 import Record
        lengths, last = {}, {}
        for record in map(Record.FromString, records(glob.glob("wandb/offline-run-*/*.wandb")[0])):
            items = {"/".join(item.nested_key) or item.key: item.value_json for item in record.history.item}
            if "dwell/step_ms" in items:
                lengths[int(items["_step"])] = float(items["dwell/step_ms"])
            last.update(("/".join(item.nested_key) or item.key, item.value_json) for item in record.summary.update)
        self.assertEqual(self.lengths, lengths)
        with open(glob.glob("wandb/offline-run-*/files/media/table/**/*.table.json", recursive=True)[0], encoding="utf-8") as file, \
                dwell.open("train.dwell") as trace:
            self.assertEqual([list(row.values()) for row in trace.view("operators").to_pylist()], json.load(file)["data"])
        self.assertIn(self.first, last["dwell"])

    @unittest.skipUnless(LIGHTNING, "no Python with Lightning is named")
    def test_lightning(self):
        packages = os.path.dirname(os.path.dirname(pyarrow.__file__))
        self.run_block("lightning", LIGHTNING, PYTHONPATH=os.environ["PYTHONPATH"] + ":" + packages)
        with open("logs/dwell/version_0/metrics.csv", encoding="utf-8") as file:
            self.assertEqual(self.lengths, {int(row["step"]): float(row["step_ms"]) for row in csv.DictReader(file)})
        with open("logs/dwell/version_0/hparams.yaml", encoding="utf-8") as file:
            self.assertIn(self.first, re.sub(r"\s+", " ", file.read().replace("''", "'")))

    def send(self, *words, status=0, **environment):
        done = subprocess.run([sys.executable, "-m", "dwell.otlp", *words], capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, "OTEL_EXPORTER_OTLP_TIMEOUT": "2", **environment})
        self.assertEqual(status, done.returncode, done.stderr)
        return done.stderr

    def received(self, *words, **environment):
        with Receiver() as receiver:
            self.send(*words, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{receiver.server_port}", **environment)
            receiver.shutdown()
        return receiver

    def test_spans(self):
        receiver = self.received("train.dwell")
        by_id = {span.span_id: span for span in receiver.spans}
        run, = (span for span in receiver.spans if not span.parent_span_id)
        self.assertEqual((1, len(by_id)), (len({span.trace_id for span in receiver.spans}), len(receiver.spans)))
        self.assertEqual([verdict["statement"] for verdict in self.summary["verdicts"]], [attributes(event.attributes)["dwell.statement"] for event in run.events])
        with dwell.open("train.dwell") as trace:
            began = trace.table("run")["began_unix_ns"][0].as_py()
            inner = trace.query("select name, start_ns, duration_ns from ranges where step is not null and category in ('phase', 'zone', 'data', "
                                "'evaluation', 'checkpoint')").to_pylist()
        times = [(span.name, span.start_time_unix_nano - began, span.end_time_unix_nano - span.start_time_unix_nano) for span in receiver.spans]
        self.assertEqual(sorted([("run", 0, run.end_time_unix_nano - began)] + [("step", step["start_ns"], step["duration_ns"]) for step in self.steps] +
                                [(row["name"], row["start_ns"], row["duration_ns"]) for row in inner]), sorted(times))
        inside = 0
        for span in receiver.spans:
            around = by_id.get(span.parent_span_id, span)
            self.assertTrue(around.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano, span.name)
            if attributes(span.attributes).get("thread.id") == attributes(around.attributes).get("thread.id", 0):
                self.assertLessEqual(span.end_time_unix_nano, around.end_time_unix_nano, span.name)
                inside += around.name == "step"
        self.assertGreater(inside, 2 * len(self.steps))
        self.assertEqual({"run": None, "step": "run", "forward": "step"}, {span.name: by_id[span.parent_span_id].name if span.parent_span_id else None
                                                                           for span in receiver.spans if span.name in ("run", "step", "forward")})
        self.assertEqual(("train", self.summary["dwell"]), tuple(receiver.resources[0][name] for name in ("service.name", "dwell.version")))

    def test_metrics(self):
        metrics = self.received("train.dwell").metrics
        lengths, = metrics["dwell.step.duration"].histogram.data_points
        self.assertEqual((len(self.steps), 1), (lengths.count, round(lengths.sum / (sum(self.lengths.values()) / 1e3), 9)))
        for name, key, value in (("dwell.step.part", "dwell.part", {part["name"]: part["ns"] / 1e9 for part in self.summary["parts"]}),
                                 ("dwell.verdict.gain", "dwell.rule", {verdict["rule"]: verdict["gain_ns"] / 1e9 for verdict in self.summary["verdicts"]})):
            self.assertEqual(value, {attributes(point.attributes)[key]: point.as_double for point in metrics[name].gauge.data_points})

    def test_ranks_and_variables(self):
        receiver = self.received("ranks.dwell", OTEL_METRICS_EXPORTER="none", OTEL_SERVICE_NAME="job 7")
        self.assertEqual({0, 1}, {attributes(span.attributes)["dwell.rank"] for span in receiver.spans if span.name == "step"})
        self.assertEqual(({}, "job 7"), (receiver.metrics, receiver.resources[0]["service.name"]))

    def test_the_longest_steps_are_sent(self):
        spans, _ = otlp.gather("train.dwell", 4)
        sent = sorted(span.end_time - span.start_time for span in spans if span.name == "step")
        self.assertEqual(sorted(step["duration_ns"] for step in self.steps)[-4:], sent)
        run, = (span for span in spans if span.parent is None)
        self.assertEqual({"dwell.steps": 40, "dwell.steps_sent": 4}, dict(run.attributes))
        self.assertLessEqual(len(spans), 1 + 4 + 4 * otlp.SPANS_A_STEP)

    def test_mistakes(self):
        self.assertIn("missing.dwell", self.send("missing.dwell", status=1))
        self.assertIn("OTEL_EXPORTER_OTLP_ENDPOINT says", self.send("ranks.dwell", status=1, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1"))
        with tempfile.TemporaryDirectory() as without:
            with open(os.path.join(without, "opentelemetry.py"), "w", encoding="utf-8") as file:
                file.write("raise ImportError('No module named opentelemetry')")
            said = self.send("train.dwell", status=1, PYTHONPATH=f"{without}:{os.environ['PYTHONPATH']}")
        self.assertIn("pip install opentelemetry-exporter-otlp-proto-http", said)
        self.assertEqual(1, said.count("\n"), said)


if __name__ == "__main__":
    result = unittest.TextTestRunner(verbosity=1).run(unittest.defaultTestLoader.loadTestsFromTestCase(Tracking))
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(1 if failed else 0)
