/*
 * The work of devices of each thread, in order of the calls; see sums.h.
 */

#include "base/order.h"
#include "model/core/product.h"
#include "model/device/sums.h"

struct by_time {
	struct dw_device_moment *moments; /* by thread and begin; one more at the end */
	size_t count;
};

DW_ORDER(between_compare, struct dw_device_moment, DW_UP(thread) DW_UP(start_ns))

static bool between_compute(struct dw_model *model, const void *request, void *result)
{
	const struct dw_device_work *work = dw_model_device_work(model, NULL);
	enum dw_device_whose whose = *(const enum dw_device_whose *)request;
	struct by_time *by_time = result;
	uint64_t ns = 0, events = 0;

	by_time->moments = work ? dw_arena_alloc(&model->arena, (work->call_count + 1) * sizeof *by_time->moments) : NULL;
	if (!by_time->moments)
		return false;
	for (uint32_t i = 0; i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];

		bool made = whose == DW_DEVICE_WHERE_MADE && call->made_ns;

		if (call->work && call->in_scope)
			by_time->moments[by_time->count++] = (struct dw_device_moment){
				.start_ns = made ? call->made_ns : call->start_ns, .call = i,
				.thread = made                            ? call->made_thread
				          : whose == DW_DEVICE_FOR_THREAD ? call->for_thread
				                                          : call->thread,
			};
	}
	DW_SORT(by_time->moments, by_time->count, between_compare);
	for (size_t i = 0; i < by_time->count; i++) {
		by_time->moments[i].before_ns = ns;
		by_time->moments[i].before_events = events;
		ns += work->calls[by_time->moments[i].call].device_ns;
		events += work->calls[by_time->moments[i].call].work;
	}
	by_time->moments[by_time->count] = (struct dw_device_moment){ .before_ns = ns, .before_events = events };
	return true;
}

/* The first call of the thread, or of a later thread, that began at that time or later. */
static const struct dw_device_moment *between_first_from(const struct by_time *by_time, uint32_t thread, uint64_t ns)
{
	const struct dw_device_moment *at = by_time->moments;

	return &at[DW_FIRST(i, 0, by_time->count, at[i].thread > thread || (at[i].thread == thread && at[i].start_ns >= ns))];
}

DW_PRODUCT(device_between, struct by_time, between_compute, NULL);

static const struct by_time *between_get(struct dw_model *model, enum dw_device_whose whose, struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_device_between, whose, &whose, error);
}

const struct dw_device_moment *dw_model_device_moments(struct dw_model *model,
                                                       enum dw_device_whose whose, uint32_t thread,
                                                       size_t *count, struct dwell_error *error)
{
	const struct by_time *by_time = between_get(model, whose, error);
	const struct dw_device_moment *from;

	if (!by_time)
		return NULL;
	from = between_first_from(by_time, thread, 0);
	*count = (size_t)(between_first_from(by_time, thread, UINT64_MAX) - from);
	return from;
}

bool dw_model_device_between(struct dw_model *model, enum dw_device_whose whose, uint32_t thread,
                             uint64_t from_ns, uint64_t to_ns, struct dw_device_amount *amount,
                             struct dwell_error *error)
{
	const struct by_time *by_time = between_get(model, whose, error);
	const struct dw_device_moment *from, *to;

	*amount = (struct dw_device_amount){ 0, 0 };
	if (!by_time || to_ns <= from_ns)
		return by_time != NULL;
	from = between_first_from(by_time, thread, from_ns);
	to = between_first_from(by_time, thread, to_ns);
	*amount = (struct dw_device_amount){ to->before_ns - from->before_ns, to->before_events - from->before_events };
	return true;
}
