"""A trace as spans and metrics of OpenTelemetry, sent by OTLP over HTTP.

    python -m dwell.otlp train.dwell

Needs opentelemetry-exporter-otlp-proto-http from pip, and pyarrow. Where to, headers and time-outs say OpenTelemetry's own
variables, as OTEL_EXPORTER_OTLP_ENDPOINT; without them http://localhost:4318 gets them. OTEL_METRICS_EXPORTER=none sends spans alone.

The run is a span that has the verdicts as events. Steps are spans in it. In each step are spans of its phases, data loading,
communication, waits for devices, and of the names that the program gave; another thread's may end after the step. Of more steps than --steps the longest ones are sent.
"""
from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from . import _native as native, frames

MOST_STEPS, SPANS_A_STEP = 1000, 10  # on the average: of more spans in steps the longest ones are sent
BATCH = 512  # spans of a request
CATEGORIES = "'phase', 'zone', 'data', 'communication', 'device', 'evaluation', 'checkpoint'"
VERDICT = ("rule", "question", "statement", "hint", "share", "of", "gain_ns", "firm")


def _known(attributes):
    return {name: value for name, value in attributes.items() if value is not None}


def _put_inner(trace, tracer, steps, at, most):
    """Sends phases, waits and names as spans within their steps; `steps` has each step's context, by (pid, number)."""
    from opentelemetry.trace import set_span_in_context
    longest = trace.query(f"select name, category, step, pid, tid, start_ns, duration_ns from ranges where step is not null and "
                          f"category in ({CATEGORIES}) order by duration_ns desc limit {most}", seconds=None).to_pylist()
    around: dict[int, list[tuple[int, Any]]] = {}  # by thread: ranges around the next one, with their ends
    for row in sorted(longest, key=lambda row: (row["start_ns"], -row["duration_ns"])):
        end, outer = row["start_ns"] + row["duration_ns"], around.setdefault(row["tid"], [])
        while outer and outer[-1][0] < end:
            outer.pop()
        context = outer[-1][1] if outer else steps.get((row["pid"], row["step"]))
        if context is not None:
            span = tracer.start_span(row["name"], context, start_time=at(row["start_ns"]), attributes={
                "dwell.category": row["category"], "process.pid": row["pid"], "thread.id": row["tid"]})
            span.end(at(end))
            outer.append((end, set_span_in_context(span)))


def _put_spans(trace, tracer, summary, most):
    from opentelemetry.trace import set_span_in_context
    run, steps = trace.table("run").to_pylist()[0], trace.table("steps").to_pylist()
    ranks = {row["pid"]: row["rank"] for row in trace.table("processes").to_pylist()}
    sent = sorted(sorted(steps, key=lambda step: -step["duration_ns"])[:most], key=lambda step: step["start_ns"])

    def at(ns):
        return run["began_unix_ns"] + ns

    root = tracer.start_span("run", start_time=at(0), attributes={"dwell.steps": len(steps), "dwell.steps_sent": len(sent)})
    for verdict in summary["verdicts"]:
        root.add_event("verdict", _known({"dwell." + name: verdict[name] for name in VERDICT}), at(run["end_ns"]))
    contexts, within = {}, set_span_in_context(root)
    for step in sent:
        span = tracer.start_span("step", within, start_time=at(step["start_ns"]), attributes=_known({
            "dwell.step": step["step"], "dwell.rank": ranks.get(step["pid"]), "process.pid": step["pid"], "thread.id": step["tid"],
            "dwell.cpu_ns": step["cpu_ns"], "dwell.counted": bool(step["counted"])}))
        span.end(at(step["start_ns"] + step["duration_ns"]))
        contexts.setdefault((step["pid"], step["step"]), set_span_in_context(span))
    _put_inner(trace, tracer, contexts, at, SPANS_A_STEP * max(most, 1))
    root.end(at(run["end_ns"]))
    return steps, ranks


def _put_metrics(meter, summary, steps, ranks):
    lengths = meter.create_histogram("dwell.step.duration", "s", "Lengths of steps.",
                                     explicit_bucket_boundaries_advisory=[2.0**i / 1e3 for i in range(-2, 18)])
    for step in steps:
        lengths.record(step["duration_ns"] / 1e9, _known({"dwell.rank": ranks.get(step["pid"])}))
    parts = meter.create_gauge("dwell.step.part", "s", "Parts of a step, which sum to it.")
    for part in summary["parts"]:
        parts.set(part["ns"] / 1e9, {"dwell.part": part["name"]})
    gains = meter.create_gauge("dwell.verdict.gain", "s", "What a remedy saves in a step at most.")
    for verdict in summary["verdicts"]:
        if verdict["gain_ns"] is not None:
            gains.set(verdict["gain_ns"] / 1e9, {"dwell.rule": verdict["rule"]})


def gather(path: str | os.PathLike[str], most: int = MOST_STEPS) -> tuple[Any, Any]:
    """The spans of a trace, and its metrics, for an exporter of OpenTelemetry."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    with frames.open(path) as trace:
        summary, memory, reader = trace.summary(), InMemorySpanExporter(), InMemoryMetricReader()
        resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME") or os.path.splitext(os.path.basename(path))[0],
                                    "host.name": summary["traces"][0]["host"] or "", "dwell.version": summary["dwell"]})
        spans, metrics = TracerProvider(resource=resource), MeterProvider([reader], resource)
        spans.add_span_processor(SimpleSpanProcessor(memory))
        _put_metrics(metrics.get_meter("dwell"), summary, *_put_spans(trace, spans.get_tracer("dwell"), summary, most))
        return memory.get_finished_spans(), reader.get_metrics_data()


def send(path: str | os.PathLike[str], most: int = MOST_STEPS) -> bool:
    """Whether all was taken where OpenTelemetry's variables say."""
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    spans, metrics = gather(path, most)
    to, figures = OTLPSpanExporter(), OTLPMetricExporter()
    taken = [to.export(spans[at:at + BATCH]) for at in range(0, len(spans), BATCH)]
    if os.environ.get("OTEL_METRICS_EXPORTER") != "none":
        taken.append(figures.export(metrics))
    return all(result.name == "SUCCESS" for result in taken)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dwell.otlp", description="Sends a trace by OTLP.")
    parser.add_argument("trace")
    parser.add_argument("--steps", type=int, default=MOST_STEPS, metavar="N", help="send at most N steps, the longest ones (default: %(default)s)")
    options = parser.parse_args()
    try:
        taken = send(options.trace, options.steps)
    except ImportError as error:
        print(f"dwell: {error}: {sys.executable} -m pip install opentelemetry-exporter-otlp-proto-http pyarrow", file=sys.stderr)
        return 1
    except native.Error as error:
        print(f"dwell: {error}", file=sys.stderr)
        return 1
    if not taken:
        print("dwell: not all was taken, as said above; OTEL_EXPORTER_OTLP_ENDPOINT says where to", file=sys.stderr)
    return 0 if taken else 1


if __name__ == "__main__":
    sys.exit(main())
