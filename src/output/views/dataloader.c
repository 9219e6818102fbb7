/*
 * dataloader: does the loop wait for its data, and what do the workers do?
 *
 * There is one row for each thread and outermost DATA range. In a row of the loop, share is the
 * part of the thread's time that it spent in this range; in a row of a worker it shows how busy the
 * worker was. A sentence above the table interprets the figures.
 */

#include "base/text.h"
#include "views/columns.h"
#include "views/loader.h"

struct dataloader_cells {
	struct dw_cell thread, role, name, calls, total_ns, mean_ns, samples, sample_ns, ready, p50_ns, p99_ns, share;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct dataloader_cells, thread, "thread", NONE, TEXT),
	DW_FIELD(struct dataloader_cells, role, "role", NONE, TEXT),
	DW_FIELD(struct dataloader_cells, name, "range", NONE, TEXT),
	DW_FIELD(struct dataloader_cells, calls, "batches", COUNT, INT),
	DW_FIELD(struct dataloader_cells, total_ns, "total", NS, INT),
	DW_FIELD(struct dataloader_cells, mean_ns, "mean", NS, INT),
	DW_FIELD(struct dataloader_cells, samples, "samples", COUNT, INT),
	DW_FIELD(struct dataloader_cells, sample_ns, "a sample", NS, INT),
	DW_FIELD(struct dataloader_cells, ready, "ready", COUNT, REAL),
	DW_FIELD(struct dataloader_cells, p50_ns, "p50", NS, INT, .wide_only = true),
	DW_FIELD(struct dataloader_cells, p99_ns, "p99", NS, INT),
	DW_FIELD(struct dataloader_cells, share, "of its time", RATIO, REAL, .bar = true),
};

/* Counts are known per thread only. They are shown in the thread's first row, which is that of the
 * range with the most time. Returns whether `at` is that row. */
static bool dataloader_compare(const struct dw_loader *loader, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (loader->rows[i].thread == loader->rows[at].thread)
			return false;
	return true;
}

static void dataloader_fill_row(struct dwell_table *table, struct dw_model *model, const struct dw_loader *loader,
                                size_t at, const struct dw_loading *counted, uint64_t wall_ns)
{
	const struct dw_loader_row *from = &loader->rows[at];
	const struct dw_stat *stat = &from->stat;
	struct dw_loading none = { .samples = 0 }, of = dataloader_compare(loader, at) ? counted[from->thread] : none;
	bool kept = stat->p50_ns != DW_NOT_KEPT;
	char name[256];

	DW_TABLE_PUT(
		table, 0, struct dataloader_cells, .thread = DW_STRING(dw_view_thread_name(model, from->thread, false, name)),
		.role = DW_STRING(from->worker ? "worker" : "the loop"),
		.name = DW_STRING(dw_model_symbols(model, NULL)[from->symbol].name), .calls = DW_INT(stat->count),
		.total_ns = DW_INT(stat->total_ns), .mean_ns = stat->count ? DW_INT(stat->total_ns / stat->count) : DW_EMPTY,
		.samples = of.samples ? DW_INT(of.samples) : DW_EMPTY,
		.sample_ns = of.samples ? DW_INT(stat->total_ns / of.samples) : DW_EMPTY, .ready = DW_PART(of.ready, of.asked),
		.p50_ns = kept ? DW_INT(stat->p50_ns) : DW_EMPTY, .p99_ns = kept ? DW_INT(stat->p99_ns) : DW_EMPTY,
		.share = DW_PART(stat->total_ns, wall_ns));
}

static uint64_t dataloader_wall_ns(const struct dw_threads *threads, uint32_t thread)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->rows[i].thread == thread && !threads->rows[i].nested)
			return threads->rows[i].last_ns - threads->rows[i].first_ns;
	return 0;
}

/* Returns the mean time of a sample over the workers' batches with a known number of samples, or 0
 * if there are none. */
static double dataloader_sample_ns(const struct dw_loader *loader, const struct dw_loading *counted)
{
	double ns = 0, samples = 0;

	for (size_t i = 0; i < loader->row_count; i++) {
		const struct dw_loader_row *row = &loader->rows[i];
		const struct dw_loading *of = &counted[row->thread];

		if (!row->worker || !dataloader_compare(loader, i) || !of->samples)
			continue;
		ns += (double)row->stat.total_ns;
		samples += (double)of->samples;
	}
	return samples > 0 ? ns / samples : 0;
}

static void dataloader_head_queue(struct dwell_table *table, const struct dw_loader *loader,
                                  const struct dw_loading *counted, const struct dw_facts *facts)
{
	const struct dw_fact *fact = &facts->at[DW_FACT_LOADER_EMPTY];
	double empty = 100 * (fact->measured ? fact->value : (double)loader->empty / (double)loader->queued), asked = 0, ready = 0;
	const char *which = fact->measured ? "those after the first of an epoch" : "them";

	for (size_t i = 0; i < loader->row_count; i++)
		if (dataloader_compare(loader, i)) {
			asked += (double)counted[loader->rows[i].thread].asked;
			ready += (double)counted[loader->rows[i].thread].ready;
		}
	if (asked > 0)
		dw_table_head(table, "%.0f%% of %s found the queue empty; on average it had %.1f ready.", empty, which, ready / asked);
	else
		dw_table_head(table, "%.0f%% of %s found the queue empty.", empty, which);
}

/* Epochs may start workers of their own: how many there were at one time is said too. */
static void dataloader_head_workers(struct dwell_table *table, const struct dw_loader *loader,
                                    const struct dw_loading *counted, const struct dw_facts *facts)
{
	const struct dw_fact *fact = &facts->at[DW_FACT_LOADER_WORKERS], *median = &facts->at[DW_FACT_LOADER_PRODUCTION];
	double ns = median->measured ? median->value : (double)loader->making_ns / (double)loader->made;
	double sample = dataloader_sample_ns(loader, counted);
	char at_once[48] = "";

	if (fact->measured && fact->value >= 1 && fact->value < loader->workers)
		snprintf(at_once, sizeof at_once, ", %.0f at a time,", fact->value);
	dw_table_head(table, "%u worker%s%s made %s batch%s, %s %s%s%s%s.", loader->workers,
	              dw_text_plural(loader->workers), at_once, dw_text_count((int64_t)loader->made).at,
	              loader->made == 1 ? "" : "es", dw_text_ns(ns, " ").at, median->measured ? "the median one" : "each",
	              sample > 0 ? ", " : "", sample > 0 ? dw_text_ns(sample, " ").at : "", sample > 0 ? " a sample" : "");
}

static void dataloader_head(struct dwell_table *table, const struct dw_loader *loader,
                            const struct dw_loading *counted, const struct dw_facts *facts)
{
	if (loader->batches)
		dw_table_head(table, "The loop asked for %s batch%s and waited %s for them, %s each.",
		              dw_text_count((int64_t)loader->batches).at, loader->batches == 1 ? "" : "es",
		              dw_text_ns((double)loader->wait_ns, " ").at,
		              dw_text_ns((double)loader->wait_ns / (double)loader->batches, " ").at);
	if (loader->queued)
		dataloader_head_queue(table, loader, counted, facts);
	if (loader->workers)
		dataloader_head_workers(table, loader, counted, facts);
	else if (loader->own_ns)
		dw_table_head(table, "It loads them itself: there are no workers.");
}

static struct dwell_table *dataloader_view(struct dw_model *model, const struct dwell_view_options *options,
                                           struct dwell_error *error)
{
	const struct dw_threads *threads = dw_model_threads(model, error);
	const struct dw_loading *counted = threads ? dw_model_loading(model, error) : NULL;
	const struct dw_facts *facts = counted ? dw_facts(model, error) : NULL;
	struct dw_loader *loader = facts ? dw_loader(model, error) : NULL;
	struct dwell_table *table = loader ? DW_VIEW_CHOOSE("dataloader", columns, 0, error) : NULL;

	for (size_t i = 0; table && i < loader->row_count; i++)
		dataloader_fill_row(table, model, loader, i, counted, dataloader_wall_ns(threads, loader->rows[i].thread));
	if (table)
		dataloader_head(table, loader, counted, facts);
	dw_loader_done(loader);
	return table;
}

const struct dw_view dw_view_dataloader = {
	.name = "dataloader", .question = "does the loop wait for its data, and what do the workers do?",
	.run = dataloader_view, .row_name = "name", .row_ns = "total_ns", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(DATA), .reads_steps = true, .needs = "data loading",
	.remedy = "mark where the loop takes a batch, and where one is made, with DWELL_SCOPE(DWELL_CATEGORY_DATA, \"name\")",
};
