/*
 * JSON of rocprofv3, the profiler of AMD's ROCm: `rocprofv3 --output-format json`.
 *
 * The file is an object with the member "rocprofiler-sdk-tool": a list of processes. A process has its agents (CPUs and
 * GPUs), names, and under "buffer_records" a list of records of each kind. Its records become the same events as those
 * of a Chrome trace, so that views do not know the difference. A record is read at a time: memory does not grow with
 * them.
 */
#pragma once

#include "import/chrome.h"

#define ROCPROF_MEMBER "rocprofiler-sdk-tool"

/* Reads the list of processes, whose bracket was taken. False: the file ends within it, or is no JSON there. */
bool rocprof_read(struct chrome *chrome);
