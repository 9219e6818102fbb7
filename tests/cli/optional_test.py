#!/usr/bin/env python3
"""What `dwell --version --verbose` lists is what Meson listed at the end of its configuration, and what was built.

usage: optional_test.py BUILD-FOLDER DWELL MESON-OPTIONS      last line: N passed, N failed
"""
import os
import re
import subprocess
import sys

BUILD, DWELL, OPTIONS = sys.argv[1:4]
# By part: a file that the build makes only if it includes the part. The test's build may have made only some files.
BUILT = {"elfutils": "libdwell-process.so", "python": "probes/libdwell-python.so", "manual": "doc/man/dwell.1",
         "resnet18": "examples/resnet18/resnet18", "cpp": "examples/hello-cpp", "tests": "tests/tools/mktrace"}
failed = []


def check(what, good, shown):
    print("ok" if good else "FAIL", what, "" if good else shown)
    if not good:
        failed.append(what)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def meson_summary():
    """The parts that Meson listed: its log has long values in a second line."""
    section = read(os.path.join(BUILD, "meson-logs", "meson-log.txt")).rsplit("  Optional parts\n", 1)[1]
    section = re.match(r"(?:    .*\n)+", section)[0]
    parts = re.findall(r"^    (\S+) *: (YES|NO)\s+(.*(?:\n      .*)*)$", section, re.M)
    return {name: (found.lower(), " ".join(text.split())) for name, found, text in parts}


printed = subprocess.run([DWELL, "--version", "--verbose"], capture_output=True, check=True, text=True).stdout
version = subprocess.run([DWELL, "--version"], capture_output=True, check=True, text=True).stdout
parts = {name: (found, text) for found, name, text in re.findall(r"^  (yes|no ) (?: )?(\S+): (.*)$", printed, re.M)}
parts = {name: (found.strip(), text) for name, (found, text) in parts.items()}
check("the first line is that of --version", printed.startswith(version) and len(version.splitlines()) == 1, printed)
check("each further line names a part", len(parts) == len(printed.splitlines()) - 1 > 8, printed)
check("Meson's list is the command's", parts == meson_summary(), f"{parts} {meson_summary()}")
features = re.findall(r"^option\('(\w+)', type: 'feature'", read(OPTIONS), re.M)
check("each feature of meson_options.txt is a part", len(features) > 5 and set(features) <= set(parts), features)
ninja = read(os.path.join(BUILD, "build.ninja"))
for part, target in BUILT.items():
    built = f"\nbuild {target}:" in ninja
    check(f"{part} is listed as it was built", built == (parts.get(part, ("no",))[0] == "yes"), parts.get(part))
print(f"{len(BUILT) + 4 - len(failed)} passed, {len(failed)} failed")
sys.exit(bool(failed))
