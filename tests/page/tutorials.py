#!/usr/bin/env python3
"""Does what the tutorials in doc say: their files and commands, and the output that they show.

usage: tutorials.py BUILD

A block of code whose first line is "```LANGUAGE NAME" is saved as the file NAME, one of "```sh" is run in bash. A
"```text" after it is output. That of slow-step.md and tools.md, whose trace is kept, must be printed exactly. Of the others the sentence
that names the cause must be printed, whatever its figures are, and "for i in 1 2 3" runs once. The tutorial for PyTorch needs `tools/venv torch`.
The last line is "N passed, N failed, N skipped".
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SENTENCE = {"pytorch.md": "Waiting for data takes N% of the loop: the loop loads its batches itself.",
            "c.md": "Waiting for data takes N% of the loop."}
# The run is short: whether a place is named depends on its samples.
WHERE = re.compile(r", most of it in \S+?(?: \(\S+:\d+\))?(?:, which calls \S+?(?: and is called by \S+?(?: \(\S+:\d+\))?)?)?(?=[.:,](?: |$))")
passed, failed, skipped = [], [], []


def blocks(page):
    with open(os.path.join(ROOT, "doc/start", page), encoding="utf-8") as file:
        return re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", file.read(), re.M | re.S)


def environment(build, folder, python):
    """dwell as if it was installed, and the Python of the tutorial."""
    programs = os.path.join(folder, ".programs")
    os.makedirs(programs)
    os.symlink(os.path.join(build, "dwell"), os.path.join(programs, "dwell"))
    if python:
        with open(os.path.join(programs, "python"), "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec "{python}" "$@"\n')
        os.chmod(os.path.join(programs, "python"), 0o755)
    # Words of pkg-config cannot have blanks in the commands of the pages, which the paths may have.
    sources, built = os.path.join(programs, "sources"), os.path.join(programs, "built")
    os.symlink(ROOT, sources)
    os.symlink(build, built)
    for library in "dwell", "dwell-read":
        with open(os.path.join(programs, library + ".pc"), "w", encoding="utf-8") as file:
            file.write(f"Name: {library}\nDescription: dwell as built\nVersion: 0\nCflags: -I{sources}/include\nLibs: -L{built} -l{library} -Xlinker -rpath={built}\n")
    return {**os.environ, "PATH": programs + ":" + os.environ["PATH"], "PKG_CONFIG_PATH": programs}


def follow(page, build, python=None):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env, output, all_output = environment(build, folder, python), "", ""
        os.symlink(os.path.join(ROOT, "tests"), os.path.join(folder, "tests"))
        for language, name, body in blocks(page):
            if name:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write(body)
            elif language == "sh":
                result = subprocess.run(["bash", "-ec", body.replace("for i in 1 2 3;", "for i in 1;")], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                output, all_output = result.stdout, all_output + result.stdout
                check(f"{page}: {body.splitlines()[0]}", result.returncode == 0, output[-1500:])
            elif language == "text" and page not in SENTENCE:
                missing = [line for line in body.splitlines() if line not in output.splitlines()]
                check(f"{page}: prints {body.splitlines()[0][:40]}", not missing, "\n".join(missing) + "\nprinted:\n" + output[-3000:])
        if page in SENTENCE:
            check(f"{page}: the sentence that it shows", SENTENCE[page] in re.sub(r"\d+%", "N%", WHERE.sub("", " ".join(all_output.split()))), all_output[-3000:])
        check(f"{page}: its pages are written", all(os.path.exists(os.path.join(folder, name)) for name in re.findall(r"-o (\S+\.html)", str(blocks(page)))))


def check(what, holds, seen=""):
    print("ok  " if holds else "FAIL", what, "" if holds else "\n" + seen, flush=True)
    (passed if holds else failed).append(what)


def main():
    build = os.path.abspath(sys.argv[1])
    follow("slow-step.md", build)
    follow("tools.md", build)
    follow("c.md", build)
    made = subprocess.run([os.path.join(ROOT, "tools/venv"), "torch"], stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        print("skip pytorch.md: pip cannot install PyTorch here: tools/venv torch")
        skipped.append("pytorch.md")
    else:
        follow("pytorch.md", build, made.stdout.splitlines()[-1])
    print(f"{len(passed)} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
