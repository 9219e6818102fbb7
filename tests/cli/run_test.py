#!/usr/bin/env python3
"""dwell run: the errors before the program starts, and the messages after it has ended.

usage: run_test.py DWELL OUTLIVE HALF_ASLEEP CROWD

The last line is "N passed, N failed, N skipped", which counts checks.
"""
import ctypes
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile

DWELL, OUTLIVE, HALF_ASLEEP, CROWD = (os.path.abspath(path) for path in sys.argv[1:5])
# A build without Python's headers, or one with sanitizers, which an interpreter without them cannot load, records no Python.
NO_PYTHON = re.compile("not recorded: python|Python is not profiled")
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, value, text=""):
    counts["passed" if value else "failed"] += 1
    if not value:
        print(f"FAILED {what}: {text}")


def run(*arguments):
    done = subprocess.run([DWELL, "run", *arguments], capture_output=True, text=True, timeout=600,
                          check=False)
    return done.returncode, done.stderr


def refused(what, code, word, *arguments):
    """The program, which makes a file, did not run, and there is no trace."""
    got, text = run(*arguments, "touch", "ran")
    check(what, got == code and word in text, f"{got}: {text}")
    check(what + ": the program", not os.path.exists("ran"))
    check(what + ": the trace", not os.path.exists("touch.dwell"))


def serving():
    if "libnghttp2" in run("--serve", "0", "true")[1]:
        print("skip serving: this dwell was built without libnghttp2")
        counts["skipped"] += 1
        return
    refused("a port that is no number", 2, "--serve x", "--serve", "x")
    refused("a port that is too large", 2, "65535", "--serve", "99999")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        refused("a port in use", 2, "give another", "--serve", str(taken.getsockname()[1]))
    code, text = run("--serve", "0", "-o", "served.dwell", "true")
    check("any free port", code == 0 and "captures of" in text, text)


def sizes():
    refused("a size that is too small", 2, "at least 1M", "--max-size", "1K")
    code, text = run("--max-size", "1M", "-o", "least.dwell", OUTLIVE)
    check("the least size", code == 0 and "max-size" not in text, text)
    info = subprocess.run([DWELL, "info", "least.dwell"], capture_output=True, text=True, check=False)
    check("the least size records", "Lost: nothing" in info.stdout or "lost" not in info.stdout.lower(),
          info.stdout)
    code, text = run("--max-size", "99T", "-o", "large.dwell", "true")
    check("a size beyond the disk", code == 0 and text.count("--max-size") == 1, text)


def others_files():
    with open("results.csv", "w", encoding="utf-8") as file:
        file.write("a,b\n")
    os.symlink("results.csv", "link.dwell")
    for name in ("results.csv", "link.dwell", "/dev/null"):
        before = os.lstat(name)
        refused(name, 125, "is no dwell trace", "-o", name)
        after = os.lstat(name)
        check(name + " is as it was", (before.st_ino, before.st_mode, before.st_size, before.st_rdev) ==
              (after.st_ino, after.st_mode, after.st_size, after.st_rdev))
    for _ in range(2):  # a trace is replaced
        code, text = run("-o", "again.dwell", "true")
        check("a trace is replaced", code == 0, text)


def outliving():
    code, text = run("-o", "short.dwell", OUTLIVE, "200")
    check("a child that ends soon", code == 0 and "still record" not in text, text)
    check("its trace is trimmed", os.stat("short.dwell").st_blocks * 512 < 1 << 20)
    code, text = run("-o", "long.dwell", OUTLIVE, "4000")
    check("a child that goes on", code == 0 and "1 process of this run still records" in text, text)
    info = subprocess.run([DWELL, "report", "long.dwell"], capture_output=True, text=True, check=False)
    check("its trace is live", "still being written" in info.stderr, info.stderr)


def counters():
    """A machine with counters records them; on another one the run says why not, and records the rest."""
    code, text = run("--counters", "-o", "counted.dwell", OUTLIVE)
    check("counters", code == 0 and "recorded to" in text, text)
    meta = subprocess.run([DWELL, "info", "counted.dwell"], capture_output=True, text=True, check=False).stdout
    refused_here = "the processor's counters cannot be read: " in text
    check("why there are no counters", refused_here == ("host.counters_lack" in meta), text + meta)
    check("no word without the option", "counters" not in run("-o", "plain.dwell", OUTLIVE)[1])


def rows_of(trace, view):
    report = subprocess.run([DWELL, "report", "--view", view, "-n", "all", "-f", "json", trace],
                            capture_output=True, text=True, check=True).stdout
    table = json.loads(report)["views"][0]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row)) for row in table["rows"]]


def waits():
    """Steps that last as long as the time between two samples are seen in all places."""
    code, text = run("-o", "asleep.dwell", HALF_ASLEEP, "120")
    check("a loop that sleeps", code == 0, text)
    facts = {row["fact"]: row["value"] for row in rows_of("asleep.dwell", "facts")}
    if not isinstance(facts["samples.step"], (int, float)):  # this build has no sampler, as one with sanitizers
        counts["skipped"] += 1
        print("skip half of the time asleep: nothing was sampled")
        return
    asleep = facts["cpu.waiting"] if isinstance(facts["cpu.waiting"], float) else -1  # by the kernel's account: half of the time, less on a busy machine
    account = {(row["state"], row["activity"]): row["share"] for row in rows_of("asleep.dwell", "account")}
    seen = account.get(("waits", "sleeps"), 0)
    check("half of the time asleep", abs(seen - asleep) < 0.2, f"{seen} of {asleep}")


def short():
    """The run's time is that of the program, however little it recorded."""
    code, text = run("-o", "short.dwell", sys.executable, "-c", "import gc, time; gc.collect(); time.sleep(0.5)")
    report = subprocess.run([DWELL, "report", "-f", "json", "short.dwell"], capture_output=True, text=True, check=True).stdout
    view = json.loads(report)["views"][0]
    names = [column["name"] for column in view["columns"]]
    wall_ns = view["rows"][0][names.index("wall_ns")] if "wall_ns" in names else 0
    check("the time of a short run", code == 0 and wall_ns >= 500e6, f"{text} {report[:600]}")


def crowd(name, *arguments, under=()):
    """What a run of the crowd says, and its facts. On a busy machine `dwell run` may look too seldom to measure them: then again."""
    for _ in range(3):
        done = subprocess.run([*under, DWELL, "run", "-o", name, CROWD, *arguments], capture_output=True, text=True, check=False)
        facts = {row["fact"]: row["value"] for row in rows_of(name, "facts")}
        if isinstance(facts["cpu.crowded"], (int, float)):
            return done, facts["cpu.crowded"], facts["cpu.cpus"]
    check("threads that want a CPU are counted", False, f"{done.stderr} {facts['cpu.crowded']}")
    return done, -1, -1


def crowds():
    """Threads of the program that want a CPU are counted, and only CPUs that it may use."""
    cpus = len(os.sched_getaffinity(0))
    done, crowded, _ = crowd("alone.dwell", "0")
    check("one thread", done.returncode == 0 and crowded == 0, f"{done.stderr} {crowded}")
    done, crowded, counted = crowd("crowd.dwell", str(3 * cpus))
    check("more threads than CPUs", done.returncode == 0 and 0.6 < crowded < 0.76, f"{done.stderr} {crowded}")
    check("the CPUs that it may use", counted <= cpus, counted)
    done, crowded, counted = crowd("one.dwell", "1", under=("taskset", "-c", str(min(os.sched_getaffinity(0)))))
    check("two threads on one CPU", counted == 1 and 0.4 < crowded <= 0.5, f"{done.stderr} {counted} {crowded}")
    done, crowded, _ = crowd("bound.dwell", "1", "bind")
    check("two threads that the program binds to one CPU", done.returncode == 0 and 0.4 < crowded <= 0.5,
          f"{done.stderr} {crowded}")


def apart():
    shutil.copy("/bin/true", "apart")
    try:
        os.chown("apart", os.geteuid() + 1, -1)
    except PermissionError:
        print("skip set-user-ID: only root gives a program to another user")
        counts["skipped"] += 1
        return
    os.chmod("apart", 0o755 | stat.S_ISUID)
    code, text = run("./apart")
    check("set-user-ID", code == 0 and "set-user-ID" in text, text)


def in_memory():
    """A trace in memory counts for the limit of the control group: it is bounded by it."""
    limit, where = 64 << 20, "/dev/shm/dwell-test-%d.dwell" % os.getpid()
    for parent, file in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = os.path.join(parent, "dwell-test-%d" % os.getpid())
        try:
            os.mkdir(group)
            with open(os.path.join(group, file), "w", encoding="ascii") as to:
                to.write(str(limit))
            break
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    else:
        print("skip in_memory: no control group with a limit of memory can be made here")
        counts["skipped"] += 1
        return
    try:
        join = f"echo $$ > {group}/cgroup.procs && exec \"$@\""
        for options, size in (([], "6.40 MiB"), (["--max-size", "40M"], "40.0 MiB"), (["--max-size", "5M"], None)):
            done = subprocess.run(["sh", "-c", join, "sh", DWELL, "run", *options, "-o", where, OUTLIVE], capture_output=True, text=True, check=False)
            said = f"/dev/shm/ is in memory, and this control group may use 64.0 MiB: the trace may grow to {size} "
            check(f"a trace in memory {options}", done.returncode == 0 and (said in done.stderr) == bool(size), done.stderr)
        done = subprocess.run(["sh", "-c", join, "sh", DWELL, "run", "-o", "disk.dwell", OUTLIVE], capture_output=True, text=True, check=False)
        system = subprocess.run(["stat", "-f", "-c", "%T", "."], capture_output=True, text=True, check=True).stdout
        check("a trace on a disk", done.returncode == 0 and ("in memory" in done.stderr) == ("tmpfs" in system), done.stderr)
    finally:
        if os.path.exists(where):
            os.unlink(where)
        os.rmdir(group)


def searched():
    """The program's file is not read again for each library that could be loaded into it: an interpreter is large."""
    libc, opened, closed = ctypes.CDLL(None), 0x20, 0x10
    shutil.copy("/bin/true", "searched")
    watch = libc.inotify_init1(os.O_NONBLOCK)
    if watch < 0 or libc.inotify_add_watch(watch, b"searched", opened | closed) < 0:
        print("skip searched: no inotify here")
        counts["skipped"] += 1
        return
    run("-o", "searched.dwell", "./searched")
    events = b""
    try:
        while True:
            events += os.read(watch, 4096)  # equal events in a row would be one: so closing is watched too
    except BlockingIOError:
        os.close(watch)
    times = sum(events[at + 4] == opened for at in range(0, len(events), 16))
    check("how often the program is opened", 1 <= times < 10, times)


def write(name, text, mode=0o644):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(name, mode)


def command(*arguments, environment=()):
    return subprocess.run([DWELL, *arguments], capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, **dict(environment)})


def scripts():
    """A script in the place of a program is run by its interpreter, and names the trace."""
    says = "import sys; print(sys.argv, sys.executable, sys.flags.optimize)\n"
    write("train.py", says)
    write("own.py", f"#!{sys.executable} -O\n" + says)
    write("found.py", "#!/usr/bin/env python3\n" + says)
    write("gone.py", "#!/missing/python9\n" + says)
    write("executable.py", f"#!{sys.executable} -O\n" + says, 0o755)
    write("plain.py", says, 0o755)
    write("words.sh", "#!/bin/sh\necho \"$0 $1\"\n")
    write("tool", "#!/bin/sh\n", 0o755)
    for before in ((), ("run",)):
        for name, wanted in (("train.py", "['train.py', 'a']"), ("./train.py", "['./train.py', 'a']"), ("own.py", "1\n"),
                             ("found.py", "['found.py', 'a']"), ("gone.py", "['gone.py', 'a']"), ("./executable.py", "1\n"),
                             ("executable.py", "1\n"), ("./plain.py", "['./plain.py', 'a']"), ("words.sh", "words.sh a\n")):
            done = command(*before, name, "a")
            check(f"dwell {before} {name}", done.returncode == 0 and wanted in done.stdout, done)
            check(f"dwell {before} {name} says so", (" is a script: run by " in done.stderr) == (name != "./executable.py"), done)
    check("the trace has the script's name", os.path.exists("train.dwell") and os.path.exists("own.dwell"), os.listdir())
    done = command("none.py")
    check("a script that is not there", done.returncode == 127 and "No such file" in done.stderr, done)
    os.mkdir("closed", 0)
    done = command("none.py", environment={"PATH": os.getcwd() + "/closed:" + os.environ["PATH"]})
    check("nor with a folder in PATH that may not be read", done.returncode == 127 and "No such file" in done.stderr, done)
    done = command("run", "--", "./none")
    check("a program that is not there", done.returncode == 127, done)


def failing():
    """Below a program's own message there are two lines and no report; if somebody ended it, there is the report."""
    write("raises.py", "import time\nraise ValueError('wrong')\n")
    write("aborts.py", "import os\nos.abort()\n")
    write("ends.py", "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    for name, said in (("raises.py", "raises.py failed: exit status 1"), ("aborts.py", "aborts.py was ended by signal 6")):
        done = command(name)
        own = done.stderr.splitlines()
        check(name, said in own[-2] and "dwell report" in own[-1] and "overview" not in done.stderr, done.stderr)
        check(f"{name}: two lines", len([line for line in own if line.startswith("dwell: ") and "not recorded" not in line and not NO_PYTHON.search(line)]) == 3, done.stderr)
    for line in (("ends.py",), ("timeout", "0.5", sys.executable, "-c", "import time; time.sleep(9)"), ("true",)):
        done = command(*line)
        check(f"{line}: a report", "failed" not in done.stderr and len(done.stderr.splitlines()) > 4, done.stderr)
    write("works.py", "def work():\n    n = 0\n    while n < 30000000:\n        n += 1\nwork()\nraise SystemExit(3)\n")
    done = command("works.py")
    if NO_PYTHON.search(done.stderr):
        counts["skipped"] += 1
        counts["no python"] = True
        print("skip works.py: this build records no Python")
        return
    check("works.py: what it did", "until then: " in done.stderr and "Python " in done.stderr and "in work (works.py:" in done.stderr, done.stderr)
    done = command("report", "works.dwell").stdout.splitlines()
    check("works.py: its report begins with its end", done[1] == "STOP   The program ended with exit status 3." and done[2].startswith("       Until then: ") and
          "in work (" in " ".join(done[2:4]), done)


# A program that fails, and the exception that the two lines and the report state; None: they state none.
UNCAUGHT = (
    ("raise ValueError('shapes differ:\\nexpected (3, 4), got (4, 3)\\n')", "ValueError: expected (3, 4), got (4, 3)"),
    ("class Own(RuntimeError): pass\ntry: 1 / 0\nexcept ZeroDivisionError as why: raise Own('no batch') from why", "Own: no batch"),
    ("{}['weights']", "KeyError: 'weights'"),
    ("open('/none')", "FileNotFoundError: [Errno 2] No such file or directory: '/none'"),
    ("class Loud(Exception):\n    def __str__(self): print('asked'); return 'loud'\nraise Loud(3)", "Loud: 3"),
    ("class Thing:\n    def __str__(self): print('asked'); return 'thing'\nraise RuntimeError(Thing())", "RuntimeError"),
    ("raise ValueError('\\u00e4' * 300)", "ValueError: " + "\u00e4" * 100),
    ("raise ExceptionGroup('some', [ValueError('one')])" if sys.version_info >= (3, 11) else "raise OSError", ""),
    ("assert False", "AssertionError"),
    ("import sys\nsys.exit('nothing to do')", None),
    ("try: 1 / 0\nexcept ZeroDivisionError: pass\nimport sys\nsys.exit(2)", None),
    ("import sys, weakref\nclass Own(Exception): pass\nsys.excepthook = lambda kind, value, trace: (value.__traceback__, print('own hook'))\n"
     "error = Own('kept?')\nweakref.finalize(error, print, 'freed')\nraise error", "Own: kept?"),
)


def uncaught():
    """The exception that ended a program is in the two lines and the report, and the program does what it does without dwell."""
    for i, (script, wanted) in enumerate(UNCAUGHT):
        write(f"uncaught{i}.py", script + "\n")
        plain = subprocess.run([sys.executable, f"uncaught{i}.py"], capture_output=True, text=True, check=False)
        done = command(f"uncaught{i}.py")
        own = [line for line in done.stderr.splitlines() if f"uncaught{i}.py failed" in line]
        if "no python" in counts:
            counts["skipped"] += 1
            print("skip uncaught: this build records no Python")
            return
        said = own[0].partition(", by the exception ")[2] if own else "no such line"
        check(f"{script!r}: {said!r}", said.startswith(wanted) and len(said) < 300 if wanted is not None else said == "", done.stderr)
        check(f"{script!r}: ends as without dwell", (done.returncode, done.stdout) == (plain.returncode, plain.stdout) and
              plain.stderr in done.stderr, (plain, done))
        head = " ".join(command("report", f"uncaught{i}.dwell").stdout.split("\nSTOP ")[-1].split("Until then: ")[0].split())
        check(f"{script!r}: its report says so", head.startswith("The program ended with exit status ") and
              (said + "." in head if said else "exception" not in head), head)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for part in (serving, sizes, others_files, outliving, counters, waits, short, crowds, apart, in_memory, searched, scripts, failing, uncaught):
        part()
    os.chdir("/")
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(counts["failed"] != 0)
