"""Scripts under `dwell run`, each in a process that has PyTorch imported already: the import takes two seconds.

A server imports PyTorch once, and forks a process for each script. `dwell run` starts a shell in its place, which waits
until the script has ended and ends in the same way. The process gets the shell's environment, and loads dwell's probe as
dwell.profile() does in a program that has imported PyTorch. Tests of how programs begin, attach and end, of what the
sampler sees, and of whether the machine was busy, use processes of their own.

tools/check imports PyTorch once for the tests whose server may be shared: Mother forks a server for each of them.
"""
import atexit
import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import types

import installed

STAND_IN = "echo $$; read how number; [ $how = exit ] && exit $number; kill -$number $$"


# What a shared server has imported, and the variable with its socket.
SHARED, SOCKET = ("torch.utils.data", "torch.profiler"), "DWELL_TEST_PYTORCH"


class Server:
    """`modules` are imported once, and libraries among them loaded before PyTorch. Without `light` the optimizer imports
    PyTorch's compiler. `shared`: these scripts do not depend on the environment of their server, nor on which of SHARED is imported."""

    def __init__(self, *modules, light=True, env=None, shared=False):
        self.process, self.env = None, env
        self.socket = os.environ.get(SOCKET) if shared and light and not env and set(modules) <= set(SHARED) else None
        self.command = [sys.executable, os.path.abspath(__file__), "light" if light else "whole", *modules]

    def ask(self, shell, folder, out, err, script, arguments):
        """How the script ended: ["exit", status] or ["signal", number]."""
        if not self.process:
            self.process = self.connect() if self.socket else self.start()
        self.process.stdin.write(json.dumps([shell, folder, out.name, err.name, script, *arguments]) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().split()

    def start(self):
        process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        atexit.register(process.communicate)  # it ends with its input
        return process

    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.socket)
        return types.SimpleNamespace(stdin=connection.makefile("w"), stdout=connection.makefile("r"), connection=connection)

    def run(self, dwell, *options, script, arguments=(), env=None, check=False):
        """What subprocess.run() returns for `dwell run OPTIONS python3 SCRIPT ARGUMENTS`."""
        command = [dwell, "run", *options, "--", "/bin/sh", "-c", STAND_IN]
        with output() as out, output() as err:
            run = subprocess.Popen(command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=err, text=True)
            shell = run.stdout.readline().strip()
            if shell:
                run.stdin.write(" ".join(self.ask(shell, os.getcwd(), out, err, script, arguments)) + "\n")
            run.communicate()
            done = subprocess.CompletedProcess(command, run.returncode, read(out), read(err))
        if check:
            done.check_returncode()
        return done

    def alone(self, script, *arguments, cwd=None):
        """The same for `python3 SCRIPT ARGUMENTS`, without dwell."""
        with output() as out, output() as err:
            how, number = self.ask("", cwd or os.getcwd(), out, err, script, arguments)
            return subprocess.CompletedProcess([script, *arguments], int(number) if how == "exit" else -int(number),
                                               read(out), read(err))


class Mother:
    """A process of this Python that has imported PyTorch, as long as the block lasts. `environment` is for the tests."""

    def __init__(self, python, folder):
        self.python, self.path = python, os.path.join(folder, "pytorch")
        self.environment = {SOCKET: self.path}

    def __enter__(self):
        self.process = subprocess.Popen([self.python, os.path.abspath(__file__), "light", self.path, *SHARED], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if not self.process.stdout.readline():  # it does not listen: this Python has no PyTorch, as the tests will say
            self.environment = {}
        return self

    def __exit__(self, *_):
        """`seconds`: of the processor, with those of all scripts."""
        os.kill(self.process.pid, signal.SIGTERM)
        _, status, used = os.wait4(self.process.pid, 0)
        self.process.returncode, self.seconds = os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime
        self.process.stdout.close()


@contextlib.contextmanager
def output():
    """A file to which several processes append."""
    with tempfile.NamedTemporaryFile() as file, open(file.name, "a+", encoding="utf-8") as appended:
        yield appended


def read(file):
    file.seek(0)
    return file.read()


# ---- the server ---------------------------------------------------------------------------------

def attach(shell):
    """Takes over the environment of the shell that `dwell run` has started, and loads the probes."""
    with open(f"/proc/{shell}/environ", "rb") as file:
        environment = dict(pair.split(b"=", 1) for pair in file.read().split(b"\0") if b"=" in pair)
    os.environb.clear()
    os.environb.update(environment)
    probes = next(os.path.dirname(path) for path in os.environ["LD_PRELOAD"].replace("/$LIB", "").replace("$ORIGIN", "").split(":") if path.endswith("/libdwell-attach.so"))
    ctypes.PyDLL(os.path.join(probes, "libdwell-python.so")).dwp_python_attach()


def begin(shell, folder, out, err, script, *arguments):
    """In a new process: what the interpreter has before a script begins."""
    for number, path, flags in ((0, "/dev/null", os.O_RDONLY), (1, out, os.O_WRONLY | os.O_APPEND), (2, err, os.O_WRONLY | os.O_APPEND)):
        os.dup2(os.open(path, flags), number)
    os.chdir(folder)
    sys.argv, sys.path[0] = [script, *arguments], os.path.dirname(os.path.abspath(script))
    main = sys.modules["__main__"] = type(sys)("__main__")
    main.__file__ = os.path.abspath(script)
    if shell:
        attach(shell)
    with open(script, encoding="utf-8") as file:
        return compile(file.read(), main.__file__, "exec"), main.__dict__


def serve():
    """Returns the script to execute, in its process; None when no more requests come."""
    for request in sys.stdin:
        child = os.fork()
        if not child:
            return begin(*json.loads(request))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print("exit" if status >= 0 else "signal", abs(status), flush=True)
    return None


def share(path):
    """In the mother: a server for each test. What they used is counted with the mother's time when they have ended."""
    children = set()

    def end(*_):
        late = time.monotonic() + 10
        while children:
            children.difference_update([child for child in children if os.waitpid(child, os.WNOHANG)[0]])
            if time.monotonic() > late:  # its test was ended, and the script does not end
                for child in children:
                    os.killpg(child, signal.SIGKILL)
            time.sleep(.02)
        os._exit(0)

    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: as the end of who started it
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    signal.signal(signal.SIGTERM, end)
    print("listens", flush=True)
    while True:
        connection = listener.accept()[0]
        child = os.fork()
        if not child:
            os.setpgid(0, 0)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            listener.close()
            for number in 0, 1:
                os.dup2(connection.fileno(), number)
            connection.close()
            sys.stdin = open(0, encoding="utf-8")
            return serve()
        children.add(child)
        connection.close()


if __name__ == "__main__":
    socket_path = next((name for name in sys.argv[2:] if name.endswith("/pytorch")), None)
    libraries = [ctypes.CDLL(name) for name in sys.argv[2:] if "/" in name and name != socket_path]
    if sys.argv[1] == "light":
        exec(installed.LIGHT)
    for name in ["torch", *sys.argv[2:]]:
        "/" in name or __import__(name)
    found = share(socket_path) if socket_path else serve()
    if found:
        exec(*found)
