/* The libraries that `dwell run` loads into programs that do not link dwell. */
#pragma once

#include <stdbool.h>

#include "program/executable.h"

/* What is recorded besides Python. */
struct dw_preload {
	bool functions;       /* C functions */
	bool sampler;         /* call stacks */
	bool heap;            /* calls of malloc; with what the sampler does */
	bool mpi, ggml, onnx; /* calls of these libraries, where the program may use them */
};
/* Sets LD_PRELOAD, for the program that is executed next, to those libraries that exist and may be loaded into it. */
void dw_preload(const struct dw_executable *executable, const struct dw_preload *wanted);
