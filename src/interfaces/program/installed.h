/* Where dwell's own libraries are: in the build folder, or where dwell is installed, relative to the command. */
#pragma once

#include <stdbool.h>

enum dw_installed {
	DW_INSTALLED_PROCESS,   /* reads processes from outside */
	DW_INSTALLED_FRAMES,    /* the Python package; pip puts it where Python finds it */
	DW_INSTALLED_ATTACH,    /* loads the probes of Python; in every process of a run */
	DW_INSTALLED_SAMPLER,   /* call stacks */
	DW_INSTALLED_HEAP,      /* calls of malloc; contains the sampler */
	DW_INSTALLED_FUNCTIONS, /* what code compiled with -finstrument-functions calls */
	DW_INSTALLED_MPI, DW_INSTALLED_GGML, DW_INSTALLED_ONNX, /* have the functions of these libraries */
	DW_INSTALLED_INJECTED,  /* ITT and NVTX */
	DW_INSTALLED_CUDA, DW_INSTALLED_NCCL,
};

/* Writes the path of a library. False: it is not there. */
bool dw_installed_find(enum dw_installed library, char path[4096]);
/* The same by a path that LD_PRELOAD can have. False also if this dwell is built with a sanitizer: its libraries are, too, and
 * other programs cannot load them. */
bool dw_installed_find_preload(enum dw_installed library, char path[4096]);
/* The same for a variable from which the program itself loads it, and which can have any path. */
bool dw_installed_find_variable(enum dw_installed library, char path[4096]);
/* Whether LD_PRELOAD can have a path to dwell's folder. */
bool dw_installed_has_preload_path(void);
