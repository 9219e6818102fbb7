/*
 * dataloader: does the loop wait for batches, and would more workers help?
 *
 * A row for each name and thread of category data, the loop's first. What more workers
 * would save follows from measured times alone: a step cannot be shorter than its own
 * work, nor than the batches that all workers together make in that time.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/loading.h"
#include "views/advice.h"

static const struct dw_column columns[] = {
	DW_COLUMN("name", "name", NONE, TEXT),
	DW_COLUMN("role", "by", NONE, TEXT),
	DW_COLUMN("thread", "thread", NONE, TEXT),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("samples", "samples", COUNT, INT),
	DW_COLUMN("mean_ns", "mean", NS, INT),
	DW_COLUMN("per_sample_ns", "a sample", NS, INT),
	DW_COLUMN("max_ns", "max", NS, INT),
	DW_COLUMN("total_ns", "total", NS, INT),
	DW_COLUMN("busy_share", "busy share", RATIO, REAL, .bar = true),
};
enum { NAME, ROLE, THREAD, CALLS, SAMPLES, MEAN, PER_SAMPLE, MAX, TOTAL, BUSY, COLUMNS };

/* ---- what would help ------------------------------------------------------------------------- */

/* Workers that wait for files need no core each; more than so many do not help. */
#define MOST_A_CORE 4u

struct supply {
	double wait_ns;   /* of a mean step */
	double work_ns;   /* the rest of it */
	double made_ns;   /* what all its batches take to make, one after the other */
	double share;
	size_t workers, wanted;
	long cores;       /* 0: not known */
	bool python;
};

static long cores_of(const struct dw_source *source)
{
	for (size_t i = 0; i < source->meta_count; i++)
		if (strcmp(source->metas[i].key, "host.cpus") == 0)
			return strtol(source->metas[i].value, NULL, 10);
	return 0;
}

static struct supply supply_of(struct dw_model *model, const struct dw_steps *steps,
                               const struct dw_loading *loading)
{
	const struct dw_source *source = dw_model_source(model);
	double count = (double)steps->recorded_count, whole_ns = (double)steps->recorded_ns;
	double loops = steps->thread_count ? (double)steps->thread_count : 1;
	uint64_t made_ns = loading->worker_count ? loading->worker_ns : loading->own_ns;
	struct supply supply = { .wait_ns = (double)steps->share_ns[DW_SHARE_DATA] / count,
		.share = (double)steps->share_ns[DW_SHARE_DATA] / whole_ns,
		.made_ns = (double)made_ns / count, .cores = cores_of(source),
		.workers = (size_t)((double)loading->workers / loops + 0.5),
		.python = source->processes[source->threads[steps->threads[0]].process].flags &
		          DW_PROCESS_PYTHON };

	supply.work_ns = whole_ns / count - supply.wait_ns;
	if (supply.work_ns > 0 && supply.made_ns > 0)
		supply.wanted = (size_t)fmin(ceil(supply.made_ns / supply.work_ns), 1e6);
	return supply;
}

/* "num_workers=4" */
static const char *say_workers(const struct supply *supply, size_t count, char room[64])
{
	if (supply->python)
		snprintf(room, 64, "num_workers=%zu", count);
	else
		snprintf(room, 64, "%zu loader threads", count);
	return room;
}

static void hint_more(struct dw_table *table, const struct supply *supply)
{
	double left_ns = fmax(supply->work_ns, supply->made_ns / (double)supply->wanted);
	double saved_ns = supply->work_ns + supply->wait_ns - left_ns;
	size_t more = supply->wanted - supply->workers;
	char workers[64], cores[48] = "";

	if (supply->cores > 0 && supply->wanted > MOST_A_CORE * (size_t)supply->cores) {
		dw_table_head(table, "  -> make a sample cheaper: it would take %zu workers, and there %s %ld "
		                     "core%s", supply->wanted, supply->cores == 1 ? "is" : "are",
		              supply->cores, dw_text_plural((uint64_t)supply->cores));
		return;
	}
	if (supply->cores > 0 && supply->wanted >= (size_t)supply->cores)
		snprintf(cores, sizeof cores, " (of %ld)", supply->cores);
	dw_table_head(table, "  -> try %s: up to %s a step by the batches' measured time, if %zu%s core%s%s "
	                     "%s free", say_workers(supply, supply->wanted, workers),
	              dw_text_ns(fmin(saved_ns, supply->wait_ns), " ").at, more,
	              supply->workers ? " more" : "", dw_text_plural(more), cores,
	              more == 1 ? "is" : "are");
}

void dw_view_advise_data(struct dw_table *table, struct dw_model *model,
                         const struct dw_steps *steps, const struct dw_loading *loading)
{
	struct supply supply = supply_of(model, steps, loading);
	char why[128] = "", queue[64] = "";

	if (loading->asked)
		snprintf(queue, sizeof queue, " (queue empty at %.0f%% of requests)",
		         (double)loading->empty / (double)loading->asked * 100);
	if (supply.workers && supply.wanted > supply.workers)
		snprintf(why, sizeof why, ": %zu loader %s%s cannot keep up%s", supply.workers,
		         supply.python ? "worker" : "thread", dw_text_plural(supply.workers), queue);
	else if (supply.workers)
		snprintf(why, sizeof why, ", though %zu loader %s%s could keep up%s", supply.workers,
		         supply.python ? "worker" : "thread", dw_text_plural(supply.workers), queue);
	else if (loading->own_count)
		snprintf(why, sizeof why, ": the loop makes its batches itself%s",
		         supply.python ? " (num_workers=0)" : "");
	dw_table_head(table, "Waiting for data takes %.0f%% of each step%s.", supply.share * 100, why);
	if (supply.share < DW_ADVICE_SHARE)
		return;
	if (supply.wanted > supply.workers)
		hint_more(table, &supply);
	else if (supply.workers && supply.python)
		dw_table_head(table, "  -> workers that start anew each epoch cost it: try "
		                     "persistent_workers=True, or a larger prefetch_factor");
	else
		dw_table_head(table,
		              "  -> batches made ready while a step computes would save up to %s a step",
		              dw_text_ns(supply.wait_ns, " ").at);
}

/* ---- the table -------------------------------------------------------------------------------- */

static void fill(struct dw_table *table, struct dw_model *model, const struct dw_loading_row *from)
{
	struct dw_cell *row = dw_table_row(table, 0);
	char name[256];

	dw_cell_text(table, &row[NAME], dw_model_symbols(model, NULL)[from->symbol].name);
	dw_cell_text(table, &row[ROLE], from->worker ? "worker" : "loop");
	dw_cell_text(table, &row[THREAD], dw_view_thread_name(model, from->thread, false, name));
	dw_cell_int(&row[CALLS], (int64_t)from->count);
	dw_cell_int(&row[MEAN], (int64_t)(from->total_ns / from->count));
	if (from->samples) {
		dw_cell_int(&row[SAMPLES], (int64_t)from->samples);
		dw_cell_int(&row[PER_SAMPLE], (int64_t)(from->sampled_ns / from->samples));
	}
	dw_cell_int(&row[MAX], (int64_t)from->max_ns);
	dw_cell_int(&row[TOTAL], (int64_t)from->total_ns);
	if (from->last_ns > from->first_ns)
		dw_cell_real(&row[BUSY], fmin((double)from->total_ns /
		                              (double)(from->last_ns - from->first_ns), 1));
}

struct dw_table *dw_view_dataloader(struct dw_model *model, const struct dw_view_options *options,
                                    struct dwell_error *error)
{
	const struct dw_loading *loading = dw_model_loading(model, error);
	const struct dw_steps *steps = NULL;
	struct dw_table *table;

	if (!loading)
		return NULL;
	if (dw_model_source(model)->step_count && !(steps = dw_model_steps(model, error)))
		return NULL;
	table = dw_view_table("dataloader", columns, COLUMNS, error);
	if (!table)
		return NULL;
	if (steps && steps->recorded_count && steps->recorded_ns)
		dw_view_advise_data(table, model, steps, loading);
	for (size_t i = 0; i < loading->count; i++)
		fill(table, model, &loading->rows[i]);
	if (loading->asked)
		dw_table_note(table, "%s batch%s lay ready on average when the loop asked for one; at %s of "
		              "%s requests none did.",
		              dw_text_number(loading->ready / (double)loading->asked).at,
		              loading->ready == (double)loading->asked ? "" : "es",
		              dw_text_count((int64_t)loading->empty).at,
		              dw_text_count((int64_t)loading->asked).at);
	dw_table_note(table, "Busy share: of the time from a thread's first range to its last.");
	return table;
}
