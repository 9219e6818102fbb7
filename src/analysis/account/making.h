/* What is known of an account while it is made. Only for this folder. */
#pragma once

#include "account/cells.h"
#include "account/parts.h"
#include "account/team.h"
#include "model/samples/samples.h"
#include "model/steps/steps.h"
#include "model/steps/usage.h"

struct dw_making {
	struct dw_model *model;
	const struct dw_source *source;
	struct dw_account *to;
	struct dw_account_parts parts;
	struct dw_cells cells;
	struct dw_team work;
	uint32_t *first, *next; /* the cells of each part, by part, and by cell; DW_NO_INDEX ends */
	const struct dw_samples *samples, *waits, *team; /* of CPU time, of waits, and of the other threads */
	struct dw_account_margins margins[DW_ITERATION_CLASSES];
	double faults_ns; /* for which the thread ran in page faults */
	double faults;    /* the same as a part of what touches memory */
	bool native;      /* stacks have native frames, and not those of Python alone */
	uint32_t wheres;  /* bits of enum dw_sample_where: whose samples count */
	bool others_are_short; /* the other threads end before they have a sample */
	bool failed;
};

static inline bool dw_making_is_python(const struct dw_making *making)
{
	const struct dw_source *source = making->source;

	return source->processes[source->threads[making->to->thread].process].flags & DW_PROCESS_PYTHON;
}

/* Whether a sample is of the loop's thread, or with `others`, of another one of its process, and taken in the time of
 * the account. */
static inline bool dw_making_wants(const struct dw_making *making, const struct dw_sample_row *row, bool others)
{
	const struct dw_source_thread *threads = making->source->threads;

	return making->wheres >> row->where & 1 && (row->thread == making->to->thread) != others &&
	       threads[row->thread].process == threads[making->to->thread].process;
}

/* Whether a sample is of a fork of the process, taken in the time of the account. */
static inline bool dw_making_wants_fork(const struct dw_making *making, const struct dw_sample_row *row)
{
	uint32_t process = making->source->threads[row->thread].process, self = making->source->threads[making->to->thread].process;

	if (process == self || !(making->wheres >> row->where & 1))
		return false;
	for (unsigned up = 0; up < 64 && process != self && dw_process_is_fork(making->source, process); up++)
		process = making->source->processes[process].parent;
	return process == self;
}

static inline bool dw_making_spins(const struct dw_making *making, const struct dw_sample_row *row)
{
	uint32_t within;

	return dw_sample_spins(making->source, row, &within) != DW_SPIN_NONE;
}

/* Another thread that spins does nothing that somebody could wait for. */
static inline bool dw_making_counts(const struct dw_making *making, const struct dw_sample_row *row, enum dw_account_state state)
{
	return state != DW_ACCOUNT_OTHERS || !dw_making_spins(making, row);
}

/* Whether what the thread does is a wait for another thread of the program. */
static inline bool dw_making_joins(enum dw_account_state state, enum dw_activity activity)
{
	return state == DW_ACCOUNT_WAITS && dw_activity_in(activity, DW_ACTIVITY_SET(THREAD) | DW_ACTIVITY_SET(BARRIER));
}

/* Takes from the waits of the loop's thread what other threads did meanwhile, and links the cells of each part. `sampled_ns`: of the
 * others' samples. */
void dw_making_divide_waits(struct dw_making *making, double sampled_ns);
/* Takes from the waits that are left the time for which other threads were ready to run and had no CPU. That time is an estimate, so it
 * comes after dw_making_follow_waits(), which uses recorded waits. */
void dw_making_divide_rest(struct dw_making *making, double sampled_ns);
/* Takes from the waits for other processes what forks of the process did meanwhile. After dw_making_divide_waits(). */
void dw_making_divide_forks(struct dw_making *making);
