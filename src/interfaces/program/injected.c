/*
 * Names libdwell-injected in the environment variables of ITT and NVTX, libdwell-cuda in that of CUDA, and
 * libdwell-nccl in that of NCCL.
 *
 * Libraries with ITT load what INTEL_LIBITTNOTIFY64 names at their first announcement, those with NVTX
 * what NVTX_INJECTION64_PATH names. A program without such libraries loads nothing and pays nothing.
 *
 * If ITT's variable is set already, its collector stays, and ITT is not recorded. With NVTX's,
 * libdwell-injected loads the other library too and passes everything on. CUDA's driver loads what
 * CUDA_INJECTION64_PATH names at a program's first use of a device; if it names another tool, that one stays.
 * NCCL's plugin passes on to another one, as libdwell-injected does.
 */
#include "program/injected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"
#include "program/executable.h"
#include "program/installed.h"
#include "read/source.h"
#include "say/say.h"

#define LIBRARY "libdwell-injected.so"
#define ITT "INTEL_LIBITTNOTIFY64"
#define NVTX "NVTX_INJECTION64_PATH"
#define NCCL "NCCL_PROFILER_PLUGIN"
#define NCCL_LIBRARY "libdwell-nccl.so"

#define CUDA_LIBRARY "libdwell-cuda.so"
#define CUDA "CUDA_INJECTION64_PATH"

/* Finds a library that the program may load. */
static bool injected_find_library(const struct dw_executable *executable, enum dw_installed library, char path[4096])
{
	return !executable->refusal && dw_installed_find_variable(library, path);
}

/* The variable's value if it names another library than dwell's, else NULL. */
static const char *injected_other(const char *variable, const char *own)
{
	const char *value = getenv(variable);
	const char *slash = value ? strrchr(value, '/') : NULL;

	return value && *value && strcmp(slash ? slash + 1 : value, own) != 0 ? value : NULL;
}

/* NCCL loads one plugin: dwell's. If the user named another one, dwell's loads it and passes its events on. Plugins that are built
 * into NCCL cannot be loaded so, and dwell's stays out. */
static void injected_set_nccl(const char *library)
{
	const char *other = injected_other(NCCL, NCCL_LIBRARY);

	if (other && (strcmp(other, "STATIC_PLUGIN") == 0 || strcmp(other, "none") == 0))
		return;
	if (other)
		setenv("DWELL_NCCL_NEXT", other, 1);
	setenv(NCCL, library, 1);
}

void dw_injected_set(const struct dw_executable *executable, bool itt, bool nvtx)
{
	char library[4096];

	if (injected_find_library(executable, DW_INSTALLED_NCCL, library))
		injected_set_nccl(library);
	if ((!itt && !nvtx) || !injected_find_library(executable, DW_INSTALLED_INJECTED, library))
		return;
	if (itt && injected_other(ITT, LIBRARY))
		dw_say("ITT is not recorded: " ITT " names another collector, %s", getenv(ITT));
	else if (itt)
		setenv(ITT, library, 1);
	/* oneDNN otherwise announces a task in each thread that works for a primitive, and the primitive
	 * would be counted as often. */
	if (itt && !getenv("DNNL_ITT_TASK_LEVEL"))
		setenv("ONEDNN_ITT_TASK_LEVEL", "1", 0);
	if (nvtx) {
		if (injected_other(NVTX, LIBRARY))
			setenv("DWELL_NVTX_NEXT", getenv(NVTX), 1);
		setenv(NVTX, library, 1);
	}
}

void dw_injected_set_cuda(const struct dw_executable *executable, bool cuda)
{
	const char *other = getenv(CUDA), *slash = other ? strrchr(other, '/') : NULL;
	char library[4096];

	if (!cuda || !injected_find_library(executable, DW_INSTALLED_CUDA, library))
		return;
	if (other && *other && strcmp(slash ? slash + 1 : other, CUDA_LIBRARY) != 0)
		dw_say("device work is not recorded: " CUDA " names another tool, %s", other);
	else
		setenv(CUDA, library, 1);
}

void dw_injected_say(const struct dw_source *source)
{
	const char *itt, *nvtx, *cuda, *nodes;

	itt = dw_source_meta(source, DW_NO_INDEX, DW_KEY_ITT);
	nvtx = dw_source_meta(source, DW_NO_INDEX, DW_KEY_NVTX);
	if (itt || nvtx)
		dw_say("recorded what libraries announce by %s%s%s%s%s%s", itt ? "ITT: " : "", itt ? itt : "",
		       itt && nvtx ? "; by " : "", nvtx ? "NVTX: " : "", nvtx ? nvtx : "",
		       itt ? " (--no-itt)" : " (--no-nvtx)");
	nodes = dw_source_meta(source, DW_NO_INDEX, DW_KEY_ONNX_FILES);
	if (nodes)
		dw_say("ONNX Runtime wrote the nodes of its runs to %s_*.json (dwell report FILE)", nodes);
	cuda = dw_source_meta(source, DW_NO_INDEX, DW_KEY_CUDA);
	if (cuda)
		dw_say("recorded the work of devices by CUPTI: %s (--no-cuda)", cuda);
}
