/*
 * Finds the host's calls that caused device events, and the ranges around them.
 *
 * One pass over the host's streams. A range with a CORRELATION or EXTERNAL record is a call if an
 * event has that number, or if it waits for a device. Its owners are the ranges that are open
 * around it. An owner is stored when the first call in it is seen. So memory grows with the number
 * of ranges that caused device work, and not with the number of all ranges.
 *
 * Calls that the driver reported late are in no stream. The pass adds them by their time: before
 * the stack of open ranges changes, it gives the late calls of the thread that began earlier to the
 * ranges that are open.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "dwell/probe.h"
#include "model/core/pass.h"
#include "model/core/scope.h"
#include "model/device/build.h"

struct frame {
	struct dw_frame frame;
	uint64_t sequence;
	uint32_t forward_thread;
	uint32_t symbol;
	uint32_t stack;       /* STACK id, its own or that of the range around it; 0: none */
	uint32_t owner, call; /* index, or DW_NO_INDEX */
	bool is_call;         /* of the category runtime */
};

struct calls {
	struct dw_pass pass;
	struct dw_device_build *build;
	const uint32_t *symbol_by_id;
	const bool *waits;    /* by symbol: it is a call that waits for a device */
	size_t late;          /* index of the next late call of `late_thread` */
	uint32_t late_thread;
	bool failed;
};

static uint64_t calls_ns(const struct calls *calls, uint64_t ticks)
{
	return dw_source_ns(&calls->pass.walk.file->clock, ticks);
}

static struct frame *calls_frame(const struct calls *calls, uint32_t place)
{
	return (struct frame *)(void *)dw_pass_at(&calls->pass, sizeof(struct frame), place);
}

static void calls_add_owner(struct calls *calls, struct frame *frame, uint32_t parent)
{
	struct dw_device_build *build = calls->build;
	struct dw_device_work *work = build->work;
	struct dw_device_owner *owner = DW_GROW(&work->owners, &build->owner_capacity, work->owner_count);

	if (!owner) {
		calls->failed = true;
		return;
	}
	*owner = (struct dw_device_owner){
		.start_ns = calls_ns(calls, frame->frame.start), .sequence = frame->sequence,
		.forward_thread = frame->forward_thread, .parent = parent, .forward = DW_NO_INDEX,
		.symbol = frame->symbol, .thread = calls->pass.walk.thread, .stack = frame->stack,
		.in_scope = frame->frame.in_scope,
	};
	frame->owner = (uint32_t)work->owner_count++;
}

/* The owner for the innermost range at places up to `place`. Adds it, and its parents before it, if
 * they are not stored yet. */
static uint32_t calls_owner(struct calls *calls, uint32_t place)
{
	uint32_t from = place, owner = DW_NO_INDEX;

	while (from && calls_frame(calls, from)->owner == DW_NO_INDEX)
		from--;
	if (from)
		owner = calls_frame(calls, from)->owner;
	for (uint32_t at = from + 1; at <= place; at++) {
		struct frame *frame = calls_frame(calls, at);

		if (frame->is_call)
			continue; /* a call is no owner */
		calls_add_owner(calls, frame, owner);
		owner = frame->owner;
	}
	return owner;
}

/* Adds a call and stores its index in the key. */
static uint32_t calls_add(struct calls *calls, struct dw_device_key *key,
                          const struct dw_device_call *from)
{
	struct dw_device_build *build = calls->build;
	struct dw_device_work *work = build->work;
	struct dw_device_call *call = DW_GROW(&work->calls, &build->call_capacity, work->call_count);

	if (!call) {
		calls->failed = true;
		return DW_NO_INDEX;
	}
	*call = *from;
	if (key && key->call == DW_NO_INDEX)
		key->call = (uint32_t)work->call_count;
	else if (key)
		work->duplicates++;
	return (uint32_t)work->call_count++;
}

/* Takes a CORRELATION or EXTERNAL record, which belongs to the innermost range. */
static void calls_take_number(struct calls *calls, uint64_t id, bool external)
{
	struct frame *frame = DW_PASS_INNERMOST(&calls->pass, struct frame);
	uint32_t process = calls->pass.walk.stream->process;
	struct dw_device_key *key;

	if (!frame)
		return;
	key = dw_device_key_at(calls->build, process, id, external, false);
	if (frame->call != DW_NO_INDEX) {
		if (key && key->call == DW_NO_INDEX)
			key->call = frame->call; /* the call has both a correlation and an external id */
		return;
	}
	if (!key && !calls->waits[frame->symbol])
		return;
	frame->call = calls_add(calls, key, &(struct dw_device_call){
		.start_ns = calls_ns(calls, frame->frame.start),
		.symbol = frame->symbol, .thread = calls->pass.walk.thread,
		.owner = calls_owner(calls, frame->is_call ? calls->pass.depth - 1 : calls->pass.depth),
		.in_scope = frame->frame.in_scope, .synchronises = calls->waits[frame->symbol],
	});
}

/* Adds the late calls of this thread that began before `ticks`: the ranges that are open now are
 * their owners. */
static void calls_take_lates(struct calls *calls, uint64_t ticks)
{
	const struct dw_device_build *build = calls->build;
	uint32_t thread = calls->pass.walk.thread;

	if (calls->late_thread != thread) {
		calls->late_thread = thread;
		for (calls->late = 0; calls->late < build->late_count &&
		                      build->lates[calls->late].thread != thread;)
			calls->late++;
	}
	while (calls->late < build->late_count && build->lates[calls->late].thread == thread &&
	       build->lates[calls->late].start_ticks < ticks) {
		const struct dw_late_call *late = &build->lates[calls->late++];
		uint32_t symbol = late->id < calls->pass.walk.op_count ? calls->symbol_by_id[late->id] : 0;
		struct dw_device_key *key = dw_device_key_at(calls->build, calls->pass.walk.stream->process,
		                                             late->correlation, false, false);

		if (!key && !calls->waits[symbol])
			continue;
		calls_add(calls, key, &(struct dw_device_call){
			.start_ns = calls_ns(calls, late->start_ticks),
			.end_ns = calls_ns(calls, late->end_ticks), .symbol = symbol, .thread = thread,
			.owner = calls->pass.folded ? DW_NO_INDEX : calls_owner(calls, calls->pass.depth),
			.in_scope = dw_pass_in_scope(&calls->pass, late->start_ticks),
			.synchronises = calls->waits[symbol],
		});
	}
}

/* ---- hooks ------------------------------------------------------------------------------ */

DW_INLINE void calls_settle(void *state, uint64_t ticks)
{
	struct calls *calls = state;

	if (calls->build->late_count)
		calls_take_lates(calls, ticks);
}

DW_INLINE void calls_enter(void *state, void *place, uint64_t ticks, uint32_t id)
{
	struct calls *calls = state;
	struct frame *frame = place;
	const struct dw_model *model = calls->build->model;

	*frame = (struct frame){ .frame = frame->frame, .sequence = UINT64_MAX,
		.forward_thread = DW_NO_INDEX,
		.symbol = calls->symbol_by_id[id < calls->pass.walk.op_count ? id : 0],
		.stack = calls->pass.depth > 1 ? frame[-1].stack : 0,
		.owner = DW_NO_INDEX, .call = DW_NO_INDEX };
	frame->is_call = model->symbols[frame->symbol].category == DWELL_CATEGORY_RUNTIME;
	frame->frame.in_scope = dw_pass_in_scope(&calls->pass, ticks);
}

DW_INLINE void calls_leave(void *state, void *place, uint64_t ticks, enum dw_leave how)
{
	struct calls *calls = state;
	const struct frame *frame = place;

	if (frame->owner != DW_NO_INDEX)
		calls->build->work->owners[frame->owner].end_ns = calls_ns(calls, ticks);
	if (frame->call != DW_NO_INDEX)
		calls->build->work->calls[frame->call].end_ns = calls_ns(calls, ticks);
}

static void calls_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct calls *calls = state;
	const struct dw_source_file *file = calls->pass.walk.file;
	struct frame *frame;

	if (record->kind == DW_EXT && record->id == (DW_EXT_CORRELATION << DW_EXT_TYPE_SHIFT |
	                                             DW_CORRELATION_WORDS))
		calls_take_number(calls, record->payload[0], false);
	else if (record->kind == DW_EXT && record->id == (DW_EXT_EXTERNAL << DW_EXT_TYPE_SHIFT |
	                                                  DW_EXTERNAL_WORDS))
		calls_take_number(calls, dw_record_u64(record, 2), true);
	if (record->kind != DW_LINK && record->kind != DW_STACK)
		return;
	frame = DW_PASS_INNERMOST(&calls->pass, struct frame);
	if (!frame)
		return;
	if (record->kind == DW_STACK) {
		frame->stack = record->id;
		return;
	}
	frame->sequence = dw_record_u64(record, 0);
	frame->forward_thread = record->payload[2] && record->payload[2] < file->symbol_count
	                            ? file->thread_by_id[record->payload[2]] : DW_NO_INDEX;
	if (frame->owner != DW_NO_INDEX) {
		calls->build->work->owners[frame->owner].sequence = frame->sequence;
		calls->build->work->owners[frame->owner].forward_thread = frame->forward_thread;
	}
}

static const struct dw_pass_hooks calls_hooks = {
	.frame_bytes = sizeof(struct frame), .deepest = DW_DEEPEST,
	.enter = calls_enter, .leave = calls_leave, .note = calls_note, .settle = calls_settle,
};
DW_PASS_DEFINE(calls, calls_hooks)

/* ---- order -------------------------------------------------------------------------------- */

bool dw_device_find_calls(struct dw_device_build *build)
{
	struct dw_model *model = build->model;
	const struct dw_source *source = model->source;
	struct dw_frames frames = { NULL, 0 };
	void *buffer = malloc(DW_BLOCK_BYTES);
	bool *waits = calloc(model->symbol_count, sizeof *waits);
	bool good = buffer && waits;

	for (uint32_t i = 0; i < model->symbol_count && good; i++)
		waits[i] = model->symbols[i].category == DWELL_CATEGORY_RUNTIME &&
		           dw_device_call_waits(model->symbols[i].name);
	for (size_t i = 0; i < source->stream_count && good; i++) {
		struct calls calls = { .build = build, .waits = waits, .late_thread = DW_NO_INDEX,
			                   .symbol_by_id = model->symbol_by_id[source->streams[i].file] };

		dw_pass_init(&calls.pass, model, i, &frames, buffer);
		calls_walk(&calls.pass);
		calls_take_lates(&calls, UINT64_MAX);
		good = !calls.failed && !calls.pass.failed;
	}
	free(buffer);
	free(waits);
	dw_frames_reset(&frames);
	return good;
}
