/* Samples one by one, in the order in which their threads took them; see samples.h. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/order.h"
#include "model/core/pass.h"
#include "model/core/product.h"
#include "model/core/scope.h"
#include "model/samples/samples.h"

struct list {
	struct dw_sample_time *samples;
	size_t count, capacity;
	uint32_t ext; /* which records are samples */
	bool failed;
};

/* The state for a stream. */
struct order {
	struct dw_pass pass;
	struct list *list;
};

DW_INLINE void order_enter(void *state, void *frame, uint64_t ticks, uint32_t id)
{
}

DW_INLINE void order_leave(void *state, void *frame, uint64_t ticks, enum dw_leave how)
{
}

static void order_note(void *state, uint64_t ticks, const struct dw_record *record)
{
	struct order *order = state;
	struct dw_sample_time sample = { .thread = order->pass.walk.thread };

	if (record->kind != DW_EXT || record->id != order->list->ext || sample.thread == DW_NO_INDEX ||
	    !dw_pass_in_scope(&order->pass, ticks))
		return;
	sample.ns = dw_source_ns(&order->pass.walk.file->clock, ticks);
	sample.frame = record->payload[2];
	sample.stack = record->payload[3];
	sample.weight = record->payload[4] ? record->payload[4] : 1;
	order->list->failed |= !DW_APPEND(&order->list->samples, &order->list->capacity, &order->list->count, sample);
}

static const struct dw_pass_hooks order_hooks = {
	.frame_bytes = sizeof(struct dw_frame),
	.deepest = DW_DEEPEST,
	.enter = order_enter,
	.leave = order_leave,
	.note = order_note,
};
DW_PASS_DEFINE(order, order_hooks)

DW_ORDER(order_compare, struct dw_sample_time, DW_UP(thread) DW_UP(ns) DW_UP(frame) DW_UP(stack))

int dw_model_samples_in_order(struct dw_model *model, bool waits, struct dw_sample_time **samples, size_t *count,
                              struct dwell_error *error)
{
	const struct dw_source *source = model->source;
	struct list list = { .ext = waits ? DW_IS_WAIT : DW_IS_SAMPLE };
	struct dw_frames frames = { .at = NULL };

	for (size_t i = 0; i < source->stream_count && dw_source_has_samples(source) && !list.failed; i++) {
		struct order order;

		if (!dw_scope_has_stream(model, &source->streams[i]))
			continue;
		memset(&order, 0, sizeof order);
		order.list = &list;
		dw_pass_init(&order.pass, model, i, &frames);
		order_walk(&order.pass);
		list.failed |= order.pass.walk.failed;
	}
	dw_frames_reset(&frames);
	if (list.failed) {
		free(list.samples);
		return dw_model_no_memory(model, error);
	}
	DW_SORT(list.samples, list.count, order_compare);
	*samples = list.samples;
	*count = list.count;
	return 0;
}
