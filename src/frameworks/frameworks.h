/*
 * Frameworks: the names by which a reader knows what single frameworks do.
 *
 * Everything else in the reader treats all programs alike. A framework is one file with one
 * struct dw_framework, and one line in the table of frameworks.c. Names only: a framework's
 * printouts are in src/layouts, its probe is in probes.
 */
#ifndef DW_FRAMEWORKS_FRAMEWORKS_H
#define DW_FRAMEWORKS_FRAMEWORKS_H

#include <stdbool.h>

/* Lists end with NULL; a member that is NULL says nothing. */
struct dw_framework {
	const char *name;
	/* How names of ranges begin that exchange data with other processes. */
	const char *const *collectives;
	/* Operators that are no operation: a node of a graph that only waits for another stream. */
	const char *const *waits;
};

/* Whether a range of this name exchanges data with other processes. */
bool dw_framework_is_collective(const char *name);
/* Whether an operator of this name only waits and has no time of its own. */
bool dw_framework_is_wait(const char *name);

#endif
