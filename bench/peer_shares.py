#!/usr/bin/env python3
"""The program that bench/peers.py gives to samplers: functions of Python that take known shares of the processor's time.

usage: bench/peer_shares.py ROUNDS [kill]

Prints a line `share NAME PERCENT` for each function: its part of the processor time, measured around each of its calls. The last
line is `end SECONDS`, the time of the monotonic clock. With kill, the program ends itself by SIGKILL instead.
"""
import os
import random
import signal
import sys
import time


def repeat(count):
    total = 0
    for number in range(count):
        total += number & 7
    return total


def heavy_part(size):
    return repeat(50 * size)


def middle_part(size):
    return repeat(30 * size)


def light_part(size):
    return repeat(15 * size)


def rare_part(size):
    return repeat(5 * size)


def main():
    taken = dict.fromkeys((heavy_part, middle_part, light_part, rare_part), 0)
    calls, chance = list(taken), random.Random(1)
    for _ in range(int(sys.argv[1])):
        chance.shuffle(calls)
        for call in calls:
            began = time.thread_time_ns()
            call(500)
            taken[call] += time.thread_time_ns() - began
    for call, ns in taken.items():
        print(f"share {call.__name__} {100 * ns / (sum(taken.values()) or 1):.2f}", flush=True)
    print(f"end {time.monotonic():.3f}", flush=True)
    if sys.argv[2:] == ["kill"]:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main()
