/*
 * operators: which operators take the time?
 *
 * Self time excludes called operators. Without steps, shares are of the self time of all operators, so
 * they add up to 100%. If there are steps, further columns show each operator's part of a mean step, and
 * shares are of the loop, as in the overview (struct dw_loop_operators); what runs before and after the
 * loop does not change these figures. Operators that threads without steps ran during the steps have a
 * separate column, because their time is not part of a step.
 *
 * A column is a line of operators_columns; doc/how/adding.md adds one.
 */
#include <math.h>
#include <stdlib.h>

#include "facts/facts.h"
#include "views/device.h"
#include "views/places.h"

/* What a row is of. In the row of the totals, figures are sums. */
struct operators_row {
	const char *name;
	struct dw_view_stat stat;
	struct dw_view_device device;
	uint64_t all_self_ns;     /* of all operators */
	double own_ns, loop_ns;   /* self time in a mean step, in the threads with steps; what the loop takes a step */
	double others_ns;         /* self time inside the steps in other threads; NAN: none */
	double steps;             /* how many there are */
};

static struct dw_cell operators_share(const void *of)
{
	const struct operators_row *row = of;

	return DW_PART(row->stat.self_ns, row->all_self_ns);
}

static struct dw_cell operators_per_step(const void *of)
{
	const struct operators_row *row = of;

	return DW_REAL(row->own_ns);
}

static struct dw_cell operators_of_loop(const void *of)
{
	const struct operators_row *row = of;

	return row->loop_ns > 0 ? DW_REAL(row->own_ns / row->loop_ns) : DW_EMPTY;
}

static struct dw_cell operators_others_per_step(const void *of)
{
	const struct operators_row *row = of;

	return isnan(row->others_ns) ? DW_EMPTY : DW_REAL(row->others_ns / row->steps);
}

enum { NO_STEPS = DW_HAS_OWN };

static const struct dw_column operators_columns[] = {
	DW_FIELD(struct operators_row, name, "operator", NONE, TEXT, .total_text = "all operators"),
	DW_VIEW_STAT_FIELDS(struct operators_row, stat),
	DW_COLUMN("share", "of operators", RATIO, REAL, .cell = operators_share, .bar = true, .text_only = NO_STEPS,
	          .sums = "self_ns"),
	DW_COLUMN("self_per_step_ns", "self/step", NS, REAL, .cell = operators_per_step, .total = DW_TOTAL_OWN,
	          .only = DW_HAS_STEPS),
	DW_COLUMN("loop_share", "of the loop", RATIO, REAL, .cell = operators_of_loop, .bar = true, .only = DW_HAS_STEPS,
	          .sums = "self_per_step_ns"),
	DW_COLUMN("other_threads_per_step_ns", "other threads/step", NS, REAL, .cell = operators_others_per_step,
	          .total = DW_TOTAL_OWN, .only = DW_HAS_STEPS, .not_narrow = true),
	DW_VIEW_DEVICE_FIELDS(struct operators_row, device, .total = DW_TOTAL_OWN),
};

/* Self times inside the steps by symbol: in the threads with steps, and in all threads. */
struct selfs {
	const struct dw_loop_operators *loop;
	uint64_t *own_ns, *all_ns;
	size_t steps; /* 0 if there are no steps */
};

/* Returns self times by symbol, or NULL if out of memory. Both models have the same source, so a
 * symbol has the same index in both. */
static uint64_t *operators_selfs_of(struct dw_model *model, enum dw_counted_threads threads, struct dwell_error *error)
{
	struct dw_model *inside = dw_model_counted(model, threads, error);
	const struct dw_flat *flat = inside ? dw_model_flat(inside, DW_VIEW_CATEGORY(OPERATOR), error) : NULL;
	uint64_t *selfs = NULL;
	size_t count;

	dw_model_symbols(model, &count);
	if (flat)
		selfs = calloc(count + 1, sizeof *selfs);
	for (size_t i = 0; selfs && i < flat->count; i++)
		selfs[flat->rows[i].symbol] = flat->rows[i].stat.self_ns;
	return selfs;
}

static void operators_fill_rows(struct dwell_table *table, struct dw_model *model, const struct dw_flat *flat,
                                const struct selfs *inside, const struct dw_device_sum *device)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	struct operators_row all = { .steps = (double)inside->steps };
	struct dw_view_places places;

	dw_view_places_init(&places, model);
	for (size_t i = 0; i < flat->count; i++)
		all.all_self_ns += flat->rows[i].stat.self_ns;
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_flat_row *from = &flat->rows[i];
		struct operators_row row = { .name = symbols[from->symbol].name,
			                         .stat = dw_view_stat_of(&from->stat),
			                         .all_self_ns = all.all_self_ns,
			                         .steps = all.steps,
			                         .others_ns = NAN };

		if (device)
			row.device = dw_view_device_of(&device[dw_model_symbol_row(model, from->symbol)]);
		if (inside->steps) {
			uint64_t own_ns = inside->own_ns[from->symbol], all_ns = inside->all_ns[from->symbol];

			row.own_ns = inside->loop->ns[from->symbol];
			row.loop_ns = inside->loop->whole_ns;
			all.own_ns += row.own_ns;
			if (all_ns > own_ns)
				all.others_ns += row.others_ns = (double)(all_ns - own_ns);
		}
		dw_table_put(table, 0, &row, sizeof row);
		dw_view_places_take(&places, table, from->symbol);
	}
	if (device)
		table->failed |= !dw_view_device_all(model, &all.device);
	dw_table_put_totals(table, &all, sizeof all);
	if (inside->steps)
		dw_table_named(table, "other_threads_per_step_ns")->data_only = !(all.others_ns > 0);
	dw_view_places_finish(&places, table);
}

static struct dwell_table *operators_by_name(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_CATEGORY(OPERATOR), error);
	const struct dw_steps *steps = flat ? dw_model_steps(model, error) : NULL;
	const struct dw_device_sum *sums = NULL;
	struct dwell_table *table = NULL;
	struct selfs selfs = { .steps = 0 };
	bool device = dw_model_has_device(model);

	if (!steps)
		return NULL;
	selfs.steps = steps->recorded_count;
	if (selfs.steps) {
		selfs.loop = dw_facts_loop_operators(model, error);
		selfs.own_ns = operators_selfs_of(model, DW_COUNTED_STEP_THREADS, error);
		selfs.all_ns = operators_selfs_of(model, DW_COUNTED_ALL_THREADS, error);
	}
	if (device)
		sums = dw_model_device_by_row(model, DW_VIEW_CATEGORY(OPERATOR), error);
	if ((!selfs.steps || (selfs.loop && selfs.own_ns && selfs.all_ns)) && (!device || sums))
		table = DW_VIEW_CHOOSE_DEVICE(model, "operators", operators_columns,
		                              (selfs.steps ? DW_HAS_STEPS : NO_STEPS) | (device ? DW_HAS_DEVICE : 0), error);
	if (table) {
		operators_fill_rows(table, model, flat, &selfs, sums);
		dw_view_note_calls(table, flat);
	}
	free(selfs.own_ns);
	free(selfs.all_ns);
	return table;
}

static struct dwell_table *operators_view(struct dw_model *model, const struct dwell_view_options *options,
                                          struct dwell_error *error)
{
	if ((options->group_by && *options->group_by) || options->top_level)
		return dw_view_grouped(model, "operators", false, options, error);
	return operators_by_name(model, error);
}

const struct dw_view dw_view_operators = {
	.name = "operators",
	.question = "which operators take the time?",
	.run = operators_view,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(operators_columns), &dw_view_places_columns),
	.takes = DW_VIEW_TAKES(group_by) | DW_VIEW_TAKES(top_level),
	.row_name = "name",
	.row_ns = "total_ns",
	.limit = 30,
	.categories = DW_VIEW_CATEGORY(OPERATOR),
	.reads_steps = true,
	.needs = "operators",
	.remedy = "mark them with DWELL_OP(\"name\"), or see --view actions",
};
