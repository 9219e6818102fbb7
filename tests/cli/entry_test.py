#!/usr/bin/env python3
"""dwell run --step-on FUNCTION of native programs: the steps, and that the program does not notice.

usage: entry_test.py DWELL PROGRAM

The last line is "N passed, N failed, N skipped".
"""
import json
import os
import platform
import subprocess
import sys
import tempfile
import unittest

LIBRARY = """
#include <stdio.h>
volatile double sum;
static __attribute__((noipa)) double work(double by) { for (int i = 0; i < 30000; i++) sum += by * i; return sum; }
__attribute__((noipa)) static double hidden_step(double by) { double before = work(by); return work(by) - before; }
double library_step(double by) { double before = hidden_step(by); return work(by) - before; }
"""
MAIN = """
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
double library_step(double by);
static void *rest(void *path) { sleep(1000); return path; }
int main(int count, char **words)
{
    double (*step)(double);
    pthread_t thread;
    if (count > 2)
        pthread_create(&thread, NULL, rest, NULL);
#ifdef LATE
    *(void **)&step = dlsym(dlopen(words[1], RTLD_NOW), "library_step");
#else
    step = library_step;
#endif
    for (int i = 0; i < 12; i++)
        step(i);
    _exit(0);
}
"""
# A thread that has loaded a library is held where dwell looks at it; another one loads the library with the steps.
HELD = """
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static __thread int is_held;
static volatile int inside, done;
typedef int each(struct dl_phdr_info *info, size_t size, void *data);
int dl_iterate_phdr(each *call, void *data)
{
    int (*real)(each *, void *);
    if (is_held && !inside) {
        inside = 1;
        while (!done)
            usleep(1000);
    }
    *(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return real(call, data);
}
static void *first(void *path) { is_held = 1; return dlopen(path, RTLD_NOW); }
int main(int count, char **words)
{
    struct timespec begin, end;
    pthread_t thread;
    double (*step)(double);
    pthread_create(&thread, NULL, first, words[1]);
    for (int i = 0; i < 5000 && !inside; i++)
        usleep(1000);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    *(void **)&step = dlsym(dlopen(words[2], RTLD_NOW), "library_step");
    clock_gettime(CLOCK_MONOTONIC, &end);
    int good = inside && end.tv_sec - begin.tv_sec + 1e-9 * (end.tv_nsec - begin.tv_nsec) < 1;
    done = 1;
    pthread_join(thread, NULL);
    for (int i = 0; i < 12; i++)
        step(i);
    _exit(good ? 0 : 3);
}
"""
CPP = """
volatile double sum;
__attribute__((noipa)) static double work(double by) { for (int i = 0; i < 30000; i++) sum = sum + by * i; return sum; }
#define STEP __attribute__((noipa, used)) double
namespace {
STEP anonymous_step(double by) { double before = work(by); return work(by) - before; }
}
namespace engine {
namespace { STEP inner_step(double by) { double before = work(by); return work(by) - before; } }
struct Net { STEP train(double by); };
double Net::train(double by) { double before = work(by); return inner_step(by) - before; }
template <class T> STEP templated(T by) { double before = work(by); return work(by) - before; }
STEP same(double by) { double before = work(by); return work(by) - before; }
}
namespace other { STEP same(double by) { double before = work(by); return work(by) + before; } }
int main()
{
    for (int i = 0; i < 12; i++) {
        engine::Net net;
        anonymous_step(i); net.train(i); engine::templated<float>(i); engine::same(i); other::same(i);
    }
}
"""
# Functions of which the compiler puts parts apart: loops of OpenMP, an unlikely part, what follows an early return; and copies.
PARTS = """
#include <stdio.h>
#include <stdlib.h>
static float all[4096];
__attribute__((noinline)) void layer(float by)
{
#pragma omp parallel for
    for (int i = 0; i < 4096; i++) all[i] = all[i] * by + 1;
}
__attribute__((noinline)) void step(float by)
{
    layer(by); layer(by);
#pragma omp parallel for
    for (int i = 0; i < 4096; i++) all[i] += 1;
#pragma omp parallel for
    for (int i = 0; i < 4096; i++) all[i] *= 2;
}
static __attribute__((noinline)) float copied(float by, int way) { for (int i = 0; i < 99; i++) all[i] += way ? by : 1; return all[7]; }
__attribute__((cold, noinline)) void fail(float value) { printf("%f\\n", value); exit(3); }
__attribute__((noinline, noclone)) int unlikely(int i)
{
    if (i == -1) { all[3] *= all[9]; fail(all[8]); }
    return i * 3 + (int)all[1];
}
volatile int sink;
int main(int count, char **words)
{
    for (int i = 0; i < 20; i++) { step(0.5f); sink = copied(i, 1); sink = unlikely(sink); }
}
"""
dwell, program = (os.path.abspath(path) for path in sys.argv[1:3])


@unittest.skipUnless(platform.machine() == "x86_64", "only on x86-64")
class Entry(unittest.TestCase):
    def steps(self, function, mode, *options, program=program):
        """How many steps began, and what dwell run said."""
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, "t.dwell")
            done = subprocess.run([dwell, "run", "-o", trace, "--step-on", function, *options, program, *mode.split()],
                                  capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = subprocess.run([dwell, "report", trace, "--view", "steps", "--format", "json"], capture_output=True,
                                    text=True, check=False, timeout=120)
            if report.returncode:
                return 0, done.stderr
            table = json.loads(report.stdout)["views"][0]
            return len(table["rows"]), done.stderr

    def test_a_step_lasts_from_a_call_to_the_next(self):
        self.assertEqual(self.steps("train_step", "args")[0], 20)
        self.assertEqual(self.steps("train_step", "args", "--sample", "off")[0], 20)
        self.assertEqual(self.steps("train_step", "args", "--sample", "1000")[0], 20)

    def test_arguments_of_all_kinds_arrive(self):
        self.assertEqual(self.steps("with_list", "args")[0], 20)
        self.assertIn(self.steps("with_vectors", "vectors")[0], (0, 20))  # 0: the processor has no AVX

    def test_the_first_instruction_may_be_a_call(self):
        self.assertEqual(self.steps("first_calls", "args")[0], 20)
        self.assertIn(self.steps("loops_to_call", "args")[0], (0, 20))  # 0: it jumps back to its first call

    def test_jumps_out_of_the_function(self):
        self.assertEqual(self.steps("train_step", "jump")[0], 20)

    def test_one_thread_has_the_steps(self):
        self.assertEqual(self.steps("train_step", "threads")[0], 50)

    def test_children_and_new_programs(self):
        self.assertEqual(self.steps("train_step", "fork")[0], 5 + 7)
        self.assertEqual(self.steps("train_step", "exec")[0], 5 + 20)

    def build(self, folder, name, text, *options, compiler="gcc"):
        path = os.path.join(folder, name)
        subprocess.run([compiler, "-O2", "-x", "c++" if compiler == "g++" else "c", "-", "-o", path, *options], input=text,
                       text=True, check=True)
        return path

    def test_parts_that_the_compiler_put_apart_are_no_calls(self):
        with tempfile.TemporaryDirectory() as folder:
            parts = self.build(folder, "parts", PARTS, "-fopenmp")
            names = subprocess.run(["nm", parts], capture_output=True, text=True, check=True).stdout
            self.assertIn("step._omp_fn.0", names)
            self.assertIn("copied.constprop.0", names)
            self.assertIn("unlikely.cold", names)
            for function, count in (("layer", 40), ("copied", 20), ("unlikely", 20)):
                self.assertEqual(self.steps(function, "", program=parts)[0], count, function)

    def test_a_thread_that_looks_holds_up_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            first = self.build(folder, "libfirst.so", "int first;", "-shared", "-fPIC")
            library = self.build(folder, "libsteps.so", LIBRARY, "-shared", "-fPIC")
            held = self.build(folder, "held", HELD, "-D_GNU_SOURCE", "-rdynamic", "-pthread", "-ldl")
            self.assertEqual(self.steps("library_step", f"{first} {library}", program=held)[0], 12)

    def test_functions_of_libraries(self):
        with tempfile.TemporaryDirectory() as folder:
            library = self.build(folder, "libsteps.so", LIBRARY, "-shared", "-fPIC")
            linked = self.build(folder, "linked", MAIN, "-pthread", "-L" + folder, "-Wl,-rpath," + folder, "-Wl,--no-as-needed", "-lsteps")
            late = self.build(folder, "late", MAIN, "-DLATE", "-pthread", "-ldl")
            for function in ("library_step", "hidden_step"):
                self.assertEqual(self.steps(function, "", program=linked)[0], 12, function)
                self.assertEqual(self.steps(function, library, program=late)[0], 12, function)
                self.assertEqual(self.steps(function, library + " threads", program=late)[0], 12, function)
            folders = self.build(folder, "folders", MAIN, "-DLATE", "-pthread", "-ldl", "-Wl,-rpath," + folder)
            subprocess.run(["strip", library], check=True)
            self.assertEqual(self.steps("library_step", "", program=linked)[0], 12)
            count, text = self.steps("hidden_step", "", program=linked)
            self.assertIn("--step-on hidden_step: no function of this name is in the symbol table of the program or of a library", text)
            # Its end is not seen, so nobody knows whether another thread is in the library.
            count, text = self.steps("library_step", "libsteps.so threads", program=folders)
            self.assertEqual(count, 0)

    def test_names_of_cpp(self):
        with tempfile.TemporaryDirectory() as folder:
            cpp = self.build(folder, "cpp", CPP, compiler="g++")
            for function in ("anonymous_step", "(anonymous namespace)::anonymous_step", "inner_step", "engine::inner_step",
                             "engine::(anonymous namespace)::inner_step", "Net::train", "train", "engine::Net::train(double)",
                             "engine::templated", "engine::same", "other::same(double)"):
                self.assertEqual(self.steps(function, "", program=cpp)[0], 12, function)
            self.assertIn("several functions of the program have this name: engine::same(double), other::same(double)",
                          self.steps("same", "", program=cpp)[1])
            self.assertIn("a similar one of the program is engine::inner_step", self.steps("inner_stop", "", program=cpp)[1])

    def test_refusals_have_a_reason(self):
        for function, reason in (("first_jumps", "its first instructions cannot be moved"),
                                 ("no_such_function", "no function of this name"), ("main_loop", "no function of this name")):
            count, text = self.steps(function, "args")
            self.assertEqual(count, 0)
            self.assertIn(f"--step-on {function}: {reason}", text)
        count, text = self.steps("with_vectors", "args")
        self.assertIn("it is there, and was never called", text)


if __name__ == "__main__":
    if sys.argv[3:] not in ([], ["none"]):
        print("skip step-on: a sanitizer's runtime must be the first library\n0 passed, 0 failed, 1 skipped")
        sys.exit()
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Entry)
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped")
    sys.exit(failed > 0)
