/*
 * A file in memory for targets that open one, the same for every execution: making a file
 * takes longer than reading most inputs.
 */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bounds.h"

static int file_descriptor = -1;
static char file_path[64];

/* Empties the file; false: there is none. */
static inline bool file_empty(void)
{
	if (file_descriptor < 0) {
		file_descriptor = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(file_path, sizeof file_path, "/proc/self/fd/%d", file_descriptor);
	}
	return file_descriptor >= 0 && ftruncate(file_descriptor, 0) == 0;
}

#endif
