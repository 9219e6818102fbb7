/*
 * Frameworks: the names of ranges that have a special meaning in one framework.
 *
 * Only here does the reader distinguish frameworks. A framework is one file with one struct
 * dw_framework, and one line in the table of known.c. These have only names: a framework's
 * printouts are in src/output/layouts, its probe is in probes.
 */
#pragma once

#include <stdbool.h>

/* Lists end with NULL. A member may be NULL, like an empty list. */
struct dw_framework {
	const char *name;
	/* Prefixes of the names of ranges that exchange data with other processes. */
	const char *const *collectives;
	/* Operators that do no work: nodes of a graph that only wait for another stream. */
	const char *const *waits;
};

/* Whether a range of this name exchanges data with other processes. */
bool dw_framework_is_collective(const char *name);
/* Whether a framework itself makes the range, around an optimizer's step and all that its closure runs. */
bool dw_framework_wraps_optimizer(const char *name);
/* Whether an operator of this name only waits and has no time of its own. */
bool dw_framework_is_wait(const char *name);
