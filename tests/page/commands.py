#!/usr/bin/env python3
"""Every command of README, CONTRIBUTING and doc: which test runs it, or why none does.

usage: commands.py BUILD [--list]        last line: N passed, N failed

A command is a line of a block of code that begins with a program of PROGRAMS. What follows two blanks or a "#" explains it.
Commands of dwell run here, in a folder with the traces that the pages name. Those of ELSEWHERE are run by another test,
those of NOT_RUN by none. A command that is in no table and does not run fails, and so does an entry that no page has.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

import tutorials

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../data"))
import unpacked  # noqa: E402

ROOT = tutorials.ROOT
PROGRAMS = re.compile(r"(\$ |\w+=(\$\([^)]*\)|\S*) )*(sudo )?(dwell|make|cc|g\+\+|pip|python3?|meson|ninja|mpirun|sbatch|nsys|xz|sed|recipe|(build|tools)/\S+|"
                      r"export \w+=\S+)(\s|$)")
HERE = "here"
ELSEWHERE = {  # the test, and the commands that it runs, perhaps with other names of files
    "tests/page/tutorials.py": ["doc/start/slow-step.md", "doc/start/c.md", "doc/start/pytorch.md", "doc/start/tools.md"],  # pages: their blocks of sh
    "tests/package/adding": ["doc/how/adding.md"],
    "tests/package/package": ["make", "sudo make install", "sudo make install && sudo ldconfig", "make install", "make install PREFIX=$HOME/.local"],
    "tests/package/wheel.py": ["pip install .", "make wheel"],
    "tools/release/release_check": ["make check", "make deb", "tools/measure/fuzz", "tools/measure/gallery", "tools/measure/agents --page"],
    "tools/check": ["make check-core", "meson test -C build --suite unit --suite golden --suite cli"],
    "tests/probes/torch_native_test.py": [
        "g++ -std=c++20 program.cpp -I $T/include -I $T/include/torch/csrc/api/include -L $T/lib -Wl,-rpath,$T/lib -ltorch -ltorch_cpu -lc10 -o program",
        "dwell ./program"],
    "tests/serve/serve_test.py": ["dwell run --serve 9001 ./train", "dwell capture localhost:9001 --duration 2s -o logs"],
    "tests/ask/frames_test.py": ["dwell export --format parquet -o tables train.dwell"],
    "tests/ask/tracking_test.py": ["python -m dwell.otlp train.dwell"],
    "tests/ask/capture_test.py": ["dwell capture /shared/job --steps 5", "dwell capture --stacks /shared/job"],
    "tests/ranks/gloo_test.py": ["dwell run -o job.dwell -- torchrun --nproc-per-node 4 train.py",
                                 "dwell run -o job.dwell -- torchrun --nproc-per-node 4 ddp_ranks.py 40 data 2 20",
                                 "dwell run --summary-every 30s -o /shared/job.dwell -- torchrun train.py"],
    "tests/ranks/collectives_test.py": ["dwell run -o job.dwell -- mpirun -n 4 ./mpi_ranks 60 data 2 4"],
    "tests/ranks/unrecorded_test.py": ["dwell run --no-mpi -o job.dwell -- mpirun -n 4 ./mpi_ranks 60 data 2 20"],
    "tests/ranks/ranks_test.py": ["mpirun -n 16 dwell ranks --mpi traces/*.dwell"],
    "tests/ranks/watch_test.py": ["dwell watch /shared", "dwell watch /shared/job"],
    "tests/ranks/slurm_test.py": ["sbatch examples/slurm/many-nodes.sbatch train.py",
                                  "dwell run --summary-every 30s -o /tmp/job.dwell --gather /shared/job -- torchrun train.py"],
    "tests/ranks/netns_test.py": ["mpirun --map-by ppr:1:node dwell watch --mpi /tmp/job",
                                  "mpirun sh -c 'exec dwell run --summary-every 30s -o /tmp/job.$OMPI_COMM_WORLD_RANK.dwell --gather /shared/job -- ./program'"],
    "tests/probes/lightning_profilers_test.py": ["dwell report --view actions --profile fit", "dwell report --layout lightning",
                                       "python train.py", "dwell report --layout lightning-pytorch --limit 2"],
    "tests/probes/torch_recipe_test.py": ["python3 examples/pytorch/recipe.py", "python3 examples/pytorch/recipe.py --dwell"],
    "tests/probes/recipe_test.py": ["recipe"],
    "tests/probes/torchprof_test.py": ["PYTHONPATH=$(tools/venv --packages torchprof) python3 examples/pytorch/alexnet.py --both"],
    "tests/unit/import/test_nsight.c": ["dwell report run.nvprof"],
    "tests/verdicts/meson.build": ["tools/measure/accounts"],
}
NOT_RUN = {  # why no test runs them
    "it would run itself: the command runs suites of tests": [
        'meson test -C build "rules judge"', "tools/check unit golden", "tools/check --busy 2",
        "tools/check --stall 10"],
    "it needs an NVIDIA GPU or a program of NVIDIA": ["make check-gpu", "nsys export --type sqlite -o run.sqlite run.nsys-rep"],
    "it measures for minutes or hours on a quiet machine": [
        "make bench", "tools/measure/figures all", "tools/measure/verdicts", "tools/measure/verdicts --busy 2",
        "tools/measure/verdicts --again --page", "tools/measure/verdicts --set DIR --page", "tools/measure/accounts --record",
        "tools/measure/harmless",
        "tools/measure/harmless --hangs 100", "tools/measure/harmless --page"],
    "it needs traces that their authors publish": ["tools/measure/strangers --folder F --page"],
    "it needs clones of repositories, and their results": [
        "tools/measure/programs FOLDER --python PYTHON", "tools/measure/programs --page"],
    "it is a part of a command": ["dwell run --summary-every 10m ..."],
    "it fuzzes for minutes": ["tools/measure/fuzz --until 1000000000", "tools/measure/fuzz --engine afl"],
}
# What a page's newest trace is, and what it has to have for the page's commands.
NEWEST = {"README.md": "layers", "doc/how/cuda.md": "device"}
passed, failed = [], []


def command_of(line):
    """The command of a line, without what explains it; None if it has none."""
    line = line.strip()
    if not PROGRAMS.match(line):
        return None
    line = re.sub(r"^\$ ", "", line)
    return re.split(r"\s+#|  +", line)[0].strip()


def commands_of(page):
    """The commands of a page's blocks, fenced or indented. A loop of the shell is one command."""
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        text = file.read()
    fenced = re.findall(r"^```(?:sh|console)?\n(.*?)^```$", text, re.M | re.S)
    indented = re.findall(r"(?:^ {4}\S.*\n(?: {4,}.*\n)*)", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), re.M)
    found, loop = [], []
    for line in "\n".join(fenced + indented).splitlines():
        if loop or line.strip().startswith("for "):
            loop.append(line.strip())
            if line.strip() == "done":
                found.append("\n".join(loop))
                loop = []
            continue
        command = command_of(line)
        if command:
            found.append(command)
    return found


def prepare(build, folder, page):
    """The programs and traces that pages name."""
    env, data = tutorials.environment(build, folder, sys.executable), unpacked.folder(os.path.join(build, "dwell"))
    with open(os.path.join(folder, ".programs", "dwell.pc"), "a", encoding="utf-8") as file:
        file.write(f"libdir={build}\n")
    source = next(body for _, name, body in tutorials.blocks("c.md") if name == "train.c")
    for name in "train.c", "app.c":
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(source)
    subprocess.run("cc -O2 train.c $(pkg-config --cflags --libs dwell) -o train && cp train app", shell=True, cwd=folder, env=env, check=True)
    for name in "train.py", "train_changed.py":
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write('import os\n\nos.execv("./train", ["./train"])\n')
    for name, trace in (("train", "train"), ("old", "train"), ("job", "ranks"), ("node1", "ranks"), ("layers", "layers"), ("device", "device_train")):
        subprocess.run([os.path.join(build, "tests/tools/mktrace"), f"{ROOT}/tests/golden/views/{trace}.txt", f"{name}.dwell"], cwd=folder, check=True)
    subprocess.run([os.path.join(build, "dwell"), "summarize", "node1.dwell", "-o", "node1.sum"], cwd=folder, check=True)
    for name, trace in (("trace", "train_v100_rank1"), ("train", "train_v100_rank1"), ("rank0", "sampled_rank0"), ("rank1", "sampled_rank1")):
        shutil.copy(f"{data}/kineto/{trace}.json.gz", os.path.join(folder, f"{name}.json.gz"))
    subprocess.run("gzip -dc trace.json.gz > trace.json", shell=True, cwd=folder, check=True)
    shutil.copy(f"{data}/nsight/2024.5-cloverleaf.sqlite", os.path.join(folder, "run.sqlite"))
    for name in "tools", "tests", "bench":
        os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    for path in glob.glob(os.path.join(folder, "*.dwell")):
        os.utime(path, (1, 1))
    if page in NEWEST:
        os.utime(os.path.join(folder, NEWEST[page] + ".dwell"), (1 << 32, 1 << 32))
    os.makedirs(os.path.join(folder, "shared", "job"))
    shutil.copy(os.path.join(folder, "node1.sum"), os.path.join(folder, "shared", "job"))
    return {**env, "HOME": folder, "RANK": "0", "LC_ALL": "C.UTF-8"}


def run(page, commands, build):
    """Runs commands of a page in the order of the page."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = prepare(build, folder, page)
        for command in commands:
            text = command.replace("/shared", folder + "/shared").replace("for i in 1 2 3 4 5;", "for i in 1 2;")
            done = subprocess.run(["bash", "-ec", text], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  text=True, errors="replace", check=False, timeout=300)
            if command.startswith("export "):  # holds for the commands below it; what finds this build stays behind it
                for name, value in re.findall(r"(\w+)=(\S+)", command):
                    env[name] = value.replace("$HOME", folder).replace("$" + name, env[name]) + ":" + env.get(name, "")
            if done.returncode:
                failed.append(command)
                print(f"FAIL {page}: {command}\nexit status {done.returncode}\n{done.stdout[-2000:]}")
            else:
                passed.append(command)


def main():
    pages = ["README.md", "CONTRIBUTING.md"] + sorted(os.path.relpath(path, ROOT) for path in glob.glob(f"{ROOT}/doc/*/*.md"))
    where = {command: test for test, commands in ELSEWHERE.items() for command in commands}
    why = {command: reason for reason, commands in NOT_RUN.items() for command in commands}
    unused, rows, here = {*where, *why}, [], {}
    for page in pages:
        for command in commands_of(page):
            key = next((each for each in (command, page) if each in where or each in why), None)
            unused.discard(key)
            rows.append((page, command, where.get(key) or (f"not run: {why[key]}" if key else HERE)))
            if not key:
                here.setdefault(page, []).append(command)
    if "--list" in sys.argv:
        print("\n".join(f"{page:32} {command.splitlines()[0][:100]:100}  {test}" for page, command, test in rows))
        return 0
    failed.extend(f"no page has the command that a table names: {command}" for command in sorted(unused))
    failed.extend(f"there is no test {test}" for test in ELSEWHERE if not os.path.exists(os.path.join(ROOT, test)))
    print("".join(f"FAIL {what}\n" for what in failed), end="")
    for page, commands in here.items():
        run(page, commands, os.path.abspath(sys.argv[1]))
    print("\n".join(f"not run: {len(commands)}, {reason}" for reason, commands in NOT_RUN.items()))
    print(f"{len(rows)} commands: {len(passed)} run here, {sum(1 for row in rows if row[2] in ELSEWHERE)} by other tests")
    print(f"{len(passed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
