/*
 * The hot part of the profile by name: what a pass does when a range begins and ends.
 *
 * A part (part.h). The chain of a range is its kind, because self time excludes ranges of the same
 * kind: a loop with this part has `chains` and `all_linked`.
 *
 * Scopes. A pass can count for up to DW_SCOPES models of one source at once. Each combination of
 * scopes has tallies of its own, and a range is added to one tally; the profile of a scope is the
 * sum over its combinations. So a further scope costs no time for each range.
 *
 * Recursion. In the total of a row, the time of calls inside calls of the same row counts once.
 * `nested` is the time of calls that ended while another call of their tally was open. In many
 * programs this is hard to predict for each range, so it is computed without a branch.
 */
#pragma once

#include "model/core/part.h"
#include "model/core/scope_set.h"
#include "model/time/profile_by_name.h"

struct dw_profile_frame {
	uint32_t tally; /* index into the worker's tallies; 0: the range is in no scope */
};

/* The profiles of `count` models of one source, at most DW_SCOPES. */
struct dw_profile_sums {
	struct dw_model *const *models;
	struct dw_flat_all *const *profiles; /* of dw_profile_prepare() */
	unsigned count;
	uint32_t row_count;
	const struct dw_op **ops;            /* of dw_profile_prepare() */
};

/* What one worker adds up over all streams of a file. */
struct dw_profile_worker {
	uint32_t row_count;
	struct dw_tally *tallies;      /* one for ranges in no scope, then row_count for each
	                                * combination of scopes found */
	uint32_t combinations[1u << DW_SCOPES]; /* by the combination's bits: index of its first
	                                         * tally, or 0 */
	uint32_t combination_count;
	uint32_t *calls;               /* by tally: number of open calls */
	uint64_t *nested;              /* by tally; [0] is not used */
	uint32_t *row_calls;           /* by row: number of open calls, in any scope */
	uint64_t *shared;              /* by scope and row: as `nested`, for calls inside calls that
	                                * have another combination of scopes; NULL: there were none
	                                * yet */
	struct dw_arena arena;
	uint64_t records, orphans, last_ns;
	uint32_t other_categories;     /* bits of the categories of records that are not ranges */
	bool failed;
};

/* The state for a stream. */
struct dw_profile_pass {
	struct dw_profile_worker *worker;
	const struct dw_pass *pass;
	size_t frame_bytes, frame_offset;
	struct dw_tally *tallies;      /* this and the next three: copies of the worker's pointers,
	                                * for speed */
	uint32_t *calls, *row_calls;
	uint64_t *nested;
	struct dw_scope_set scopes;
	uint32_t first_tally;          /* first tally of the combination scopes.bits */
	struct dw_tally_pending pending;
};

/* The rare cases, not inlined. */
void dw_profile_renew_scopes(struct dw_profile_pass *profile, uint32_t thread, uint64_t ticks);
/* A call ended while calls of its row with other scopes are open. */
void dw_profile_end_shared(struct dw_profile_pass *profile, uint32_t tally, uint32_t row, uint64_t duration);

/* The functions of the part. */
bool dw_profile_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
void dw_profile_end(void *pass);
/* The range at `place` is about to end, but it is not the innermost. */
void dw_profile_unnest(void *pass, uint32_t place);
void dw_profile_note(void *pass, uint64_t ticks, const struct dw_record *record);
void dw_profile_carry(void *pass, void *frame, const struct dw_here *here);
void dw_profile_worker_reset(void *worker);
bool dw_profile_merge(void *sums, void *worker, uint32_t file);

static inline void dw_profile_flushed(void *pass, uint64_t ticks, enum dw_flush why)
{
	struct dw_profile_pass *profile = pass;

	dw_scope_set_expire(&profile->scopes); /* the next records may be of another thread */
}

DW_INLINE void dw_profile_enter(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_profile_pass *profile = pass;
	struct dw_profile_frame *own = frame;
	const bool all = here->everything;

	if (!all && __builtin_expect(here->ticks >= profile->scopes.until, 0))
		dw_profile_renew_scopes(profile, here->pass->walk.thread, here->ticks);
	own->tally = all ? here->row + 1 : profile->scopes.bits ? profile->first_tally + here->row : 0;
	if (!all)
		here->range->in_scope = own->tally != 0;
	dw_pass_link(here->pass, here->range, here->kind);
	profile->calls[own->tally]++;
	if (!all)
		profile->row_calls[here->row]++;
}

DW_INLINE void dw_profile_leave(void *pass, void *frame, const struct dw_here *here)
{
	struct dw_profile_pass *profile = pass;
	const struct dw_profile_frame *own = frame;
	uint64_t duration = here->duration;
	struct dw_tally *tally = &profile->tallies[own->tally];
	uint32_t calls = --profile->calls[own->tally];

	uint32_t within = -(uint32_t)(calls != 0);

	__asm__("" : "+r"(within)); /* keeps the compiler from making a branch, which would often be
	                             * mispredicted */
	profile->nested[own->tally & within] += duration;
	if (!here->everything && __builtin_expect(--profile->row_calls[here->row] & ~within, 0))
		dw_profile_end_shared(profile, own->tally, here->row, duration);
	dw_tally_add_later(tally, &profile->worker->arena, &profile->pending, duration, duration - here->range->child);
	if (here->how != DW_LEAVE_END) {
		tally->open += here->how == DW_LEAVE_OPEN;
		tally->cut += here->how == DW_LEAVE_CUT;
	}
}

/* Only a loop whose one scope includes everything has bursts. */
static inline bool dw_profile_burst(void *pass, struct dw_burst *burst)
{
	burst->calls = ((struct dw_profile_pass *)pass)->calls + 1;
	return true;
}

DW_INLINE void dw_profile_ended(void *pass, const struct dw_burst_range *range)
{
	struct dw_profile_pass *profile = pass;
	uint32_t tally = range->row + 1;

	profile->nested[range->around ? tally : 0] += range->duration;
	dw_tally_add_later(&profile->tallies[tally], &profile->worker->arena, &profile->pending, range->duration, range->self);
}

static const struct dw_part dw_profile_part = {
	.worker_reset = dw_profile_worker_reset, .begin = dw_profile_begin, .end = dw_profile_end,
	.enter = dw_profile_enter, .leave = dw_profile_leave, .note = dw_profile_note, .unnest = dw_profile_unnest,
	.flushed = dw_profile_flushed, .carry = dw_profile_carry, .merge = dw_profile_merge,
	.burst = dw_profile_burst, .ended = dw_profile_ended,
};
