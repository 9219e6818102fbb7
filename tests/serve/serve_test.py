"""The capture service over bare sockets: usage: serve_test.py DWELL PROGRAM NO_CLOSE_RANGE [NAME...]

Each test has a program of its own under `dwell run --serve`, unless it says otherwise; the
program must end as if nobody had asked for anything. It runs until the test closes its
standard input. The tests wait for conditions, LIMIT seconds at most. A measurement that a busy
machine may have disturbed is repeated.
"""
import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import h2  # noqa: E402

DWELL, PROGRAM, NO_CLOSE_RANGE = (os.path.abspath(path) for path in sys.argv[1:4])
CONTROL, CAPTURE, GATES, GATE_BYTES = 4096, 4096 + 56, 4096 + 248, 24
NOTHING = 1 << 31
LIMIT = 60   # seconds, of whatever is waited for
LONG = 60000 # milliseconds of a capture that something else is to end
failures = 0


def check(what, holds, *seen):
    global failures
    print("ok  " if holds else "FAIL", what, *(seen if not holds else ()), flush=True)
    failures += not holds


def wait_for(condition, seconds=LIMIT):
    """Whether the condition holds within that time."""
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.005)
    return True


def exit_status(process):
    """A process's exit status; None and an end to it where it does not end by itself."""
    try:
        return process.wait(LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        return None


class Run:
    """A program that is served, until ends() is called."""

    def __init__(self, folder, seconds=600, rate=20000, threads=2, options=(), environment=(), more=(), under=()):
        self.trace = os.path.join(folder, "run.dwell")
        self.port = h2.free_port()
        serve = () if "--steps" in options else ("--serve", str(self.port))
        self.process = subprocess.Popen(
            [*under, DWELL, "run", "-o", self.trace, *serve, *options, PROGRAM, str(seconds), str(rate), str(threads), *more],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **dict(environment)})
        if serve:
            h2.wait_port(self.port)
        wait_for(self.has_started)

    def head(self):
        with open(self.trace, "rb") as file:
            return file.read(65536)

    def gates(self):
        """The masks of the gates that processes have."""
        head = self.head()
        return [struct.unpack_from("<I", head, at)[0]
                for at in range(GATES, len(head), GATE_BYTES)
                if struct.unpack_from("<I", head, at + 8)[0]]

    def has_started(self):
        return os.path.exists(self.trace) and os.path.getsize(self.trace) >= 65536 and len(self.gates()) > 1

    def armed(self):
        return any(mask & ~NOTHING for mask in self.gates())

    def becomes(self, armed):
        """Whether the gates are opened, or closed, long before LONG has passed."""
        return wait_for(lambda: self.armed() == armed, LONG / 2000)

    def child(self, serves):
        """The pid of `dwell serve`, or of the program."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
            children = file.read().split()
        for pid in children:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if (file.read().split(b"\0")[1:2] == [b"serve"]) == serves:
                    return int(pid)
        return None

    def works(self):
        """Waits until the program has made ranges since: it sleeps after each turn of its loop."""
        def sleeps():
            with open(f"/proc/{self.child(False)}/status", encoding="ascii") as file:
                return int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", file.read(), re.M).group(1))
        before = sleeps()
        return wait_for(lambda: sleeps() >= before + 5)

    def ends(self):
        """Whether the program ends well when it is told to: it was not harmed."""
        output, said = self.process.communicate(timeout=LIMIT)
        return self.process.returncode == 0 and output.startswith("done\n"), (self.process.returncode, output, said)


def profile(run, milliseconds, **options):
    return h2.call(run.port, "Profile", h2.profile_request(milliseconds, **options))


def private_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"RssAnon:\s+(\d+)", file.read()).group(1))


class Later(threading.Thread):
    """A call beside the test's own."""

    def __init__(self, function, *arguments, **options):
        super().__init__(daemon=True)
        self.what, self.result = (function, arguments, options), None
        self.start()

    def run(self):
        function, arguments, options = self.what
        try:
            self.result = function(*arguments, **options)
        except OSError as error:
            self.result = error

    def get(self):
        self.join(LIMIT + LONG / 1000)
        return self.result


# ---- captures and their times ------------------------------------------------------------

def test_window(folder):
    run = Run(folder)
    check("armed, and nothing is recorded", not run.armed())
    for attempt in range(5):  # the program may have had no processor in the window
        started = time.monotonic()
        status, message, reply = profile(run, 300)
        took = time.monotonic() - started
        counts = h2.events(h2.tool_data(reply)) if status == h2.OK else {}
        if 2000 < counts.get("test::outer", 0) < 5000 and 20 <= counts.get("train", 0) <= 40:
            break
    check("a capture of 300 ms is answered", status == h2.OK, status, message)
    check("after its window", 0.3 <= took, took)
    check("with that window's ranges", 2000 < counts.get("test::outer", 0) < 5000, counts)
    check("and steps", 20 <= counts.get("train", 0) <= 40, counts)
    check("recording is off again", run.becomes(False), run.gates())
    status, _, reply = profile(run, 100, emit=True)
    check("an answer as xspace", status == h2.OK and h2.events(h2.tool_data(reply)).get("test::inner"))
    check("the program is unharmed", *run.ends())


def test_terminate(folder):
    run = Run(folder)
    later = Later(profile, run, LONG, session="mine")
    check("recording", run.becomes(True))
    status, _, _ = h2.call(run.port, "Terminate", h2.field(1, "another's"))
    check("another session's name ends nothing", status == h2.OK and run.armed())
    status, message, _ = profile(run, 100)
    check("busy", status == h2.EXISTS and "under way" in message, status, message)
    run.works()
    status, _, _ = h2.call(run.port, "Terminate", h2.field(1, "mine"))
    status, message, reply = later.get()
    check("terminated: what there was", status == h2.OK and h2.events(h2.tool_data(reply)), status, message)
    check("recording is off again", run.becomes(False))
    check("the program is unharmed", *run.ends())


def test_delay(folder):
    run = Run(folder)
    start_ns, early = time.time_ns() + 700_000_000, False
    later = Later(profile, run, LONG, start_ns=start_ns, session="late")
    while time.time_ns() < start_ns:
        early |= run.armed() and time.time_ns() < start_ns
        time.sleep(0.005)
    check("not before its time", not early)
    check("then it records", run.becomes(True))
    h2.call(run.port, "Terminate", h2.field(1, "late"))
    status, message, _ = later.get()
    check("and is answered", status == h2.OK, status, message)
    later = Later(profile, run, 200, start_ns=time.time_ns() + 60_000_000_000, session="later")

    def terminated():  # once the server knows of it
        h2.call(run.port, "Terminate", h2.field(1, "later"))
        return later.result
    wait_for(terminated)
    status, message, _ = later.get()
    check("terminated before it began", status == h2.ABORTED, status, message)
    status, message, _ = profile(run, 100, start_ns=time.time_ns() + 86400 * 10**9)
    check("tomorrow is refused", status == h2.INVALID and "hour" in message, status, message)
    check("the program is unharmed", *run.ends())


def test_client_leaves(folder):
    run = Run(folder)
    raw = h2.Raw(run.port)
    raw.ask(1, h2.SERVICE + "Profile", h2.message(h2.profile_request(LONG)))
    check("recording", run.becomes(True))
    raw.send(h2.frame(h2.RST, 0, 1, struct.pack(">I", 8)))
    check("RST_STREAM ends it", run.becomes(False))
    raw.ask(3, h2.SERVICE + "Profile", h2.message(h2.profile_request(LONG)))
    check("recording again", run.becomes(True))
    raw.close()
    check("leaving ends it", run.becomes(False))
    raw = h2.Raw(run.port)  # leaves while the answer is written or sent
    raw.ask(1, h2.SERVICE + "Profile", h2.message(h2.profile_request(200)))
    run.becomes(True)
    run.becomes(False)
    raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    raw.close()
    # The server may hear of it a moment later.
    check("the next one is served", wait_for(lambda: profile(run, 100)[0] == h2.OK))
    check("the program is unharmed", *run.ends())


def test_client_killed(folder):
    run = Run(folder)
    here = os.path.dirname(os.path.abspath(__file__))
    code = f"import sys; sys.path.insert(0, {here!r}); import h2; " \
           f"h2.call({run.port}, 'Profile', h2.profile_request({LONG}))"
    for _ in range(3):
        client = subprocess.Popen([sys.executable, "-c", code])
        check("recording", run.becomes(True))
        client.kill()
        client.wait()
        check("a client killed: its capture ends", run.becomes(False))
    status, message, reply = profile(run, 200)
    check("the next one is served", status == h2.OK and h2.events(h2.tool_data(reply)), status, message)
    check("the program is unharmed", *run.ends())


def test_server_killed(folder):
    run = Run(folder)
    Later(profile, run, 2000)
    check("recording", run.becomes(True))
    armed = time.monotonic()
    os.kill(run.child(True), signal.SIGKILL)
    check("still, for its time", run.armed() or time.monotonic() > armed + 1.9)
    check("recording ends without the server", run.becomes(False), run.gates())
    check("the program is unharmed", *run.ends())


def test_closed_gates(folder):
    run = Run(folder, options=("--steps", "100000..100001"))
    server = subprocess.Popen([DWELL, "serve", "--port", str(run.port), run.trace], stderr=subprocess.PIPE)
    h2.wait_port(run.port)
    check("--steps closes the gates", not run.armed())
    for attempt in range(5):  # the program may have had no processor in the window
        status, message, reply = profile(run, 200)
        if status == h2.OK and h2.events(h2.tool_data(reply)).get("test::outer", 0) > 100:
            break
    check("a capture opens them", status == h2.OK and h2.events(h2.tool_data(reply)).get("test::outer", 0) > 100,
          status, message, len(reply))
    check("and they are closed again", run.becomes(False))
    another = subprocess.Popen([DWELL, "serve", "--port", "0", run.trace], stderr=subprocess.PIPE, text=True)
    other = int(another.stderr.readline().rsplit(":", 1)[1])
    later = Later(profile, run, LONG, session="first")
    run.becomes(True)
    status, message, _ = h2.call(other, "Profile", h2.profile_request(100))
    check("two servers: one captures at a time", status == h2.EXISTS and "another server" in message, message)
    h2.call(run.port, "Terminate", h2.field(1, "first"))
    check("the other's is whole", later.get()[0] == h2.OK)
    silent = h2.Raw(run.port)
    check("the program is unharmed", *run.ends())
    for one in (server, another):
        check("its server ends with it, a silent client or not", exit_status(one) == 0)
    silent.close()


def test_program_ends(folder):
    run = Run(folder)
    later = Later(profile, run, LONG)
    check("recording", run.becomes(True))
    run.works()
    check("the program is unharmed", *run.ends())
    status, message, reply = later.get()
    check("it ended: what there was", status == h2.OK and h2.events(h2.tool_data(reply)), status, message)


def start_itself(folder, port):
    """A program that serves itself; (process, what it says first)."""
    process = subprocess.Popen([PROGRAM, "600", "20000", "2", str(port)], cwd=folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return process, process.stdout.readline().strip()


def test_started_by_the_program(folder):
    process, said = start_itself(folder, 0)
    port = int(said)
    check("dwell_serve_start() returns the port", port > 0, said)
    trace = os.path.join(folder, next(name for name in os.listdir(folder) if name.endswith(".dwell")))
    # The file gets its first window, of 4 MiB, when the program's first thread is known.
    wait_for(lambda: os.path.getsize(trace) > 1 << 20)
    time.sleep(0.5)
    check("nothing is recorded", os.path.getsize(trace) <= 5 << 20, os.path.getsize(trace))
    for attempt in range(5):  # the program may have had no processor in the window
        status, message, reply = h2.call(port, "Profile", h2.profile_request(300))
        found = h2.events(h2.tool_data(reply)).get("test::outer", 0) if status == h2.OK else 0
        if found > 2000:
            break
    check("a capture is answered", status == h2.OK and found > 2000, status, message, found)
    other, refused = start_itself(folder, port)
    check("a port in use is an error", exit_status(other) == 1 and "in use" in refused, refused)
    with contextlib.suppress(OSError):
        os.mkdir(os.path.join(folder, "run"))
    under = Run(os.path.join(folder, "run"), threads=2, options=(), more=("0",))
    served = int(under.process.stdout.readline())
    status, message, reply = h2.call(served, "Profile", h2.profile_request(200))
    check("under dwell run too", status == h2.OK and h2.events(h2.tool_data(reply)), status, message)
    check("the program is unharmed", *under.ends())
    process.stdin.close()
    check("the program ends as it would", exit_status(process) == 0, process.stdout.read())

    def nobody_listens():
        try:
            socket.create_connection(("127.0.0.1", port), timeout=LIMIT).close()
            return False
        except OSError:
            return True
    check("and its server with it", wait_for(nobody_listens))


# ---- what the server refuses ---------------------------------------------------------------------

def test_methods(folder):
    run = Run(folder)
    for path in (h2.SERVICE + "Monitor", "/tensorflow.ProfileAnalysis/NewSession",
                 h2.SERVICE + "Profiles", h2.SERVICE, "/", "/x" * 100):
        status, message, _ = h2.call(run.port, "", b"", path=path)
        check(f"{path[:40]} is UNIMPLEMENTED", status == h2.UNIMPLEMENTED, status, message)
    check("the program is unharmed", *run.ends())


def test_requests(folder):
    run = Run(folder)
    for milliseconds in (0, 86400000, 2**63, 2**64 - 1):
        status, message, _ = profile(run, milliseconds)
        check(f"{milliseconds} ms are refused", status == h2.INVALID and "1 to 3600000" in message, status, message)
    for what, data in (("half a message", h2.profile_request(100)[:-1]), ("garbage", bytes(range(255))),
                       ("a session of another type", h2.field(9, h2.field(9, 1)) + h2.field(6, 7)),
                       ("a long session", h2.profile_request(100, session="x" * 300)),
                       ("a NUL in the session", h2.profile_request(100, session="a\0b")),
                       ("nothing", b"")):
        status, message, _ = h2.call(run.port, "Profile", data)
        check(f"{what} is refused", status == h2.INVALID, status, message)
    before = set(os.listdir(folder))
    for session in ("../../../../tmp/out", "/etc/passwd", folder, "..%2f.."):
        status, message, _ = h2.call(run.port, "Profile", h2.profile_request(
            20, session=session, more=h2.field(5, folder) + h2.field(7, "../../x")))
        check(f"a session {session[:20]} is a name", status == h2.OK, status, message)
    check("and no path: nothing was stored", set(os.listdir(folder)) == before, os.listdir(folder))
    check("the program is unharmed", *run.ends())


def test_frames(folder):
    run = Run(folder)
    body = h2.profile_request(50)
    cases = {
        "a length that is too long": struct.pack(">BI", 0, len(body) + 5) + body,
        "a length that is too short": struct.pack(">BI", 0, 1) + body,
        "half of gRPC's header": b"\0\0\0",
        "nothing at all": b"",
        "a compressed message": h2.message(body, 1),
        "two messages": h2.message(body) * 2,
    }
    for what, data in cases.items():
        raw = h2.Raw(run.port)
        raw.ask(1, h2.SERVICE + "Profile", data)
        status, message, _ = raw.answer(1)
        check(f"{what}: refused", status in (h2.INTERNAL, h2.UNIMPLEMENTED), status, message)
        raw.close()
    raw = h2.Raw(run.port)
    raw.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.headers(h2.SERVICE + "Profile")))
    raw.send(struct.pack(">I", 0)[:0] + h2.frame(h2.DATA, 0, 1, struct.pack(">BI", 0, 2**31)))
    try:
        for _ in range(8):
            raw.send(h2.frame(h2.DATA, 0, 1, b"x" * 16000))
        status, message, _ = raw.answer(1)
    except OSError as error:
        status, message = None, error
    check("a message of 2 GiB: refused before it has come", status == h2.EXHAUSTED, status, message)
    raw.close()
    for what, data in (("no HTTP/2", b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"), ("noise", os.urandom(4000)),
                       ("half a preface", h2.PREFACE[:11]), ("a preface and noise", h2.PREFACE + os.urandom(4000)),
                       ("half a frame", h2.PREFACE + h2.frame(4, 0, 0) + h2.frame(1, 4, 1, b"x" * 90)[:50]),
                       ("a frame of 16 MB", h2.PREFACE + h2.frame(4, 0, 0) + b"\xff\xff\xff\0\0\0\0\0\1" + b"y" * 999)):
        raw = h2.Raw(run.port, hello=False)
        with contextlib.suppress(OSError):
            raw.send(data)
        raw.close()
        check(f"{what}: the server goes on", profile(run, 10)[0] in (h2.OK, h2.EXISTS))
    raw = h2.Raw(run.port)
    raw.send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.headers(h2.SERVICE + "Profile", content="text/html")) +
             h2.frame(h2.DATA, h2.END_STREAM, 1, h2.message(body)))
    check("another content-type: refused", raw.answer(1)[0] == h2.INVALID)
    raw.close()
    check("the program is unharmed", *run.ends())


def served(run, milliseconds=50):
    """Whether the server answers a capture; it may close a connection that is slow or one of many."""
    with contextlib.suppress(OSError):
        status, _, reply = profile(run, milliseconds)
        return status == h2.OK and len(reply) > 0
    return False


def test_fifty(folder):
    run = Run(folder)
    server = run.child(True)
    before = private_kib(server)
    calls = [Later(profile, run, LONG, session=str(i)) for i in range(50)]
    wait_for(lambda: sum(call.result is not None for call in calls) == 49)
    for i in range(50):
        h2.call(run.port, "Terminate", h2.field(1, str(i)))
    states = [call.get() for call in calls]
    statuses = [state[0] if isinstance(state, tuple) else state for state in states]
    check("50 at once: one is served", statuses.count(h2.OK) == 1, statuses)
    check("the others get ALREADY_EXISTS", statuses.count(h2.EXISTS) == 49, statuses)
    raws = []
    with contextlib.suppress(OSError):
        for _ in range(300):
            raws.append(h2.Raw(run.port))
    for raw in raws:
        raw.close()
    check("300 connections: it serves on", wait_for(lambda: served(run)))
    wait_for(lambda: private_kib(server) < 1000)
    after = private_kib(server)
    print(f"    the server's memory: {before} KiB idle, {after} KiB after them")
    check("it has under 1 MB of its own", before < 1000 and after < 1000, before, after)
    check("the program is unharmed", *run.ends())


# ---- clients that must not keep others out ---------------------------------------------------------------

def closes(raw):
    """Whether the server ends the connection."""
    raw.socket.settimeout(LIMIT)
    try:
        while raw.socket.recv(1 << 16):
            pass
        return True
    except TimeoutError:
        return False
    except OSError:
        return True


def test_slow_clients(folder):
    run = Run(folder, environment={"DWELL_TEST_SERVE_MS": "400"})
    raws = []
    for _ in range(64):  # a call each that never ends
        raws.append(h2.Raw(run.port))
        raws[-1].send(h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.headers(h2.SERVICE + "Profile")))
    check("64 calls that never end: the next client is served", wait_for(lambda: served(run)))
    check("and they are closed", all(closes(raw) for raw in raws))
    silent = h2.Raw(run.port)
    pings = h2.Raw(run.port)
    for _ in range(4):
        with contextlib.suppress(OSError):
            pings.send(h2.frame(h2.PING, 0, 0, b"12345678"))
        time.sleep(0.1)
    check("a connection without a call is closed", closes(silent))
    check("one that only pings is closed too", closes(pings))
    deaf = h2.Raw(run.port, hello=False)  # it takes no byte of an answer
    deaf.send(h2.PREFACE + h2.frame(h2.SETTINGS, 0, 0, struct.pack(">HI", 4, 0)))
    deaf.ask(1, h2.SERVICE + "Profile", h2.message(h2.profile_request(50)))
    check("a client that does not read the answer is closed", closes(deaf))
    check("a capture may take longer than all limits", wait_for(lambda: served(run, 1500)))
    check("the program is unharmed", *run.ends())


def as_user(user, function):
    """What the function answers in a process of that user's."""
    ends = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgid(user)
            os.setuid(user)
            os.write(ends[1], json.dumps(function()).encode())
        finally:
            os._exit(0)
    os.close(ends[1])
    os.waitpid(child, 0)
    with os.fdopen(ends[0], "rb") as answer:
        return json.loads(answer.read() or '[null, "no answer"]')


def test_other_users(folder):
    run = Run(folder)
    check("the user of the program is served", profile(run, 50)[0] == h2.OK)
    if os.geteuid() != 0:
        print("skip: another user's client, which needs root")
    elif not os.access("/proc/net/tcp", os.R_OK):
        print("skip: another user's client, which needs /proc/net/tcp")
    else:
        status, message = as_user(65534, lambda: profile(run, 50)[:2])
        check("another user is refused", status == h2.UNAUTHENTICATED, status, message)
        check("and gets the reason", "DWELL_TOKEN" in message, message)
    check("the program is unharmed", *run.ends())


def test_old_kernel(folder):
    if subprocess.run([NO_CLOSE_RANGE, "/bin/true"], timeout=LIMIT).returncode:
        print("skip: no close_range(), which needs seccomp")
        return
    run = Run(folder, under=(NO_CLOSE_RANGE,))
    status, message, reply = profile(run, 100)
    check("without close_range() a capture is answered", status == h2.OK and len(reply) > 1000, status, message)
    check("the program is unharmed", *run.ends())


def test_port(folder):
    run = Run(folder)
    taken = subprocess.run([DWELL, "serve", "--port", str(run.port), run.trace], capture_output=True, text=True,
                           timeout=LIMIT)
    check("a port in use is refused", taken.returncode == 1 and f"port {run.port}" in taken.stderr and
          "in use" in taken.stderr, taken)
    outside = subprocess.run([DWELL, "serve", "--host", "0.0.0.0", run.trace], capture_output=True, text=True,
                             timeout=LIMIT, env={k: v for k, v in os.environ.items() if k != "DWELL_TOKEN"})
    check("others are let in with a token only", outside.returncode == 2 or "DWELL_TOKEN" in outside.stderr, outside)
    wanted = subprocess.Popen([DWELL, "serve", "--port", "0", run.trace], stderr=subprocess.PIPE, text=True,
                              env={**os.environ, "DWELL_TOKEN": "secret"})
    port = int(wanted.stderr.readline().rsplit(":", 1)[1])
    status, _, _ = h2.call(port, "Profile", h2.profile_request(20))
    check("no token: UNAUTHENTICATED", status == h2.UNAUTHENTICATED, status)
    status, _, _ = h2.call(port, "Profile", h2.profile_request(20), [("authorization", "Bearer secreT")])
    check("a wrong one too", status == h2.UNAUTHENTICATED, status)
    status, message, _ = h2.call(port, "Profile", h2.profile_request(20), [("authorization", "Bearer secret")])
    check("the right one is served", status == h2.OK, status, message)
    wanted.terminate()
    check("SIGTERM ends it", exit_status(wanted) == 0)
    check_beyond_loopback(run)
    check("the program is unharmed", *run.ends())


def an_address():
    """One of this machine's that is not loopback; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        with contextlib.suppress(OSError):
            probe.connect(("192.0.2.1", 9))  # sends nothing
            return probe.getsockname()[0]
    return None


def check_beyond_loopback(run):
    """By an address of this machine that is not loopback, as from another machine."""
    host = an_address()
    server = subprocess.Popen([DWELL, "serve", "--host", "0.0.0.0", "--port", "0", run.trace],
                              stderr=subprocess.PIPE, text=True, env={**os.environ, "DWELL_TOKEN": "secret"})
    said = server.stderr.readline()
    port = int(said.rsplit(":", 1)[1])
    for at in filter(None, ("127.0.0.1", host)):
        status, _, _ = h2.call(port, "Profile", h2.profile_request(20), host=at)
        check("every address, no token: UNAUTHENTICATED", status == h2.UNAUTHENTICATED, at, status)
        status, message, reply = h2.call(port, "Profile", h2.profile_request(20),
                                         [("authorization", "Bearer secret")], host=at)
        check("every address, with the token: served", status == h2.OK and len(reply) > 0, at, status, message)
    if not host:
        print("skip: this machine has no address but loopback")
    with contextlib.suppress(ConnectionRefusedError):
        if host:
            h2.call(run.port, "Profile", h2.profile_request(20), host=host)
            check("without --host nobody else can connect", False, host)
    server.terminate()
    check("SIGTERM ends it", exit_status(server) == 0)


def main():
    chosen = sys.argv[4:]
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not chosen or name[5:] in chosen):
            print(f"{name[5:]}:", flush=True)
            with tempfile.TemporaryDirectory() as folder:
                try:
                    test(folder)
                except Exception as error:  # the other tests tell more
                    check(f"{name}: {type(error).__name__}: {error}", False)
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
