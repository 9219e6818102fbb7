"""Runs a command of a shell in a terminal and types a key there after some time.

usage: terminal.py KEY SECONDS COMMAND

Prints what appeared, without the key, and the exit status of the shell.
"""
import os
import pty
import re
import select
import signal
import sys
import time

KEYS = {"interrupt": b"\x03", "quit": b"\x1c", "stop": b"\x1a"}


def main():
    key, seconds, command = sys.argv[1:]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execvp("bash", ["bash", "--norc", "-c", command])
    begin, typed, shown = time.monotonic(), False, b""
    while time.monotonic() - begin < 15:
        if select.select([terminal], [], [], .05)[0]:
            try:
                part = os.read(terminal, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        if not typed and time.monotonic() - begin > float(seconds):
            os.write(terminal, KEYS[key])
            typed = True
    else:
        os.kill(pid, signal.SIGKILL)
        print("the shell did not end")
    status = os.waitpid(pid, 0)[1]
    text = shown.decode(errors="replace").replace("\r", "")
    text = re.sub(r"\^[C\\Z]", "", text)
    text = "\n".join(line for line in text.split("\n") if not line.startswith(("dwell: ", "bash: line")) and line)
    print(text)
    print("status", os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
