/* Where dwell's own libraries are; see installed.h. */
#include "program/installed.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "program/preload_link.h"

#define PROBE(folder, name) { "probes/" folder name, DW_PROBES_FROM_COMMAND "/" name }

static const char *const places[][2] = {
	[DW_INSTALLED_PROCESS] = { "libdwell-process.so", DW_PROBES_FROM_COMMAND "/libdwell-process.so" },
	[DW_INSTALLED_FRAMES] = { "../python/dwell/frames.py", DW_PROBES_FROM_COMMAND "/python/dwell/frames.py" },
	[DW_INSTALLED_ATTACH] = PROBE("", "libdwell-attach.so"),
	[DW_INSTALLED_SAMPLER] = PROBE("sampler/", "libdwell-sampler.so"),
	[DW_INSTALLED_HEAP] = PROBE("malloc/", "libdwell-malloc.so"),
	[DW_INSTALLED_FUNCTIONS] = { "probes/functions/libdwell-functions.so.0",
	                             DW_PROBES_FROM_COMMAND "/../libdwell-functions.so.0" },
	[DW_INSTALLED_MPI] = PROBE("mpi/", "libdwell-mpi.so"),
	[DW_INSTALLED_GGML] = PROBE("ggml/", "libdwell-ggml.so"),
	[DW_INSTALLED_ONNX] = PROBE("onnx/", "libdwell-onnx.so"),
	[DW_INSTALLED_INJECTED] = PROBE("injected/", "libdwell-injected.so"),
	[DW_INSTALLED_CUDA] = PROBE("cuda/", "libdwell-cuda.so"),
	[DW_INSTALLED_NCCL] = PROBE("nccl/", "libdwell-nccl.so"),
};

/* The libraries of this build have the same sanitizer as this file. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OWN_SANITIZED 1
#elif !defined(OWN_SANITIZED)
#define OWN_SANITIZED 0
#endif

/* The folder of this command, as it is or, for LD_PRELOAD, by a path without separators. Returns false if there is none. */
static bool installed_find_folder(bool for_preload, char folder[2048])
{
	ssize_t length = readlink("/proc/self/exe", folder, 2047);
	const char *link;
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (!slash)
		return false;
	*slash = '\0';
	if (!for_preload || !dw_preload_is_split(folder))
		return true;
	link = dw_preload_link(folder);
	if (link)
		snprintf(folder, 2048, "%s", link);
	return link != NULL;
}

static bool installed_find_file(bool for_preload, enum dw_installed library, char path[4096])
{
	char folder[2048];

	if (!installed_find_folder(for_preload, folder))
		return false;
	for (int i = 0; i < 2; i++) {
		snprintf(path, 4096, "%s/%s", folder, places[library][i]);
		if (access(path, R_OK) == 0 && !(for_preload && dw_preload_is_split(path)))
			return true;
	}
	return false;
}

bool dw_installed_find(enum dw_installed library, char path[4096])
{
	return installed_find_file(false, library, path);
}

bool dw_installed_find_preload(enum dw_installed library, char path[4096])
{
	return !OWN_SANITIZED && installed_find_file(true, library, path);
}

bool dw_installed_find_variable(enum dw_installed library, char path[4096])
{
	return !OWN_SANITIZED && installed_find_file(false, library, path);
}

bool dw_installed_has_preload_path(void)
{
	char folder[2048];

	return installed_find_folder(true, folder);
}
