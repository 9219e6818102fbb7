/*
 * Device time by the parts of steps; see sums.h.
 *
 * The part of a call is the part of the step that had the host's time when the call began, by the
 * precedence of core/share_names.h over the ranges around the call. The host's time is divided at
 * each instant (steps/division.c); here one instant a call is enough.
 */
#include <stdlib.h>
#include <string.h>

#include "model/core/product.h"
#include "model/device/sums.h"

#define BIT(share) (1u << DW_SHARE_##share)

struct phases {
	struct dw_model *model;
	const struct dw_device_work *work;
	const struct dw_steps *steps;
	struct dw_device_phases *phases;
};

/* What is open around a call. */
struct around {
	uint32_t set;                     /* bits: 1 << enum dw_share */
	uint32_t phase, own, outer;       /* symbols or DW_NO_INDEX: outermost phase and outermost other
	                                   * named range that began in the step; the innermost one that
	                                   * began before it */
	bool operator, layer, function;
};

static void phases_add_range(struct around *around, const struct dw_symbol *symbol, uint32_t index,
                             bool in_step)
{
	enum dw_share share = dw_share_of(symbol);
	const uint32_t passes = BIT(OPTIMIZER) | BIT(BACKWARD) | BIT(FORWARD);

	if (share < DW_SHARE_COUNT) {
		/* Of an optimizer and a forward or backward, the innermost one counts. */
		if (!(1u << share & passes) || !(around->set & passes) ||
		    (share != DW_SHARE_OPTIMIZER && !(around->set & BIT(OPTIMIZER))))
			around->set |= 1u << share;
		return;
	}
	around->operator |= symbol->category == DWELL_CATEGORY_OPERATOR;
	around->layer |= symbol->category == DWELL_CATEGORY_LAYER;
	around->function |= symbol->category == DWELL_CATEGORY_FUNCTION;
	switch (symbol->category) {
	case DWELL_CATEGORY_PHASE:
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
		if (!in_step)
			around->outer = around->outer == DW_NO_INDEX ? index : around->outer;
		else if (symbol->category == DWELL_CATEGORY_PHASE)
			around->phase = index;
		else
			around->own = index;
		break;
	default: break;
	}
}

static struct around phases_around(const struct phases *phases, const struct dw_device_call *call,
                                   uint64_t step_start_ns)
{
	struct around around = { .phase = DW_NO_INDEX, .own = DW_NO_INDEX, .outer = DW_NO_INDEX };

	for (uint32_t at = dw_device_first_owner(call); at != DW_NO_INDEX;
	     at = dw_device_next_owner(phases->work, call, at)) {
		const struct dw_device_owner *owner = &phases->work->owners[at];

		phases_add_range(&around, &phases->model->symbols[owner->symbol], owner->symbol,
		                 owner->start_ns >= step_start_ns);
	}
	return around;
}

static void phases_add(struct dw_device_amount *to, const struct dw_device_call *call)
{
	to->ns += call->device_ns;
	to->events += call->work;
}

static void phases_add_in_step(struct phases *phases, const struct dw_device_call *call,
                               const struct dw_step *step)
{
	struct around around = phases_around(phases, call, step->start_ns);
	uint32_t named = around.phase != DW_NO_INDEX ? around.phase : around.own;

	if (!step->counted) {
		phases_add(&phases->phases->not_counted, call);
		return;
	}
	if (!around.operator && !around.layer && !around.function && named == DW_NO_INDEX)
		named = around.outer;
	if (around.set)
		phases_add(&phases->phases->shares[__builtin_ctz(around.set)], call);
	else if (named != DW_NO_INDEX)
		phases_add(&phases->phases->rows[phases->model->symbol_row[named]], call);
	else
		phases_add(&phases->phases->shares[around.operator   ? DW_SHARE_OPERATORS
		                                   : around.layer    ? DW_SHARE_LAYERS
		                                   : around.function ? DW_SHARE_FUNCTIONS
		                                                     : DW_SHARE_OTHER], call);
}

static void phases_add_outside(struct phases *phases, const struct dw_device_call *call, bool before,
                               bool after)
{
	struct around around = phases_around(phases, call, 0);
	uint32_t set = around.set & (BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) |
	                             BIT(DEVICE));
	struct dw_device_phases *to = phases->phases;

	if (around.set & BIT(EVALUATION))
		phases_add(&to->outside[DW_SHARE_EVALUATION], call);
	else if (around.set & BIT(CHECKPOINT))
		phases_add(&to->outside[DW_SHARE_CHECKPOINT], call);
	else if (before || after)
		phases_add(before ? &to->before : &to->after, call);
	else
		phases_add(&to->outside[set ? (unsigned)__builtin_ctz(set) : DW_SHARE_OTHER], call);
}

/* Steps of a thread are consecutive and ascending, and so are its calls. */
static bool phases_add_thread(struct phases *phases, size_t first, size_t end)
{
	const struct dw_step *steps = phases->steps->steps;
	const struct dw_device_moment *moments;
	size_t count, at = first;

	moments = dw_model_device_moments(phases->model, DW_DEVICE_OF_HOME, steps[first].thread, &count,
	                                  NULL);
	for (size_t i = 0; moments && i < count; i++) {
		const struct dw_device_call *call = &phases->work->calls[moments[i].call];

		while (at < end && steps[at].end_ns <= call->start_ns)
			at++;
		if (at < end && steps[at].start_ns <= call->start_ns)
			phases_add_in_step(phases, call, &steps[at]);
		else
			phases_add_outside(phases, call, at == first, at == end);
	}
	return moments != NULL;
}

static bool phases_compute(struct dw_model *model, const void *request, void *result)
{
	struct phases phases = { .model = model, .work = dw_model_device_work(model, NULL),
		                     .steps = dw_model_steps(model, NULL), .phases = result };
	size_t end;

	phases.phases->rows = dw_arena_alloc(&model->arena, (model->row_count + (size_t)1) *
	                                                        sizeof *phases.phases->rows);
	if (!phases.work || !phases.steps || !phases.phases->rows)
		return false;
	for (size_t first = 0; first < phases.steps->count; first = end) {
		for (end = first; end < phases.steps->count &&
		                  phases.steps->steps[end].thread == phases.steps->steps[first].thread;)
			end++;
		if (!phases_add_thread(&phases, first, end))
			return false;
	}
	return true;
}

DW_PRODUCT(device_by_phase, struct dw_device_phases, phases_compute, NULL);

const struct dw_device_phases *dw_model_device_by_phase(struct dw_model *model,
                                                        struct dwell_error *error)
{
	return dw_product_get(model, &dw_product_device_by_phase, 0, NULL, error);
}
