#!/usr/bin/env python3
"""What examples/ci runs for GitHub and GitLab: the shell lines of the action and of the job, in scratch repositories.

usage: ci_test.py DWELL MAKE_RANKS WORK [PART-OF-A-NAME...]

In the class Made, `dwell run` gives traces that make_ranks wrote, whose times are known; in Recorded, work is recorded.
The last line is "N passed, N failed, N skipped".
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

dwell, make_ranks, work = (os.path.abspath(path) for path in sys.argv[1:4])
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
CI = os.path.join(ROOT, "examples", "ci")
GIT = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "init.defaultBranch=main", "-c", "advice.detachedHead=false"]
# Gives the trace of the checkout's kind, and says where it was asked to record. COUNTS has instructions of a step: of kept runs, of others.
MADE = """#!/bin/sh
last=$(eval "echo \\"\\${$#}\\"")
if [ "$1" = run ]; then
	cat kind >> 'FOLDER/recorded'
	while [ "$1" != -o ]; do
		shift
	done
	cp 'FOLDER'/"$(cat kind)/$(basename "$2")" "$2"
elif [ "$1 $3" = "report facts" ] && [ -n "${COUNTS-}" ]; then
	set -- $COUNTS
	case $last in
	*/kept/*) echo "cpu.instructions,1M,,a step,$1,$1,$1,count" ;;
	*) echo "cpu.instructions,1M,,a step,$2,$2,$2,count" ;;
	esac
else
	exec 'DWELL' "$@"
fi
"""


def run(*command, status=(0,), **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600, **options)
    if done.returncode not in status:
        raise AssertionError(f"{command}: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text, mode=0o644):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(path, mode)


class Job(unittest.TestCase):
    """A repository with a commit "base", a branch, and its merge, and what GitHub and GitLab do with files of examples/ci."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="dwell-ci-")
        self.addCleanup(temporary.cleanup)
        self.folder = temporary.name
        self.checkout, self.tools = os.path.join(self.folder, "checkout"), os.path.join(self.folder, "tools")
        self.kept = os.path.join(self.folder, "runner", "speed", "kept")
        for name in ("gh", "curl"):
            write(os.path.join(self.tools, name), f"#!/bin/sh\necho \"$@\" > '{self.folder}/{name}'\n", 0o755)

    def git(self, *arguments):
        return run(*GIT, *arguments, cwd=self.checkout).stdout.strip()

    def commit(self, name, text):
        write(os.path.join(self.checkout, name), text)
        self.git("add", name)
        self.git("commit", "-q", "-m", text[:20])

    def repository(self, name, base, head):
        """Makes a repository as GitHub checks it out for a pull request: the head merged into the base, which has gone on since the event."""
        os.mkdir(self.checkout)
        self.git("init", "-q")
        self.commit("other", "older")
        self.older = self.git("rev-parse", "HEAD")
        self.git("checkout", "-q", "-b", "branch")
        self.commit(name, head)
        self.git("checkout", "-q", "main")
        self.commit(name, base)
        self.base = self.git("rev-parse", "HEAD")
        self.git("merge", "-q", "-X", "theirs", "--no-edit", "branch")
        self.merge = self.git("rev-parse", "HEAD")

    def values(self, inputs, push):
        given = dict(re.findall(r'(?m)^  (\w+): \{.*default: "(.*)" \}$', read(os.path.join(CI, "action.yml"))))
        return {"github.event.pull_request.base.sha": "" if push else self.older, "github.event.number": "17", "github.token": "x",
                "runner.temp": os.path.join(self.folder, "runner"),
                **{f"inputs.{name}": value for name, value in {**given, **inputs}.items()}}

    def action(self, inputs, push=False, **environment):
        """Runs those steps of action.yml that are shell commands, as GitHub does. Returns the status of the comparison."""
        values, result = self.values(inputs, push), 0
        runner = os.path.join(self.folder, "runner")
        os.makedirs(runner, exist_ok=True)
        for step in re.split(r"(?m)^    - ", read(os.path.join(CI, "action.yml")))[1:]:
            block = re.search(r"run: \|\n((?: {8}.*\n)+)", step)
            wanted = re.search(r"if: always\(\) && ([\w.]+)", step)
            if not block or wanted and not values.get(wanted[1]):
                continue
            def value(found):
                return values.get(found[1], "")
            env = {name: re.sub(r"\$\{\{ ([\w.]+) \}\}", value, text) for name, text in re.findall(r"(?m)^ {8}(\w+): (\S.*)$", step.partition("run: |")[0])}
            output = os.path.join(runner, "output")
            write(output, "")
            done = run("bash", "-e", "-o", "pipefail", "-c", re.sub(r"(?m)^ {8}", "", block[1]), cwd=self.checkout, status=(0, 3, 4), env={
                **os.environ, "PATH": self.tools + ":" + os.environ["PATH"], "RUNNER_TEMP": runner, "GITHUB_ACTION_PATH": CI, "GITHUB_OUTPUT": output,
                "GITHUB_SHA": self.git("rev-parse", "HEAD"), "GITHUB_STEP_SUMMARY": os.path.join(runner, "summary"), **env, **environment})
            name = re.search(r"(?m)^ {6}id: (\w+)", step)
            values.update({f"steps.{name[1]}.outputs.{key}": text for key, text in re.findall(r"(?m)^(\w+)=(.*)$", read(output))} if name else {})
            result = result or done.returncode
        self.outputs = values
        return result

    def comment(self):
        said = read(os.path.join(self.folder, "gh")).split()
        self.assertEqual(["pr", "comment", "17"], said[:3])
        return read(said[-1])


class Made(Job):
    def setUp(self):
        super().setUp()
        write(os.path.join(self.tools, "dwell"), MADE.replace("FOLDER", self.folder).replace("DWELL", dwell), 0o755)

    def made(self, kind, *percents):
        """Runs of a kind of checkout, whose steps take so many percent longer."""
        os.mkdir(os.path.join(self.folder, kind))
        for number, percent in enumerate(percents, 1):
            folder = os.path.join(self.folder, f"{kind}-{number}")
            os.mkdir(folder)
            run(make_ranks, folder, "1", "60", "noise", "1", "seed", str(number + 100 * len(kind)), "slow", "0", "forward", str(percent))
            shutil.move(os.path.join(folder, "rank-0000.dwell"), os.path.join(self.folder, kind, f"{number}.dwell"))

    def job(self, before, after, **options):
        self.repository("kind", "before", "after")
        self.made("before", *before)
        self.made("after", *after)
        return self.action({"command": "true"}, **options)

    def recorded(self):
        path = os.path.join(self.folder, "recorded")
        text = read(path) if os.path.exists(path) else ""
        write(path, "")
        return text.replace("before", "b").replace("after", "a")

    def test_slower_and_not(self):
        self.assertEqual(3, self.job((0, 1, -1, 0.5, -0.5), (10, 11, 9, 10.5, 9.5)))
        comment = self.comment()
        self.assertIn(f"### Speed of {self.merge[:10]} against {self.base[:10]}\n", comment)
        self.assertIn("recorded in turn", comment)
        self.assertIn("**Slower by 5% or more.**", comment)
        self.assertIn("Slower: +", comment)
        self.assertIn("### dwell\n", comment)
        self.assertEqual(comment, read(os.path.join(self.folder, "runner", "summary")))
        self.assertEqual("ba" * 5, self.recorded())
        self.assertEqual("", self.git("status", "--porcelain"))
        self.assertEqual(1, self.git("worktree", "list").count("\n") + 1)

    def test_no_difference_by_kept_runs(self):
        self.repository("kind", "before", "after")
        self.made("before", 0, 1, -1, 0.5, -0.5)
        self.made("after", 0.2, 0.9, -0.9, 0.4, -0.6)
        self.git("checkout", "-q", self.base)
        self.assertEqual(0, self.action({"command": "true"}, push=True))
        self.assertEqual(("bbbbb", "yes", self.base), (self.recorded(), self.outputs["steps.compare.outputs.new"], self.outputs["steps.base.outputs.kept"]))
        self.git("checkout", "-q", self.merge)
        self.assertEqual(0, self.action({"command": "true"}))
        self.assertEqual("aaaaa", self.recorded())
        self.assertNotIn("steps.compare.outputs.new", self.outputs)
        self.assertIn("kept by an earlier job", self.comment())
        self.assertIn("**Not slower by 5% or more.**", self.comment())
        self.assertEqual(0, self.action({"command": "true", "kept": "no"}))
        self.assertEqual("ba" * 5, self.recorded())
        # Another command has no kept runs.
        self.assertEqual(0, self.action({"command": "false"}))
        self.assertEqual("ba" * 5, self.recorded())

    def test_kept_runs_do_not_convict(self):
        """Runs in turn do."""
        self.assertEqual(3, self.job((0, 1, -1, 0.5, -0.5), (10, 11, 9, 10.5, 9.5)))
        self.recorded()
        self.assertEqual(3, self.action({"command": "true"}))
        self.assertEqual("aaaaa" + "ba" * 5, self.recorded())

    def test_fast_steps_decide_where_the_mean_cannot(self):
        self.assertEqual(3, self.job((0, 1, 2, 3, 90), (12, 13, 14, 15, 50)))
        self.assertIn("Slower: fast steps +", self.comment())

    VAGUE = (0, 60, 30, 45, 15), (7, 67, 37, 52, 22)

    def test_instructions_decide_where_no_time_can(self):
        self.assertEqual(3, self.job(*self.VAGUE, COUNTS="1000000 1100000"))
        self.assertIn("**Slower by 5% or more.** Times cannot tell; the instructions of a step do: +10.00%, 1e+06 before, 1.1e+06 after", self.comment())
        self.assertEqual(0, self.action({"command": "true"}, COUNTS="1000000 1010000"))
        self.assertIn("**Not slower by 5% or more.** Times cannot tell; the instructions of a step do: +1.00%", self.comment())

    def test_nothing_decides(self):
        self.assertEqual(0, self.job(*self.VAGUE))
        self.assertIn("**Not proven", self.comment())

    def test_few_baselines_are_kept(self):
        self.repository("kind", "before", "after")
        self.made("before", 0, 1, -1, 0.5, -0.5)
        self.git("checkout", "-q", self.base)
        for number in range(7):
            self.commit("other", f"change {number}")
            self.action({"command": "true"}, push=True)
        self.assertEqual(5, len(os.listdir(self.kept)))
        self.assertEqual("b" * 35, self.recorded())
        self.action({"command": "true"}, push=True)
        self.assertEqual("", self.recorded())

    def test_gitlab(self):
        self.repository("kind", "before", "after")
        self.made("before", 0, 1, -1, 0.5, -0.5)
        self.made("after", 10, 11, 9, 10.5, 9.5)
        self.git("checkout", "-q", "branch")
        os.symlink(ROOT, os.path.join(self.checkout, ".dwell"))
        text = read(os.path.join(CI, "speed.gitlab-ci.yml"))
        blocks = {name: re.sub(r"(?m)^ {6}", "", block) for name, block in re.findall(r"(?m)^  (\w+):\n    - \|\n((?: {6}.*\n)+)", text)}
        self.assertEqual({"before_script", "script", "after_script"}, set(blocks))
        self.assertEqual(".speed/kept", re.search(r"cache:\n    key: .*\n    paths: \[(.*)\]", text)[1])
        env = {**os.environ, "PATH": self.tools + ":" + os.environ["PATH"], "CI_PROJECT_DIR": self.checkout, "CI_API_V4_URL": "https://x", "CI_PROJECT_ID": "5",
               "SPEED_COMMAND": "true", "SPEED_FOLDER": os.path.join(self.checkout, ".speed"), "SPEED_TOKEN": "t", "CI_MERGE_REQUEST_IID": "17"}
        run("sh", "-ec", blocks["script"], cwd=self.checkout, env={**env, "CI_MERGE_REQUEST_DIFF_BASE_SHA": self.base}, status=(3,))
        run("sh", "-ec", blocks["after_script"], cwd=self.checkout, env=env)
        said = read(os.path.join(self.folder, "curl"))
        self.assertTrue(said.endswith("https://x/projects/5/merge_requests/17/notes\n"), said)
        self.assertIn("**Slower by 5% or more.**", read(re.search(r"body@(\S+)", said)[1]))

    def test_wrong_settings(self):
        self.repository("kind", "before", "after")
        script = os.path.join(CI, "speed.sh")
        done = run(script, cwd=self.checkout, status=(1, 2), env={**os.environ, "SPEED_COMMAND": ""})
        self.assertIn("SPEED_COMMAND: is not set", done.stderr)
        done = run(script, cwd=self.checkout, status=(2,), env={**os.environ, "SPEED_COMMAND": "true", "SPEED_RUNS": "3"})
        self.assertIn("fewer than 4 runs", done.stderr)


class Recorded(Job):
    def setUp(self):
        super().setUp()
        os.symlink(dwell, os.path.join(self.tools, "dwell"))

    def job(self, percent):
        self.repository("train.sh", f"exec '{work}' 100 0\n", f"exec '{work}' 100 {percent}  # head\n")
        return self.action({"command": "sh train.sh"})

    def test_planted_and_on_another_machine(self):
        """A machine that others keep busy may not tell; it must not say the contrary."""
        said = {3: "**Slower by 5% or more.**", 4: "**Not comparable.**", 0: "**Not proven"}
        status = self.job(10)
        self.assertIn(said[status], self.comment())
        self.assertIn("Lost: nothing.", self.comment())
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = [line.split(":", 1)[1].strip().encode() for line in file if line.startswith("model name")]
        for path in glob.glob(os.path.join(self.kept, "*", "*.dwell")) if model else []:
            with open(path, "rb+") as file:
                content = file.read()
                self.assertIn(model[0], content)
                file.seek(0)
                file.write(content.replace(model[0], b"Q" * len(model[0])))
        status = self.action({"command": "sh train.sh"})
        self.assertIn(said[status], self.comment())
        self.assertIn("recorded in turn", self.comment())
        self.assertEqual("yes", self.outputs["steps.compare.outputs.new"])

    def test_none_planted(self):
        self.assertIn(self.job(0), (0, 4))
        self.assertNotIn("**Slower", self.comment())

    def test_install(self):
        """Without a package index: pip gets this project, by its name, in an environment that does not hide the program's Python."""
        os.unlink(os.path.join(self.tools, "dwell"))
        pip = os.path.join(self.folder, "pip")
        write(pip, f"#!/bin/sh\necho \"$@\" > '{self.folder}/installed'\n", 0o755)
        write(os.path.join(self.tools, "python3"), f"#!/bin/sh\n[ \"$1 $2\" = '-m venv' ] && mkdir -p \"$3/bin\" && cp '{pip}' \"$3/bin/pip\" && cp '{pip}' \"$3/bin/dwell\"\n", 0o755)
        block = re.search(r"name: Install\n.*\n      run: \|\n((?: {8}.*\n)+)", read(os.path.join(CI, "action.yml")))[1]
        path = os.path.join(self.folder, "path")
        run("bash", "-e", "-c", block, cwd=self.folder, env={"PATH": f"{self.tools}:/usr/bin:/bin", "RUNNER_TEMP": self.folder, "GITHUB_ACTION_PATH": CI, "GITHUB_PATH": path})
        name = re.search(r'(?m)^name = "(.*)"$', read(os.path.join(ROOT, "pyproject.toml")))[1]
        self.assertEqual(f"install {name} @ file://{ROOT}\n", read(os.path.join(self.folder, "installed")))
        self.assertEqual(["dwell"], os.listdir(read(path).strip()))


if __name__ == "__main__":
    runner = unittest.TextTestRunner(verbosity=1)
    loader = unittest.defaultTestLoader
    loader.testNamePatterns = [f"*{name}*" for name in sys.argv[4:]] or None
    result = runner.run(loader.loadTestsFromModule(sys.modules["__main__"]))
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 0)
