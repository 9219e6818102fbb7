/*
 * The hot part of the calls of devices: what a part (part.h) does for each range and number. Its loops
 * walk whole streams: an owner is stored with all that its records say. Each stream has lists of its own;
 * dw_device_take_part() appends them to the product, stream by stream.
 */
#pragma once

#include "model/core/part.h"
#include "model/device/build.h"

struct dw_calls_frame {
	uint64_t sequence;
	uint32_t forward_thread, symbol;
	uint32_t stack;       /* STACK id, its own or that of the range around it; 0: none */
	uint32_t owner, call; /* index in the part, or DW_NO_INDEX */
	bool is_call;         /* of the category runtime */
	bool is_named;        /* by the program: call_threads.c may need it */
	bool in_scope;
};

struct dw_calls_worker { };

/* The state for a stream. */
struct dw_calls_pass {
	struct dw_pass *pass;
	struct dw_device_build *build;
	struct dw_device_part *part;
	size_t frame_bytes, frame_offset;
	uint64_t long_ticks;  /* ranges of this length are kept */
	size_t late;          /* index of the next late call of `late_thread` */
	uint32_t late_thread;
	bool failed;
};

/* The functions of the part. */
bool dw_calls_begin(void *pass, void *sums, void *worker, const struct dw_part_begin *from);
void dw_calls_note(void *pass, uint64_t ticks, const struct dw_record *record);
void dw_calls_end(void *pass);

/* Internal. */
void dw_calls_take_lates(struct dw_calls_pass *calls, uint64_t ticks);
void dw_calls_close(struct dw_calls_pass *calls, const struct dw_frame *frame,
                    const struct dw_calls_frame *own, uint64_t ticks);

DW_INLINE void dw_calls_settle(void *pass, uint64_t ticks)
{
	struct dw_calls_pass *calls = pass;

	if (calls->build->late_count)
		dw_calls_take_lates(calls, ticks);
}

DW_INLINE void dw_calls_enter(void *pass, void *place, const struct dw_here *here)
{
	struct dw_calls_pass *calls = pass;
	struct dw_calls_frame *frame = place;
	uint32_t symbol = dw_walk_symbol(&here->pass->walk, here->id);
	uint32_t category = calls->build->model->symbols[symbol].category;
	const struct dw_calls_frame *around =
		(const void *)((const char *)frame - calls->frame_bytes); /* used if there is one */

	*frame = (struct dw_calls_frame){ .sequence = UINT64_MAX, .forward_thread = DW_NO_INDEX,
		.symbol = symbol, .stack = here->pass->depth > 1 ? around->stack : 0,
		.owner = DW_NO_INDEX, .call = DW_NO_INDEX, .is_call = category == DWELL_CATEGORY_RUNTIME,
		.is_named = category < 32 && DW_DEVICE_NAMED >> category & 1,
		.in_scope = dw_pass_in_scope(here->pass, here->ticks) };
}

DW_INLINE void dw_calls_leave(void *pass, void *place, const struct dw_here *here)
{
	struct dw_calls_pass *calls = pass;
	const struct dw_calls_frame *own = place;

	if (__builtin_expect(own->owner != DW_NO_INDEX || own->call != DW_NO_INDEX || own->is_named ||
	                     here->duration > calls->long_ticks, 0))
		dw_calls_close(calls, here->range, own, here->ticks);
}

static const struct dw_part dw_calls_part = {
	.begin = dw_calls_begin, .end = dw_calls_end, .enter = dw_calls_enter, .leave = dw_calls_leave,
	.note = dw_calls_note, .settle = dw_calls_settle,
};
