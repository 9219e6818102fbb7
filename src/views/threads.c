/*
 * threads: what did each thread record, and how busy was it?
 *
 * Busy is the time inside any range, as a share of the time from the thread's first record to its
 * last.
 */
#include "views/common.h"

static const struct dw_column columns[] = {
	DW_COLUMN("thread", "thread", NONE, TEXT),
	DW_COLUMN("pid", "pid", NONE, INT, .wide_only = true),
	DW_COLUMN("tid", "tid", NONE, INT),
	DW_COLUMN("records", "records", COUNT, INT),
	DW_COLUMN("ranges", "ranges", COUNT, INT),
	DW_COLUMN("first_ns", "first", NS, INT, .wide_only = true),
	DW_COLUMN("last_ns", "last", NS, INT),
	DW_COLUMN("busy_ns", "busy", NS, INT),
	DW_COLUMN("busy_share", "busy share", RATIO, REAL, .bar = true),
	DW_COLUMN("gap_ns", "overwritten", NS, INT),
	DW_COLUMN("lost", "lost", COUNT, INT),
};
enum { THREAD, PID, TID, RECORDS, RANGES, FIRST, LAST, BUSY, SHARE, GAP, LOST, COLUMNS };

static void threads_fill_row(struct dwell_table *table, const struct dw_model *model,
                             const struct dw_thread_row *from)
{
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_thread *thread = &source->threads[from->thread];
	struct dw_cell *row = dw_table_row(table, 0);
	char name[256];

	dw_cell_text(table, &row[THREAD], dw_view_thread_name(model, from->thread, from->nested, name));
	dw_cell_int(&row[PID], source->processes[thread->process].pid);
	dw_cell_int(&row[TID], thread->tid);
	dw_cell_int(&row[RECORDS], (int64_t)from->records);
	dw_cell_int(&row[RANGES], (int64_t)from->ranges);
	dw_cell_int(&row[FIRST], (int64_t)from->first_ns);
	dw_cell_int(&row[LAST], (int64_t)from->last_ns);
	dw_cell_int(&row[BUSY], (int64_t)from->busy_ns);
	if (from->last_ns > from->first_ns)
		dw_cell_real(&row[SHARE],
		             (double)from->busy_ns / (double)(from->last_ns - from->first_ns));
	dw_cell_int(&row[GAP], (int64_t)from->gap_ns);
	dw_cell_int(&row[LOST], (int64_t)from->lost);
}

static struct dwell_table *threads_view(struct dw_model *model,
                                        const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	const struct dw_threads *threads = dw_model_threads(model, error);
	struct dwell_table *table = threads ? dw_view_table("threads", columns, COLUMNS, error) : NULL;
	uint64_t records = 0, ranges = 0, lost = 0, gap_ns = 0;
	struct dw_cell *totals;

	if (!table)
		return NULL;
	for (size_t i = 0; i < threads->count; i++) {
		const struct dw_thread_row *row = &threads->rows[i];
		const struct dw_source *source = dw_model_source(model);

		/* the process of `dwell run` writes metadata but no records */
		if (!row->records && !row->lost &&
		    source->processes[source->threads[row->thread].process].flags & DW_PROCESS_RUNNER)
			continue;
		threads_fill_row(table, model, row);
		records += row->records;
		ranges += row->ranges;
		lost += row->lost;
		gap_ns += row->gap_ns;
	}
	table->columns[GAP].data_only = !gap_ns;
	if (table->row_count > 1) {
		totals = dw_table_totals(table);
		dw_cell_text(table, &totals[THREAD], "all threads");
		dw_cell_int(&totals[RECORDS], (int64_t)records);
		dw_cell_int(&totals[RANGES], (int64_t)ranges);
		dw_cell_int(&totals[LOST], (int64_t)lost);
	}
	return table;
}

const struct dw_view dw_view_threads = {
	.name = "threads",
	.question = "what did each thread record, and how busy was it?",
	.run = threads_view,
	.limit = SIZE_MAX,
};
