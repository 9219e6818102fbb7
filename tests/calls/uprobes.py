"""Counts calls of functions in programs that nothing is loaded into: by uprobes, breakpoints that the kernel sets in a file.

Dwell has no part in it. Needs CAP_PERFMON, or root.
"""
import collections
import concurrent.futures
import ctypes
import mmap
import os
import platform
import signal
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
KIND = "/sys/bus/event_source/devices/uprobe/type"
TASKS = 1 << 13
SOFTWARE, DUMMY = 1, 9
SAMPLE_TID, SAMPLE_TIME = 1 << 1, 1 << 2
RECORD_LOST, RECORD_FORK, RECORD_SAMPLE = 2, 7, 9
RING_PAGES = 1024  # holds 131,000 calls on one core
CORES = range(os.cpu_count() or 1)


MOST_SECONDS = 120  # that a program runs


class Lost(Exception):
    """The kernel had no room for some calls, or a program did not end."""


def open_event(kind, config, core, samples=False, flags=0, path="", offset=0):
    """An event of all processes on a core. Children cannot inherit an event of uprobes: the kernel would look for the path in their memory."""
    name = ctypes.create_string_buffer(os.fsencode(path))
    attributes = struct.pack("=IIQQQQQIIQQ", kind, 128, config, 1 if samples else 0, SAMPLE_TID | SAMPLE_TIME if samples else 0, 0, flags, 1, 0,
                             ctypes.addressof(name) if path else 0, offset).ljust(128, b"\0")
    event = LIBC.syscall(PERF_EVENT_OPEN, attributes, -1, core, -1, 8)
    if event < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
    return event


def open_place(place, core, samples):
    """An event at each execution of the instruction at a place (file, offset)."""
    with open(KIND, encoding="ascii") as file:
        return open_event(int(file.read()), 0, core, samples, 0, *place)


def why_not():
    """Why uprobes are not possible here, or None."""
    if not PERF_EVENT_OPEN or not os.path.exists(KIND):
        return "the kernel has no uprobes for perf_event_open()"
    try:
        os.close(open_place((os.path.realpath("/proc/self/exe"), 0x1000), 0, False))
    except OSError as error:
        return f"uprobes are not permitted: {error.strerror}"
    return None


def begin(words, folder, output):
    """A process that executes the words when go() is called. Returns it and go(), which returns how it ended. What it prints is in
    the files `output` and `output`.errors."""
    read, write = os.pipe()
    process = os.fork()
    if not process:
        os.close(write)
        os.setsid()
        os.read(read, 1)
        os.chdir(folder)
        for number, path in enumerate((os.devnull, output, output + ".errors" if output != os.devnull else output)):
            os.dup2(os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), number)
        try:
            os.execvp(words[0], words)
        finally:
            os._exit(127)
    os.close(read)

    def go():
        os.write(write, b".")
        os.close(write)
        ends = threading.Timer(MOST_SECONDS, os.killpg, (process, signal.SIGKILL))
        ends.start()
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        if ends.finished.is_set():
            raise Lost(f"it runs longer than {MOST_SECONDS} s")
        ends.cancel()
        return status

    return process, go


def run(words, folder, output):
    """How the program ended."""
    return begin(words, folder, output)[1]()


def count(words, places, folder):
    """How often each place is executed in one run, and in other processes meanwhile."""
    events = [[open_place(place, core, False) for core in CORES] for place in places]
    run(words, folder, os.devnull)
    counts = [sum(struct.unpack("q", os.read(event, 8))[0] for event in each) for each in events]
    with concurrent.futures.ThreadPoolExecutor(32) as pool:  # the kernel waits at each for all cores
        list(pool.map(os.close, sum(events, [])))
    return counts


def open_rings(events):
    rings = [mmap.mmap(event, (1 + RING_PAGES) * mmap.PAGESIZE) for event in events]
    for event in events:
        os.close(event)
    return rings


def read_rings(rings, wanted):
    """The records of this kind, each behind its head."""
    for ring in rings:
        head, at = struct.unpack_from("Q", ring, 1024)[0], 0
        data = ring[mmap.PAGESIZE:mmap.PAGESIZE + head]
        while at < head:
            kind, _, size = struct.unpack_from("IHH", data, at)
            if kind == RECORD_LOST:
                raise Lost("the kernel had no room for some calls")
            if kind == wanted:
                yield data[at + 8:at + size]
            at += size
        ring.close()


def family(process, forks):
    """The process and all that it started."""
    members, more = set(), {process}
    while more:
        members |= more
        more = {child for child, parent in forks if parent in members} - members
    return members


def calls_of_first_threads(words, places, folder, output):
    """Of each place: how often it is executed in one run in the first thread of each process that comes there.
    Returns the counts, and how the program ended."""
    forks = open_rings([open_event(SOFTWARE, DUMMY, core, flags=TASKS) for core in CORES])
    rings = [open_rings([open_place(place, core, True) for core in CORES]) for place in places]
    process, go = begin(words, folder, output)
    status = go()
    own = family(process, {struct.unpack_from("II", record) for record in read_rings(forks, RECORD_FORK)} | {(process, os.getpid())})
    counts = []
    for each in rings:
        threads, first = collections.Counter(), {}
        for _, thread, number in sorted(struct.unpack("IIQ", record)[::-1] for record in read_rings(each, RECORD_SAMPLE)):
            threads[number, first.setdefault(number, thread) == thread] += 1
        counts.append(sum(calls for (number, is_first), calls in threads.items() if is_first and number in own))
    return counts, status
