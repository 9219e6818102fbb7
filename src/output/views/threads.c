/*
 * threads: what did each thread record, and how busy was it?
 *
 * Busy is the time inside any range, as a share of the time from the thread's first record to its
 * last, or to the end of the recording if a range did not end. In a program without ranges it is the
 * thread's CPU time, as a share of its life. If only a part of the time is in scope, the figures are
 * those of the ranges that begin there, and records and losses, which are known of whole threads
 * alone, are left out.
 */

#include "base/grow.h"
#include "views/columns.h"

struct threads_cells {
	struct dw_cell thread, pid, tid, records, ranges, first_ns, last_ns, busy_ns, busy_share, gap_ns, lost, threads;
};

enum { MERGED = DW_HAS_OWN, ONE_EACH = MERGED << 1, WHOLE = MERGED << 2 }; /* whole: of the whole time */

static const struct dw_column columns[] = {
	DW_FIELD(struct threads_cells, thread, "thread", NONE, TEXT, .total_text = "all threads"),
	DW_FIELD(struct threads_cells, pid, "pid", NONE, INT, .wide_only = true),
	DW_FIELD(struct threads_cells, tid, "tid", NONE, INT, .text_only = ONE_EACH),
	DW_FIELD(struct threads_cells, records, "records", COUNT, INT, .text_only = WHOLE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct threads_cells, ranges, "ranges", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct threads_cells, first_ns, "first", NS, INT, .wide_only = true),
	DW_FIELD(struct threads_cells, last_ns, "last", NS, INT),
	DW_FIELD(struct threads_cells, busy_ns, "busy", NS, INT),
	DW_FIELD(struct threads_cells, busy_share, "busy share", RATIO, REAL, .of = "the time between its records", .bar = true),
	DW_FIELD(struct threads_cells, gap_ns, "overwritten", NS, INT),
	DW_FIELD(struct threads_cells, lost, "lost", COUNT, INT, .text_only = WHOLE, .total = DW_TOTAL_OWN),
	DW_FIELD(struct threads_cells, threads, "threads", COUNT, INT, .text_only = MERGED),
};

/* Threads of one row. */
struct threads_sum {
	struct dw_thread_row row; /* of the first; figures are sums, first_ns and last_ns the outermost */
	uint64_t span_ns;         /* sum of the times from a thread's first record to its last */
	size_t count;
};

static void threads_fill_row(struct dwell_table *table, const struct dw_model *model, const struct threads_sum *sum)
{
	const struct dw_thread_row *from = &sum->row;
	const struct dw_source *source = dw_model_source(model);
	const struct dw_source_thread *thread = &source->threads[from->thread];
	bool whole = !dw_model_is_partial(model);
	char name[256];

	dw_view_thread_name(model, from->thread, from->nested, name);
	/* "worker [4711]" of several becomes "worker" */
	if (sum->count > 1 && strrchr(name, '['))
		strrchr(name, '[')[-1] = '\0';
	DW_TABLE_PUT(table, 0, struct threads_cells, .thread = DW_STRING(name),
	             .pid = DW_INT(source->processes[thread->process].pid),
	             .tid = sum->count == 1 ? DW_INT(thread->tid) : DW_EMPTY,
	             .records = whole ? DW_INT(from->records) : DW_EMPTY, .ranges = DW_INT(from->ranges),
	             .first_ns = DW_INT(from->first_ns), .last_ns = DW_INT(from->last_ns), .busy_ns = DW_INT(from->busy_ns),
	             .busy_share = DW_PART(from->busy_ns, sum->span_ns), .gap_ns = whole ? DW_INT(from->gap_ns) : DW_EMPTY,
	             .lost = whole ? DW_INT(from->lost) : DW_EMPTY, .threads = DW_INT(sum->count));
}

/* ---- a part of the time -------------------------------------------------------------------------- */

struct threads_part {
	struct dw_thread_row *rows; /* by thread, then by thread for signal handlers */
	size_t thread_count;
	size_t at;                  /* index of the row that events come for */
	/* Times of that row that count as busy: ranges in scope without a range in scope around them so
	 * far. A range comes after those inside it, and replaces them. */
	struct threads_time {
		uint64_t start_ns, end_ns;
	} *times;
	size_t time_count, time_capacity;
};

static void threads_end_row(struct threads_part *part)
{
	for (size_t i = 0; i < part->time_count; i++)
		part->rows[part->at].busy_ns += part->times[i].end_ns - part->times[i].start_ns;
	part->time_count = 0;
}

static int threads_see(void *context, const struct dw_event *event)
{
	struct threads_part *part = context;
	size_t at = event->thread + (event->nested ? part->thread_count : 0);
	struct dw_thread_row *row = &part->rows[at];

	if (event->type != DW_EVENT_RANGE)
		return 0;
	if (at != part->at)
		threads_end_row(part);
	part->at = at;
	while (part->time_count && part->times[part->time_count - 1].start_ns >= event->start_ns)
		part->time_count--;
	if (!DW_APPEND(&part->times, &part->time_capacity, &part->time_count,
	               (struct threads_time){ event->start_ns, event->end_ns }))
		return DWELL_E_NOMEM;
	row->first_ns = row->ranges && row->first_ns < event->start_ns ? row->first_ns : event->start_ns;
	row->last_ns = row->last_ns > event->end_ns ? row->last_ns : event->end_ns;
	row->ranges++;
	return 0;
}

/* The rows of the ranges in scope; in the table's memory. False: out of memory. */
static bool threads_of_part(struct dwell_table *table, struct dw_model *model,
                            struct dw_threads *threads, struct dwell_error *error)
{
	struct threads_part part = { .thread_count = dw_model_source(model)->thread_count };
	size_t count = 2 * part.thread_count;
	bool good;

	part.rows = dw_arena_alloc(&table->arena, (count + 1) * sizeof *part.rows);
	good = part.rows && dw_model_events(model, threads_see, &part, error) == 0;
	if (good)
		threads_end_row(&part);
	free(part.times);
	*threads = (struct dw_threads){ .rows = part.rows };
	for (size_t i = 0; good && i < count; i++) {
		if (!part.rows[i].ranges)
			continue;
		part.rows[i].thread = (uint32_t)(i % part.thread_count);
		part.rows[i].nested = i >= part.thread_count;
		part.rows[threads->count++] = part.rows[i];
	}
	return good;
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* Whether both rows are threads of one process, or signal handlers in them, with one name. */
static bool threads_are_namesakes(const struct dw_source *source, const struct dw_thread_row *left,
                                  const struct dw_thread_row *right)
{
	const struct dw_source_thread *a = &source->threads[left->thread];
	const struct dw_source_thread *b = &source->threads[right->thread];

	return a->process == b->process && left->nested == right->nested && *a->name && strcmp(a->name, b->name) == 0;
}

static void threads_add(struct threads_sum *sum, const struct dw_thread_row *row)
{
	sum->span_ns += row->last_ns > row->first_ns ? row->last_ns - row->first_ns : 0;
	if (!sum->count++) {
		sum->row = *row;
		return;
	}
	sum->row.records += row->records;
	sum->row.ranges += row->ranges;
	sum->row.busy_ns += row->busy_ns;
	sum->row.gap_ns += row->gap_ns;
	sum->row.lost += row->lost;
	if (row->first_ns < sum->row.first_ns)
		sum->row.first_ns = row->first_ns;
	if (row->last_ns > sum->row.last_ns)
		sum->row.last_ns = row->last_ns;
}

/* The process of `dwell run` writes metadata but no records. */
static bool threads_is_runner(const struct dw_source *source, const struct dw_thread_row *row)
{
	return !row->records && !row->ranges && !row->lost &&
	       source->processes[source->threads[row->thread].process].flags & DW_PROCESS_RUNNER;
}

/* Whether the program has no range but the profiler's own. Then a thread is busy while it uses a CPU. */
static bool threads_have_no_ranges(struct dw_model *model)
{
	return !dw_model_is_partial(model) && !(dw_model_categories(model) & ~(1u << DWELL_CATEGORY_PROFILER));
}

/* A thread without ranges has few records: it lived until later than the last of them, and before the first one for at least
 * as long as it ran. */
static void threads_take_cpu(struct dw_thread_row *row, const struct dw_source_thread *thread)
{
	uint64_t end_ns = thread->start_ns + thread->lived_ns;

	row->ranges = 0;
	row->busy_ns = thread->cpu_ns;
	row->last_ns = thread->lived_ns && end_ns > row->last_ns ? end_ns : row->last_ns;
	if (row->last_ns > row->busy_ns && row->last_ns - row->busy_ns < row->first_ns)
		row->first_ns = row->last_ns - row->busy_ns;
}

/* Adds a row for each thread, or for the threads of each name. Returns the sum of all. */
static struct dw_thread_row threads_fill_rows(struct dwell_table *table, struct dw_model *model,
                                              const struct dw_threads *threads, bool merge)
{
	const struct dw_source *source = dw_model_source(model);
	struct threads_sum *sums = dw_arena_alloc(&table->arena, (threads->count + 1) * sizeof *sums);
	struct threads_sum all = { .count = 0 };
	bool no_ranges = threads_have_no_ranges(model);
	size_t count = 0;

	table->failed |= !sums;
	for (size_t i = 0; sums && i < threads->count; i++) {
		struct dw_thread_row own = threads->rows[i];
		const struct dw_thread_row *row = &own;
		size_t at = merge ? 0 : count;

		if (threads_is_runner(source, row))
			continue;
		own.last_ns = own.open_ns > own.last_ns ? own.open_ns : own.last_ns;
		if (no_ranges && !row->nested)
			threads_take_cpu(&own, &source->threads[own.thread]);
		while (at < count && !threads_are_namesakes(source, &sums[at].row, row))
			at++;
		count += at == count;
		threads_add(&sums[at], row);
		threads_add(&all, row);
	}
	for (size_t i = 0; i < count; i++)
		threads_fill_row(table, model, &sums[i]);
	return all.row;
}

static struct dwell_table *threads_view(struct dw_model *model, const struct dwell_view_options *options,
                                        struct dwell_error *error)
{
	bool is_part = dw_model_is_partial(model);
	unsigned has = (options->merge_threads ? MERGED : ONE_EACH) | (is_part ? 0 : WHOLE);
	struct dwell_table *table = DW_VIEW_CHOOSE("threads", columns, has, error);
	const struct dw_threads *threads;
	struct dw_threads part;
	struct dw_thread_row all;

	if (!table)
		return NULL;
	threads = is_part ? threads_of_part(table, model, &part, error) ? &part : NULL : dw_model_threads(model, error);
	if (!threads) {
		dw_table_destroy(table);
		return NULL;
	}
	all = threads_fill_rows(table, model, threads, options->merge_threads);
	dw_table_named(table, "gap_ns")->data_only = !all.gap_ns;
	if (table->row_count > 1) {
		DW_TABLE_PUT_TOTALS(table, struct threads_cells, .records = is_part ? DW_EMPTY : DW_INT(all.records),
		                    .ranges = DW_INT(all.ranges), .lost = is_part ? DW_EMPTY : DW_INT(all.lost));
	}
	return table;
}

const struct dw_view dw_view_threads = {
	.name = "threads", .question = "what did each thread record, and how busy was it?",
	.run = threads_view, .takes = DW_VIEW_TAKES(merge_threads), .row_name = "thread", .row_ns = "busy_ns",
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.limit = SIZE_MAX,
};
