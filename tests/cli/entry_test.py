#!/usr/bin/env python3
"""dwell run --step-on FUNCTION of native programs: the steps, and that the program does not notice.

usage: entry_test.py DWELL PROGRAM

The last line is "N passed, N failed, N skipped".
"""
import json
import os
import platform
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../probes"))
import again  # noqa: E402

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
REFUSED = """
#define FUNCTION(name, code) __asm__(".globl " #name "\\n.type " #name ", @function\\n" #name ": " code "\\n.size " #name ", . - " #name); \\
    int name(int)
FUNCTION(to_begin, "lea (%rdi,%rdi), %eax; dec %edi; jg to_begin; ret; nop; nop; nop; nop; nop");
int main(void) { return to_begin(3) != 2; }
"""
# Functions that begin with other instructions than a push: of vectors, with an address, a jump; and short ones.
BEGINS = """
#include <stdlib.h>
volatile float sink = 1;
volatile int all[8] = { 1 };
__attribute__((noipa, target("avx"))) void vectors(float a, float b) { float c = a * b; for (int i = 0; i < 1000; i++) sink = c + i; }
__attribute__((noipa)) void scalars(float a, float b) { float c = a * b; for (int i = 0; i < 1000; i++) sink = c + i; }
__attribute__((noipa)) int relative(void) { return all[2] + all[3]; }
__attribute__((noipa)) int jumps(int i) { if (!i) return 1; for (int k = 0; k < i; k++) all[k & 7] += k; return all[3]; }
__attribute__((noipa)) int tail(int i) { return jumps(i); }
__attribute__((noipa)) int tiny(void) { return 3; }
__attribute__((noipa)) void nothing(void) { }
__attribute__((noipa)) int recurses(int i) { int below = i > 0 ? recurses(i - 1) : 0; all[1] = below; return below + 1; }
int main(int count, char **words)
{
    for (int i = 0; i < 20; i++) {
        if (__builtin_cpu_supports("avx"))
            vectors(i, 2);
        scalars(i, 2);
        if (tail(i % 3) != (i % 3 ? all[3] : 1) || tiny() != 3 || recurses(2) != 3 || relative() != all[2] + all[3])
            return 1;
        nothing();
    }
    return 0;
}
"""
THREADS = """
#include <pthread.h>
#include <unistd.h>
#include <setjmp.h>
static volatile int waits = 1, sum;
static void *rest(void *all) { while (waits) usleep(1000); return all; }
static pthread_t early;
__attribute__((constructor)) static void begin(void) { pthread_create(&early, NULL, rest, NULL); usleep(20000); }
__attribute__((noipa)) int step(int i) { sum += i; return sum; }
static jmp_buf back;
__attribute__((noipa)) void leaves(int i) { sum += i; longjmp(back, 1); }
__attribute__((noipa)) void stays(void) { sum++; for (volatile int i = 0; i < 1000; i++); _exit(0); }
static void *calls(void *all) { for (int i = 0; i < 10; i++) step(i); return all; }
int main(void)
{
    pthread_t all[1000];
    for (volatile int i = 0; i < 20; i++) { step(i); if (!setjmp(back)) leaves(i); }
    for (int i = 0; i < 1000; i++) if (pthread_create(&all[i], NULL, calls, NULL)) all[i] = 0;
    for (int i = 0; i < 1000; i++) if (all[i]) pthread_join(all[i], NULL);
    waits = 0;
    pthread_join(early, NULL);
    stays();
}
"""
# The thread that calls fork() has no steps; in the child it calls the function.
FORKS = """
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int sum;
__attribute__((noipa)) int step(int i) { sum += i; return sum; }
static void *first(void *all) { for (int i = 0; i < 20; i++) step(i); return all; }
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_join(thread, NULL);
    if (fork()) { wait(NULL); return 0; }
    for (int i = 0; i < 7; i++) step(i);
    return 0;
}
"""
# Changes the first instruction of the program's step() before main(), as tools do that patch code.
PATCHES = """
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
static void other(void) { }
__attribute__((constructor)) static void change(void)
{
    unsigned char *step = dlsym(RTLD_DEFAULT, "step"), jump[12] = { 0x48, 0xb8 };
    void (*to)(void) = other;
    memcpy(jump + 2, &to, 8);
    memcpy(jump + 10, "\\xff\\xe0", 2);
    mprotect((void *)((unsigned long)step & ~4095ul), 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memcpy(step, jump, sizeof jump);
}
"""
PATCHED = """
volatile int sum;
void step(int i) { sum += i; sum *= 3; sum += i; }
int main(void) { void (*volatile call)(int) = step; for (int i = 0; i < 20; i++) call(i); return sum; }
"""
# Memory that was writable may not become executable in the program that it executes. 1: this kernel cannot.
NO_CODE = """
#include <sys/prctl.h>
#include <unistd.h>
int main(int count, char **words) { return prctl(65, 1, 0, 0, 0) ? 0 : execv(words[1], words + 1); }
"""
# A system that does not permit code to be changed: WRITES refuses pages that are code and writable, as SELinux without execmod; else
# also data that becomes code, as without execmem. EVENTS refuses that and the kernel's breakpoints.
SANDBOX = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words)
{
    struct sock_filter all[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, strcmp(words[1], "events") == 0 ? SYS_perf_event_open : -1, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, strcmp(words[1], "writes") == 0 ? PROT_EXEC | PROT_WRITE : PROT_EXEC),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, strcmp(words[1], "writes") == 0 ? PROT_EXEC | PROT_WRITE : PROT_EXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof all / sizeof *all, all };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? 9 : execv(words[2], words + 2);
}
"""
# Functions whose begin cannot be moved: a jump leads between its first bytes, they are too few, or enter the kernel. The program has a
# handler of SIGTRAP, blocks all signals where it calls them, and calls them in threads, a child, a library of late, and a sandbox.
TRAPS = """
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#define FUNCTION(name, code) __asm__(".globl " #name "\\n.type " #name ", @function\\n" #name ": " code "\\n.size " #name ", . - " #name); \\
    int name(int)
FUNCTION(middle, "xor %eax, %eax; 1: inc %eax; cmp %edi, %eax; jl 1b; ret; nop; nop; nop");
FUNCTION(small, "ret; .skip 6, 0xf4");
FUNCTION(enters, "mov %edi, %eax; syscall; ret; nop; nop; nop; nop");
#ifndef LIBRARY
static int traps;
static jmp_buf back;
static void on_trap(int number) { traps += number == SIGTRAP; }
static void *calls(void *all) { for (int i = 0; i < 30; i++) if (middle(i + 1) != i + 1) traps = 9; return all; }
static void call(int count)
{
    for (volatile int i = 0; i < count; i++) {
        if (middle(7) != 7 || enters(SYS_getpid) != getpid()) traps = 9;
        if (!setjmp(back)) { small(0); longjmp(back, 1); }
    }
}
int main(int count, char **words)
{
    pthread_t all[50];
    sigset_t every;
    signal(SIGTRAP, on_trap);
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, NULL);
    if (strcmp(words[1], "late") == 0) {
        int (*late)(int);
        pthread_create(&all[0], NULL, calls, NULL);
        *(void **)&late = dlsym(dlopen(words[2], RTLD_NOW), "middle");
        for (int i = 0; i < 20; i++) if (late(3) != 3) return 9;
        _exit(0);
    }
    if (strcmp(words[1], "thread")) call(20);
    pthread_sigmask(SIG_UNBLOCK, &every, NULL);
    raise(SIGTRAP);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 50; i++) pthread_create(&all[i], NULL, calls, NULL);
        for (int i = 0; i < 50; i++) pthread_join(all[i], NULL);
    }
    if (strcmp(words[1], "fork") == 0 && fork()) wait(NULL);
    if (strcmp(words[1], "fork") == 0) call(7);
    if (strcmp(words[1], "sandbox") == 0) {
        struct sock_filter filter[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpid, 1, 0),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        };
        struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 9;
        call(5);
    }
    _exit(traps != 1);
}
#endif
"""
# A process that says it has a shadow stack: syscall() is also what the recorder asks with. `calls` begins with a call.
SHADOW = r"""
#include <dlfcn.h>
#include <stdarg.h>
long syscall(long number, ...)
{
    long (*real)(long, ...), all[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) all[i] = va_arg(list, long);
    va_end(list);
    if (number == 158 && all[0] == 0x5005) { *(unsigned long *)all[1] = 1; return 0; }
    *(void **)&real = dlsym(RTLD_NEXT, "syscall");
    return real(number, all[0], all[1], all[2], all[3], all[4], all[5]);
}
volatile int sum;
__attribute__((noipa)) int other(void) { return ++sum; }
__asm__(".globl calls\n.type calls, @function\ncalls: endbr64\n call other\n add $1, %eax\n ret\n.size calls, . - calls");
int calls(void);
__attribute__((noipa)) int step(int i) { sum += i; sum *= 3; return sum; }
int main(void) { for (int i = 0; i < 20; i++) { calls(); step(i); } return 0; }
"""
INLINED = """
#include <cstdio>
volatile double sum;
#define ALWAYS inline __attribute__((always_inline))
static ALWAYS void work(double by) { for (int i = 0; i < 30000; i++) sum = sum + by * i; }
namespace net {
struct Trainer {
    template <class T> ALWAYS void step(T by) { work(by); work(by); }
    __attribute__((noinline)) void train(int n) { for (int i = 0; i < n; i++) step<double>(i); }
};
}
__attribute__((noinline)) void evaluate(int n) { for (int i = 0; i < n; i++) work(i); }
int main() { net::Trainer trainer; trainer.train(50); evaluate(50); }
"""
# All registers of vectors have what they had, and those that were not in use are not.
REGISTERS = r"""
#include <cpuid.h>
#include <stdint.h>
#include <string.h>
__asm__(".globl step\n.type step, @function\nstep: nopl 64(%rax,%rax)\n ret\n.size step, . - step");
void step(void);
static uint8_t before[32 * 64 + 64] __attribute__((aligned(64))), after[sizeof before] __attribute__((aligned(64)));
#define EACH(op, kind, numbers, base, way) ".irp r," numbers "\n" op " " way(kind, base) "\n.endr\n"
#define IN(kind, base) #base "+64*\\r(%0), %%" #kind "\\r"
#define OUT(kind, base) "%%" #kind "\\r, " #base "+64*\\r(%1)"
#define N16 "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
#define N32 N16 ",16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31"
static int check(int bytes)
{
    memset(after, 0, sizeof after);
    if (bytes == 64)
        __asm__ volatile(EACH("vmovups", zmm, N32, 0, IN) "kmovq 2048(%0), %%k1\nkmovq 2056(%0), %%k7\ncall step\n"
                         EACH("vmovups", zmm, N32, 0, OUT) "kmovq %%k1, 2048(%1)\nkmovq %%k7, 2056(%1)\nvzeroupper" : : "r"(before), "r"(after) : "memory");
    else if (bytes == 32)
        __asm__ volatile(EACH("vmovups", ymm, N16, 0, IN) "call step\n" EACH("vmovups", ymm, N16, 0, OUT) "vzeroupper" : : "r"(before), "r"(after) : "memory");
    else
        __asm__ volatile(EACH("movaps", xmm, N16, 0, IN) "call step\n" EACH("movaps", xmm, N16, 0, OUT) : : "r"(before), "r"(after) : "memory");
    for (int i = 0; i < (bytes == 64 ? 32 : 16); i++)
        if (memcmp(before + 64 * i, after + 64 * i, bytes))
            return 1;
    return bytes == 64 && memcmp(before + 2048, after + 2048, 16);
}
static uint32_t in_use(void) { uint32_t a, d; __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(1)); return a; }
int main(void)
{
    uint32_t a, b, c, d, used;
    int wrong = 0;
    for (unsigned i = 0; i < sizeof before; i++) before[i] = i * 7 + i / 64;
    for (int i = 0; i < 4; i++) {
        wrong |= check(16);
        if (__builtin_cpu_supports("avx2")) wrong |= check(32);
        if (__builtin_cpu_supports("avx512bw")) wrong |= check(64);
        if (__builtin_cpu_supports("avx2") && __get_cpuid_count(0xd, 1, &a, &b, &c, &d) && a & 4) {
            __asm__ volatile("vzeroall");
            used = in_use();
            step();
            wrong |= (in_use() & ~used & 0x44) != 0;
        } else
            step();
    }
    return wrong;
}
"""
TEMPLATES = """
#include <stdexcept>
#include <vector>
volatile float sink;
namespace net {
template <class T, int N> struct Trainer {
    std::vector<T> all = std::vector<T>(N);
    __attribute__((noinline)) void one_step(int i) { for (auto &e : all) e = e * T(.5) + i; sink = all[0]; }
    template <class U> __attribute__((noinline)) U typed_step(U i) { for (auto &e : all) e = e * T(.25) + i; sink = all[0]; return i; }
};
}
template <class A> struct Deep { };
template <class A> __attribute__((noinline)) void both(A by) { for (int i = 0; i < 99; i++) sink = sink + by; }
template <class A> __attribute__((noinline)) void deep(A *by) { for (int i = 0; i < 99; i++) sink = sink + (by == nullptr); }
struct Op { __attribute__((noinline)) float operator()(float x) { for (int i = 0; i < 99; i++) x = x * .5f + 1; return x; } };
struct Virtual { virtual ~Virtual() {} virtual __attribute__((noinline)) void step(int i) { for (int k = 0; k < 99; k++) sink = sink + i; } };
__attribute__((noinline)) void throws(int i) { sink = i; if (i >= 0) throw std::runtime_error("no"); }
DEEP
int main()
{
    net::Trainer<float, 20000> trainer;
    Op op;
    Virtual *other = new Virtual;
    auto lambda = [&](int i) __attribute__((noinline)) { for (int k = 0; k < 99; k++) sink = sink + i; };
    for (int i = 0; i < 12; i++) {
        trainer.one_step(i); trainer.typed_step<double>(i); both(1.0f); both(2.0); deep((Long *)nullptr); sink = op(i); other->step(i); lambda(i);
        try { throws(i); } catch (const std::exception &) { }
    }
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
        self.assertEqual(self.steps("first_jumps", "args")[0], 20)

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
            for function, count in (("step", 20), ("layer", 40), ("copied", 20), ("unlikely", 20)):
                self.assertEqual(self.steps(function, "", program=parts)[0], count, function)

    def test_a_thread_that_looks_holds_up_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            first = self.build(folder, "libfirst.so", "int first;", "-shared", "-fPIC")
            library = self.build(folder, "libsteps.so", LIBRARY, "-shared", "-fPIC")
            held = self.build(folder, "held", HELD, "-D_GNU_SOURCE", "-rdynamic", "-pthread", "-ldl")
            self.assertEqual(self.steps("library_step", f"{first} {library}", program=held)[0], 12)

    def move_names(self, path):
        """Puts the names of symbols to an odd offset, as tools do that change libraries."""
        with open(path, "r+b") as file:
            data = bytearray(file.read())
            begin, (size, count) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<HH", data, 58)
            sections = [list(struct.unpack_from("<IIQQQQIIQQ", data, begin + i * size)) for i in range(count)]
            names = next(section[6] for section in sections if section[1] == 2)
            _, _, _, _, offset, length, *_ = sections[names]
            data += bytes(1 - len(data) % 2)
            struct.pack_into("<Q", data, begin + names * size + 24, len(data))
            self.assertEqual(len(data) % 2, 1)
            data += data[offset:offset + length]
            file.seek(0)
            file.write(data)

    def test_functions_of_libraries(self):
        with tempfile.TemporaryDirectory() as folder:
            library = self.build(folder, "libsteps.so", LIBRARY, "-shared", "-fPIC")
            linked = self.build(folder, "linked", MAIN, "-pthread", "-L" + folder, "-Xlinker", "-rpath=" + folder, "-Wl,--no-as-needed", "-lsteps")
            late = self.build(folder, "late", MAIN, "-DLATE", "-pthread", "-ldl")
            for function in ("library_step", "hidden_step"):
                self.assertEqual(self.steps(function, "", program=linked)[0], 12, function)
                self.assertEqual(self.steps(function, library, program=late)[0], 12, function)
                self.assertEqual(self.steps(function, library + " threads", program=late)[0], 12, function)
            self.move_names(library)
            self.assertEqual(self.steps("hidden_step", "", program=linked)[0], 12)
            folders = self.build(folder, "folders", MAIN, "-DLATE", "-pthread", "-ldl", "-Xlinker", "-rpath=" + folder)
            subprocess.run(["strip", library], check=True)
            self.assertEqual(self.steps("library_step", "", program=linked)[0], 12)
            count, text = self.steps("hidden_step", "", program=linked)
            self.assertIn(f"--step-on hidden_step: no function of this name is in the symbol table of {linked}", text)
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
            self.assertIn("several functions have this name: engine::same(double) = _ZN6engine4sameEd (cpp), other::same(double) = "
                          "_ZN5other4sameEd (cpp); give the whole name, or FILE:NAME", self.steps("same", "", program=cpp)[1])
            self.assertIn("a similar one of the program is engine::inner_step", self.steps("inner_stop", "", program=cpp)[1])

    def test_names_of_templates_members_and_lambdas(self):
        with tempfile.TemporaryDirectory() as folder:
            long_name = "using L0 = Deep<int>;\n" + "".join(f"using L{i} = Deep<L{i - 1}>;\n" for i in range(1, 400)) + "using Long = L399;"
            cpp = self.build(folder, "templates", TEMPLATES.replace("DEEP", long_name), compiler="g++")
            for function in ("one_step", "net::Trainer::one_step", "Trainer<float, 20000>::one_step", "Trainer<float,20000>::one_step(int)",
                             "typed_step", "typed_step<double>", "both<float>", "void both<double>(double)", "deep", "Op::operator()",
                             "Virtual::step", "main::{lambda(int)#1}::operator()", "throws(int)", "_Z4bothIfEvT_", "templates:throws",
                             "_ZN7Virtual4stepEi"):
                self.assertEqual(self.steps(function, "", program=cpp)[0], 12, function)
            text = self.steps("both", "", program=cpp)[1]
            self.assertIn("several functions have this name: void both<", text)
            self.assertIn("void both<double>(double) (templates)", text)

    def test_functions_may_begin_with_any_instruction(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in ((), ("-fcf-protection",), ("-O3", "-fno-pie", "-no-pie"), ("-Os",)):
                begins = self.build(folder, "begins", BEGINS, *options)
                # Without alignment nothing may follow a function that is shorter than a jump.
                for function in ("scalars", "relative", "jumps", "tiny") + (("tail", "nothing") if "-Os" not in options else ()):
                    self.assertEqual(self.steps(function, "", program=begins)[0], 20, (function, options))
                self.assertIn(self.steps("vectors", "", program=begins)[0], (0, 20))
                self.assertEqual(self.steps("recurses", "", program=begins)[0], 60, options)

    def test_the_cost_of_steps_is_in_the_report(self):
        with tempfile.TemporaryDirectory() as folder:
            calls = self.build(folder, "calls", "volatile int all; __attribute__((noipa)) void step(int i) { all = i; }\n"
                               "int main(void) { for (int i = 0; i < 5000; i++) step(i); }")
            trace = os.path.join(folder, "t.dwell")
            subprocess.run([dwell, "run", "-o", trace, "--sample", "off", "--step-on", "step", calls], check=True, timeout=60)
            report = subprocess.run([dwell, "report", trace, "--format", "json"], capture_output=True, check=True, timeout=60)
            table = json.loads(report.stdout)["views"][0]
            names = [column["name"] for column in table["columns"]]
            self.assertGreater(table["rows"][0][names.index("cost_share")], 0.02)

    def test_all_registers_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            registers = self.build(folder, "registers", REGISTERS)
            self.assertGreaterEqual(self.steps("step", "", program=registers)[0], 8)

    def test_threads_before_main_and_a_thousand_later(self):
        with tempfile.TemporaryDirectory() as folder:
            threads = self.build(folder, "threads", THREADS, "-pthread")
            self.assertEqual(self.steps("step", "", program=threads)[0], 20)
            self.assertEqual(self.steps("leaves", "", program=threads)[0], 20)
            self.assertEqual(self.steps("stays", "", program=threads)[0], 1)

    def test_a_child_of_another_thread_has_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(self.steps("step", "", program=self.build(folder, "forks", FORKS, "-pthread"))[0], 20 + 7)

    def test_native_functions_of_python(self):
        with tempfile.TemporaryDirectory() as folder:
            library = self.build(folder, "libsteps.so", LIBRARY, "-shared", "-fPIC")
            script = os.path.join(folder, "script.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write(f"import ctypes\nstep = ctypes.CDLL({library!r}).library_step\nstep.restype = ctypes.c_double\n"
                           "step.argtypes = [ctypes.c_double]\nfor i in range(12):\n    step(i)\n")
            for function in ("libsteps.so:library_step", "libsteps.so:hidden_step"):
                count, text = self.steps(function, script, program=sys.executable)
                self.assertEqual(count, 12, text)
                self.assertIn(f"steps are calls of the function in {library}", text)
            count, text = self.steps("libother.so:library_step", script, program=sys.executable)
            self.assertEqual(count, 0)
            self.assertIn("--step-on libother.so:library_step: no file of this name that was loaded has this function", text)
            count, text = self.steps("library_step", script, program=sys.executable)
            self.assertEqual(count, 0)
            self.assertIn("--step-on library_step: nothing of this name was seen; a function of a native library is FILE:NAME", text)

    def test_whoever_starts_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            begins = self.build(folder, "begins", BEGINS)
            for launcher in ("timeout 60", "env A=1", "nice -n 1", "taskset -c 0", "setsid -w", "sh -c $0", "python3 -c import\tos,sys;os.execv(sys.argv[1],sys.argv[1:])",
                             "timeout 60 env A=1 nice sh -c $0"):
                words = [word.replace("\t", " ") for word in launcher.split(" ")]
                self.assertEqual(self.steps("scalars", begins, *words[:-1], program=words[-1])[0], 20, launcher)
            if shutil.which("mpirun"):
                os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
                self.assertEqual(self.steps("scalars", begins, "mpirun", "-n", "3", program="env")[0], 60)

    def test_code_that_the_program_writes_to_stays_writable(self):
        with tempfile.TemporaryDirectory() as folder:
            writes = self.build(folder, "writes", PATCHED.replace("return sum;", "*((volatile char *)step + 20) = *((char *)step + 20); return sum != 0 ? 0 : 1;")
                                .replace("sum *= 3", "sum *= 5"))
            with open(writes, "r+b") as file:
                data = bytearray(file.read())
                begin, (size, count) = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<HH", data, 54)
                for at in range(begin, begin + size * count, size):
                    kind, flags = struct.unpack_from("<II", data, at)
                    if kind == 1 and flags & 1:
                        struct.pack_into("<I", data, at + 4, 7)
                file.seek(0)
                file.write(data)
            self.assertEqual(self.steps("step", "", program=writes)[0], 20)

    def test_two_functions_of_one_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("one", "two"):
                self.build(folder, f"lib{name}.so", LIBRARY.replace("library_step", f"{name}_step"), "-shared", "-fPIC")
            both = self.build(folder, "both", MAIN.replace("double library_step", "double two_step(double); double one_step")
                              .replace("step = library_step", "step = one_step").replace("step(i)", "step(i) + two_step(i)"), "-pthread",
                              "-L" + folder, "-Xlinker", "-rpath=" + folder, "-lone", "-ltwo")
            count, text = self.steps("hidden_step", "", program=both)
            self.assertEqual(count, 0)
            self.assertIn("several functions have this name: hidden_step (libone.so, <stdin>), hidden_step (libtwo.so, <stdin>); give the whole name, or FILE:NAME", text)
            self.assertIn("no file of this name that was loaded has this function", self.steps("libthree.so:hidden_step", "", program=both)[1])
            count, text = self.steps("libtwo.so:hidden_step", "", program=both)
            self.assertEqual(count, 12)
            self.assertIn(f"--step-on libtwo.so:hidden_step: steps are calls of the function in {folder}/libtwo.so", text)
            # A function of libc that no program is linked to any more.
            self.assertIn("--step-on step: no function of this name", self.steps("step", "", program=both)[1])

    def test_stripped_and_static_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            begins = self.build(folder, "begins", BEGINS)
            symbols = subprocess.run(["nm", begins], capture_output=True, text=True, check=True).stdout
            at = int(re.search(r"^([0-9a-f]+) T scalars$", symbols, re.M).group(1), 16)
            subprocess.run(["strip", begins], check=True)
            self.assertEqual(self.steps(f"begins+{at:#x}", "", program=begins)[0], 20)
            self.assertIn(f"{begins}: no function begins there by the unwind table", self.steps(f"begins+{at + 4:#x}", "", program=begins)[1])
            self.assertIn("--step-on scalars: no function of this name", self.steps("scalars", "", program=begins)[1])
            begins = self.build(folder, "begins", BEGINS, "-s", "-rdynamic")
            self.assertEqual(self.steps("scalars", "", program=begins)[0], 20)
            begins = self.build(folder, "begins", BEGINS, "-static")
            self.assertIn("has this function, and loaded no library of dwell (it may be static)", self.steps("scalars", "", program=begins)[1])

    def test_inlined_functions_are_refused_with_those_that_have_them(self):
        with tempfile.TemporaryDirectory() as folder:
            for options in (), ("-flto",):
                inlined = self.build(folder, "inlined", INLINED, "-g", *options, compiler="g++")
                for function in ("step", "Trainer::step", "net::Trainer::step", "inlined:step"):
                    text = self.steps(function, "", program=inlined)[1]
                    self.assertIn(f"--step-on {function}: {inlined}: the compiler put it into net::Trainer::train(int), so that it is no function of "
                                  "its own; name that function, or compile it with __attribute__((noinline))", text)
                # what the program starts is looked at while it runs, which a busy machine may do too late
                text = again.until(lambda text: inlined in text, lambda: self.steps("work", f"60 {inlined}", program="timeout")[1])
                for into in ("net::Trainer::train(int)", "evaluate(int)"):
                    self.assertRegex(text, rf"{inlined}: the compiler put it into [^;]*{re.escape(into)}[^;]*; name one of these")
            self.assertIn(f"{inlined} or of a library that was loaded, and no range of ITT or NVTX has it; it is inlined nowhere either",
                          self.steps("nothing_of_this_name", "", program=inlined)[1])
            without = self.build(folder, "without", INLINED, "-g0", compiler="g++")
            self.assertIn("it may be inlined everywhere: compile with -g, and dwell says where", self.steps("step", "", program=without)[1])
            subprocess.run(["strip", without], check=True)
            for function in "step", "without:step":
                self.assertIn(f"{without} is stripped: of its functions give FILE+0xADDRESS", self.steps(function, "", program=without)[1])

    def test_shadow_stacks(self):
        with tempfile.TemporaryDirectory() as folder:
            shadow = self.build(folder, "shadow", SHADOW, "-rdynamic", "-fcf-protection", "-D_GNU_SOURCE")
            self.assertEqual(self.steps("step", "", program=shadow)[0], 20)
            count, text = self.steps("calls", "", "--sample", "off", program=shadow)
            self.assertEqual(count, 0)
            self.assertIn(f"--step-on calls: {shadow}: its first instructions call a function, and there is a shadow stack, and a breakpoint of the "
                          "kernel needs samples: leave out --sample off; or name a function that it calls or that calls it", text)
            self.assertEqual(self.steps("calls", "", program=shadow)[0], 20 if self.has_breakpoints(folder) else 0)
            self.assertEqual(self.steps("other", "", program=shadow)[0], 20)

    def test_a_system_that_does_not_permit_changes(self):
        with tempfile.TemporaryDirectory() as folder:
            begins, sandbox = self.build(folder, "begins", BEGINS), self.build(folder, "sandbox", SANDBOX)
            for what in "writes", "all":
                self.assertEqual(self.steps("scalars", f"{what} {begins}", program=sandbox)[0], 20 if self.has_breakpoints(folder) else 0)
            count, text = self.steps("scalars", f"events {begins}", program=sandbox)
            self.assertEqual(count, 0)
            self.assertIn(f"--step-on scalars: {begins}: the system does not permit code to be changed (a sandbox, SELinux, or PR_SET_MDWE), and the "
                          "system permits no breakpoint of the kernel: permit perf_event_open(), by kernel.perf_event_paranoid of at most 2 and in a "
                          "container's rules; or mark steps with DWELL_STEP(), or permit changed code, as SELinux does by execmod and execmem", text)

    def has_breakpoints(self, folder):
        """Whether the kernel permits them here."""
        return self.steps("small", "fork", program=self.build(folder, "traps", TRAPS, "-D_GNU_SOURCE", "-pthread"))[0] > 0

    def test_what_cannot_be_moved_has_a_breakpoint_of_the_kernel(self):
        with tempfile.TemporaryDirectory() as folder:
            if not self.has_breakpoints(folder):
                self.skipTest("the kernel permits no breakpoints")
            traps = os.path.join(folder, "traps")
            library = self.build(folder, "libtraps.so", TRAPS, "-D_GNU_SOURCE", "-DLIBRARY", "-shared", "-fPIC")
            for function in "middle", "small", "enters":
                self.assertEqual(self.steps(function, "all", program=traps)[0], 20, function)
                self.assertEqual(self.steps(function, "fork", "--sample=perf", program=traps)[0], 20 + 7 + 7, function)
            self.assertEqual(self.steps("middle", "thread", program=traps)[0], 30)
            self.assertEqual(self.steps("libtraps.so:middle", f"late {library}", program=traps)[0], 20)
            self.assertEqual(self.steps("middle", "sandbox", program=traps)[0], 20)

    def test_refusals_have_a_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            refused = self.build(folder, "refused", REFUSED)
            count, text = self.steps("to_begin", "", program=refused)
            self.assertEqual(count, 0)
            self.assertIn(f"--step-on to_begin: {refused}: a jump of the function leads to its first instructions; name a function that it calls or "
                          "that calls it", text)
            self.build(folder, "libpatches.so", PATCHES, "-shared", "-fPIC", "-D_GNU_SOURCE")
            patched = self.build(folder, "patched", PATCHED, "-rdynamic", "-L" + folder, "-Xlinker", "-rpath=" + folder, "-Wl,--no-as-needed", "-lpatches")
            count, text = self.steps("step", "", program=patched)
            self.assertEqual(count, 0)
            self.assertIn(f"--step-on step: {patched}: its code is not that of the file: a debugger or another tool has changed it; name", text)
            begins, no_code = self.build(folder, "begins", BEGINS), self.build(folder, "no_code", NO_CODE)
            self.assertIn(self.steps("scalars", begins, program=no_code)[0], (0, 20))  # 0: this kernel cannot, or has no breakpoints
        for function, reason in (("no_such_function", "no function of this name"), ("main_loop", "no function of this name")):
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
