/*
 * requests: how long do requests and other tasks take, and what do their threads do?
 *
 * A row for each kind of tasks (model/samples/tasks.h): threads that come and go, as a server's for each request, and what the
 * threads of pools get to do. With the quantiles of how long one takes, and below it what one does in the mean: the CPU, by the
 * kernel's account of threads, and waits, by samples. What is left is time for which it was ready and had no CPU,
 * and waits that are not seen. What marked requests have, stages, tokens and batches, is in requests_served.c.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "format/keys.h"
#include "model/samples/hot.h"
#include "model/samples/tasks.h"
#include "views/columns.h"
#include "views/requests_served.h"

/* Which samples of which kind count. */
struct requests_part {
	const struct dw_tasks *tasks;
	const struct dw_model *model;
	uint32_t kind;
	bool waits;
	enum dw_task_wait wait;
};

static bool requests_wants(void *context, const struct dw_sample_row *row)
{
	const struct requests_part *part = context;

	return dw_task_has(part->tasks, part->model, part->kind, row) && (!part->waits || dw_task_wait_of(row) == part->wait);
}

/* Adds a row for a part of the kind's time, with the function that has most of it. */
static void requests_add_part(struct dwell_table *table, struct dw_model *model, struct requests_part part, const char *name,
                              double ns)
{
	const struct dw_task_kind *kind = &part.tasks->kinds[part.kind];
	struct dw_hot_ask ask = { .waits = part.waits, .wants = requests_wants, .context = &part };
	struct dw_hot hot = { .rows = NULL };
	char function[400], place[300], text[720] = "";

	if (ns < 0.5 * (double)kind->count)
		return;
	ask.by = dw_view_is_python(dw_model_source(model)) ? DW_HOT_PYTHON : part.waits ? DW_HOT_OWN : 0;
	if (!dw_hot_make(&hot, model, &ask)) {
		table->failed = true;
	} else if (hot.count) {
		dw_hot_place(&hot.rows[0], place, sizeof place);
		snprintf(text, sizeof text, "%s%s%s%s", dw_hot_name(&hot.rows[0], function, sizeof function), *place ? " (" : "", place,
		         *place ? ")" : "");
	}
	DW_TABLE_PUT(table, 1, struct dw_requests_cells, .name = DW_STRING(name), .mean_ns = DW_INT(llround(ns / (double)kind->count)),
	             .share = DW_PART(ns, (double)kind->sum_ns), .most = *text ? DW_STRING(text) : DW_EMPTY);
	dw_hot_reset(&hot);
}

static void requests_add_kind(struct dwell_table *table, struct dw_model *model, const struct dw_tasks *tasks, uint32_t number,
                              const struct dw_serving *serving)
{
	static const char *const names[DW_TASK_WAITS] = {
		[DW_TASK_GIL] = "waits: interpreter's lock",
		[DW_TASK_THREADS] = "waits: other threads",
		[DW_TASK_FILES] = "waits: files, sockets",
		[DW_TASK_SLEEPS] = "sleeps",
		[DW_TASK_OTHERS] = "waits: something else",
	};
	const struct dw_task_kind *kind = &tasks->kinds[number];
	struct requests_part part = { .tasks = tasks, .model = model, .kind = number };
	double rest = (double)kind->sum_ns - (double)kind->cpu_ns;

	DW_TABLE_PUT(table, 0, struct dw_requests_cells, .name = DW_STRING(kind->name), .count = DW_INT(kind->count),
	             .at_once = DW_INT(kind->at_once), .mean_ns = DW_INT(kind->sum_ns / kind->count), .share = DW_REAL(1),
	             .p50_ns = DW_INT(dw_task_quantile(kind, 0.5)), .p90_ns = DW_INT(dw_task_quantile(kind, 0.9)),
	             .p95_ns = DW_INT(dw_task_quantile(kind, 0.95)),
	             .p99_ns = DW_INT(dw_task_quantile(kind, 0.99)), .max_ns = DW_INT(kind->ns[kind->count - 1]));
	if (kind->symbol != DW_NO_INDEX)
		dw_requests_put_stages(table, serving,
		                       &(struct dw_requests_kind){ kind->name, kind->process, kind->symbol, kind->sum_ns });
	/* No thread is known to work for a request that is only marked. */
	if (!dw_source_has_samples(dw_model_source(model)) || (kind->request && kind->turns == DW_NO_INDEX))
		return;
	requests_add_part(table, model, part, "uses the CPU", (double)kind->cpu_ns);
	part.waits = true;
	for (part.wait = 0; part.wait < DW_TASK_WAITS; part.wait++) {
		requests_add_part(table, model, part, names[part.wait], (double)kind->wait_ns[part.wait]);
		rest -= (double)kind->wait_ns[part.wait];
	}
	if (rest >= 0.5 * (double)kind->count)
		DW_TABLE_PUT(table, 1, struct dw_requests_cells,
		             .name = DW_STRING(kind->turns == DW_NO_INDEX ? "has no CPU, or is not known" : "awaits, or has no CPU"),
		             .mean_ns = DW_INT(llround(rest / (double)kind->count)), .share = DW_PART(rest, (double)kind->sum_ns));
}

/* The tables of marked requests behind the first one. */
static struct dwell_table *requests_add_served(struct dwell_table *table, struct dw_model *model, const struct dw_serving *serving,
                                               const struct dw_tasks *tasks, size_t most)
{
	struct dw_requests_kind *kinds = calloc(tasks->count + 1, sizeof *kinds);

	if (table)
		table->failed |= !kinds;
	for (size_t i = 0; kinds && i < tasks->count; i++)
		kinds[i] = (struct dw_requests_kind){ tasks->kinds[i].name, tasks->kinds[i].process, tasks->kinds[i].symbol,
			                                  tasks->kinds[i].sum_ns };
	if (table && kinds && serving->token_name)
		table = dw_view_chain(table, dw_requests_tokens(serving, kinds, tasks->count));
	if (table && serving->count)
		table = dw_view_chain(table, dw_requests_slowest(model, serving, most));
	if (table && serving->batch_count)
		table = dw_view_chain(table, dw_requests_batches(serving, most));
	free(kinds);
	return table;
}

/* Whether the trace has neither samples nor requests nor batches, which `error` says. */
static bool requests_has_none(struct dw_model *model, const struct dw_serving *serving, struct dwell_error *error)
{
	char name[256];

	if (dw_source_has_samples(dw_model_source(model)) || serving->count || serving->batch_count)
		return false;
	dw_error_set(error, DWELL_E_NO_DATA, "%s has no requests and no samples: mark requests with DWELL_REQUEST_BEGIN() or "
	             "dwell.request(), or record with dwell run --sample 100", dw_view_trace_name(model, name));
	return true;
}

/* What requests of connections are, and those that are not seen. */
static void requests_note_connections(struct dwell_table *table, struct dw_model *model, const struct dw_serving *serving)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const char *last = "";
	bool any = false;

	for (size_t i = 0; i < serving->count && !any; i++) {
		const char *detail = symbols[serving->requests[i].symbol].detail;

		any = detail && strcmp(detail, DW_DETAIL_ANSWERED) == 0;
	}
	if (any)
		dw_table_note(table, "Requests that are not marked are turns of a connection: from the first bytes read to the last sent.");
	for (size_t i = 0; i < source->meta_count; i++) {
		const struct dw_source_meta *meta = &source->metas[i];

		if (strncmp(meta->key, DW_KEY_REQUESTS_UNSEEN, strlen(DW_KEY_REQUESTS_UNSEEN)) != 0 || strcmp(meta->value, last) == 0)
			continue;
		last = meta->value;
		dw_table_note(table, "Connections with %s: their requests are not seen.", last);
	}
}

/* Of a file with batches alone. */
static struct dwell_table *requests_drop_first(struct dwell_table *table)
{
	struct dwell_table *rest = table->next;

	table->next = NULL;
	dw_table_destroy(table);
	return rest;
}

static struct dwell_table *requests_view(struct dw_model *model, const struct dwell_view_options *options, struct dwell_error *error)
{
	const struct dw_serving *serving = dw_model_serving(model, error);
	struct dwell_table *table;
	struct dw_tasks tasks;
	size_t open = 0;

	if (!serving || requests_has_none(model, serving, error))
		return NULL;
	table = dw_view_choose("requests", dw_requests_columns.at, dw_requests_columns.count, 0, error);
	if (!table)
		return NULL;
	table->failed |= !dw_tasks_make(&tasks, model);
	for (uint32_t kind = 0; !table->failed && kind < tasks.count; kind++)
		requests_add_kind(table, model, &tasks, kind, serving);
	for (size_t i = 0; i < serving->count; i++)
		open += serving->requests[i].open;
	if (open)
		dw_table_note(table, "%zu request%s had not ended when the recording did, and %s left out here.", open,
		              open == 1 ? "" : "s", open == 1 ? "is" : "are");
	requests_note_connections(table, model, serving);
	if (!table->failed && !tasks.count && !serving->count && !serving->batch_count)
		dw_table_head(table, "There are no requests: no five threads or tasks of one name ran one after the other.");
	else if (tasks.count && dw_source_has_samples(dw_model_source(model)))
		dw_table_note(table,
		              "A thread lives from its first record to its end. Its CPU is the kernel's account; waits and what tasks do "
		              "are from samples.");
	table = requests_add_served(table, model, serving, &tasks, options->limit);
	if (table && !table->failed && !tasks.count && !serving->count && table->next)
		table = requests_drop_first(table);
	dw_tasks_reset(&tasks);
	return table;
}

const struct dw_view dw_view_requests = {
	.name = "requests",
	.question = "how long do requests take, to their first token and for a token, where does their time go, and what is in a batch?",
	.run = requests_view, .row_name = "name", .row_ns = "mean_ns", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(&dw_requests_columns, &dw_requests_tokens_columns, &dw_requests_slow_columns,
	                         &dw_requests_batch_columns),
	.needs = "requests", .remedy = "DWELL_REQUEST_BEGIN() marks them; dwell run --sample 100 finds threads that come and go",
};
