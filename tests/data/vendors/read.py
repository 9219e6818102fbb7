"""Profiles of other vendors' GPUs (see ../README.md) against their own JSON: events, times, launches, steps.

usage: read.py DWELL
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parent
COPY = {"zeCommandListAppendMemoryCopy(M2D)[4194304]": "Memcpy HtoD (Pageable -> Device)",
        "CopyHostToDevice": "Memcpy HtoD (Host -> Device)"}
NOTES = {"rocprofv3.json.gz": "3 records of kinds that dwell does not read (counter_collection, memory_allocation) are left out"}


def of_rocprofv3(document):
    """(name, nanoseconds, device, stream, bytes, call) of each event of a device."""
    process, = document["rocprofiler-sdk-tool"]
    records, kinds = process["buffer_records"], process["strings"]["buffer_records"]
    calls = {call["correlation_id"]["internal"]: kinds[call["kind"]]["operations"][call["operation"]]
             for call in records["hip_api"]}
    names = {symbol["kernel_id"]: symbol.get("formatted_kernel_name") for symbol in process["kernel_symbols"]}
    for record in records["kernel_dispatch"] + records["memory_copy"]:
        name = names[record["dispatch_info"]["kernel_id"]] if "dispatch_info" in record else COPY["CopyHostToDevice"]
        yield (name, record["end_timestamp"] - record["start_timestamp"], 0, record["stream_id"]["handle"],
               record.get("bytes"), calls[record["correlation_id"]["internal"]])


def of_unitrace(document):
    events = document["traceEvents"]
    starts = {event["id"]: event["ts"] for event in events if event["ph"] == "s" and "H2D" in event["cat"]}
    engines = []
    for event in events:
        if event.get("cat") != "gpu_op":
            continue
        call, = (e["name"] for e in events if e.get("cat") == "cpu_op" and e["ts"] == starts[int(event["args"]["id"])])
        if event["tid"] not in engines:
            engines.append(event["tid"])
        yield (COPY.get(event["name"], event["name"].split("[")[0]), round(event["dur"] * 1000), 0, engines.index(event["tid"]),
               4194304 if event["name"] in COPY else None, call)


def of_rocprof(document):
    events = [event for event in document["traceEvents"] if event]
    starts = {event["id"]: event for event in events if event["ph"] == "s"}
    ends = {(event["pid"], event["ts"]): starts[event["id"]]["ts"] for event in events if event["ph"] == "t"}
    for event in events:
        if event["ph"] != "X" or event["pid"] in (0, 2):
            continue
        at = ends[event["pid"], int(event["ts"])]
        call, = (e["name"] for e in events if e["ph"] == "X" and e["pid"] == 2
                 and int(e["ts"]) <= at < int(e["ts"]) + int(e["dur"]))
        yield (COPY.get(event["name"], event["name"]), int(event["args"]["DurationNs"]), 0, int(event["args"]["stream-id"]), None, call)


def run(dwell, *command):
    return subprocess.run([dwell, *map(str, command)], check=True, capture_output=True, text=True)


def check(dwell, path, wanted):
    done = run(dwell, "export", "--format", "chrome", path, "-o", "-")
    events = json.loads(done.stdout)["traceEvents"]
    device = [event for event in events if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")]
    starts = {event["id"]: event["ts"] for event in events if event.get("cat") == "ac2g" and event["ph"] == "s"}
    arrows = {(event["pid"], event["tid"], event["ts"]): starts[event["id"]] for event in events
              if event.get("cat") == "ac2g" and event["ph"] == "f"}
    found = collections.Counter()
    for event in device:
        args, start = event["args"], arrows[event["pid"], event["tid"], event["ts"]]
        call, = (e["name"] for e in events if e.get("cat") == "runtime" and e["ts"] == start)
        found[(event["name"], round(event["dur"] * 1000), args["device"], args["stream"], args.get("bytes"), call)] += 1
    wanted = collections.Counter(wanted)
    assert found == wanted, f"{path.name}: {found - wanted} but {wanted - found}"
    steps = json.loads(run(dwell, "report", "--view", "steps", "--format", "json", path).stdout)["views"][0]["rows"]
    assert len(steps) == {"rocprofv3.json.gz": 8}.get(path.name, 5), f"{path.name}: {len(steps)} steps"
    assert NOTES.get(path.name, "") in done.stderr and (path.name in NOTES or not done.stderr), done.stderr
    view = run(dwell, "report", "--view", "device", path).stdout
    assert "synchronising call" in view and "Synchronize" in view, view
    print(f"{path.name}: {sum(wanted.values())} events of devices, their calls and {len(steps)} steps are as in the file")


def main():
    for name, read in (("rocprofv3", of_rocprofv3), ("unitrace", of_unitrace), ("rocprof", of_rocprof)):
        path = FOLDER / (name + ".json.gz")
        check(sys.argv[1], path, read(json.loads(gzip.decompress(path.read_bytes()))))


main()
