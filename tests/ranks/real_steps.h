/*
 * Steps of a recorded trace of several ranks, from which make_ranks makes ranks.
 *
 * Each step has the ranges and allocations of its thread, in order, with times from its begin. The range of
 * communication in which the rank waited longest is its collective: in a made job ranks leave it together.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/core/events.h"

struct real_event {
	uint64_t start_ns, end_ns;
	uint64_t address, bytes; /* of an allocation or a free */
	uint32_t symbol;
	int type; /* of struct dw_event: RANGE, ALLOC or FREE */
};

struct real_step {
	struct real_event *events; /* by start, outer ones first */
	size_t count, collective;  /* index of the collective; count: there is none */
	uint64_t ns;
};

struct real_symbol {
	const char *name;
	uint32_t category;
};

struct real_trace {
	struct real_symbol *symbols;
	size_t symbol_count;
	struct real_step *steps; /* of all ranks, one rank after the other; without the warm-up */
	size_t step_count;
	uint64_t transfer_ns; /* the shortest time that a rank was in its collective: the 5th percentile */
};

/* False after a message. What it takes is not freed: the program ends. */
bool real_trace_read(struct real_trace *trace, const char *path);
