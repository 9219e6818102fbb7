"""Programs in Python. usage: scripts.py NAME; scripts.py --list prints the names."""
import asyncio
import contextlib
import cProfile
import ctypes
import faulthandler
import fcntl
import gc
import io
import multiprocessing
import os
import pstats
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time

from shells import VARIABLES

if threading.current_thread() is not threading.main_thread():
    raise ImportError("a program of its own")


def compute(seconds=.06):
    end, sum_ = time.process_time() + seconds, 0
    while time.process_time() < end:
        sum_ += sum(range(200))
    return sum_


def signals_of_timers():
    seen = {}

    def count(number, _frame):
        seen[number] = seen.get(number, 0) + 1
    for number, which in ((signal.SIGPROF, signal.ITIMER_PROF), (signal.SIGVTALRM, signal.ITIMER_VIRTUAL), (signal.SIGALRM, signal.ITIMER_REAL)):
        signal.signal(number, count)
        signal.setitimer(which, .01, .01)
    signal.signal(signal.SIGURG, count)
    compute(.3)
    for which in (signal.ITIMER_PROF, signal.ITIMER_VIRTUAL, signal.ITIMER_REAL):
        signal.setitimer(which, 0)
    print("some", all(seen.get(one, 0) > 3 for one in (signal.SIGPROF, signal.SIGVTALRM, signal.SIGALRM)), "urgent", seen.get(signal.SIGURG, 0))
    os.kill(os.getpid(), signal.SIGURG)
    compute(.02)
    print("own", seen.get(signal.SIGURG, 0))


def wakeup_descriptor():
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    reading.setblocking(False)
    signal.set_wakeup_fd(writing.fileno())
    signal.signal(signal.SIGURG, lambda *_: None)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    compute(.2)
    os.kill(os.getpid(), signal.SIGUSR1)
    compute(.02)
    print(list(reading.recv(1000)))


def urgent_data():
    seen = []
    signal.signal(signal.SIGURG, lambda number, _frame: seen.append(number))
    server = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(server.getsockname())
    accepted, _ = server.accept()
    fcntl.fcntl(accepted.fileno(), fcntl.F_SETOWN, os.getpid())
    compute(.1)
    print("before", len(seen))
    client.send(b"!", socket.MSG_OOB)
    time.sleep(.1)
    print("after", len(seen))


def waits_for_signals():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    compute(.1)
    print(sorted(signal.sigpending()))
    print(signal.sigtimedwait(range(1, 65), .05))
    os.kill(os.getpid(), signal.SIGUSR2)
    print(signal.sigwait(set(range(1, 65))))


def masks_and_handlers():
    print([signal.getsignal(number) for number in (signal.SIGURG, signal.SIGPROF, signal.SIGALRM, signal.SIGINT, signal.SIGPIPE)][:3])
    compute(.1)
    print(sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
    print(signal.signal(signal.SIGURG, signal.SIG_IGN))
    for line in open("/proc/self/status", encoding="ascii"):
        if line.startswith(("SigIgn", "SigBlk", "Threads")):
            print(line.strip())


def keyboard_interrupt():
    timer = threading.Timer(.1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        compute(5)
    except KeyboardInterrupt:
        print("interrupted")
    raise KeyboardInterrupt


async def asyncio_work():
    process = await asyncio.create_subprocess_exec("sh", "-c", "sleep 0.05; echo x; exit 4", stdout=asyncio.subprocess.PIPE)
    print((await process.communicate())[0], process.returncode)

    async def one(number):
        for _ in range(10):
            await asyncio.sleep(.001)
        return number
    print(sum(await asyncio.gather(*[one(i) for i in range(200)])))
    with contextlib.suppress(asyncio.TimeoutError):
        await asyncio.wait_for(asyncio.sleep(5), .1)
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    loop.add_signal_handler(signal.SIGUSR1, done.set)
    compute(.05)
    os.kill(os.getpid(), signal.SIGUSR1)
    await done.wait()
    print(await loop.run_in_executor(None, lambda: compute(.03) > 0))


def event_loop():
    asyncio.run(asyncio_work())


def square(number):
    compute(.02)
    return number * number


def processes(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        print(method, pool.map(square, range(5)))
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=queue.put, args=([1, 2],))
    process.start()
    print(queue.get(), process.join(), process.exitcode)
    process = context.Process(target=os._exit, args=(9,))
    process.start()
    process.join()
    print(process.exitcode)
    process = context.Process(target=time.sleep, args=(30,))
    process.start()
    process.terminate()
    process.join()
    print(process.exitcode)


def fault_handler():
    faulthandler.enable()
    compute(.1)
    print("before", flush=True)
    ctypes.string_at(0)


def fault_later():
    faulthandler.dump_traceback_later(.05, repeat=False, file=open("later.tmp", "w", encoding="utf-8"))
    compute(.2)
    print("event_loop" in open("later.tmp", encoding="utf-8").read(), os.path.getsize("later.tmp") > 50)
    faulthandler.register(signal.SIGUSR1, file=sys.stderr, all_threads=False)
    os.kill(os.getpid(), signal.SIGUSR1)
    print("after")


def threads():
    results = []
    lock = threading.Lock()

    def work(number):
        compute(.01)
        with lock:
            results.append(number)
        time.sleep(.001)
    every = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    for one in every:
        one.start()
    for one in every:
        one.join()
    end = time.monotonic() + 2
    while len(os.listdir("/proc/self/task")) > 1 and time.monotonic() < end:
        time.sleep(.01)
    print(sorted(results), threading.active_count(), len(os.listdir("/proc/self/task")))
    condition = threading.Condition()
    with condition:
        print(condition.wait(.02))
    print(threading.Event().wait(.02), lock.acquire(timeout=.02), lock.acquire(timeout=.02))


def thread_stacks():
    for size in (32768 * 2, 512 << 20):
        threading.stack_size(size)
        thread = threading.Thread(target=lambda: print(compute(.03) > 0))
        thread.start()
        thread.join()

    def fall(depth):
        return 0 if not depth else 1 + fall(depth - 1)
    sys.setrecursionlimit(30000)
    thread = threading.Thread(target=lambda: print(fall(20000)))
    thread.start()
    thread.join()


def recursion():
    def endless(depth):
        return endless(depth + 1)
    for _ in range(5):
        try:
            endless(0)
        except RecursionError as error:
            print(str(error)[:30])


def subinterpreters():
    try:
        import _xxsubinterpreters as interpreters
    except ImportError:
        import _interpreters as interpreters
    for _ in range(4):
        one = interpreters.create()
        getattr(interpreters, "run_string", None)(one, "import json\nx=0\nfor k in range(200000): x += k\nprint(x, flush=True)\n")
        interpreters.destroy(one)


def profiles():
    def fibonacci(number):
        return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)
    profile = cProfile.Profile()
    profile.enable()
    fibonacci(15)
    profile.disable()
    text = io.StringIO()
    pstats.Stats(profile, stream=text).print_stats()
    print([line.split()[0] for line in text.getvalue().splitlines() if "(fibonacci)" in line])
    events = []
    sys.settrace(lambda frame, event, argument: events.append(event))
    fibonacci(3)
    sys.settrace(None)
    print(events.count("call"), sys.gettrace(), sys.getprofile())
    calls = []
    sys.setprofile(lambda frame, event, argument: calls.append(event))
    fibonacci(3)
    sys.setprofile(None)
    print(calls.count("call"))


def visible():
    print(len(gc.callbacks), threading.active_count(), sys.getprofile(), sys.gettrace(), sys.getrecursionlimit(), sys.getswitchinterval())
    print(sorted(name for name in os.environ if not re.match(VARIABLES, name)))
    print(sys.flags, sys.argv, sys.excepthook is sys.__excepthook__, sys.warnoptions)
    compute(.1)
    print(len(gc.callbacks), len(os.listdir("/proc/self/task")), gc.get_threshold(), gc.isenabled())


def imports():
    before = set(sys.modules)
    print([type(one).__name__ if not isinstance(one, type) else one.__name__ for one in sys.meta_path])
    print(sorted(name for name in before if "dw" in name), [one for one in sys.path if "dwell" in one], len(sys.path_hooks))


def descriptors():
    first = os.open("/dev/null", os.O_RDONLY)
    print("first", first, [fd for fd in range(3, 100) if os.path.exists(f"/proc/self/fd/{fd}")])
    compute(.1)
    os.closerange(3, 5000)
    print("after", os.open("/dev/null", os.O_RDONLY), os.pipe())
    print(subprocess.run(["sh", "-c", "ls /proc/self/fd | grep -c '^.$'"], capture_output=True, text=True, check=False).stdout)


def memory_limit():
    resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))
    compute(.06)
    try:
        print(len(bytearray(150 << 20)))
    except MemoryError:
        print("MemoryError")
    thread = threading.Thread(target=lambda: print("thread"))
    try:
        thread.start()
        thread.join()
    except RuntimeError as error:
        print(error)


def subprocesses():
    print(subprocess.run([sys.executable, "-I", "-S", "-E", "-c", "print(1)"], capture_output=True, check=False))
    print(subprocess.run("exec env -i /bin/echo hi; exit 3", shell=True, capture_output=True, check=False))
    print(subprocess.run(["sh", "-c", "kill -9 $$"], check=False).returncode, subprocess.run(["sh", "-c", "kill -URG $$; exit 2"], check=False).returncode)
    process = subprocess.Popen(["sleep", "30"])
    try:
        process.wait(.1)
    except subprocess.TimeoutExpired:
        process.kill()
    print(process.wait())
    print(subprocess.run(["cat"], input=b"x" * 200000, capture_output=True, check=True).stdout.count(b"x"))


def fork_and_exit():
    sys.stdout.write("buffered ")
    pid = os.fork()
    if pid == 0:
        compute(.05)
        sys.exit(5)
    print(os.waitpid(pid, 0)[1])
    pid = os.fork()
    if pid == 0:
        os._exit(9)
    print(os.waitpid(pid, 0)[1])
    raise SystemExit(12)


def uncaught():
    compute(.06)
    raise ValueError("nobody catches this")


def select_and_poll():
    reading, writing = os.pipe()
    begin = time.monotonic()
    print(select.select([reading], [], [], .05), time.monotonic() - begin > .04)
    poll = select.poll()
    poll.register(reading, select.POLLIN)
    compute(.05)
    print(poll.poll(20))
    os.write(writing, b"x")
    print(len(poll.poll(20)), os.read(reading, 10))
    epoll = select.epoll()
    print(epoll.poll(.02))


def collection():
    class Node:
        def __init__(self):
            self.me = self

        def __del__(self):
            ended.append(1)
    ended = []
    for _ in range(500):
        Node()
    gc.collect()
    compute(.05)
    print(len(ended))


PROGRAMS = {
    "signals of timers": signals_of_timers, "wakeup descriptor": wakeup_descriptor, "urgent data": urgent_data,
    "waits for signals": waits_for_signals, "masks and handlers": masks_and_handlers, "keyboard interrupt": keyboard_interrupt,
    "event loop": event_loop, "processes by fork": lambda: processes("fork"), "processes by spawn": lambda: processes("spawn"),
    "processes by forkserver": lambda: processes("forkserver"), "fault handler": fault_handler, "fault handler, later": fault_later,
    "threads": threads, "stacks of threads": thread_stacks, "recursion": recursion, "subinterpreters": subinterpreters, "profiles": profiles,
    "what is visible": visible, "imports": imports, "descriptors": descriptors, "memory limit": memory_limit, "subprocesses": subprocesses,
    "fork and exit": fork_and_exit, "uncaught exception": uncaught, "select and poll": select_and_poll, "collection": collection,
}

if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print("\n".join(PROGRAMS))
    else:
        PROGRAMS[sys.argv[1]]()
