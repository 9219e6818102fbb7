/*
 * The libraries of which dwell has a probe: by which files a process has one, what a trace without the probe lacks, and
 * what helps.
 *
 * A recorder lists those that its process has loaded, in the metadata DW_KEY_LIBRARIES. For each the list has
 * its id, its file, and "probe" if the probe's file is loaded too, then a semicolon. A library that is in the list and of which
 * nothing says that it was recorded is reported as not recorded (read/unrecorded.h). Probes may say why, under
 * the key ID.lacks. `dwell run` says under the same key of its own process why it loads no probe.
 *
 * The recorder, the library that `dwell run` preloads and the reader include this header.
 */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/keys.h"

/* When a library that is loaded counts as used. */
enum dw_library_use {
	DW_LIBRARY_PROBED,  /* and its probe is not: what it does is unknown */
	DW_LIBRARY_CALLED,  /* and in one of several ranks its probe has not said that it records, or in one of an unknown number is not
	                     * loaded: frameworks are linked to it, and load it in any process */
	DW_LIBRARY_ON_DEVICES /* and in one of several ranks, which has CUDA's driver too, its probe has not said that it
	                       * records: frameworks load it in any process */
};

/* X(ID, label, beginnings of its files, files of its probes, value of the variable by which the library loads that file
 *   when it is called, or NULL, key by which the probe says that it records, use, what is missing, remedy) */
#define DW_LIBRARIES(X) \
	X(mpi, "MPI", "libmpi.so libmpich.so libmpi_abi.so libmpi_cray libmpi_gnu libmpi_intel libmpi_nvidia libmpi_ibm", \
	  "libdwell-mpi.so", NULL, DW_KEY_MPI, CALLED, "its collectives, and how long ranks wait for each other", \
	  "put dwell run before mpirun, or before the program of each rank") \
	X(nccl, "NCCL", "libnccl.so", "libdwell-nccl.so", NULL, DW_KEY_NCCL, ON_DEVICES, \
	  "its collectives, and how long ranks wait for each other", \
	  "start the program with dwell run, with an NCCL whose profiler interface has a version from 4 to 6") \
	X(cuda, "CUDA", "libcuda.so", "libdwell-cuda.so", getenv("CUDA_INJECTION64_PATH"), DW_KEY_CUDA, PROBED, \
	  "the work of devices", "start the program with dwell run") \
	X(nvtx, "NVTX", "libnvToolsExt.so", "libdwell-injected.so", getenv("NVTX_INJECTION64_PATH"), DW_KEY_NVTX, PROBED, \
	  "ranges that libraries announce", "start the program with dwell run") \
	X(itt, "ITT", "libittnotify_collector", "libdwell-injected.so", getenv("INTEL_LIBITTNOTIFY64"), DW_KEY_ITT, \
	  PROBED, "ranges that libraries announce", "run the program without the other collector of ITT") \
	X(torch, "PyTorch", "libtorch_cpu.so libtorch.so", "libdwell-python.so libdwell-torch.so", NULL, \
	  DW_KEY_TORCH_VERSION, PROBED, "operators, layers, memory and steps of PyTorch", \
	  "start the program with dwell run, linked to libtorch_cpu.so; else mark steps and ranges with dwell/probe.h") \
	X(ggml, "ggml", "libggml-base.so libggml.so", "libdwell-ggml.so", NULL, DW_KEY_GGML, PROBED, \
	  "the graphs that it computes, and steps", "start the program with dwell run") \
	X(python, "Python", "libpython3", "libdwell-python.so", NULL, "", PROBED, \
	  "functions of Python, and what frameworks in it do", "start the program with dwell run")

#define DW_LIBRARIES_BYTES 1024 /* of the list */

struct dw_libraries_search {
	const char *id, *beginnings, *probe;
	char file[64];                  /* what was found, or "" */
	bool has_probe;
};

enum {
#define X(id, label, beginnings, probe, variable, key, use, missing, remedy) DW_LIBRARIES_AT_##id,
	DW_LIBRARIES(X)
#undef X
	DW_LIBRARIES_COUNT
};

/* Begins a search. Reads the environment, so it is not for signal handlers. */
static inline void dw_libraries_begin(struct dw_libraries_search searches[DW_LIBRARIES_COUNT])
{
#define X(id, label, beginnings, probe, variable, key, use, missing, remedy)                                           \
	{                                                                                                                  \
		const char *loads = (variable);                                                                                \
		searches[DW_LIBRARIES_AT_##id] =                                                                               \
		    (struct dw_libraries_search){ #id, (beginnings), (probe), "", loads && strstr(loads, (probe)) };           \
	}
	DW_LIBRARIES(X)
#undef X
}

static inline void dw_libraries_match(struct dw_libraries_search *search, const char *name)
{
	for (const char *at = search->probe; *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		search->has_probe |= strlen(name) == length && strncmp(name, at, length) == 0;
		at += length;
	}
	for (const char *at = search->beginnings; !*search->file && *at; at += strspn(at, " ")) {
		size_t length = strcspn(at, " ");

		if (strncmp(name, at, length) == 0)
			snprintf(search->file, sizeof search->file, "%s", name);
		at += length;
	}
}

/* A file that the process has loaded. */
static inline void dw_libraries_see(struct dw_libraries_search searches[DW_LIBRARIES_COUNT], const char *path)
{
	const char *slash = strrchr(path, '/');

	for (int i = 0; slash && i < DW_LIBRARIES_COUNT; i++)
		dw_libraries_match(&searches[i], slash + 1);
}

/* Writes the list of what was found. Returns whether there is anything. */
static inline bool dw_libraries_write(const struct dw_libraries_search searches[DW_LIBRARIES_COUNT],
                                      char list[DW_LIBRARIES_BYTES])
{
	size_t used = 0;

	list[0] = '\0';
	for (int i = 0; i < DW_LIBRARIES_COUNT; i++)
		if (*searches[i].file && used < DW_LIBRARIES_BYTES - 128)
			used += (size_t)snprintf(list + used, DW_LIBRARIES_BYTES - used, "%s %s%s;", searches[i].id, searches[i].file,
			                         searches[i].has_probe ? " probe" : "");
	return used > 0;
}

static inline int dw_libraries_look(struct dl_phdr_info *info, size_t size, void *searches)
{
	(void)size;
	if (info->dlpi_name)
		dw_libraries_see(searches, info->dlpi_name);
	return 0;
}

/* Writes the list of this process. Returns whether there is one. Takes the loader's lock: only at the process's end. */
static inline bool dw_libraries_list(char list[DW_LIBRARIES_BYTES])
{
	struct dw_libraries_search searches[DW_LIBRARIES_COUNT];

	dw_libraries_begin(searches);
	dl_iterate_phdr(dw_libraries_look, searches);
	return dw_libraries_write(searches, list);
}
