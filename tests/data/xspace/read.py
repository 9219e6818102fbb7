"""Devices of generated.xplane.pb (see make.py and ../README.md).

usage: read.py DWELL
"""
import json
import pathlib
import subprocess
import sys

PATH = str(pathlib.Path(__file__).parent / "generated.xplane.pb")


def report(view, part=None):
    run = subprocess.run([sys.argv[1], "report", "--view", view, "--format", "json", PATH], check=True,
                         capture_output=True, text=True)
    found = next(one for one in json.loads(run.stdout)["views"] if part in (None, one.get("part")))
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row)) for row in found["rows"]]


def check(what, found, wanted):
    assert found == wanted, f"{what}: {found} is not {wanted}"


def main():
    kernels = {row["name"]: row for row in report("kernels", "names")}
    check("names", sorted(kernels), ["Memcpy HtoD (Pinned -> Device)", "fusion.3", "gemm_fusion"])
    check("gemm_fusion", [kernels["gemm_fusion"][what] for what in ("calls", "total_ns", "min_ns", "max_ns")],
          [2, 30000, 10000, 20000])
    check("fusion.3", [kernels["fusion.3"][what] for what in ("calls", "total_ns")], [2, 23000])
    check("copy", [kernels["Memcpy HtoD (Pinned -> Device)"][what] for what in ("calls", "total_ns", "bytes")],
          [1, 4000, 4096])
    check("steps", [(row["step"], row["duration_ns"]) for row in report("steps")], [(0, 20000), (1, 25000)])
    print("generated.xplane.pb: kernels, copies and steps are as in make.py")


main()
