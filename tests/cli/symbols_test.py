#!/usr/bin/env python3
"""Names of functions by address, in files that the compiler, the assembler and the linker make here: the rule of
base/code/elf_symbols.h against a simple reading of the same tables, for each byte of code.

usage: symbols_test.py DWELL SYMBOL_NAMES SANITIZE ELFUTILS

The last line is "N passed, N failed, N skipped".
"""
import csv
import os
import platform
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

dwell, symbol_names = (os.path.abspath(path) for path in sys.argv[1:3])
sanitize = sys.argv[3] if len(sys.argv) > 3 else "none"
has_elfutils = sys.argv[4:] != ["no"]

# Each kind of symbol: with and without type and size, one after the other, within one another, and in two sections.
ASSEMBLY = """
    .text
    .skip 24, 0x90
    .globl first
first:                          # neither a type nor a size
    .skip 40, 0x90
inner:                          # local, neither
    .skip 16, 0x90
inner.loop:                     # a mark of NASM within it
    .skip 16, 0x90
    .type sized, @function
    .globl sized
sized:
    .skip 32, 0x90
label:                          # within a function that has a size
    .skip 32, 0x90
    .size sized, . - sized
    .skip 48, 0x90              # in nothing
    .type bare, @function       # a type and no size, as crtstuff's frame_dummy
bare:
    .skip 24, 0x90
    .globl alias_one, alias_two, alias_none
    .type alias_one, @function
    .type alias_two, @function
alias_none:
alias_one:
alias_two:
    .skip 64, 0x90
    .size alias_one, 32         # of two sizes
    .size alias_two, 64
    .type outer, @function
outer:
    .skip 16, 0x90
    .type nested, @function
nested:
    .skip 16, 0x90
    .size nested, 16
    .skip 16, 0x90
    .size outer, 48
    .globl with_table
with_table:                     # by the unwind table it ends before the section does
    .cfi_startproc
    .skip 32, 0x90
    .cfi_endproc
    .cfi_startproc
    .skip 32, 0x90              # a function without a symbol
    .cfi_endproc
    .globl last
last:
    .skip 16, 0x90
    .section .other, "ax", @progbits
    .skip 32, 0x90
    .globl elsewhere
elsewhere:
    .skip 16, 0x90
    .data
    .globl datum
datum: .quad 1
    .section .note.GNU-stack, "", @progbits
"""
C = """
int first(int), with_table(int);
__attribute__((noinline)) int plain(int x) { return x * 3; }
static __attribute__((noinline)) int hidden(int x) { return x * 5; }
int main(int count, char **words) { return plain(count) + hidden(count) > 100 ? first(1) + with_table(2) : 0; }
"""
# Code whose addresses are not its offsets in the file, as in node's program.
SHIFTED = "-Wl,-z,separate-code,-Ttext-segment=0x600000"
# Assembly without types behind what the compiler's own files end with, and a program that runs it.
KERNEL = """
    .text
    .globl asm_kernel
asm_kernel:
    movl $400000000, %ecx
1:  addss %xmm1, %xmm0
    decl %ecx
    jnz 1b
    ret
    .section .note.GNU-stack, "", @progbits
"""
KERNEL_MAIN = """
float asm_kernel(float, float);
__attribute__((noinline)) float before(float x) { return x * 2; }
int main(void) { return asm_kernel(before(1), 1) == 0; }
"""
# A program that maps its own code a second time and runs it there, as node does with its builtins.
AGAIN = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noipa)) void again_work(void) { for (volatile unsigned i = 0; i < 300000000u; i++); }
static void *copy;
static int find(struct dl_phdr_info *info, size_t size, void *context)
{
    for (int i = 0; i < info->dlpi_phnum && !copy; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        unsigned long within = (unsigned long)again_work - info->dlpi_addr - part->p_vaddr;
        if (part->p_type == PT_LOAD && within < part->p_filesz)
            copy = (char *)mmap(NULL, part->p_filesz, PROT_READ | PROT_EXEC, MAP_PRIVATE, open("/proc/self/exe", O_RDONLY),
                                part->p_offset & -4096ul) + part->p_offset % 4096 + within;
    }
    return 1; /* the program itself is the first one */
}
int main(int count, char **words) { dl_iterate_phdr(find, NULL); do ((void (*)(void))copy)(); while (count > 1); }
"""
# A function of a header, and one for a single instruction, inlined into another file's, which -flto puts into a unit of its own.
DOT = """
#include <xmmintrin.h>
static inline float dot(const float *a, const float *b)
{
    __m128 sum = _mm_setzero_ps();
    for (int i = 0; i < 1024; i += 4)
        sum = _mm_add_ps(sum, _mm_mul_ps(_mm_loadu_ps(a + i), _mm_loadu_ps(b + i)));
    return sum[0] + sum[1];
}
"""
LAYER = """
#include "dot.h"
__attribute__((noipa)) float layer(const float *a, const float *b)
{
    float sum = 0;
    for (int i = 0; i < 1000; i++)
        sum = sum * 0.5f + dot(a, b);
    return sum;
}
"""
LAYER_MAIN = """
float layer(const float *, const float *);
int main(void) { static float a[1024], b[1024]; float sum = 0; for (int i = 0; i < 1500; i++) sum += layer(a, b); return sum != 0; }
"""
RUST = """
#[inline(always)] fn dot(a: &[f32], b: &[f32]) -> f32 { a.iter().zip(b.iter()).map(|(x, y)| x * y).sum() }
#[inline(never)] fn layer(a: &[f32], b: &[f32]) -> f32 { (0..1000).map(|_| dot(unsafe { std::ptr::read_volatile(&a) }, b)).sum() }
fn main() { let a = vec![0.5; 1024]; let mut sum = 0.0; for _ in 0..600 { sum += layer(&a, &a); } std::process::exit((sum < 0.0) as i32) }
"""
# The scheduler of Go interrupts what runs long, by a signal that comes with the sampler's, and its code has no unwind table.
GO = """
package main
// #include <stdlib.h>
import "C"
import "os"
//go:noinline
func work(o []float32) { for i := 0; i < 200000000; i++ { o[i&1023] = o[i&1023]*0.5 + 1 } }
func main() { o := make([]float32, 1024); work(o); work(o); os.Exit(int(C.abs(C.int(o[0])) / 8)) }
"""
# Libraries that are loaded in turns, each at the place of the one before.
PLUGIN = """
#include <time.h>
static double cpu(void) { struct timespec t; clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
__attribute__((noipa)) void NAME(void) { for (volatile unsigned i = 0; i < 1000000; i++); }
void run(void) { double end = cpu() + .1; while (cpu() < end) NAME(); }
"""
# A function that no table of a stripped library has.
WITHIN = """
static volatile double sum;
static __attribute__((noipa)) void within(int turns) { for (int i = 0; i < turns; i++) sum += i; }
void work(void) { for (int i = 0; i < 300; i++) within(1000000); }
"""
HOST = """
#include <dlfcn.h>
int main(int count, char **words)
{
    for (int i = 0; ; i++) {
        void *library = dlopen(words[1 + i % 2], RTLD_NOW);
        ((void (*)(void))dlsym(library, "run"))();
        dlclose(library);
    }
}
"""
FILES = {  # name: what the compiler is told, and what is done with the file
    "program": (["-no-pie"], []),
    "pie": (["-pie", "-fPIE", "-Wl,-z,noseparate-code"], []),
    "separate": (["-pie", "-fPIE", "-Wl,-z,separate-code"], []),
    "shifted": (["-no-pie", SHIFTED, "-Wl,--section-start=.other=0x900000"], []),
    "library": (["-shared", "-fPIC"], []),
    "dynamic": (["-shared", "-fPIC"], ["--strip-all"]),
    "stripped": (["-no-pie"], ["--strip-all"]),
    "debug": (["-no-pie", "-g"], ["--only-keep-debug"]),
    "bytes": (["-no-pie", "-Wl,--build-id=none,-z,max-page-size=65536"], ["--strip-debug"]),
}


def cpu_s(pid):
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as file:
        return int(file.read().split()[0]) / 1e9


class Elf:
    """The sections and symbols of a file, read as plainly as possible."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        at, size, count = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<2H", data, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
        self.code = [(part[3], part[3] + part[5]) for part in sections if part[2] & 2 and part[2] & 4]
        self.symbols = set()  # (start, size, name)
        for kind in (2, 11):
            for part in [part for part in sections if part[1] == kind][:1]:
                texts = sections[part[6]][4]
                for i in range(part[5] // 24):
                    name, info, _, section, value, size = struct.unpack_from("<IBBHQQ", data, part[4] + i * 24)
                    text = data[texts + name:data.index(b"\0", texts + name)].decode()
                    if (info & 15 in (0, 2, 10) and section not in (0, 0xfff1) and value and text and self.end(value)
                            and not (info & 15 == 0 and info >> 4 == 0 and "." in text)):
                        self.symbols.add((value, size, text))
        self.symbols = sorted(self.symbols)

    def end(self, address):
        return next((high for low, high in self.code if low <= address < high), None)

    def names(self, address):
        """The names that are right."""
        sized = [symbol for symbol in self.symbols if symbol[0] <= address < symbol[0] + symbol[1]]
        if sized:
            nearest = max(symbol[0] for symbol in sized)
            return {symbol[2] for symbol in sized if symbol[0] == nearest}
        before = [symbol for symbol in self.symbols if symbol[0] <= address and (symbol[1] or not any(
            other[0] <= symbol[0] < other[0] + other[1] for other in self.symbols))]
        nearest = max((symbol[0] for symbol in before), default=0)
        if not nearest or self.end(nearest) != self.end(address):
            return set()
        if any(symbol[1] for symbol in before if symbol[0] == nearest):
            return set()
        return {symbol[2] for symbol in before if symbol[0] == nearest}


@unittest.skipUnless(platform.machine() == "x86_64" and shutil.which("gcc") and shutil.which("objcopy"),
                     "needs x86-64, gcc and binutils")
class Symbols(unittest.TestCase):
    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, "enterContext") else None
        if not self.folder:
            folder = tempfile.TemporaryDirectory()
            self.addCleanup(folder.cleanup)
            self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def build(self, name, options, after=(), c=C):
        path = os.path.join(self.folder, name)
        sources = [self.write(name + ".c", c), self.write(name + ".S", ASSEMBLY)]
        subprocess.run(["gcc", "-O1", "-w", *options, "-o", path, *sources], check=True, timeout=60)
        if after:
            subprocess.run(["objcopy", *after, path], check=True, timeout=60)
        return path

    def ask(self, path, addresses):
        asked = subprocess.run([symbol_names, path], input="".join(f"{at:x}\n" for at in addresses), text=True,
                               capture_output=True, check=True, timeout=100)
        return [line.split() for line in asked.stdout.splitlines()]

    def test_each_byte_of_code_has_a_name_that_contains_it_or_none(self):
        for name, (options, after) in FILES.items():
            path = self.build(name, options, after)
            elf = Elf(path)
            addresses = [at for low, high in elf.code for at in range(low, high)]
            named = set()
            with self.subTest(name):
                for at, (all_, one, start, live) in zip(addresses, self.ask(path, addresses)):
                    right = elf.names(at) or {"-"}
                    if all_ == "-" and int(start, 16):  # by the unwind table it is in another function
                        right.add("-")
                    self.assertIn(all_, right, hex(at))
                    self.assertEqual(all_, one, hex(at))
                    if live not in ("?", all_):  # the same rule, but for aliases and the unwind table
                        self.assertIn(live, right, hex(at))
                    named.add(all_)
                    if int(start, 16):
                        self.assertLessEqual(int(start, 16), at)
                        self.assertEqual(elf.end(int(start, 16)), elf.end(at))
                self.assertIn("-", named)
                if name not in ("stripped", "dynamic"):
                    self.assertLessEqual({"first", "sized", "bare", "outer", "nested", "last", "elsewhere", "plain"}, named)
                    self.assertFalse({"label", "inner.loop"} & named)

    def test_code_between_functions_of_the_unwind_table_is_in_none(self):
        path = self.build("gap", ["-no-pie"])
        elf = Elf(path)
        begin = {name: start for start, _, name in elf.symbols}
        table, last = begin["with_table"], begin["last"]
        rows = self.ask(path, [table + 31, table + 32, table + 63, last, last + 15])
        self.assertEqual([row[0] for row in rows], ["with_table", "-", "-", "last", "last"])
        self.assertEqual([int(row[2], 16) for row in rows], [table, table + 32, table + 32, table + 64, table + 64])

    def sampled(self, path):
        """The rows of functions of a run, the hottest first."""
        trace = os.path.join(self.folder, "t.dwell")
        subprocess.run([dwell, "run", "-o", trace, path], check=True, timeout=100, capture_output=True)
        return list(self.rows(trace))

    def rows(self, trace):
        """The share of each function, the hottest first."""
        table = subprocess.run([dwell, "report", trace, "--view", "hot", "--format", "csv"], check=True, timeout=100, text=True,
                               capture_output=True).stdout
        return {line[0]: float(line[4]) for line in list(csv.reader(table.splitlines()))[1:]}

    @unittest.skipIf(sanitize != "none" or not has_elfutils, "no sanitizer's runtime may be the first library; needs elfutils")
    def test_functions_of_the_c_library_have_names_by_symbols_that_are_apart(self):
        library = os.path.join(self.folder, "libm.made.so")  # the rule is that of libm.so.6
        program = os.path.join(self.folder, "apart")
        subprocess.run(["gcc", "-O1", "-g", "-shared", "-fPIC", "-o", library, self.write("m.c", WITHIN)], check=True, timeout=60)
        subprocess.run(["objcopy", "--only-keep-debug", library, library + ".debug"], check=True)
        subprocess.run(["objcopy", "--strip-all", f"--add-gnu-debuglink={library}.debug", library], check=True)
        subprocess.run(["gcc", "-o", program, self.write("n.c", "void work(void); int main(void) { work(); }"), library,
                        "-Xlinker", f"-rpath={self.folder}"], check=True, timeout=60)
        self.assertEqual(self.sampled(program)[0], "within")
        os.remove(library + ".debug")
        self.assertEqual(self.sampled(program)[0], "work")  # its caller in the library

    @unittest.skipIf(sanitize != "none", "a sanitizer's runtime must be the first library")
    def test_assembly_without_types_is_named_in_a_run(self):
        path = os.path.join(self.folder, "kernel")
        subprocess.run(["gcc", "-O1", "-o", path, self.write("k.c", KERNEL_MAIN), self.write("k.S", KERNEL)], check=True,
                       timeout=60)
        self.assertEqual(self.sampled(path)[0], "asm_kernel")

    @unittest.skipIf(sanitize != "none", "a sanitizer's runtime must be the first library")
    def test_code_that_a_program_maps_again_is_named_in_a_run(self):
        for options in ("-no-pie", SHIFTED), ("-pie", "-fPIE"):
            path = os.path.join(self.folder, "again")
            subprocess.run(["gcc", "-O1", *options, "-o", path, self.write("again.c", AGAIN)], check=True, timeout=60)
            self.assertEqual(self.sampled(path)[0], "again_work", options)

    @unittest.skipUnless(has_elfutils, "built without elfutils")
    @unittest.skipIf(sanitize != "none", "a sanitizer's runtime must be the first library")
    def test_inlined_functions_are_named_where_another_unit_defines_them(self):
        self.write("dot.h", DOT)
        path = os.path.join(self.folder, "layers")
        for options in (), ("-flto",):
            subprocess.run(["gcc", "-O2", "-g", *options, "-o", path, self.write("layer.c", LAYER), self.write("m.c", LAYER_MAIN)],
                           check=True, timeout=60)
            rows = self.sampled(path)
            self.assertEqual(rows[0], "dot", (options, rows))
            if not options:  # -flto does not write which functions are no ones of their own
                self.assertFalse([name for name in rows if name.startswith("_mm")], "they belong to their callers")

    @unittest.skipUnless(has_elfutils and shutil.which("rustc"), "needs elfutils and rustc")
    @unittest.skipIf(sanitize != "none", "a sanitizer's runtime must be the first library")
    def test_inlined_functions_of_rust_are_named_and_the_program_is_found_within(self):
        path, trace = os.path.join(self.folder, "rusty"), os.path.join(self.folder, "t.dwell")
        subprocess.run(["rustc", "-O", "-g", "-o", path, self.write("rusty.rs", RUST)], check=True, timeout=100)
        self.assertIn("rusty::dot", self.sampled(path))
        # The first screen has the five largest functions only, which compilers inline in different ways.
        hot = subprocess.run([dwell, "report", "--view", "hot", "-n", "all", trace], check=True, timeout=100, text=True, capture_output=True).stdout
        self.assertRegex(hot, r"rusty::dot\s+rusty.rs:2\s")

    @unittest.skipUnless(shutil.which("go"), "needs Go")
    @unittest.skipIf(sanitize != "none", "a sanitizer's runtime must be the first library")
    def test_a_handler_that_is_about_to_begin_has_no_time(self):
        path = os.path.join(self.folder, "gone")
        environment = {**os.environ, "GO111MODULE": "off"}
        if not {"GOCACHE", "XDG_CACHE_HOME", "HOME"} & os.environ.keys():
            environment["GOCACHE"] = os.path.join(self.folder, "go")
        subprocess.run(["go", "build", "-o", path, self.write("gone.go", GO)], check=True, timeout=300, env=environment)
        trace = os.path.join(self.folder, "t.dwell")
        subprocess.run([dwell, "run", "-o", trace, path], check=True, timeout=100, capture_output=True)
        rows = self.rows(trace)
        self.assertGreater(rows["main.work"], 0.9, rows)

    def start(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def attached(self, process):
        """The rows of functions of a process that runs, of 2 seconds of its CPU time."""
        trace = os.path.join(self.folder, "a.dwell")
        with subprocess.Popen([dwell, "attach", str(process.pid), "--sample", "500", "-o", trace], stderr=subprocess.PIPE) as attach:
            attach.stderr.readline()
            begin, end = cpu_s(process.pid), time.monotonic() + 60
            while cpu_s(process.pid) < begin + 2 and time.monotonic() < end:
                time.sleep(0.05)
            attach.send_signal(signal.SIGINT)
            attach.stderr.read()
        return self.rows(trace)

    @unittest.skipUnless(has_elfutils, "built without elfutils")
    @unittest.skipIf(sanitize != "none", "a sanitized command reads stacks too late")
    def test_code_that_a_program_maps_again_is_named_from_outside(self):
        path = os.path.join(self.folder, "again")
        subprocess.run(["gcc", "-O1", "-no-pie", SHIFTED, "-o", path, self.write("again.c", AGAIN)], check=True, timeout=60)
        process = self.start(path, "forever")
        rows = self.attached(process)
        self.assertGreater(rows.get("again_work", 0), 0.7, rows)

    @unittest.skipUnless(has_elfutils, "built without elfutils")
    @unittest.skipIf(sanitize != "none", "a sanitized command reads stacks too late")
    def test_libraries_at_the_place_of_others_are_named_from_outside(self):
        host = os.path.join(self.folder, "host")
        subprocess.run(["gcc", "-O1", "-o", host, self.write("host.c", HOST)], check=True, timeout=60)
        libraries = [os.path.join(self.folder, name + ".so") for name in ("alpha", "beta")]
        for library, name in zip(libraries, ("alpha_work", "beta_work")):
            subprocess.run(["gcc", "-O1", "-fPIC", "-shared", "-DNAME=" + name, "-Wl,--build-id", "-o", library,
                            self.write("plugin.c", PLUGIN)], check=True, timeout=60)
        rows = self.attached(self.start(host, *libraries))
        self.assertAlmostEqual(rows.get("alpha_work", 0), rows.get("beta_work", 0), delta=0.15, msg=rows)
        self.assertGreater(rows.get("alpha_work", 0), 0.25, rows)


if __name__ == "__main__":
    result = unittest.main(argv=sys.argv[:1], exit=False).result
    failed, skipped = len(result.failures) + len(result.errors), len(result.skipped)
    print(f"{result.testsRun - failed - skipped} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed else 77 if skipped == result.testsRun else 0)
