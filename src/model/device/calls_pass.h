/*
 * The hot part of the calls of devices: what a pass does for each range and number.
 *
 * For the pass of calls_pass.c and for passes that also compute other products. Such a pass needs
 * `settle` and walks whole streams: an owner is stored with all that its records say. Streams may
 * be walked in parallel. Each has lists of its own; dw_device_take_part() appends them to the
 * product, stream by stream.
 */
#pragma once

#include "model/core/pass.h"
#include "model/device/build.h"

/* The part of a pass's frame that follows struct dw_frame. */
struct dw_calls_frame {
	uint64_t sequence;
	uint32_t forward_thread, symbol;
	uint32_t stack;       /* STACK id, its own or that of the range around it; 0: none */
	uint32_t owner, call; /* index in the part, or DW_NO_INDEX */
	bool is_call;         /* of the category runtime */
	bool is_named;        /* by the program: call_threads.c may need it */
	bool in_scope;
};

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

/* Prepares the state. `pass` must be initialised for the stream; `part` is zeroed. `frame_offset`:
 * offset of the dw_calls_frame in the pass's frame, which has frame_bytes. */
void dw_calls_begin(struct dw_calls_pass *calls, struct dw_device_build *build,
                    struct dw_device_part *part, struct dw_pass *pass, size_t frame_bytes, size_t frame_offset);
void dw_calls_note(struct dw_calls_pass *calls, const struct dw_record *record);
/* To be called when the stream has been walked. */
void dw_calls_end(struct dw_calls_pass *calls);

/* Internal. */
void dw_calls_take_lates(struct dw_calls_pass *calls, uint64_t ticks);
void dw_calls_close(struct dw_calls_pass *calls, const struct dw_frame *frame,
                    const struct dw_calls_frame *own, uint64_t ticks);

/* Before the stack changes. */
DW_INLINE void dw_calls_settle(struct dw_calls_pass *calls, uint64_t ticks)
{
	if (calls->build->late_count)
		dw_calls_take_lates(calls, ticks);
}

/* To be called when a range has begun and is on the stack. */
DW_INLINE void dw_calls_enter(struct dw_calls_pass *calls, struct dw_calls_frame *frame, uint64_t ticks, uint32_t id)
{
	uint32_t symbol = dw_walk_symbol(&calls->pass->walk, id);
	uint32_t category = calls->build->model->symbols[symbol].category;
	const struct dw_calls_frame *around =
		(const void *)((const char *)frame - calls->frame_bytes); /* used if there is one */

	*frame = (struct dw_calls_frame){ .sequence = UINT64_MAX, .forward_thread = DW_NO_INDEX,
		.symbol = symbol, .stack = calls->pass->depth > 1 ? around->stack : 0,
		.owner = DW_NO_INDEX, .call = DW_NO_INDEX, .is_call = category == DWELL_CATEGORY_RUNTIME,
		.is_named = category < 32 && DW_DEVICE_NAMED >> category & 1,
		.in_scope = dw_pass_in_scope(calls->pass, ticks) };
}

DW_INLINE void dw_calls_leave(struct dw_calls_pass *calls, const struct dw_frame *frame,
                              const struct dw_calls_frame *own, uint64_t ticks)
{
	if (__builtin_expect(own->owner != DW_NO_INDEX || own->call != DW_NO_INDEX || own->is_named ||
	                     ticks - frame->start > calls->long_ticks, 0))
		dw_calls_close(calls, frame, own, ticks);
}
