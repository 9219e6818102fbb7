/* The libraries that `dwell run` loads into programs that do not link dwell. */
#ifndef DW_PROGRAM_PRELOAD_H
#define DW_PROGRAM_PRELOAD_H

#include <stdbool.h>

/* What is recorded besides Python. */
struct dw_preload {
	bool functions;       /* C functions */
	bool sampler;         /* call stacks */
	bool heap;            /* calls of malloc; with what the sampler does */
	bool mpi, ggml, onnx; /* calls of these libraries, where the program may use them */
};
/* Sets LD_PRELOAD, for the program that is executed next, to those libraries that exist. */
void dw_preload(const char *program, const struct dw_preload *wanted);
/* The path by which LD_PRELOAD names a library that is loaded into every process. False: there is none. */
bool dw_preload_path(char path[4096]);
/* Why no library of dwell is loaded into the program, or NULL. */
const char *dw_preload_refusal(const char *program);
/* Why none is loaded before the program, which may contain the recorder, or NULL. */
const char *dw_preload_library_refusal(const char *program);
/* The same of a process that runs, by the path of its file; NULL also if the file contains the recorder. */
const char *dw_preload_process_refusal(const char *path);
/* Why the probe of MPI is not, or NULL. */
const char *dw_preload_mpi_refusal(bool mpi);
/* The n-th library that is a part of the program's file, so that its calls cannot be seen: its name; NULL: there are no
 * more. `remedy`: what to do. */
const char *dw_preload_contained(const char *program, unsigned n, const char **remedy);
/* Finds a library of dwell by its places in the build folder and where dwell is installed, relative to the
 * command. Returns false if there is none. */
bool dw_find_installed(const char *const places[2], char path[4096]);
/* Finds a library of dwell that may be loaded into the program: in the build folder or where dwell is
 * installed. Returns false if there is none. */
bool dw_find_library(const char *const places[2], const char *program, char path[4096]);
/* Finds the file that execvp() will run. Returns false if there is none. */
bool dw_find_program(const char *program, char path[4096]);

#endif
