/* Reads the steps of a recorded trace; see real_steps.h. */
#include "real_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "facts/parts.h"
#include "model/model.h"

struct reading {
	struct real_trace *trace;
	uint32_t thread;
	const struct dw_divided_step *divided;
	size_t count, capacity; /* of all events of the rank */
	size_t step_count;      /* of the rank */
	struct { struct real_event event; size_t step; } *events;
};

/* The step of the rank in which a time is, or the number of its steps. */
static size_t real_step_at(const struct reading *reading, uint64_t ns)
{
	size_t low = 0, high = reading->step_count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (reading->divided[middle].step->end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < reading->step_count && reading->divided[low].step->start_ns <= ns ? low : reading->step_count;
}

static int real_event_add(void *context, const struct dw_event *event)
{
	struct reading *reading = context;
	const struct dw_step *step;
	size_t at;

	if (event->thread != reading->thread || event->nested ||
	    (event->type != DW_EVENT_RANGE && event->type != DW_EVENT_ALLOC && event->type != DW_EVENT_FREE))
		return 0;
	at = real_step_at(reading, event->start_ns);
	if (at == reading->step_count || (event->type == DW_EVENT_RANGE && event->open) || reading->divided[at].warm_up)
		return 0;
	step = reading->divided[at].step;
	if (!DW_GROW(&reading->events, &reading->capacity, reading->count))
		return 1;
	reading->events[reading->count].step = at;
	reading->events[reading->count++].event = (struct real_event){
		event->start_ns - step->start_ns,
		(event->end_ns < step->end_ns ? event->end_ns : step->end_ns) - step->start_ns,
		event->handle, event->size_bytes, event->symbol, (int)event->type
	};
	return 0;
}

static int real_event_compare(const void *left, const void *right)
{
	const struct real_event *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

/* Drops allocations whose block is not freed in the step, and frees of such blocks: steps are drawn in another
 * order. */
static void real_step_pair(struct real_step *step)
{
	bool *paired = calloc(step->count + 1, sizeof *paired);
	size_t kept = 0;

	for (size_t i = 0; paired && i < step->count; i++)
		for (size_t k = i + 1; step->events[i].type == DW_EVENT_ALLOC && k < step->count && !paired[i]; k++)
			if (step->events[k].type == DW_EVENT_FREE && step->events[k].address == step->events[i].address)
				paired[i] = paired[k] = true;
	for (size_t i = 0; paired && i < step->count; i++)
		if (paired[i] || step->events[i].type == DW_EVENT_RANGE)
			step->events[kept++] = step->events[i];
	step->count = paired ? kept : step->count;
	free(paired);
}

static void real_step_finish(const struct real_trace *trace, struct real_step *step)
{
	uint64_t longest = 0;

	if (step->count)
		qsort(step->events, step->count, sizeof *step->events, real_event_compare);
	real_step_pair(step);
	step->collective = step->count;
	for (size_t i = 0; i < step->count; i++) {
		const struct real_event *event = &step->events[i];

		if (event->type == DW_EVENT_RANGE && event->end_ns - event->start_ns > longest &&
		    trace->symbols[event->symbol].category == DWELL_CATEGORY_COMMUNICATION) {
			longest = event->end_ns - event->start_ns;
			step->collective = i;
		}
	}
}

/* Moves the events of a rank to its steps. */
static bool real_rank_keep(struct reading *reading)
{
	struct real_trace *trace = reading->trace;
	struct real_step *steps = realloc(trace->steps, (trace->step_count + reading->step_count) * sizeof *steps);
	size_t *counts = calloc(reading->step_count + 1, sizeof *counts);

	if (!steps || !counts)
		return false;
	trace->steps = steps;
	for (size_t i = 0; i < reading->count; i++)
		counts[reading->events[i].step]++;
	for (size_t s = 0; s < reading->step_count; s++) {
		const struct dw_step *from = reading->divided[s].step;
		struct real_step *step = &trace->steps[trace->step_count];

		if (reading->divided[s].warm_up)
			continue;
		*step = (struct real_step){ malloc((counts[s] + 1) * sizeof *step->events), 0, 0,
			                        from->end_ns - from->start_ns };
		if (!step->events)
			return false;
		for (size_t i = 0; i < reading->count; i++)
			if (reading->events[i].step == s)
				step->events[step->count++] = reading->events[i].event;
		real_step_finish(trace, step);
		trace->step_count++;
	}
	free(counts);
	return true;
}

static bool real_rank_read(struct real_trace *trace, struct dw_model *model, const struct dw_divided_loop *divided)
{
	struct reading reading = { .trace = trace, .thread = divided->loop->thread, .divided = divided->steps,
		                       .step_count = divided->count };
	bool good = dw_model_events(model, real_event_add, &reading, NULL) == 0 && real_rank_keep(&reading);

	free(reading.events);
	return good;
}

static int real_compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void real_find_transfer(struct real_trace *trace)
{
	uint64_t *lengths = malloc((trace->step_count + 1) * sizeof *lengths);
	size_t count = 0;

	for (size_t s = 0; lengths && s < trace->step_count; s++) {
		const struct real_step *step = &trace->steps[s];

		if (step->collective < step->count)
			lengths[count++] = step->events[step->collective].end_ns - step->events[step->collective].start_ns;
	}
	if (count) {
		qsort(lengths, count, sizeof *lengths, real_compare_numbers);
		trace->transfer_ns = lengths[count / 20];
	}
	free(lengths);
}

bool real_trace_read(struct real_trace *trace, const char *path)
{
	struct dw_scope scope = { .has_steps = false };
	struct dwell_error error = { 0, "" };
	struct dw_source *source;
	struct dw_model *model;
	const struct dw_symbol *symbols;
	size_t loops = 1;
	bool good = true;

	if (dw_source_open(&source, &path, 1, &error) || dw_model_create(&model, source, &scope, &error)) {
		fprintf(stderr, "make_ranks: %s\n", error.message);
		return false;
	}
	symbols = dw_model_symbols(model, &trace->symbol_count);
	trace->symbols = calloc(trace->symbol_count + 1, sizeof *trace->symbols);
	for (size_t i = 0; trace->symbols && i < trace->symbol_count; i++)
		trace->symbols[i] = (struct real_symbol){ symbols[i].name, symbols[i].category };
	for (size_t i = 0; good && trace->symbols && i < loops; i++) {
		struct dw_divided_loop divided;

		good = dw_facts_divide_loop(model, i, &divided, &error);
		loops = divided.loop_count;
		if (good && divided.loop && divided.count > 10)
			good = real_rank_read(trace, model, &divided);
		free(divided.steps);
	}
	real_find_transfer(trace);
	if (!good || !trace->step_count)
		fprintf(stderr, "make_ranks: %s has no steps of ranks, or there is no memory\n", path);
	return good && trace->step_count;
}
