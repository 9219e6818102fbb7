#!/usr/bin/env python3
"""Libraries that a program uses and that are not recorded are said, and ranks are compared all the same.

usage: unrecorded_test.py DWELL [PART-OF-A-NAME...]

mpi_stand_in.c stands for MPI libraries of other kinds than the installed ones, empty libraries stand for others. A script of
the name mpirun starts ranks. The last line is "N passed, N failed, N skipped".
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../probes"))
import again  # noqa: E402
import mpi_installed  # noqa: E402

dwell = os.path.abspath(sys.argv[1])
BUILD = os.path.dirname(dwell)
STEPS = 40
# Type of a handle, MPI_COMM_WORLD, file of the library, what it says of itself.
KINDS = {"standard": ("void *", 0x101, "libmpi_abi.so.0", "Any MPI 5.0"),
         "mpich": ("int", 0x44000000, "libmpi.so.12", "MPICH Version: stand-in"),
         "unknown": ("int", 91, "libmpi.so.77", "Nobody's MPI 1.0")}
CC = os.environ.get("CC", "cc").split()
MISSING = "Missing: its collectives, and how long ranks wait for each other."


def compile_c(*arguments):
    subprocess.run([*CC, "-O1", "-D_GNU_SOURCE", *arguments], check=True, timeout=120)


class Case(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="dwell-unrecorded-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name

    @classmethod
    def path(cls, name):
        return os.path.join(cls.folder, name)

    @classmethod
    def write(cls, name, text):
        with open(cls.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(cls.path(name), 0o755)
        return cls.path(name)

    def empty_library(self, name, *options):
        """A library of this name without any function, which a program can be linked to."""
        source = self.write("empty.c", "/* Stands for a library that is loaded. */\nint empty_library(void);\n"
                                       "int empty_library(void) { return 0; }\n")
        compile_c("-shared", "-fPIC", f"-Wl,-soname,{name}", source, "-o", self.path(name), *options)
        return self.path(name)

    def run_dwell(self, *command, options=(), program=dwell, status=0, **more):
        """Records; what dwell said."""
        self.trace = self.path("job.dwell")
        done = subprocess.run([program, "run", "-o", self.trace, *options, "--", *command], capture_output=True, text=True,
                              check=False, timeout=120, env=dict(os.environ, **more))
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stderr

    def ask(self, *command):
        done = subprocess.run([dwell, *command], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def ranks(self):
        view = json.loads(self.ask("ranks", "--format", "json", self.trace))["views"]
        return {table["part"]: [dict(zip([column["name"] for column in table["columns"]], row)) for row in table["rows"]]
                for table in view}

    def unrecorded(self):
        found = json.loads(self.ask("report", "--summary", "--format", "json", self.trace))
        return {entry["id"]: (entry["file"], entry["state"], entry["processes"]) for entry in found["unrecorded"]}, found

    def check_slow(self, part, name, record):
        """Rank 2 is named, and the part in which it takes 20 ms longer."""
        def named(rows):
            return [row["slow"] for row in rows] == [0, 0, 1, 0] and rows[2]["part"] == part and rows[2]["name"] == name

        def measure():
            record()
            return self.ranks()["ranks"]
        rows = again.until(named, measure)
        self.assertTrue(named(rows), rows)
        self.assertGreater(rows[2]["part_excess_ns"], 15e6)
        return rows


class Mpi(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for kind, (handle, world, file, version) in KINDS.items():
            types = [f"-DHANDLE={handle}", f"-DWORLD={world}", f"-DOLD={int(kind != 'standard')}"]
            types += ["-DLARGE_COUNTS"] if kind == "standard" else []
            compile_c("-shared", "-fPIC", *types, f'-DVERSION="{version}"', f"-Wl,-soname,{file}",
                      os.path.join(HERE, "mpi_stand_in.c"), "-o", cls.path(file))
            library = [cls.path(file), "-Xlinker", f"-rpath={cls.folder}"]
            compile_c(*types, "-DSTEPS_OF_DWELL", "-I", os.path.join(HERE, "../../include"),
                      os.path.join(HERE, "mpi_program.c"), "-o", cls.path(kind), *library,
                      "-L", BUILD, "-Xlinker", f"-rpath={BUILD}", "-ldwell")
            compile_c(*types, "-shared", "-fPIC", os.path.join(HERE, "mpi_program.c"), "-o", cls.path(kind + ".so"), *library)
        cls.write("mpirun", "#!/bin/sh\nexport WORLD_SIZE=$1; shift\n"
                            "for rank in $(seq 0 $((WORLD_SIZE - 1))); do\n"
                            "  if [ \"$rank\" = \"$WITHOUT\" ]; then LD_PRELOAD= RANK=$rank \"$@\" & else RANK=$rank \"$@\" & fi\n"
                            "done\nwait\n")

    def test_each_interface(self):
        for kind in ("standard", "mpich"):
            with self.subTest(kind=kind):
                said = self.run_dwell(self.path("mpirun"), "2", self.path(kind), str(STEPS))
                self.assertNotIn("not recorded", said)
                self.assertEqual(self.unrecorded()[0], {})
                rows = {(row["group"], row["operation"], row["ranks"], row["count"], row["bytes"])
                        for row in self.ranks()["collectives"]}
                self.assertEqual(rows, {("MPI_COMM_WORLD", "MPI_Allreduce", 2, STEPS, 32),
                                        ("MPI_COMM_WORLD", "MPI_Ibarrier", 2, STEPS, 0),
                                        ("ranks 0-1", "MPI_Allreduce", 2, STEPS, 32),
                                        ("ranks 0-1", "MPI_Barrier", 2, STEPS, 0),
                                        ("ranks 0-1", "MPI_Ibarrier", 2, STEPS, 0)})
                self.assertIn(f"mpi.recorded = {KINDS[kind][3]} ({KINDS[kind][2]})", self.ask("info", self.trace))

    def test_a_library_that_no_probe_knows(self):
        rows = self.check_slow("named", "tokenize",
                               lambda: self.run_dwell(self.path("mpirun"), "4", self.path("unknown"), str(STEPS), "2", "20"))
        self.assertEqual({row["wait_ns"] for row in rows}, {None})
        why = "the probe does not know this MPI library: libmpi.so.77, which says that it is Nobody's MPI 1.0"
        said = self.run_dwell(self.path("mpirun"), "4", self.path("unknown"), "9", "2", "20")
        self.assertIn(f"MPI is not recorded (libmpi.so.77, 4 processes): {why}. {MISSING}", said)
        self.assertIn(f"MPI is not recorded (libmpi.so.77, all ranks): {why}. {MISSING}", self.ask("ranks", self.trace))

    def test_two_libraries_in_one_process(self):
        script = self.write("two.py", "import ctypes, sys\n"
                            "for kind in sys.argv[1:]:\n    ctypes.CDLL(kind + '.so').run(5, -1, 0)\n"
                            f"for file in ('libmpi_abi.so.0', 'libmpi.so.12'):\n"
                            f"    print(ctypes.CDLL('{self.folder}/' + file).stand_in_calls())\n")
        python = "/usr/bin/python3"
        if not os.path.exists(python):
            self.skipTest("Debian's Python is missing")
        said = self.run_dwell(python, script, self.path("standard"), self.path("mpich"))
        self.assertIn("MPI is recorded in part (libmpi", said)
        self.assertIn("this process has two MPI libraries; the calls of libmpi.so.12 (MPICH Version: stand-in) are not "
                      "recorded", said)
        tree = json.loads(self.ask("report", "--format", "json", "--limit", "all", "--view", "tree", self.trace))["views"][0]
        at = [column["name"] for column in tree["columns"]].index
        self.assertEqual([row[at("calls")] for row in tree["rows"] if row[at("name")] == "MPI_Allreduce"], [10])
        # Each library got its own calls.
        done = subprocess.run([dwell, "run", "-o", self.trace, "--", python, script, self.path("mpich"), self.path("standard")],
                              capture_output=True, text=True, check=True, timeout=60)
        self.assertEqual(done.stdout.split(), ["25", "25"])

    def test_a_rank_without_a_probe(self):
        rows = self.check_slow("named", "tokenize",
                               lambda: self.run_dwell(self.path("mpirun"), "4", self.path("standard"), str(STEPS), "2", "20",
                                                      WITHOUT="1"))
        self.assertEqual([row["communication_ns"] is None for row in rows], [False, True, False, False])
        said = self.ask("ranks", self.trace)
        self.assertIn("MPI is not recorded (libmpi_abi.so.0, rank 1): put dwell run before mpirun, or before the program of each "
                      f"rank. {MISSING}", said)
        self.assertIn("was not measured in all ranks", said)
        self.assertEqual(self.unrecorded()[0], {"mpi": ("libmpi_abi.so.0", "no", 1)})
        self.assertEqual(said, self.ask("ranks", self.trace + ".sum"))

    def check_refused(self, why, program=dwell, options=()):
        self.check_slow("named", "tokenize",
                        lambda: self.run_dwell(self.path("mpirun"), "4", self.path("standard"), str(STEPS), "2", "20",
                                               program=program, options=options))
        text = f"MPI is not recorded (libmpi_abi.so.0, 4 processes): {why}. {MISSING}"
        self.assertIn(text, self.run_dwell(self.path("mpirun"), "4", self.path("standard"), "20", "2", "20",
                                           program=program, options=options))
        self.assertIn(text, self.ask("report", self.trace))
        found, summary = self.unrecorded()
        self.assertEqual(found, {"mpi": ("libmpi_abi.so.0", "no", 4)})
        self.assertIn("step.communication", [fact for entry in summary["not_measured"] if "MPI" in entry["why"]
                                             for fact in entry["facts"]])
        self.assertIn(text, self.ask("report", "--view", "steps", self.trace))
        self.assertIn("MPI is not recorded", self.ask("report", "--summary", "--format", "md", self.trace))
        self.assertIn("not recorded: MPI", self.ask("top", "--once", self.trace))
        said = self.ask("ranks", self.trace)
        self.assertRegex(said, r"Rank 2 takes [\d.]+ ms a step longer than the median rank in named ranges \([\d.]+% of a step\), mostly in tokenize\.")
        self.assertIn("How long ranks wait for each other was not measured", said)

    def test_refused(self):
        self.check_refused("dwell run was started with --no-mpi", options=["--no-mpi"])

    def test_not_installed(self):
        alone = os.path.join(self.folder, "alone")
        os.makedirs(alone, exist_ok=True)
        shutil.copy(dwell, alone)
        self.check_refused("libdwell-mpi.so is not installed with this dwell", program=os.path.join(alone, "dwell"))

    def test_killed(self):
        self.run_dwell(self.path("mpirun"), "2", self.path("standard"), "9", "0", "1", "kill", options=["--no-mpi"])
        self.assertEqual(self.unrecorded()[0], {"mpi": ("libmpi_abi.so.0", "no", 2)})

    def test_started_by_a_script(self):
        script = self.write("job.sh", f"#!/bin/sh\nexec {self.path('mpirun')} 2 {self.path('standard')} 9\n")
        self.assertIn("MPI is not recorded (libmpi_abi.so.0, 2 processes): put dwell run before mpirun", self.run_dwell(script))


class Installed(Case):
    """The same with MPI implementations of this machine: the ranks wait in MPI, in no range."""

    def test_refused(self):
        names = [name for name in mpi_installed.IMPLEMENTATIONS if not mpi_installed.missing(name)]
        if not names:
            self.skipTest("no MPI is installed: Debian's libopenmpi-dev, libmpich-dev and mpich")
        for name in names:
            with self.subTest(name=name):
                program = self.path("mpi_ranks")
                mpi_installed.compile_program(name, os.path.join(mpi_installed.ROOT, "examples/mpi_ranks.c"), BUILD, program)
                self.check_slow("data", None, lambda: self.run_dwell(
                    *mpi_installed.launcher(name), "-n", "4", program, str(STEPS), "data", "2", "20", options=["--no-mpi"],
                    OMPI_MCA_btl_vader_single_copy_mechanism="none"))


class Others(Case):
    def program(self, *libraries):
        source = self.write("program.c", "/* Is linked to libraries that it does not call. */\nint main(void) { return 0; }\n")
        compile_c("-Wl,--no-as-needed", source, "-o", self.path("program"), *libraries, "-Xlinker", f"-rpath={self.folder}")
        return self.path("program")

    def test_libtorch_without_python(self):
        """A library with that name and without PyTorch's functions."""
        said = self.run_dwell(self.program(self.empty_library("libtorch_cpu.so")))
        self.assertIn("PyTorch unknown: operators are not recorded", said)
        self.assertIn("PyTorch unknown: steps, phases and layers are not recorded", said)
        self.assertEqual(self.unrecorded()[0], {"torch": ("libtorch_cpu.so", "partly", 1)})

    def test_libtorch_loaded_late(self):
        """The program sees what it sees without dwell: handles, errors, and libraries of its own folders."""
        self.empty_library("libtorch_cpu.so")
        self.empty_library("libother.so")
        source = self.write("late.c", """/* Loads the libraries of its arguments; "-": one that does not exist. */
            #include <dlfcn.h>
            #include <errno.h>
            #include <string.h>
            int main(int count, char **words)
            {
                for (int i = 1; i < count; i++) {
                    int missing = strcmp(words[i], "-") == 0;
                    errno = EXDEV;
                    void *handle = dlopen(missing ? "libnone.so" : words[i], RTLD_NOW);
                    const char *error = dlerror();
                    if (missing ? handle || !error || !strstr(error, "libnone.so") : !handle || error || errno != EXDEV)
                        return i;
                    if (handle && dlopen(words[i], RTLD_NOW) != handle)
                        return 100 + i;
                }
                return 0;
            }
            """)
        program = self.path("late")
        compile_c(source, "-o", program, "-ldl", "-Wl,-rpath,$ORIGIN", "-Wl,--enable-new-dtags")
        said = self.run_dwell(program, "-", self.path("libother.so"), self.path("libtorch_cpu.so"), "-", "libother.so")
        self.assertIn("PyTorch unknown: operators are not recorded", said)
        self.assertEqual(self.unrecorded()[0], {"torch": ("libtorch_cpu.so", "partly", 1)})
        said = self.run_dwell(program, "libother.so", "-", "libtorch_cpu.so", "-")
        self.assertIn("PyTorch is not recorded (libtorch_cpu.so): it was loaded by a dlopen() that looks in the folders of its "
                      "caller (RUNPATH): give it the full path, or link the program to libtorch_cpu.so", said)
        said = self.run_dwell(program, "libtorch_cpu.so", self.path("libother.so"))
        self.assertIn("PyTorch unknown: operators are not recorded", said)

    def test_a_recorder_inside_the_program(self):
        """libdwell.a: the program's own recorder notes it, once."""
        source = self.write("inside.c", "/* Records a step by itself. */\n#include <dwell/probe.h>\n"
                                        "int main(void) { DWELL_STEP(); return 0; }\n")
        compile_c("-I", os.path.join(HERE, "../../include"), "-Wl,--no-as-needed", source, "-o", self.path("inside"),
                  self.empty_library("libtorch_cpu.so"), "-Xlinker", f"-rpath={self.folder}", os.path.join(BUILD, "libdwell.a"), "-pthread")
        self.run_dwell(self.path("inside"))
        self.assertEqual(self.unrecorded()[0], {"torch": ("libtorch_cpu.so", "no", 1)})

    def test_nccl_of_several_ranks(self):
        program = self.program(self.empty_library("libnccl.so.2"), self.empty_library("libcuda.so.1"))
        found = "NCCL is not recorded (libnccl.so.2"
        self.assertNotIn(found, self.run_dwell(program))
        self.assertIn(found, self.run_dwell(program, RANK="0", WORLD_SIZE="2"))

    def test_mpi_that_is_not_called(self):
        """Frameworks are linked to it."""
        program, found = self.program(self.empty_library("libmpi.so.40")), "MPI is not recorded (libmpi.so.40"
        self.assertNotIn(found, self.run_dwell(program, options=["--no-mpi"]))
        self.assertIn(found, self.run_dwell(program, options=["--no-mpi"], PMIX_RANK="0"))
        self.assertIn(found, self.run_dwell(program, options=["--no-mpi"], RANK="0", WORLD_SIZE="2"))

    def test_cuda_and_nvtx(self):
        program = self.program(self.empty_library("libcuda.so.1"), self.empty_library("libnvToolsExt.so.1"),
                               os.path.join(BUILD, "libdwell.so"), "-Xlinker", f"-rpath={BUILD}")
        self.run_dwell(program)  # dwell's probes would be loaded if the libraries were called
        self.assertEqual(self.unrecorded()[0], {})

    def test_nothing_is_said_without_a_library(self):
        self.assertNotIn("recorded (", self.run_dwell(self.program()))


def main():
    suite = unittest.TestSuite()
    chosen = sys.argv[2:]
    for case in (Mpi, Installed, Others):
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            if not chosen or any(part in test.id() for part in chosen):
                suite.addTest(test)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=2).run(suite)
    for test, why in result.skipped:
        print(f"skip {test.id()}: {why}")
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    return failed != 0


sys.exit(main())
