/*
 * Collectives: when each process entered and left which collective of which group of ranks.
 *
 * A range belongs to a collective if a probe said so (EXT COLLECTIVE, doc/reference/format.md). Ranges of a
 * process with one group and sequence are one collective: it is entered when the first begins and
 * left when the last ends. In between the process may compute. It is blocked only while it is
 * inside these ranges.
 *
 * If the trace has no such records, no stream is walked.
 */
#pragma once

#include <stdio.h>

#include "model/core/model.h"

struct dw_collective {
	uint32_t process;  /* index */
	uint32_t thread;   /* index: of the first range */
	uint32_t group;    /* index of dw_collectives.groups */
	uint32_t symbol;   /* of the first range: the operation */
	bool open;         /* a range of it had not ended */
	uint64_t sequence; /* in the group, from 1; 0: point-to-point communication */
	uint64_t bytes;
	uint64_t enter_ns, leave_ns; /* of the run */
	uint64_t blocked_ns;         /* time inside its ranges */
};

struct dw_collectives {
	const struct dw_collective *collectives; /* by process, group, sequence, time */
	size_t count;
	const char **groups; /* names; "" if it is unknown */
	uint32_t group_count;
	uint64_t left_out; /* further ones that did not fit into memory's limit */
};

/* Whether a group is a pair of ranks, the one that sends messages and the one that receives them: "0 -> 1 of world". Sets
 * their numbers, where the pointers are not NULL. */
static inline bool dw_group_is_pair(const char *name, int *from, int *to)
{
	int ranks[2], end = 0;

	if (sscanf(name, "%d -> %d of %n", &ranks[0], &ranks[1], &end) != 2 || !end)
		return false;
	if (from)
		*from = ranks[0];
	if (to)
		*to = ranks[1];
	return true;
}

/* NULL with `error` if memory ran out. */
const struct dw_collectives *dw_model_collectives(struct dw_model *model, struct dwell_error *error);
