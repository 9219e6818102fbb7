#!/usr/bin/env python3
"""Runs a command on a terminal and prints what it writes there.

usage: terminal.py WIDTH COMMAND...          stdout and stderr together; exits as the command does
"""
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def main():
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST  # no carriage returns
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=slave, stderr=slave,
                               env={"TERM": "xterm", **os.environ})
    os.close(slave)
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # that is how a terminal ends
            break
        if not piece:
            break
        sys.stdout.buffer.write(piece)
    os.close(master)
    return process.wait()


sys.exit(main())
