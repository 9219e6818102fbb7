#!/usr/bin/env python3
"""What part of a core `dwell top` takes while it shows a running program, in a terminal of 80x24.

usage: bench/top.py BUILD [SECONDS]

The programs: one in C with a step in 30 ms, which sleeps, and a small network that PyTorch trains. `top` runs with its usual interval for SECONDS (30); its processor
time is the kernel's, and its output is read and thrown away.
"""
import fcntl
import os
import pty
import resource
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def drain(fd):
    try:
        while os.read(fd, 65536):
            pass
    except OSError:
        pass


def share(dwell, trace, seconds):
    """Processor time of `dwell top` by wall time. The process is the only child that ends meanwhile."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    reader = threading.Thread(target=drain, args=(master,), daemon=True)
    reader.start()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    top = subprocess.Popen([dwell, "top", trace], stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm-256color"})
    time.sleep(seconds)
    os.write(master, b"q")
    top.wait(10)
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    os.close(slave)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / took


def programs(build, folder):
    live = os.path.join(folder, "live.dwell")
    yield "33 steps a second in C", live, [os.path.join(build, "tests/ask/ask_live"), live, "10", "20"]
    torch = subprocess.run([os.path.join(HERE, "..", "tools", "venv"), "torch"], capture_output=True, text=True, check=False)
    if torch.returncode:
        print("skip PyTorch: pip cannot install it here")
        return
    trace = os.path.join(folder, "torch.dwell")
    yield "PyTorch, tests/ask/work.py", trace, [os.path.join(build, "dwell"), "run", "-o", trace, "--", torch.stdout.strip(),
                                                 os.path.join(HERE, "..", "tests", "ask", "work.py"), "1000000"]


def main():
    build, seconds = os.path.abspath(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 30
    with tempfile.TemporaryDirectory() as folder:
        for name, trace, command in programs(build, folder):
            program = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            try:
                time.sleep(8)
                print(f"{name}: {share(os.path.join(build, 'dwell'), trace, seconds):.2%} of a core", flush=True)
            finally:
                os.killpg(program.pid, 9)
                program.wait()
    return 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main())
