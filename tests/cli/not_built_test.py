#!/usr/bin/env python3
"""Tools that need a build name what of it is missing, and the command that builds that; a build by pip says that it compiles. Needs no
build."""
import os
import pty
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
GOLDEN = "dwell tests/tools/mktrace tests/golden/print_tables tests/golden/list_columns tests/unit/export/export_trace tests/data/unpacked"
# By tool: its arguments before the folder of the build, and after it; what it needs first.
TOOLS = {
    "tools/update_golden": ([], "", GOLDEN),
    "tools/measure/accounts": (["--build"], "", "tests/tools/judge_accounts"),
    "tools/measure/verdicts": (["--build"], "", "dwell probes/sampler/libdwell-sampler.so probes/libdwell-attach.so "
                                                "probes/libdwell-python.so probes/libdwell-torch.so"),
    "tools/measure/gallery": (["--build"], "", "dwell"),
    "tools/measure/endurance": (["--build"], "", "dwell"),
    "tools/measure/steps": (["--build"], "", "dwell"),
    "tools/measure/harmless": (["--dwell"], "/dwell", "dwell"),
    "tools/measure/unmarked": (["--dwell"], "/dwell", "dwell"),
    "tools/measure/strangers": (["--dwell"], "/dwell", "dwell tests/data/unpacked"),
}
passed = failed = 0


def check(what, holds, text):
    global passed, failed
    passed, failed = passed + holds, failed + (not holds)
    if not holds:
        print(f"FAIL {what}: {text}")


def ask(tool, before, build, after):
    done = subprocess.run([os.path.join(ROOT, tool), *before, build + after], capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stdout + done.stderr


def see_pip(folder):
    """pip shows nothing of a build: the first thing that is compiled says so on the terminal, if there is one."""
    build, command = os.path.join(folder, "pip"), ["ninja", "-C", os.path.join(folder, "pip"), "said.h"]
    if shutil.which("meson") is None:
        return
    subprocess.run(["meson", "setup", "-Dwheel=true", build, ROOT], stdout=subprocess.DEVNULL, check=True)
    child, terminal = pty.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # as pip
        os.execvp(command[0], command)
    text = b""
    try:
        while block := os.read(terminal, 4096):
            text += block
    except OSError:  # all have closed it
        pass
    check("a build by pip says on the terminal that it compiles", os.waitpid(child, 0)[1] == 0 and b"compiling C" in text, text)
    os.remove(os.path.join(build, "said.h"))
    alone = subprocess.run(command, capture_output=True, text=True, start_new_session=True, check=False)
    check("without a terminal it says nothing", alone.returncode == 0 and "compiling" not in alone.stdout + alone.stderr, alone)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for tool, (before, after, parts) in TOOLS.items():
            status, text = ask(tool, before, os.path.join(folder, "none"), after)
            check(f"{tool} names what is not built", status == 1 and f"not built: {parts.replace(' ', ', ')}\n" in text, text)
            check(f"{tool} says what builds it", text.endswith(f"ninja -C {folder}/none {parts}\n") and "meson setup" in text, text)
        check("no tool made the folder", not os.listdir(folder), os.listdir(folder))
        see_pip(folder)
        os.makedirs(os.path.join(folder, "half/tests/tools"))
        with open(os.path.join(folder, "half/build.ninja"), "w", encoding="utf-8") as file:
            file.writelines(f"build {part}: c_LINKER x.o\n" for part in GOLDEN.split())
        for part in GOLDEN.split()[:2]:
            with open(os.path.join(folder, "half", part), "w", encoding="utf-8"):
                pass
        text = ask("tools/update_golden", [], os.path.join(folder, "half"), "")[1]
        rest = GOLDEN.split()[2:]
        check("what is built is not named", f"not built: {', '.join(rest)}\nbuild with: ninja -C {folder}/half {' '.join(rest)}\n" in text, text)
        text = ask("tools/measure/accounts", ["--build"], os.path.join(folder, "half"), "")[1]
        check("what the build leaves out is said", "not in this build: tests/tools/judge_accounts\n" in text, text)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
