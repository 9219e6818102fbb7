/* Samples of call stacks that have everything in common that the model distinguishes; see samples.h. */
#pragma once

#include "model/core/share_names.h"
#include "model/steps/roles.h"

/* Of a thread without steps, the steps are those of its process's main loop. */
enum dw_sample_where {
	DW_SAMPLE_OUTSIDE, /* before the first step, or there are no steps */
	DW_SAMPLE_IN_STEP,
	DW_SAMPLE_BETWEEN, /* two steps */
	DW_SAMPLE_AFTER,   /* the last step */
};

struct dw_sample_row {
	uint32_t thread;     /* index into the source's threads */
	uint32_t frame;      /* id in the thread's file; 0: it could not be read */
	uint32_t stack;      /* the same: of what called it */
	uint32_t range;      /* symbol of the innermost open range; DW_NO_INDEX: no range was open */
	uint32_t named;      /* symbol of the name that the program gave this part; DW_NO_INDEX: none */
	enum dw_share share; /* the part of the step, as in struct dw_step, or of the time outside */
	enum dw_sample_where where;
	enum dw_iteration_class class; /* of the iteration, of a thread without steps as `where` */
	uint32_t holder;               /* of waits: the thread that had the lock; DW_NO_INDEX: none, or not known */
	enum dw_activity
		activity;   /* of the innermost function; of waits, which are in functions of libc, for what they wait */
	uint64_t count; /* samples */
	uint64_t weight, squares; /* sums of their weights, and of the squares of these */
	uint64_t cpu_ns;          /* 0 if the period is not known */
};
