"""What a program executes, in counts that do not depend on the machine: instructions, and calls of the kernel."""
import collections
import os
import re
import shutil
import subprocess
import tempfile


def instructions(before, program, *arguments):
    """Instructions that valgrind counts of a program and its forks, started by the command `before`; None where valgrind is missing."""
    if not shutil.which("valgrind"):
        return None
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "--tool=callgrind", "--trace-children=yes", f"--callgrind-out-file={folder}/%p", *before, program, *arguments],
                       capture_output=True, check=True)
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                text = file.read()
            if re.search(rf"^cmd: *{re.escape(program)}", text, re.M):
                total += int(re.search(r"^totals: (\d+)", text, re.M)[1])
    return total


def instructions_each(before, program, kind, numbers):
    """Instructions for each thing of which the program does as many as its last argument says, by the difference of two runs."""
    few, many = (instructions(before, program, kind, str(number)) for number in numbers)
    return None if few is None else (many - few) / (numbers[1] - numbers[0])


def kernel_calls_of_threads(before, program, kind, number):
    """Calls of the kernel by name for each of so many threads: those of most threads themselves, and of the thread that makes and joins
    them. None where strace is missing or may trace nothing."""
    threads, maker = collections.defaultdict(collections.Counter), None
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "calls")
        if not shutil.which("strace") or subprocess.run(["strace", "-f", "-qq", "-o", out, *before, program, kind, str(number)],
                                                        capture_output=True, check=False).returncode:
            return None
        with open(out, encoding="utf-8") as file:
            for found in filter(None, (re.match(r"(\d+) +(\w+)\(", line) for line in file)):
                threads[found[1]][found[2]] += 1
                maker = found[1] if found[2] == "execve" else maker
    sums = collections.Counter(dict(collections.Counter(tuple(sorted(calls.items())) for calls in threads.values()).most_common(1)[0][0]))
    sums.update({name: round(times / number) for name, times in threads[maker].items()})
    return sums
