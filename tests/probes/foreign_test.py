#!/usr/bin/env python3
"""Programs of other languages, C libraries and runtimes, and with odd stacks: each does what it does without dwell, its
functions are named, and what dwell cannot do is said.

usage: foreign_test.py BUILD [PART-OF-A-NAME...]

The last line is "N passed, N failed, N skipped", which counts checks.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import again

BUILD = os.path.abspath(sys.argv[1])
DWELL = os.path.join(BUILD, "dwell")
HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "foreign")
STATIC, OTHER = "the program is linked statically", "the program is for another C library (as musl)"
SANDBOX = "the program began a sandbox (seccomp), where a system call of dwell could end it"
skipped = []
checks = again.Checks()


def check(what, value, *more):
    checks.check(what, value, *(str(one)[:1500] for one in more))


def skip(what, why):
    skipped.append(what)
    print(f"skip {what}: {why}")


def program(name):
    """A compiler or interpreter; Debian's, if it is there."""
    return "/usr/bin/" + name if os.path.exists("/usr/bin/" + name) else shutil.which(name)


def build(*command, **variables):
    """Whether the command ended well."""
    return subprocess.run(command, capture_output=True, text=True, cwd="/", env={**os.environ, **variables}).returncode == 0


# A static program that has another one in it, and executes that from memory, as packers do.
PACKER = """
#include <sys/mman.h>
#include <unistd.h>
extern char **environ;
extern char begin[], end[];
__asm__(".data\\nbegin: .incbin \\"inner\\"\\nend:\\n");
int main(int count, char **words) { int fd = memfd_create("packed", 0); return write(fd, begin, end - begin) < 0 || fexecve(fd, words, environ); }
"""


def pack(cc, folder):
    with open(os.path.join(folder, "packer.c"), "w", encoding="ascii") as file:
        file.write(PACKER)
    inner = build(cc, "-O1", "-s", os.path.join(HERE, "odd.c"), "-o", os.path.join(folder, "inner"), "-pthread")
    return inner and subprocess.run([cc, "-static", "-D_GNU_SOURCE", "packer.c", "-o", "packed"], cwd=folder).returncode == 0


def builds(folder):
    """What is compiled, by the names of the cases' programs; and what is missing for others."""
    def into(name):
        return os.path.join(folder, name)

    def source(name):
        return os.path.join(HERE, name)
    go = {"GOCACHE": into("go-cache"), "GO111MODULE": "off", "GOFLAGS": "", "HOME": folder}
    return {
        "odd": ("gcc", lambda cc: build(cc, "-O1", "-g", source("odd.c"), "-o", into("odd"), "-pthread")),
        "narrow": ("gcc", lambda cc: build(cc, "-m32", "-O1", source("hello.c"), "-o", into("narrow"))),
        "packed": ("gcc", lambda cc: pack(cc, folder)),
        "static": ("gcc", lambda cc: build(cc, "-O1", "-static", source("odd.c"), "-o", into("static"), "-pthread")),
        "musl": ("musl-gcc", lambda cc: build(cc, "-O1", source("hello.c"), "-o", into("musl"))),
        "musl_static": ("musl-gcc", lambda cc: build(cc, "-O1", "-static", source("hello.c"), "-o", into("musl_static"))),
        "coroutines": ("g++", lambda cc: build(cc, "-std=c++20", "-O1", "-g", source("coroutines.cpp"), "-o", into("coroutines"))),
        "team": ("clang", lambda cc: build(cc, "-O1", "-fopenmp", source("team.c"), "-o", into("team"))),
        "go": ("go", lambda cc: build(cc, "build", "-o", into("go"), source("goroutines.go"), CGO_ENABLED="1", **go)),
        "go_static": ("go", lambda cc: build(cc, "build", "-o", into("go_static"), source("goroutines.go"), CGO_ENABLED="0", **go)),
        "rust": ("rustc", lambda cc: build(cc, "-O", source("panics.rs"), "-o", into("rust"))),
        "rust_v0": ("rustc", lambda cc: build(cc, "-O", "-C", "symbol-mangling-version=v0", source("panics.rs"), "-o", into("rust_v0"))),
        "Compiled.class": ("javac", lambda cc: build(cc, "-d", folder, source("Compiled.java"))),
    }


# What is built, the command, the function that takes at least this share of the CPU, what is said.
PERF = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]
CASES = {
    "coroutines of ucontext on stacks of 16 KB": ("odd", ["{odd}", "context"], "context", 0.9, None),
    "stacks of 8 KB for signal handlers": ("odd", ["{odd}", "altstack"], "altstacks", 0.9, None),
    "threads that end in a handler": ("odd", ["{odd}", "leave"], "leave", 0.9, None),
    "vfork in two threads": ("odd", ["{odd}", "vforks"], "vforks", 0.5, None),
    "a program that executes itself 300 times": ("odd", ["{odd}", "execs"], "execs", 0.2, None),
    "10,000 threads": ("odd", ["{odd}", "crowd"], "crowds", 0.1, None),
    "a stack of five megabytes": ("odd", ["{odd}", "deep"], "deep", 0.9, None),
    "a sandbox without timers": ("odd", ["{odd}", "refuse", "{odd}"], None, 0, "the system refuses timers (timer_create)"),
    "a sandbox by prctl": ("odd", ["{odd}", "strict"], "strict", 0.9, SANDBOX),
    "a sandbox by a call": ("odd", ["{odd}", "strict", "call"], "strict", 0.9, SANDBOX),
    "a sandbox that ends a process": ("odd", ["{odd}", "filter"], "strict_filter", 0.9, SANDBOX),
    "a program of 32 bits": ("narrow", ["{narrow}"], None, 0, "the program is for processors of 32 bits"),
    "a packed program": ("packed", ["{packed}", "context"], "memfd:packed (deleted)", 0.5, None),
    "a static program": ("static", ["{static}"], None, 0, STATIC),
    "musl": ("musl", ["{musl}"], None, 0, OTHER),
    "musl, static": ("musl_static", ["{musl_static}"], None, 0, STATIC),
    "coroutines of C++20": ("coroutines", ["{coroutines}"], "coroutine_work(int)", 0.9, None),
    "OpenMP of LLVM": ("team", ["{team}"], ".omp_outlined.", 0.5, None),
    "Go": ("go", ["{go}"], "main.goWork", 0.5, None),
    "Go, static": ("go_static", ["{go_static}"], None, 0, STATIC),
    "Rust": ("rust", ["{rust}"], "panics::deep::Worker<T>::rust_work", 0.9, None),
    "Rust, names of the newer scheme": ("rust_v0", ["{rust_v0}"], "panics::deep::Worker<u32>::rust_work", 0.9, None),
    "Java": ("Compiled.class", ["java", "-cp", "{}", "Compiled"], "[jit]", 0.5, None),
    "Java with a map of its code": ("Compiled.class", ["java", *PERF, "-cp", "{}", "Compiled"], "long Compiled.javaWork(int)", 0.4, None),
    "greenlets": ("greenlet", ["/usr/bin/python3", os.path.join(HERE, "greenlets.py")], "green_work", 0.5, None),
}
BY_PERF = ("coroutines of ucontext on stacks of 16 KB", "stacks of 8 KB for signal handlers", "threads that end in a handler")


def shares(trace):
    """{function: its share of the CPU time}, also where it is a part of several lines."""
    text = subprocess.run([DWELL, "report", "--view", "hot", "--limit", "all", "--format", "json", trace], capture_output=True, text=True).stdout
    if not text:
        return {}
    table, found = json.loads(text)["views"][0], {}
    names = [column["name"] for column in table["columns"]]
    for row in (dict(zip(names, row)) for row in table["rows"]):
        found[row["name"]] = max(found.get(row["name"], 0), row["total_share"])
    return found


def run_case(folder, name, how="1000"):
    made, words, function, share, said = CASES[name]
    trace, label = os.path.join(folder, "t.dwell"), name if how == "1000" else f"{name}, {how}"
    command = [re.sub(r"\{(\w*)\}", lambda found: os.path.join(folder, found.group(1)), word) for word in words]
    alone = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=folder)
    if os.path.exists(trace):
        os.remove(trace)
    ran = subprocess.run([DWELL, "run", "-o", trace, "--sample", how, *command], capture_output=True, text=True, timeout=120, cwd=folder)
    own = "\n".join(line for line in ran.stderr.splitlines() if not line.startswith("dwell: "))
    check(f"{label}: as without dwell", (ran.returncode, ran.stdout, own.strip()) == (alone.returncode, alone.stdout, alone.stderr.strip()),
          alone, ran)
    text = " ".join(subprocess.run([DWELL, "report", trace], capture_output=True, text=True).stdout.split())
    if said == SANDBOX:
        hot = subprocess.run([DWELL, "report", "--view", "hot", trace], capture_output=True, text=True).stdout
        check(f"{label}: what dwell cannot do", said in hot and function in hot, hot, ran.stderr)
    elif said:
        check(f"{label}: what dwell cannot do", "Call stacks were not sampled: " + said in text, text, ran.stderr)
        check(f"{label}: at once", said == CASES["a sandbox without timers"][4] or "nothing was recorded: " + said in ran.stderr, ran.stderr)
    else:
        found = {who: part for who, part in shares(trace).items() if who == function or who.startswith((function + ".", function + "+"))}
        check(f"{label}: {function}", max(found.values(), default=0) >= share, found, text)
        # A sample of a thread that is about to get its stream is lost. On a busy machine 10,000 threads wait for that.
        known = name == "10,000 threads" and re.search(r"Lost: [\d,]+ records?: a signal handler interrupted the recorder twice\.", text)
        # Of so many threads that begin at once, some use the CPU before they can be sampled, which is said.
        known = known or (name == "10,000 threads" and "Not recorded: " in text and "Lost: " not in text)
        check(f"{label}: nothing is lost", "Trust: nothing is lost" in text or known, text[-500:])
    if "PerfMap" in " ".join(words):
        for path in glob.glob("/tmp/perf-*.map"):
            with open(path, encoding="utf-8", errors="replace") as file:
                its = "Compiled.javaWork" in file.read()
            if its:
                os.remove(path)


def steps_in_go(folder):
    """No step is put into functions of Go: no stack has room for it."""
    for function in "main.goWork", "main.recurse":  # without and with a look at the stack
        ran = subprocess.run([DWELL, "run", "-o", os.path.join(folder, "t.dwell"), "--step-on", function, os.path.join(folder, "go")],
                             capture_output=True, text=True, timeout=120)
        check(f"steps at {function}", "true" in ran.stdout and "it may be a function of Go" in ran.stderr, ran)


def from_outside(folder, name, command, function):
    """A program into which no library can be loaded is recorded by dwell attach."""
    trace = os.path.join(folder, "attached.dwell")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        text = subprocess.run([DWELL, "stacks", str(process.pid)], capture_output=True, text=True).stdout
        attach = subprocess.run([DWELL, "attach", str(process.pid), "-o", trace, "--for", "1s"], capture_output=True, text=True)
        goes_on = process.poll() is None
        process.kill()
    check(f"{name}: dwell stacks", re.search(rf"^    {re.escape(function)} ", text, re.M), text)
    found = shares(trace)
    # threads that the machine keeps from stopping in time are not read
    read = 1 - found.get("(stack not read)", 0)
    check(f"{name}: dwell attach", read > 0.1 and found.get(function, 0) > 0.8 * read and goes_on, found, attach.stderr)


def narrow_from_outside(folder):
    with subprocess.Popen([os.path.join(folder, "narrow"), "forever"], stdout=subprocess.DEVNULL) as process:
        for command in ([DWELL, "stacks"], [DWELL, "attach", "--for", "1s", "-o", os.path.join(folder, "narrow.dwell")]):
            ran = subprocess.run([*command, str(process.pid)], capture_output=True, text=True)
            check(f"a program of 32 bits: dwell {command[1]}", ran.returncode == 1 and "32 bits, whose stacks dwell does not read; build" in ran.stderr, ran)
        process.kill()


# What starts a program into which no library can be loaded, while dwell's are in its environment.
STARTERS = {
    "a shell": ["sh", "-c", "{program}; echo $?; env -i {program}; exit 4"],
    "a script of bash": ["bash", "{}/starts.sh", "{program}"],
    "Python": ["/usr/bin/python3", "-c", "import subprocess, sys; print(subprocess.run(['{program}'], capture_output=True)); sys.exit(5)"],
    "make": ["make", "-s", "-f", "{}/starts.mk", "PROGRAM={program}"],
    "a shell, in a deep folder": ["{}/" + "deep/" * 30 + "sh", "-c", "{program}; echo $?"],
}


def started_by_others(folder, name, made):
    """Programs of musl and static ones that a program of glibc starts do what they do, and are named."""
    trace, path = os.path.join(folder, "started.dwell"), os.path.join(folder, made)
    deep = os.path.join(folder, "deep/" * 30)
    os.makedirs(deep, exist_ok=True)
    shutil.copy("/bin/sh", deep)
    with open(os.path.join(folder, "starts.sh"), "w", encoding="utf-8") as file:
        file.write('for i in 1 2 3; do "$1" | cat; echo ${PIPESTATUS[0]}; done\nexec "$1"\n')
    with open(os.path.join(folder, "starts.mk"), "w", encoding="utf-8") as file:
        file.write("all:\n\t-$(PROGRAM); echo $$?\n\t$(PROGRAM)\n")
    for starter, words in STARTERS.items():
        command = [word.replace("{program}", path).replace("{}", folder) for word in words]
        if not program(command[0]):
            skip(f"{name}, started by {starter}", f"{command[0]} is missing")
            continue
        alone = subprocess.run(command, capture_output=True, text=True, timeout=60)
        options = ["--functions=all", "--memory=malloc"] if starter == "a shell" else []
        ran = subprocess.run([DWELL, "run", "-o", trace, *options, *command], capture_output=True, text=True, timeout=60)
        own = "\n".join(line for line in ran.stderr.splitlines() if not line.startswith("dwell: "))
        check(f"{name}, started by {starter}: as without dwell",
              (ran.returncode, ran.stdout, own) == (alone.returncode, alone.stdout, alone.stderr.strip()) and "hello" in ran.stdout, alone, ran)
    ran = subprocess.run([DWELL, "run", "-o", trace, "sh", "-c", f"timeout 1.5 {path} forever; echo $?"], capture_output=True, text=True)
    text = " ".join(subprocess.run([DWELL, "report", trace], capture_output=True, text=True).stdout.split())
    named = re.compile(rf"[Nn]ot recorded: {made} \(1 process, [0-9.]+ m?s of CPU time\): {re.escape(STATIC if 'static' in made else OTHER)}")
    check(f"{name}: named at once", named.search(ran.stderr), ran.stderr)
    check(f"{name}: named in the report", named.search(text), text)


def without_proc(folder):
    """As in a chroot that has only the program."""
    trace = os.path.join(folder, "proc.dwell")
    done = subprocess.run(["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh", DWELL, "run", "-o", trace, "/bin/true"],
                          capture_output=True, text=True)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        skip("no /proc", done.stderr.strip())
    else:
        check("no /proc", done.returncode == 0 and "nothing was recorded: dwell needs /proc to find its libraries" in done.stderr, done.stderr)


def main():
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        missing = {}
        names = [name for name in CASES if not wanted or any(part in name for part in wanted)]
        needed = {CASES[name][0] for name in names}
        for what, (compiler, make) in builds(folder).items():
            if what in needed and not (program(compiler) and make(program(compiler))):
                missing[what] = f"{compiler} is missing, or cannot build it"
        if "greenlet" in needed and not build("/usr/bin/python3", "-c", "import greenlet"):
            missing["greenlet"] = "Debian's python3-greenlet is missing"
        for name in names:
            if CASES[name][0] in missing:
                skip(name, missing[CASES[name][0]])
                continue
            run_case(folder, name)
            if name in BY_PERF:
                run_case(folder, name, "perf:1000")
        if "a program of 32 bits" in names and "narrow" not in missing:
            narrow_from_outside(folder)
        if "Go" in names and "go" not in missing:
            steps_in_go(folder)
        for name, made, function in (("Go, static", "go_static", "main.goWork"), ("musl", "musl", "hello_work"),
                                     ("musl, static", "musl_static", "hello_work")):
            if name in names and made not in missing:
                checks.part(from_outside, folder, name, [os.path.join(folder, made), "forever"], function)
        for name, made in (("musl", "musl"), ("musl, static", "musl_static")):
            if name in names and made not in missing:
                started_by_others(folder, name, made)
        without_proc(folder)
    print(f"{checks.passed} passed, {checks.failed} failed, {len(skipped)} skipped")
    return checks.failed != 0


sys.exit(main())
