"""The programs of tools/measure/harmless: builds those in C and C++, and lists all of them."""
import os
import shutil
import subprocess
import sys

import shells

FOLDER = os.path.dirname(os.path.abspath(__file__))
CFLAGS = ["-std=gnu11", "-O1", "-g", "-fno-omit-frame-pointer", "-Wall", "-Wextra", "-Wno-unused-result", "-Wno-deprecated-declarations",
          "-Wno-infinite-recursion", "-Wno-clobbered", "-Wno-stringop-overflow", "-Wno-alloc-size-larger-than", "-Wno-use-after-free"]
PLUGINS = {"plugin": [], "plugin_locks": ["-DLOCKS"], "plugin_prints": ["-DPRINTS"], "plugin_allocates": ["-DALLOCATES"]}


class Program:
    """What is run: a command, or a line of a shell in which RUN is `dwell run`."""

    def __init__(self, kind, name, command, around=False):
        self.kind, self.name, self.command, self.around = kind, name, command, around

    def __str__(self):
        return f"{self.kind} / {self.name}"


def compile_one(output, sources, *command):
    """Compiles if a source is newer. Source files include only harm.h."""
    every = [os.path.join(FOLDER, one) for one in (*sources, "harm.h")]
    if not os.path.exists(output) or any(os.path.getmtime(one) > os.path.getmtime(output) for one in every):
        new = f"{output}.{os.getpid()}"
        subprocess.run([*command, "-o", new, *every[:-1], "-pthread", "-ldl", "-lrt"], check=True)
        os.replace(new, output)
    return output


def build(folder):
    """Compiles into `folder`; paths of harm and of the program in C++."""
    os.makedirs(folder, exist_ok=True)
    sources = sorted(one for one in os.listdir(FOLDER) if one.endswith(".c") and one != "plugin.c")
    for name, flags in PLUGINS.items():
        compile_one(os.path.join(folder, name + ".so"), ["plugin.c"], "gcc", *CFLAGS, "-shared", "-fPIC", *flags)
    # Functions are bound at the start: the loader's own frames would hide what a stack is used for.
    harm = compile_one(os.path.join(folder, "harm"), sources, "gcc", *CFLAGS, "-rdynamic", "-Wl,-z,now")
    objects = compile_one(os.path.join(folder, "objects"), ["objects.cpp"], "g++", "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Wno-terminate")
    return harm, objects


def names(*command):
    return subprocess.run([*command, "--list"], capture_output=True, text=True, check=True).stdout.splitlines()


def python():
    """An interpreter, and not a script that starts one."""
    return "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else os.path.realpath(sys.executable)


def every(harm, objects):
    """All programs that this machine can run, and the names of what is missing."""
    found, missing = [], []
    for line in names(harm):
        kind, name = line.split("\t")
        found.append(Program(kind, name, [harm, kind, name]))
    found += [Program("C++", name, [objects, name]) for name in names(objects)]
    scripts = os.path.join(FOLDER, "scripts.py")
    found += [Program("Python", name, [python(), scripts, name]) for name in names(python(), scripts)]
    for kind, command, programs in (("bash", ["bash", "-c"], shells.BASH), ("dash", ["dash", "-c"], shells.DASH), ("perl", ["perl", "-e"], shells.PERL),
                                    ("other programs", ["bash", "-c"], shells.OTHERS)):
        for name, text in programs.items():
            needs = name.split()[0] if kind == "other programs" and name in ("zsh", "tclsh", "node", "make -j 2") else command[0]
            if shutil.which(needs):
                found.append(Program(kind, name, [*command, text]))
            else:
                missing.append(f"{kind} / {name}: {needs} is not installed")
    for name, text in shells.AROUND.items():
        found.append(Program("around dwell run", name, text.replace("HARM", harm).replace("HERE", FOLDER), around=True))
    return found, missing
