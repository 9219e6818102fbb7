/*
 * The libraries that `dwell run` loads into the program with LD_PRELOAD: the loader of the Python
 * probes, the sampler of call stacks, for C functions the probe that code compiled with -finstrument-functions
 * calls, and for MPI, ggml and ONNX Runtime the probes whose functions have the names of theirs.
 *
 * Called in the child process before it executes the program. LD_PRELOAD applies to every process
 * that the program starts. The first library does nothing in processes without a Python
 * interpreter, the second does nothing in those without instrumented code.
 */
#include "program/preload.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "program/installed.h"

#define UP8 "/../../../../../../../.."

/* Whether glibc finds what it has loaded already by a path that begins with $LIB. */
static bool preload_has_lib_folder(void)
{
	Dl_info libc;
	char path[4096];
	void *found;

	if (!dladdr((void *)(uintptr_t)getenv, &libc) || !libc.dli_fname || libc.dli_fname[0] != '/')
		return false;
	snprintf(path, sizeof path, "/$LIB" UP8 "%s", libc.dli_fname);
	found = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (found)
		dlclose(found);
	return found != NULL;
}

/*
 * A program of musl that a shell starts inherits the variable, and musl's loader ends it because of a library of glibc.
 * musl opens the path as it stands, and ignores a path where there is no file. glibc puts the name of its own folder in the
 * place of $LIB, and from there the path goes to the root: as in a shell that puts nothing there. Where there is no such
 * folder, the program's own serves ($ORIGIN), which needs /proc.
 */
static void preload_put_first(const char *library)
{
	const char *root = preload_has_lib_folder() ? "/$LIB" UP8 : "$ORIGIN" UP8 UP8 UP8 UP8 UP8;
	const char *before = getenv("LD_PRELOAD");
	char *value;

	if (asprintf(&value, "%s%s%s%s", root, library, before && *before ? ":" : "", before ? before : "") < 0)
		return;
	setenv("LD_PRELOAD", value, 1);
	free(value);
}

static void preload_library(enum dw_installed library)
{
	char path[4096];

	if (dw_installed_find_preload(library, path))
		preload_put_first(path);
}

void dw_preload(const struct dw_executable *executable, const struct dw_preload *wanted)
{
	if (executable->refusal)
		return;
	if (wanted->mpi && executable->may_use_mpi)
		preload_library(DW_INSTALLED_MPI);
	if (wanted->ggml && executable->may_use_ggml)
		preload_library(DW_INSTALLED_GGML);
	if (wanted->onnx && executable->may_use_onnx)
		preload_library(DW_INSTALLED_ONNX);
	if (wanted->functions)
		preload_library(DW_INSTALLED_FUNCTIONS);
	if (wanted->heap || wanted->sampler)
		preload_library(wanted->heap ? DW_INSTALLED_HEAP : DW_INSTALLED_SAMPLER);
	preload_library(DW_INSTALLED_ATTACH);
}
