#!/usr/bin/env python3
"""tools/measure/fuzz --keep stores what the targets that are built have found, and leaves the inputs of the others as they were.

usage: keep_test.py FUZZ        where FUZZ is tools/measure/fuzz; exit status 77 without clang and libFuzzer
"""
import os
import shutil
import subprocess
import sys
import tempfile

TARGET = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return size && data[0] == 'a' ? 0 : -1; }\n"


def write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


def found(*arguments):
    subprocess.run([sys.executable, "tests/fuzz/found.py", *arguments], check=True)


def main():
    fuzz = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="dwell-keep-") as folder:
        os.chdir(folder)
        for name in ("stored/first/old", "stored/second/old", "build-fuzz/corpus/first/new"):
            write(name, b"a" + name.encode())
        write("tests/fuzz/first.c", TARGET.encode())
        if subprocess.run(["clang", "-fsanitize=fuzzer", "tests/fuzz/first.c", "-o", "build-fuzz/fuzz_first"], check=False, capture_output=True).returncode:
            print("skip keep: clang with libFuzzer is not installed")
            return 77
        os.makedirs("tools/measure")
        shutil.copy(fuzz, "tools/measure/fuzz")
        shutil.copy(os.path.join(os.path.dirname(fuzz), "../../tests/fuzz/found.py"), "tests/fuzz")
        found("--pack", "stored", "tests/fuzz/found.xz")
        subprocess.run(["tools/measure/fuzz", "--keep"], check=True, timeout=60)
        found("--unpack", "tests/fuzz/found.xz", "again")
        kept = {target: [open(os.path.join("again", target, name), "rb").read() for name in os.listdir(os.path.join("again", target))]
                for target in os.listdir("again")}
        assert kept == {"first": [b"abuild-fuzz/corpus/first/new"], "second": [b"astored/second/old"]}, kept
    return 0


if __name__ == "__main__":
    sys.exit(main() if shutil.which("clang") else 77)
