/*
 * gc: when did the garbage collector stop the program, and for how long?
 *
 * There is one row for each kind of pause (in Python, for each generation) with the time and the
 * step of the longest one. Pauses of all processes are included.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"
#include "views/columns.h"

struct gc_cells {
	struct dw_cell name, calls, total_ns, share, mean_ns, p99_ns, max_ns, longest_at_ns, longest_step, in_steps_ns;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct gc_cells, name, "collection", NONE, TEXT, .total_text = "all"),
	DW_FIELD(struct gc_cells, calls, "pauses", COUNT, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct gc_cells, total_ns, "total", NS, INT, .total = DW_TOTAL_OWN),
	DW_FIELD(struct gc_cells, share, "of wall", RATIO, REAL, .bar = true, .total = DW_TOTAL_OWN, .sums = "total_ns"),
	DW_FIELD(struct gc_cells, mean_ns, "mean", NS, INT),
	DW_FIELD(struct gc_cells, p99_ns, "p99", NS, INT),
	DW_FIELD(struct gc_cells, max_ns, "longest", NS, INT),
	DW_FIELD(struct gc_cells, longest_at_ns, "at", NS, INT),
	DW_FIELD(struct gc_cells, longest_step, "in step", NONE, INT, .text_only = DW_HAS_STEPS),
	DW_FIELD(struct gc_cells, in_steps_ns, "in steps", NS, INT, .text_only = DW_HAS_STEPS, .wide_only = true),
};

/* One for each row of the flat product. */
struct pauses {
	uint64_t longest_ns, at_ns, in_steps_ns;
	uint64_t step; /* UINT64_MAX: in no step */
};

struct search {
	const struct dw_flat *flat;
	const struct dw_symbol *symbols;
	const struct dw_source *source;
	const struct dw_steps *steps; /* NULL: there are no steps */
	struct pauses *pauses;
};

/* Finds the step at the time `ns`: of this thread, otherwise of another thread of its process.
 * Steps are grouped by thread and ascending in each group. */
static const struct dw_step *gc_step_at(const struct search *search, uint32_t thread, uint64_t ns)
{
	const struct dw_source_thread *threads = search->source->threads;
	size_t count = search->steps ? search->steps->count : 0;
	const struct dw_step *found = NULL;

	for (size_t first = 0, end; first < count; first = end) {
		const struct dw_step *steps = search->steps->steps;
		size_t low;

		end = DW_FIRST(i, first, count, steps[i].thread != steps[first].thread);
		if (threads[steps[first].thread].process != threads[thread].process)
			continue;
		low = DW_FIRST(i, first + 1, end, steps[i].start_ns > ns) - 1;
		if (ns < steps[low].start_ns || ns >= steps[low].end_ns)
			continue;
		if (steps[low].thread == thread)
			return &steps[low];
		found = found ? found : &steps[low];
	}
	return found;
}

static int gc_visit_event(void *context, const struct dw_event *event)
{
	struct search *search = context;
	const struct dw_symbol *symbol = &search->symbols[event->symbol];
	uint64_t ns = event->end_ns - event->start_ns;

	if (event->type != DW_EVENT_RANGE || symbol->category != DWELL_CATEGORY_COLLECTOR)
		return 0;
	for (size_t i = 0; i < search->flat->count; i++) {
		struct pauses *pauses = &search->pauses[i];
		const struct dw_step *step;

		if (strcmp(symbol->name, search->symbols[search->flat->rows[i].symbol].name) != 0)
			continue;
		step = gc_step_at(search, event->thread, event->start_ns);
		pauses->in_steps_ns += step ? ns : 0;
		if (ns >= pauses->longest_ns) {
			pauses->longest_ns = ns;
			pauses->at_ns = event->start_ns;
			pauses->step = step ? step->number : UINT64_MAX;
		}
	}
	return 0;
}

static void gc_fill_rows(struct dwell_table *table, const struct dw_symbol *symbols, const struct dw_flat *flat,
                         const struct pauses *pauses, bool steps)
{
	uint64_t total_ns = 0, calls = 0, whole_ns = dw_view_whole(table, "share", flat, flat->wall_ns, false);
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_stat *stat = &flat->rows[i].stat;

		DW_TABLE_PUT(table, 0, struct gc_cells, .name = DW_STRING(symbols[flat->rows[i].symbol].name),
		             .calls = DW_INT(stat->count), .total_ns = DW_INT(stat->total_ns),
		             .share = DW_PART(stat->total_ns, whole_ns),
		             .mean_ns = DW_INT(stat->count ? stat->total_ns / stat->count : 0), .p99_ns = DW_INT(stat->p99_ns),
		             .max_ns = DW_INT(stat->max_ns), .longest_at_ns = DW_INT(pauses[i].at_ns),
		             .longest_step = steps && pauses[i].step != UINT64_MAX ? DW_INT(pauses[i].step) : DW_EMPTY,
		             .in_steps_ns = steps ? DW_INT(pauses[i].in_steps_ns) : DW_EMPTY);
		total_ns += stat->total_ns;
		calls += stat->count;
	}
	DW_TABLE_PUT_TOTALS(table, struct gc_cells, .calls = DW_INT(calls), .total_ns = DW_INT(total_ns),
	                    .share = DW_PART(total_ns, whole_ns));
}

static struct dwell_table *gc_view(struct dw_model *model, const struct dwell_view_options *options,
                                   struct dwell_error *error)
{
	struct search search = { dw_model_flat(model, DW_VIEW_CATEGORY(COLLECTOR), error),
		dw_model_symbols(model, NULL), dw_model_source(model), NULL, NULL };
	struct dwell_table *table = NULL;

	if (!search.flat)
		return NULL;
	if (search.source->step_count && !(search.steps = dw_model_steps(model, error)))
		return NULL;
	search.pauses = calloc(search.flat->count + 1, sizeof *search.pauses);
	if (!search.pauses) {
		dw_error_set(error, DWELL_E_NOMEM, "out of memory");
		return NULL;
	}
	if (dw_model_events(model, gc_visit_event, &search, error) == 0)
		table = DW_VIEW_CHOOSE("gc", columns, search.steps ? DW_HAS_STEPS : 0, error);
	if (table) {
		gc_fill_rows(table, search.symbols, search.flat, search.pauses, search.steps != NULL);
	}
	free(search.pauses);
	return table;
}

const struct dw_view dw_view_gc = {
	.name = "gc", .question = "when did the garbage collector stop the program, and for how long?",
	.run = gc_view, .row_name = "name", .row_ns = "total_ns", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns)),
	.categories = DW_VIEW_CATEGORY(COLLECTOR), .reads_steps = true, .needs = "collections",
	.remedy = "they are recorded in Python programs under dwell run",
};
