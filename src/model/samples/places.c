/*
 * Where a sample lies: the part of a step, by the rule that divides the time of steps
 * (steps/division.c), and the steps themselves.
 */
#include <string.h>

#include "base/free.h"
#include "model/samples/inside.h"
#include "model/steps/steps.h"

enum { PLACE_NONE, PLACE_PHASE, PLACE_OWN, PLACE_OPERATOR, PLACE_LAYER, PLACE_FUNCTION, PLACE_CLASSES };

static uint8_t places_class(const struct dw_symbol *symbol)
{
	switch (symbol->category) {
	case DWELL_CATEGORY_PHASE:
		return PLACE_PHASE;
	case DWELL_CATEGORY_ZONE:
	case DWELL_CATEGORY_ACTION:
	case DWELL_CATEGORY_EVENT:
	case DWELL_CATEGORY_HANDLER:
		return PLACE_OWN;
	case DWELL_CATEGORY_OPERATOR:
		return PLACE_OPERATOR;
	case DWELL_CATEGORY_LAYER:
		return PLACE_LAYER;
	case DWELL_CATEGORY_FUNCTION:
		return PLACE_FUNCTION;
	default:
		return PLACE_NONE;
	}
}

/* Appends the steps of a thread that are in its loop (struct dw_loop), and the time of those of which the trace has only sums. */
static struct dw_sample_step *places_put_steps(const struct dw_source *source, const uint8_t *classes, uint32_t thread,
                                               struct dw_sample_step *to)
{
	bool ended = false;

	for (size_t i = 0; i < source->step_count; i++)
		ended |= source->steps[i].thread == thread && !source->steps[i].open;
	for (size_t i = 0; i < source->step_count; i++)
		if (source->steps[i].thread == thread && !(ended && source->steps[i].open))
			*to++ = (struct dw_sample_step){ source->steps[i].start_ticks, source->steps[i].end_ticks,
				                             source->steps[i].reduced, classes[i] };
	for (size_t i = 0; i < source->step_summary_count; i++)
		if (source->step_summaries[i].thread == thread)
			*to++ = (struct dw_sample_step){ source->step_summaries[i].start_ticks, source->step_summaries[i].end_ticks,
				                             false, DW_ITERATION_STEADY };
	*to++ = (struct dw_sample_step){ UINT64_MAX, UINT64_MAX, false, DW_ITERATION_STEADY };
	return to;
}

static bool places_find_steps(struct dw_sample_places *places, struct dw_model *model)
{
	const struct dw_source *source = model->source;
	const uint32_t *main_threads = dw_model_step_threads(model);
	const struct dw_step_classes *classes = dw_model_step_classes(model, NULL);
	struct dw_sample_step *to = places->all_steps;

	if (!main_threads || !classes)
		return false;
	/* The steps of a thread follow each other, so one pass finds the threads that have some. */
	for (size_t i = 0; i < source->step_count + source->step_summary_count; i++) {
		uint32_t thread =
			i < source->step_count ? source->steps[i].thread : source->step_summaries[i - source->step_count].thread;

		if (places->steps[thread])
			continue;
		places->steps[thread] = to;
		to = places_put_steps(source, classes->at, thread, to);
	}
	for (uint32_t thread = 0; thread < source->thread_count; thread++) {
		const struct dw_source_thread *from = &source->threads[thread];
		const struct dw_source_process *process = &source->processes[from->process];
		uint32_t main_thread = main_threads[from->process];

		places->python[thread] =
			process->flags & DW_PROCESS_PYTHON && (places->steps[thread] || from->tid == process->pid);
		if (!places->steps[thread] && main_thread != DW_NO_INDEX)
			places->steps[thread] = places->steps[main_thread];
	}
	return true;
}

bool dw_sample_places_init(struct dw_sample_places *places, struct dw_model *model)
{
	const struct dw_source *source = model->source;

	*places = (struct dw_sample_places){ .model = model };
	if (!DW_NEW(&places->shares, model->row_count + (size_t)1) ||
	    !DW_NEW(&places->classes, model->row_count + (size_t)1) || !DW_NEW(&places->python, source->thread_count + 1) ||
	    !DW_NEW(&places->steps, source->thread_count + 1) ||
	    !DW_NEW(&places->all_steps, source->step_count + source->step_summary_count + source->thread_count + 1))
		return false;
	for (uint32_t row = 0; row < model->row_count; row++) {
		const struct dw_symbol *symbol = &model->symbols[model->row_symbol[row]];

		places->shares[row] = (uint8_t)dw_share_of(symbol);
		places->classes[row] = places_class(symbol);
	}
	return places_find_steps(places, model);
}

void dw_sample_places_reset(struct dw_sample_places *places)
{
	DW_FREE(places->shares, places->classes, places->python, places->steps, places->all_steps);
}

#define BIT(share) (1u << DW_SHARE_##share)
#define PASSES (BIT(BACKWARD) | BIT(FORWARD))
#define PHASES (BIT(EVALUATION) | BIT(OPTIMIZER) | PASSES)
#define WAITS (BIT(PROFILER) | BIT(COLLECTOR) | BIT(DATA) | BIT(COMMUNICATION) | BIT(DEVICE))

/* The open ranges of an instant. */
struct places_open {
	uint32_t set;                 /* bits of shares */
	uint32_t name[PLACE_CLASSES]; /* the outermost one's symbol, or DW_NO_INDEX */
	bool python;
};

static void places_set_named(const struct places_open *open, struct dw_sample_row *row)
{
	row->share = DW_SHARE_NAMED;
	row->named = open->name[PLACE_PHASE] != DW_NO_INDEX ? open->name[PLACE_PHASE] : open->name[PLACE_OWN];
}

static bool places_has_name(const struct places_open *open)
{
	return open->name[PLACE_PHASE] != DW_NO_INDEX || open->name[PLACE_OWN] != DW_NO_INDEX;
}

static enum dw_share places_layer(const struct places_open *open)
{
	return open->name[PLACE_LAYER] != DW_NO_INDEX      ? DW_SHARE_LAYERS
	       : open->name[PLACE_FUNCTION] != DW_NO_INDEX ? DW_SHARE_FUNCTIONS
	                                                   : DW_SHARE_OTHER;
}

/* As division.c divides the time between steps. */
static void places_put_between(const struct places_open *open, struct dw_sample_row *row)
{
	uint32_t first = open->set & (BIT(EVALUATION) | BIT(CHECKPOINT)), waits = open->set & WAITS;

	if (first)
		row->share = first & BIT(EVALUATION) ? DW_SHARE_EVALUATION : DW_SHARE_CHECKPOINT;
	else if (waits)
		row->share = (enum dw_share)__builtin_ctz(waits);
	else if (open->name[PLACE_OPERATOR] != DW_NO_INDEX)
		row->share = DW_SHARE_OPERATORS;
	else if (places_has_name(open))
		places_set_named(open, row);
	else if (!open->python && open->set & PHASES)
		row->share = (enum dw_share)__builtin_ctz(open->set & PHASES);
	else
		row->share = open->python ? DW_SHARE_PYTHON : places_layer(open);
}

/* As division.c divides a step. */
static void places_put_in_step(const struct places_open *open, bool reduced, struct dw_sample_row *row)
{
	uint32_t set = open->set;

	if (open->python && !reduced && set & PHASES && open->name[PLACE_OPERATOR] == DW_NO_INDEX)
		set = (set & ~PHASES) | BIT(PYTHON);
	if (set)
		row->share = (enum dw_share)__builtin_ctz(set);
	else if (places_has_name(open))
		places_set_named(open, row);
	else if (open->name[PLACE_OPERATOR] != DW_NO_INDEX)
		row->share = DW_SHARE_OPERATORS;
	else
		row->share = open->python && !reduced ? DW_SHARE_PYTHON : places_layer(open);
}

void dw_sample_place(const struct dw_sample_places *places, const struct dw_pass *pass, bool reduced,
                     struct dw_sample_row *row)
{
	struct places_open open = { .python = places->python[row->thread] };

	memset(open.name, 0xff, sizeof open.name);
	row->range = row->named = DW_NO_INDEX;
	for (uint32_t place = pass->depth; place; place--) {
		uint32_t at = ((const struct dw_sample_frame *)(const void *)pass->frames)[place].row;
		uint32_t bit = places->shares[at] < DW_SHARE_COUNT ? 1u << places->shares[at] : 0;

		if (row->range == DW_NO_INDEX)
			row->range = places->model->row_symbol[at];
		/* Of an optimizer's step and a pass within each other, the inner one counts. */
		if (!(open.set & PASSES && bit & BIT(OPTIMIZER)) && !(open.set & BIT(OPTIMIZER) && bit & PASSES))
			open.set |= bit;
		if (!bit || places->classes[at] >= PLACE_OPERATOR)
			open.name[places->classes[at]] = places->model->row_symbol[at]; /* the outermost one is kept */
	}
	if (row->where == DW_SAMPLE_BETWEEN)
		places_put_between(&open, row);
	else
		places_put_in_step(&open, reduced, row);
}
