#!/usr/bin/env python3
"""Each verb is given what is no trace and no program: it says what that is, at once, and writes nothing.

usage: no_trace_test.py DWELL [PART-OF-A-NAME...]

The last line is "N passed, N failed, N skipped".
"""
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest

DWELL = os.path.abspath(sys.argv[1])
LIMIT = 60  # seconds, of what takes milliseconds
CORE, LIBRARY, PROGRAM, OBJECT = 4, 3, 2, 1
INTERPRETER = 3

# The words by which each verb is given a file. A verb that is not in this table takes no file.
VERBS = {
    "report": "FILE", "view": "--no-browser FILE", "query": "FILE .tables", "info": "FILE", "diff": "FILE other", "ranks": "FILE", "top": "FILE",
    "stacks": "FILE", "watch": "--once FILE", "capture": "FILE", "serve": "FILE", "export": "--format chrome FILE -o out", "import": "FILE -o out.dwell",
    "pack": "FILE -o out", "unpack": "FILE -o out", "summarize": "FILE -o out", "attach": "FILE", "run": "-o out.dwell -- ./FILE",
}
NO_FILE = {"mcp", "help"}


def elf(kind, bits=64, order="<", loader=False, entry=0, behind=b""):
    """The begin of an ELF file with one program header."""
    machine, word, head, part = (62, "Q", 64, 56) if bits == 64 else (3, "I", 52, 32)
    begin = b"\x7fELF" + bytes([bits // 32, 1 if order == "<" else 2, 1]) + bytes(9)
    begin += struct.pack(f"{order}HHI3{word}IHHHHHH", kind, machine, 1, entry, head, 0, 0, head, part, 1, 0, 0, 0)
    return (begin + struct.pack(order + "I", INTERPRETER if loader else 1)).ljust(head + part, b"\0") + behind + bytes(64)


# file: (what it contains, or None; what each verb says of it)
FILES = {
    "core64": (elf(CORE), "a core file of a program that died"),
    "core32": (elf(CORE, 32), "a core file of a 32-bit program"),
    "core_of_others": (elf(CORE, 32, ">"), "a core file of a 32-bit program"),
    "object.o": (elf(OBJECT), "an object file"),
    "library.so": (elf(LIBRARY), "a library (ELF)"),
    "library32.so": (elf(LIBRARY, 32), "a library (ELF) of 32-bit programs"),
    "program": (elf(PROGRAM), "a program (ELF)"),
    "position_independent": (elf(LIBRARY, loader=True, entry=64), "a program (ELF)"),
    "program32": (elf(PROGRAM, 32, loader=True), "a 32-bit program (ELF)"),
    "packed": (elf(PROGRAM, behind=b"\0\0\0\0UPX!"), "UPX"),
    "cut_off": (elf(CORE)[:20], "a core file"),
    "script": (b"#!/bin/sh\necho it ran\n", "a script"),
    "text": (b"some words\n", "text"),
    "empty": (b"", "empty"),
    "folder": (None, "directory"),
    "fifo": (None, "no regular file"),
}
RUN = {"core64", "core32", "core_of_others", "object.o", "library.so", "library32.so", "cut_off"}  # what `dwell run` refuses to start


class NoTrace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="dwell-no-trace-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, "/")
        os.chdir(folder.name)
        for name, (data, _) in FILES.items():
            if data is not None:
                with open(name, "wb", opener=lambda path, flags: os.open(path, flags, 0o755)) as file:
                    file.write(data)
        os.mkdir("folder")
        os.mkfifo("fifo")

    def said(self, verb, name):
        words = [word.replace("FILE", name) for word in VERBS[verb].split()]
        done = subprocess.run([DWELL, verb, *words], capture_output=True, text=True, check=False, timeout=LIMIT, stdin=subprocess.DEVNULL)
        self.assertNotIn("Traceback", done.stderr)
        return done.returncode, done.stdout + done.stderr

    def test_all_verbs_are_here(self):
        listed = subprocess.run([DWELL, "--help"], capture_output=True, text=True, check=True).stdout
        verbs = {line.split()[1] for line in listed.splitlines() if re.match("  dwell [a-z]", line)}
        self.assertEqual(verbs - NO_FILE - {"python"}, set(VERBS))

    def test_what_it_is(self):
        for name, (_, what) in FILES.items():
            for verb in VERBS:
                if verb == "run" and name not in RUN or name == "folder" and verb in ("watch", "capture"):
                    continue
                with self.subTest(name=name, verb=verb):
                    status, said = self.said(verb, name)
                    self.assertGreater(status, 0, said)
                    self.assertIn(name, said)
                    self.assertIn(what, said.lower() if what.islower() else said)
                    self.assertEqual(set(os.listdir()), set(FILES), "a file was written")

    def test_run(self):
        """What the kernel does not execute is no script for a shell, and a FIFO is not waited for."""
        for name in RUN | {"folder", "fifo", "text", "empty"}:
            with self.subTest(name=name):
                if name in ("text", "empty"):
                    os.chmod(name, 0o644)
                status, said = self.said("run", name)
                self.assertEqual(status, 126, said)
                self.assertIn(f"cannot run ./{name}: ", said)
                self.assertEqual(set(os.listdir()), set(FILES), "a file was written")


def main():
    suite = unittest.TestLoader().loadTestsFromTestCase(NoTrace)
    wanted = sys.argv[2:]
    tests = [test for test in suite if not wanted or any(part in test.id() for part in wanted)]
    result = unittest.TextTestRunner(verbosity=0).run(unittest.TestSuite(tests))
    failed = len({str(getattr(one, "test_case", one)) for one, _ in result.failures + result.errors})
    print(f"{result.testsRun - failed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
