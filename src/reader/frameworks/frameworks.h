/*
 * Frameworks: the names of ranges that have a special meaning in one framework.
 *
 * Only here does the reader distinguish frameworks. A framework is one file with one struct
 * dw_framework, and one line in the table of known.c. These have only names: a framework's
 * printouts are in src/output/layouts, its probe is in probes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

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
/* What a step of an engine that serves language models computes: requests of which it reads the prompt, and requests for which it
 * makes a token; `mixed` if the name does not say which of them are what. */
struct dw_framework_batch {
	uint32_t prefill, decode, mixed;
	uint64_t tokens;
};
/* Whether a range of this name is such a step. */
bool dw_framework_is_batch(const char *name, struct dw_framework_batch *batch);
/* Whether an operator of this name only waits and has no time of its own. */
bool dw_framework_is_wait(const char *name);
