/*
 * The loops of the joint walk: what they do for each record. Only for joint.c.
 *
 * There are four loops, so that a walk has no cost for products that it does not compute. The first
 * computes the profiles and the outermost ranges; the others add threads, steps and the products of
 * facts.
 */
#pragma once

#include "dwell/probe.h"
#include "model/device/calls_pass.h"
#include "model/steps/division.h"
#include "model/time/flops_pass.h"
#include "model/time/loading_pass.h"
#include "model/time/outermost_pass.h"
#include "model/time/profile_by_name_pass.h"
#include "model/time/threads_pass.h"

struct joint_frame {
	struct dw_frame frame;
	struct dw_profile_frame profile;
};

struct joint_steps_frame {
	struct joint_frame joint;
	struct dw_shares_frame shares;
};

struct joint_more_frame {
	struct joint_steps_frame steps;
	struct dw_loading_frame loading;
	struct dw_flops_frame flops;
	struct dw_calls_frame calls;
};

/* Products of facts, which only some runs have. */
enum joint_more { JOINT_LOADING = 1, JOINT_FLOPS = 2, JOINT_DEVICE = 4 };

struct joint_state {
	struct dw_pass pass;
	struct dw_profile profile;
	struct dw_outermost_worker *outermost;
	struct dw_outermost_sums *sums;
	double ratio;
	struct dw_threads_count count; /* used if the threads are computed too */
	struct dw_division division;   /* used if the steps are computed too */
	uint32_t more;                 /* bits of enum joint_more; used with the steps */
	struct dw_loading_pass loading;
	struct dw_flops_pass flops;
	struct dw_calls_pass calls;
};

/* ---- the hooks ---------------------------------------------------------------------------- */

DW_INLINE void joint_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_state *at = state;
	struct joint_frame *frame = place;

	dw_profile_enter(&at->profile, &at->pass, &frame->frame, &frame->profile, ticks,
	                 dw_walk_op(&at->pass.walk, id), false);
	dw_outermost_enter(at->outermost, &at->pass, &frame->frame);
}

DW_INLINE void joint_enter_counted(void *state, void *place, uint64_t ticks, uint32_t id)
{
	joint_enter(state, place, ticks, id);
	dw_threads_enter(&((struct joint_state *)state)->count, ticks);
}

DW_INLINE void joint_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct joint_state *at = state;
	const struct joint_frame *frame = place;

	dw_profile_leave(&at->profile, &frame->frame, &frame->profile, ticks, how, false);
	dw_outermost_leave(at->outermost, &frame->frame, frame->profile.row, ticks);
}

DW_INLINE void joint_leave_counted(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	joint_leave(state, place, ticks, how);
	dw_threads_leave(&((struct joint_state *)state)->count, ticks, how);
}

static void joint_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	dw_profile_note(&((struct joint_state *)state)->profile, record);
}

static void joint_note_counted(void *state, uint64_t ticks, const struct dw_record *record)
{
	joint_note(state, ticks, record);
	dw_threads_note(&((struct joint_state *)state)->count, ticks);
}

static void joint_orphan(void *state, uint64_t ticks, uint32_t n)
{
	dw_threads_note(&((struct joint_state *)state)->count, ticks);
}

static void joint_unnest(void *state, uint32_t place, uint64_t ticks)
{
	struct joint_state *at = state;

	dw_profile_unnest(&at->profile, &at->pass, place, sizeof(struct joint_frame),
	                  offsetof(struct joint_frame, profile));
	dw_outermost_unnest(&at->pass, place, sizeof(struct joint_frame));
}

static void joint_flushed(void *state, uint64_t ticks, enum dw_flush why)
{
	struct joint_state *at = state;

	dw_profile_flushed(&at->profile);
	if (why != DW_FLUSH_GAP)
		dw_outermost_close(at->outermost, at->sums, at->pass.walk.thread, at->ratio);
}

static void joint_flushed_counted(void *state, uint64_t ticks, enum dw_flush why)
{
	joint_flushed(state, ticks, why);
	dw_threads_flushed(&((struct joint_state *)state)->count, ticks, why);
}

static void joint_after_break(void *state, uint64_t ticks, const struct dw_record *record)
{
	dw_threads_after_break(&((struct joint_state *)state)->count, ticks, record);
}

static void joint_carry(void *state, void *place)
{
	const struct joint_frame *frame = place;

	dw_profile_carry(&((struct joint_state *)state)->profile, &frame->profile, frame->frame.child, false);
}

static void joint_carried(void *state)
{
	struct joint_state *at = state;

	dw_outermost_close(at->outermost, at->sums, at->pass.walk.thread, at->ratio);
}

static void joint_carried_counted(void *state)
{
	joint_carried(state);
	dw_threads_carry(&((struct joint_state *)state)->count);
}

/* ---- the hooks with steps ----------------------------------------------------------------- */

DW_INLINE void joint_settle_steps(void *state, uint64_t ticks)
{
	dw_shares_settle(&((struct joint_state *)state)->division, ticks);
}

DW_INLINE void joint_enter_steps(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_state *at = state;
	struct joint_steps_frame *frame = place;

	joint_enter_counted(state, place, ticks, id);
	dw_shares_enter(&at->division, &frame->shares, ticks, frame->joint.profile.row);
}

DW_INLINE void joint_leave_steps(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	const struct joint_steps_frame *frame = place;

	joint_leave_counted(state, place, ticks, how);
	dw_shares_leave(&((struct joint_state *)state)->division, &frame->shares, ticks, how);
}

static void joint_unnest_steps(void *state, uint32_t place, uint64_t ticks)
{
	struct joint_state *at = state;

	dw_profile_unnest(&at->profile, &at->pass, place, sizeof(struct joint_steps_frame),
	                  offsetof(struct joint_steps_frame, joint.profile));
	dw_outermost_unnest(&at->pass, place, sizeof(struct joint_steps_frame));
	dw_shares_unnest(&at->division, place);
}

static void joint_flushed_steps(void *state, uint64_t ticks, enum dw_flush why)
{
	joint_flushed_counted(state, ticks, why);
	dw_shares_flushed(&((struct joint_state *)state)->division, ticks, why);
}

static void joint_carried_steps(void *state)
{
	joint_carried_counted(state);
	dw_shares_carry(&((struct joint_state *)state)->division);
}

/* ---- the hooks with the products of facts -------------------------------------------------- */

DW_INLINE void joint_settle_more(void *state, uint64_t ticks)
{
	struct joint_state *at = state;

	joint_settle_steps(state, ticks);
	if (at->more & JOINT_LOADING)
		dw_loading_settle(&at->loading, ticks);
	if (at->more & JOINT_DEVICE)
		dw_calls_settle(&at->calls, ticks);
}

/* The chain of operators in pass.h is that of the profile: operators of any thread. But a stream's
 * open ranges are all of one thread. */
static void joint_enter_flops(struct joint_state *at, struct joint_more_frame *frame, uint32_t id)
{
	const struct dw_frame *own = &frame->steps.joint.frame;
	const struct joint_more_frame *frames = (const void *)at->pass.frames;

	if (own->chain == dw_kind_of(DWELL_CATEGORY_OPERATOR) && at->pass.walk.wanted)
		dw_flops_enter(&at->flops, &frame->flops, own->previous ? &frames[own->previous].flops : NULL, id);
	else
		dw_flops_pass_by(&frame->flops);
}

DW_INLINE void joint_enter_more(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct joint_state *at = state;
	struct joint_more_frame *frame = place;

	joint_enter_steps(state, &frame->steps, ticks, id);
	if (at->more & JOINT_LOADING)
		dw_loading_enter(&at->loading, &frame->loading, ticks, frame->steps.joint.profile.row, id);
	if (at->more & JOINT_FLOPS)
		joint_enter_flops(at, frame, id);
	if (at->more & JOINT_DEVICE)
		dw_calls_enter(&at->calls, &frame->calls, ticks, id);
}

DW_INLINE void joint_leave_more(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct joint_state *at = state;
	struct joint_more_frame *frame = place;

	joint_leave_steps(state, &frame->steps, ticks, how);
	if (at->more & JOINT_LOADING)
		dw_loading_leave(&at->loading, &frame->loading, ticks, how);
	if (at->more & JOINT_FLOPS)
		dw_flops_leave(&at->flops, &frame->steps.joint.frame, &frame->flops, ticks);
	if (at->more & JOINT_DEVICE)
		dw_calls_leave(&at->calls, &frame->steps.joint.frame, &frame->calls, ticks);
}

static void joint_note_more(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct joint_state *at = state;

	joint_note_counted(state, ticks, record);
	if (at->more & JOINT_LOADING)
		dw_loading_note(&at->loading, ticks, record);
	if (at->more & JOINT_DEVICE)
		dw_calls_note(&at->calls, record);
}

static void joint_unnest_more(void *state, uint32_t place, uint64_t ticks)
{
	struct joint_state *at = state;

	dw_profile_unnest(&at->profile, &at->pass, place, sizeof(struct joint_more_frame),
	                  offsetof(struct joint_more_frame, steps.joint.profile));
	dw_outermost_unnest(&at->pass, place, sizeof(struct joint_more_frame));
	dw_shares_unnest(&at->division, place);
}

static void joint_carry_more(void *state, void *place)
{
	struct joint_state *at = state;
	struct joint_more_frame *frame = place;

	joint_carry(state, &frame->steps);
	if (at->more & JOINT_FLOPS)
		dw_flops_carry(&at->flops, &frame->steps.joint.frame, &frame->flops);
}

static void joint_carried_more(void *state)
{
	struct joint_state *at = state;

	joint_carried_steps(state);
	if (at->more & JOINT_LOADING)
		dw_loading_carry(&at->loading);
}

/* ---- the loops ---------------------------------------------------------------------------- */

static const struct dw_pass_hooks joint_hooks = {
	.frame_bytes = sizeof(struct joint_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter, .leave = joint_leave, .note = joint_note,
	.unnest = joint_unnest, .flushed = joint_flushed, .carry = joint_carry, .carried = joint_carried,
};
static const struct dw_pass_hooks joint_hooks_counted = {
	.frame_bytes = sizeof(struct joint_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter_counted, .leave = joint_leave_counted,
	.note = joint_note_counted, .orphan = joint_orphan, .unnest = joint_unnest,
	.flushed = joint_flushed_counted, .after_break = joint_after_break, .carry = joint_carry,
	.carried = joint_carried_counted,
};
static const struct dw_pass_hooks joint_hooks_steps = {
	.frame_bytes = sizeof(struct joint_steps_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter_steps, .leave = joint_leave_steps,
	.note = joint_note_counted, .settle = joint_settle_steps, .orphan = joint_orphan,
	.unnest = joint_unnest_steps, .flushed = joint_flushed_steps,
	.after_break = joint_after_break, .carry = joint_carry, .carried = joint_carried_steps,
};
static const struct dw_pass_hooks joint_hooks_more = {
	.frame_bytes = sizeof(struct joint_more_frame), .deepest = DW_DEEPEST, .chains = true,
	.all_linked = true, .enter = joint_enter_more, .leave = joint_leave_more,
	.note = joint_note_more, .settle = joint_settle_more, .orphan = joint_orphan,
	.unnest = joint_unnest_more, .flushed = joint_flushed_steps,
	.after_break = joint_after_break, .carry = joint_carry_more, .carried = joint_carried_more,
};
DW_PASS_DEFINE(joint, joint_hooks)
DW_PASS_DEFINE(joint_counted, joint_hooks_counted)
DW_PASS_DEFINE(joint_steps, joint_hooks_steps)
DW_PASS_DEFINE(joint_more, joint_hooks_more)
