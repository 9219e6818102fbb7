/*
 * The hot part of the profile by name: what a pass does when a range begins and ends.
 *
 * For the pass of profile_by_name_pass.c and for passes that also compute other products. The chain
 * of a range is its kind, because self time excludes ranges of the same kind.
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

#include "model/core/pass.h"
#include "model/core/scope_set.h"
#include "model/time/profile_by_name.h"

/* The part of a pass's frame that follows struct dw_frame. */
struct dw_profile_frame {
	uint32_t tally; /* index into the worker's tallies; 0: the range is in no scope */
	uint32_t row;   /* not set if everything is in scope */
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
struct dw_profile {
	struct dw_profile_worker *worker;
	struct dw_tally *tallies;      /* this and the next three: copies of the worker's pointers,
	                                * for speed */
	uint32_t *calls, *row_calls;
	uint64_t *nested;
	struct dw_scope_set scopes;
	uint32_t first_tally;          /* first tally of the combination scopes.bits */
	struct dw_tally_pending pending;
};

/* False: out of memory; the worker's `failed` is set and stays set. */
bool dw_profile_worker_init(struct dw_profile_worker *worker, uint32_t row_count);
void dw_profile_worker_reset(struct dw_profile_worker *worker);
void dw_profile_begin_stream(struct dw_profile *profile, struct dw_profile_worker *worker,
                             const struct dw_model *const *models, unsigned count, uint32_t process);
/* Adds what the walk itself counted to the worker. */
void dw_profile_end_stream(struct dw_profile *profile, const struct dw_pass *pass);

/* The rare cases, not inlined. */
void dw_profile_renew_scopes(struct dw_profile *profile, uint32_t thread, uint64_t ticks);
/* A call ended while calls of its row with other scopes are open. */
void dw_profile_end_shared(struct dw_profile *profile, const struct dw_profile_frame *frame, uint64_t duration);
/* The range at `place` is about to end, but it is not the innermost. `offset`: offset of the
 * dw_profile_frame in the pass's frame, which has frame_bytes. */
void dw_profile_unnest(struct dw_profile *profile, const struct dw_pass *pass, uint32_t place,
                       size_t frame_bytes, size_t offset);
void dw_profile_note(struct dw_profile *profile, const struct dw_record *record);
void dw_profile_carry(struct dw_profile *profile, const struct dw_profile_frame *frame, uint64_t child, bool all);

/* Adds the worker of a file to the profiles of the models, which are in the order of the scope set,
 * and resets the worker. */
void dw_profile_merge(struct dw_flat_all *const *profiles, struct dw_model *const *models,
                      unsigned count, struct dw_profile_worker *worker, double ratio);

DW_INLINE void dw_profile_flushed(struct dw_profile *profile)
{
	dw_scope_set_expire(&profile->scopes); /* the next records may be of another thread */
}

/* A range of `op` begins. `all`: there is one scope, which includes everything. */
DW_INLINE void dw_profile_enter(struct dw_profile *profile, struct dw_pass *pass,
                                struct dw_frame *frame, struct dw_profile_frame *own,
                                uint64_t ticks, struct dw_op op, const bool all)
{
	if (!all && __builtin_expect(ticks >= profile->scopes.until, 0))
		dw_profile_renew_scopes(profile, pass->walk.thread, ticks);
	if (!all)
		own->row = op.row;
	own->tally = all ? op.row + 1 : profile->scopes.bits ? profile->first_tally + op.row : 0;
	dw_pass_link(pass, frame, op.kind);
	profile->calls[own->tally]++;
	if (!all)
		profile->row_calls[op.row]++;
}

DW_INLINE void dw_profile_leave(struct dw_profile *profile, const struct dw_frame *frame,
                                const struct dw_profile_frame *own, uint64_t ticks, enum dw_leave how, const bool all)
{
	uint64_t duration = ticks - frame->start;
	struct dw_tally *tally = &profile->tallies[own->tally];
	uint32_t calls = --profile->calls[own->tally];

	uint32_t within = -(uint32_t)(calls != 0);

	__asm__("" : "+r"(within)); /* keeps the compiler from making a branch, which would often be
	                             * mispredicted */
	profile->nested[own->tally & within] += duration;
	if (!all && __builtin_expect(!calls & (--profile->row_calls[own->row] != 0), 0))
		dw_profile_end_shared(profile, own, duration);
	dw_tally_add_later(tally, &profile->worker->arena, &profile->pending, duration, duration - frame->child);
	if (how != DW_LEAVE_END) {
		tally->open += how == DW_LEAVE_OPEN;
		tally->cut += how == DW_LEAVE_CUT;
	}
}
