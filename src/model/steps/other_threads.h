/*
 * What threads without steps did while threads of their process had steps.
 *
 * A backward pass may run in threads of its own, and so may the communication that it starts; the
 * step's thread waits for both. For each kind, only the outermost range of a stream counts. A pass
 * over the streams of such threads collects the times; the division of the steps (division.h)
 * reads them.
 */
#pragma once

#include <pthread.h>

#include "model/core/pass.h"

enum dw_other_kind { DW_OTHERS_COMMUNICATE, DW_OTHERS_OPERATE, DW_OTHER_KINDS };

struct dw_other_list {
	struct dw_interval *list;
	size_t count, capacity;
};

/* The times of a process, united. */
struct dw_others {
	const struct dw_interval *times[DW_OTHER_KINDS]; /* end with an interval that starts at
	                                                  * UINT64_MAX */
	size_t counts[DW_OTHER_KINDS];                   /* without that one */
};

/* What is collected from all streams. */
struct dw_others_sums {
	struct dw_model *model;
	const bool *steps;       /* by thread: it has steps; owned by the caller */
	uint8_t *kinds;          /* by row: bits of the kinds */
	bool *needed;            /* by process: it has threads with steps, and ranges of these kinds
	                          * exist */
	struct dw_other_list *lists; /* by process: DW_OTHER_KINDS entries */
	pthread_mutex_t lock;
	bool failed;
};

/* The state for a stream or a segment. */
struct dw_others_pass {
	struct dw_others_sums *sums;
	uint64_t open[DW_OTHER_KINDS], since[DW_OTHER_KINDS];
	struct dw_other_list lists[DW_OTHER_KINDS];
	bool failed;
};

/* False: out of memory. Call the reset function in any case. */
bool dw_others_init(struct dw_others_sums *sums, struct dw_model *model, const bool *steps);
void dw_others_reset(struct dw_others_sums *sums);
/* Whether a thread without steps wrote into the stream, and its times are needed. */
bool dw_others_wants(const struct dw_others_sums *sums, size_t stream);
/* Walks the stream for these times alone. */
void dw_others_walk(struct dw_others_sums *sums, size_t stream);
/* Unites the times of each process. An array by process, in the model's arena. NULL: out of
 * memory. */
struct dw_others *dw_others_finish(struct dw_others_sums *sums);

/* To be called when a range of such a kind ends that no other of its kind is around. */
void dw_others_add(struct dw_others_pass *others, enum dw_other_kind kind, uint64_t ticks);
/* Adds what the pass has collected to the sums: where a stream or segment ends. */
void dw_others_close(struct dw_others_pass *others, uint32_t process);

/* Returns the kinds of the range, for dw_others_leave(). */
DW_INLINE uint8_t dw_others_enter(struct dw_others_pass *others, const struct dw_pass *pass,
                                  uint64_t ticks, uint32_t row)
{
	uint32_t thread = pass->walk.thread;
	uint8_t kinds = 0;

	if (thread != DW_NO_INDEX && !others->sums->steps[thread])
		kinds = others->sums->kinds[row];
	for (unsigned kind = 0; kind < DW_OTHER_KINDS; kind++)
		if (kinds >> kind & 1 && !others->open[kind]++)
			others->since[kind] = ticks;
	return kinds;
}

DW_INLINE void dw_others_leave(struct dw_others_pass *others, uint8_t kinds, uint64_t ticks)
{
	for (unsigned kind = 0; kind < DW_OTHER_KINDS; kind++)
		if (kinds >> kind & 1 && !--others->open[kind])
			dw_others_add(others, (enum dw_other_kind)kind, ticks);
}
