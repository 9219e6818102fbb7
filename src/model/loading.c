/*
 * Data loading: one pass over all events that keeps a row for each name and thread.
 *
 * A batch's samples are told by a counter within its range. Ranges come when they end,
 * so the counter of a thread waits for the next range that ends there.
 */
#include "model/loading.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "model/inside.h"

#define MOST_ROWS 4096u /* names and threads; the rest is left out */

struct pass {
	struct dw_model *model;
	const struct dw_symbol *symbols;
	bool *steps;         /* by thread: it does */
	uint64_t *samples;   /* by thread: of the batch that is being made */
	struct dw_loading *loading;
	size_t capacity;
};

static struct dw_loading_row *row_of(struct pass *pass, const struct dw_event *event)
{
	struct dw_loading *loading = pass->loading;
	struct dw_loading_row *row;

	for (size_t i = loading->count; i-- > 0;)
		if (loading->rows[i].thread == event->thread && loading->rows[i].symbol == event->symbol)
			return &loading->rows[i];
	if (loading->count == MOST_ROWS)
		return NULL;
	row = DW_GROW(&loading->rows, &pass->capacity, loading->count);
	if (!row)
		return NULL;
	loading->count++;
	*row = (struct dw_loading_row){ .symbol = event->symbol, .thread = event->thread,
		.worker = !pass->steps[event->thread], .first_ns = event->start_ns };
	return row;
}

static void take_range(struct pass *pass, const struct dw_event *event)
{
	struct dw_loading_row *row = row_of(pass, event);
	uint64_t ns = event->end_ns - event->start_ns;
	uint64_t *samples = &pass->samples[event->thread];

	if (!row)
		return;
	row->count++;
	row->total_ns += ns;
	row->max_ns = ns > row->max_ns ? ns : row->max_ns;
	row->first_ns = event->start_ns < row->first_ns ? event->start_ns : row->first_ns;
	row->last_ns = event->end_ns > row->last_ns ? event->end_ns : row->last_ns;
	row->samples += *samples;
	row->sampled_ns += *samples ? ns : 0;
	*samples = 0;
}

static void take_counter(struct pass *pass, const struct dw_event *event)
{
	const char *name = pass->symbols[event->symbol].name;

	if (strcmp(name, DW_LOADING_SAMPLES) == 0) {
		pass->samples[event->thread] = event->value > 0 ? (uint64_t)event->value : 0;
	} else if (strcmp(name, DW_LOADING_QUEUE) == 0) {
		if (!pass->steps[event->thread])
			return;
		pass->loading->asked++;
		pass->loading->empty += event->value < 1;
		pass->loading->ready += event->value;
	}
}

static int take(void *context, const struct dw_event *event)
{
	struct pass *pass = context;

	if (event->type == DW_EVENT_COUNTER)
		take_counter(pass, event);
	else if (event->type == DW_EVENT_RANGE && !event->nested &&
	         pass->symbols[event->symbol].category == DWELL_CATEGORY_DATA)
		take_range(pass, event);
	return 0;
}

/* ---- what follows from the rows ---------------------------------------------------------- */

static int compare_rows(const void *left, const void *right)
{
	const struct dw_loading_row *a = left, *b = right;

	if (a->worker != b->worker)
		return a->worker - b->worker;
	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? 1 : -1;
	return (a->first_ns > b->first_ns) - (a->first_ns < b->first_ns);
}

/* Workers are made anew each epoch: those count that live at the same time. */
static size_t at_once(const struct dw_loading *loading)
{
	size_t most = 0;

	for (size_t i = 0; i < loading->count; i++) {
		const struct dw_loading_row *at = &loading->rows[i];
		size_t alive = 0;

		for (size_t j = 0; at->worker && j < loading->count; j++)
			alive += loading->rows[j].worker && loading->rows[j].leads &&
			         loading->rows[j].first_ns <= at->last_ns &&
			         loading->rows[j].last_ns >= at->last_ns;
		most = alive > most ? alive : most;
	}
	return most;
}

static void find_leads(struct dw_loading *loading)
{
	for (size_t i = 0; i < loading->count; i++) {
		size_t before = 0;

		while (before < i && loading->rows[before].thread != loading->rows[i].thread)
			before++;
		loading->rows[i].leads = before == i;
	}
}

static void add_up(struct dw_loading *loading)
{
	qsort(loading->rows, loading->count, sizeof *loading->rows, compare_rows);
	for (size_t i = 0; i < loading->count; i++) {
		const struct dw_loading_row *row = &loading->rows[i];

		loading->worker_count += row->worker ? row->count : 0;
		loading->worker_ns += row->worker ? row->total_ns : 0;
		loading->own_count += !row->worker && row->samples ? row->count : 0;
		loading->own_ns += !row->worker && row->samples ? row->total_ns : 0;
	}
	find_leads(loading);
	loading->workers = at_once(loading);
}

const struct dw_loading *dw_model_loading(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_source *source = dw_model_source(model);
	struct dw_loading *loading = dw_arena_alloc(&model->arena, sizeof *loading);
	struct pass pass = { .model = model, .symbols = dw_model_symbols(model, NULL),
		.steps = calloc(source->thread_count + 1, sizeof *pass.steps),
		.samples = calloc(source->thread_count + 1, sizeof *pass.samples), .loading = loading };
	struct dw_loading_row *rows;
	int result = -1;

	if (loading && pass.steps && pass.samples) {
		*loading = (struct dw_loading){ 0 };
		for (size_t i = 0; i < source->step_count; i++)
			pass.steps[source->steps[i].thread] = true;
		result = dw_model_events(model, take, &pass, error);
	}
	if (result == 0) {
		if (loading->count)
			add_up(loading);
		rows = dw_arena_alloc(&model->arena, (loading->count + 1) * sizeof *rows);
		if (rows && loading->count)
			memcpy(rows, loading->rows, loading->count * sizeof *rows);
		free(loading->rows);
		loading->rows = rows;
		result = rows ? 0 : -1;
	} else if (loading) {
		free(loading->rows);
	}
	free(pass.steps);
	free(pass.samples);
	if (result == 0)
		return loading;
	dw_error_set(error, DWELL_E_NOMEM, "out of memory for the trace's data loading");
	return NULL;
}
