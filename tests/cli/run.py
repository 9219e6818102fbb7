#!/usr/bin/env python3
"""Runs transcripts of the command and compares what it prints.

usage: run.py [--update] [--in FOLDER] [--tool PROGRAM]... MKTRACE DWELL [PART-OF-A-NAME...]

Every *.t in FOLDER, or beside this file, is a transcript, run in an empty folder of its own:

    # a comment
    $ dwell report nothing.dwell        a command for sh; `dwell` is the one under test
    2> dwell: cannot open ...           what it prints: stderr lines begin with "2> "
    [1]                                 its exit status, when that is not 0

If dwell was built without zlib, transcripts whose name ends in _zlib are skipped.

`trace NAME` makes NAME.dwell from tests/golden/views/NAME.txt. `terminal WIDTH COMMAND...` runs a command on
a terminal; a --tool is run by its name. If output differs from run to run, the transcript pipes it through sed; if blank lines at its
begin and end or carriage returns matter, through `cat -A`. --update writes the transcripts anew. The last line is
"N passed, N failed, N skipped": commands passed and failed, transcripts skipped.
"""
import argparse
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACES = os.path.join(os.path.dirname(HERE), "golden", "views")


def read(path):
    """Pieces of a transcript: lines to keep, or [command, [expected lines]]."""
    pieces = []
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith("$ "):
                pieces.append([line[2:], []])
            elif line.startswith("#") or (not line and not (pieces and isinstance(pieces[-1], list)
                                                            and pieces[-1][1])):
                pieces.append(line)
            elif pieces and isinstance(pieces[-1], list):
                pieces[-1][1].append(line)
            else:
                sys.exit(f"{path}: output of no command: {line}")
    for piece in pieces:  # empty lines before the next command are for the eye
        while isinstance(piece, list) and piece[1] and not piece[1][-1]:
            piece[1].pop()
    return pieces


def run(command, environment, folder):
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True,
                          env=environment, cwd=folder, check=False, timeout=600)
    lines = done.stdout.decode("utf-8", "backslashreplace").replace("\r\n", "\n").splitlines()
    lines += ["2> " + line for line in done.stderr.decode("utf-8", "backslashreplace").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    if done.returncode:
        lines.append(f"[{done.returncode}]")
    return lines


def prepare(tools, mktrace, dwell, others):
    os.symlink(dwell, os.path.join(tools, "dwell"))
    for other in others:
        os.symlink(other, os.path.join(tools, os.path.basename(other)))
    path = os.path.join(tools, "trace")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec "{mktrace}" "{TRACES}/$1.txt" "${{2:-$1.dwell}}"\n')
    os.chmod(path, 0o755)
    with open(os.path.join(tools, "terminal"), "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec "{sys.executable}" "{HERE}/terminal.py" "$@"\n')
    os.chmod(os.path.join(tools, "terminal"), 0o755)
    environment = {"PATH": tools + ":/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": tools}
    for name in os.environ:  # the options of sanitizers
        if name.endswith("SAN_OPTIONS") or name == "LD_LIBRARY_PATH":
            environment[name] = os.environ[name]
    return environment


def without_zlib(environment):
    with tempfile.TemporaryDirectory() as folder:
        lines = run("trace train && dwell export train.dwell --format folded -o x.gz", environment, folder)
    return any("built without zlib" in line for line in lines)


def play(path, environment, update):
    name = os.path.basename(path)
    passed = failed = 0
    output = []
    with tempfile.TemporaryDirectory() as folder:
        for piece in read(path):
            if isinstance(piece, str):
                if piece.startswith("#") and output and output[-1] and not output[-1].startswith("#"):
                    output.append("")
                output.append(piece)
                continue
            command, wanted = piece
            lines = run(command, environment, folder)
            # an empty line before each command but those that follow a comment
            if output and not output[-1].startswith("#") and output[-1]:
                output.append("")
            output += ["$ " + command] + lines
            if lines == wanted or update:
                passed += 1
                continue
            failed += 1
            print(f"FAILED {name}: $ {command}")
            print("\n".join(["  expected:"] + ["    " + line for line in wanted]
                            + ["  got:"] + ["    " + line for line in lines]))
    if update:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(output) + "\n")
    return passed, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--in", dest="folder", default=HERE)
    parser.add_argument("--tool", action="append", default=[], type=os.path.abspath)
    parser.add_argument("mktrace", type=os.path.abspath)
    parser.add_argument("dwell", type=os.path.abspath)
    parser.add_argument("parts", nargs="*")
    given = parser.parse_args()
    passed = failed = skipped = 0
    with tempfile.TemporaryDirectory() as tools:
        environment = prepare(tools, given.mktrace, given.dwell, given.tool)
        for name in sorted(os.listdir(given.folder)):
            if not name.endswith(".t") or (given.parts and not any(part in name for part in given.parts)):
                continue
            if name.endswith("_zlib.t") and without_zlib(environment):
                print(f"skip {name}: dwell was built without zlib")
                skipped += 1
                continue
            counts = play(os.path.join(given.folder, name), environment, given.update)
            passed += counts[0]
            failed += counts[1]
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return failed != 0


sys.exit(main())
