#!/usr/bin/env python3
"""Calls that the probes of MPI and ggml cannot pass on fail, and the program goes on: a profiler ends no program.

usage: missing_test.py BUILD        last line: N passed, N failed

A program that asks the loader for a function finds the probe's, also where no library has it. It calls one of each kind:
with a status, with a pointer, and without a result.
"""
import os
import subprocess
import sys
import tempfile

BUILD = os.path.realpath(sys.argv[1])
PROGRAM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#define CALL(type, name, ...) ((type(*)(long, long, long))dlsym(RTLD_DEFAULT, name))(__VA_ARGS__)

int main(void)
{
#ifdef MPI
	int fails = CALL(int, "MPI_Init", 0, 0, 0) != 0 && CALL(int, "MPI_Init", 0, 0, 0) != 0 && CALL(int, "MPI_Barrier", 0, 0, 0) != 0 &&
	            CALL(int, "MPI_Finalize", 0, 0, 0) != 0;
#else
	int fails = CALL(int, "ggml_backend_graph_compute", 0, 0, 0) < 0 && CALL(int, "llama_encode", 0, 0, 0) < 0 &&
	            !CALL(void *, "llama_get_logits", 0, 0, 0);
	CALL(void, "llama_synchronize", 0, 0, 0);
#endif
	printf("%s\n", fails ? "goes on" : "succeeds");
	return 0;
}
"""


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix="dwell-missing-") as folder:
        os.symlink(BUILD, os.path.join(folder, "build"))  # the loader splits LD_PRELOAD at blanks, which the build's path may have
        for probe, flags, says in (("mpi", ["-DMPI"], "this program's MPI has no PMPI_Barrier, so the call fails"),
                                   ("ggml", [], "this program's ggml has no llama_get_logits, so the call fails")):
            program = os.path.join(folder, probe)
            subprocess.run(["cc", "-x", "c", "-o", program, *flags, "-"], input=PROGRAM, text=True, check=True)
            done = subprocess.run([program], capture_output=True, text=True, check=False, cwd=folder, timeout=60, env={
                **os.environ, "LD_PRELOAD": f"{folder}/build/probes/{probe}/libdwell-{probe}.so", "LD_LIBRARY_PATH": BUILD})
            good = done.returncode == 0 and done.stdout == "goes on\n" and done.stderr.count(says) == 1
            failed += not good
            print("ok" if good else f"FAIL {done}", probe)
    print(f"{2 - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
