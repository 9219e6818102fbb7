/*
 * The tables of an overview.
 *
 *   breakdown  a mean step divided; sums to it
 *   wall       without steps: what the outermost ranges of the main thread take
 *   names      the operators, or else the program's own ranges, that take most
 */
#include <string.h>

#include "views/overview.h"

static double of(uint64_t part, double whole)
{
	return whole > 0 ? (double)part / whole : 0;
}

/* ---- a step ------------------------------------------------------------------------------ */

static const struct dw_column breakdown_columns[] = {
	DW_COLUMN("name", "a step", NONE, TEXT),
	DW_COLUMN("per_step_ns", "", NS, REAL, .one_unit = true),
	DW_COLUMN("share", "share", RATIO, REAL, .bar = true),
};

struct dw_table *dw_overview_breakdown(const struct dw_overview *overview,
                                       struct dwell_error *error)
{
	const struct dw_steps *steps = overview->steps;
	double count = (double)steps->recorded_count;
	struct dw_table *table;
	struct dw_cell *row;

	if (steps->share_ns[DW_SHARE_OTHER] == steps->recorded_ns)
		return NULL; /* it has no parts: another profiler's often has none */
	table = dw_view_table("overview", breakdown_columns, 3, error);
	if (!table)
		return NULL;
	table->part = "breakdown";
	for (unsigned i = 0; i < DW_SHARE_COUNT; i++) {
		if (!steps->share_ns[i] || i == DW_SHARE_OTHER)
			continue;
		row = dw_table_row(table, 0);
		dw_cell_text(table, &row[0], dw_view_share((enum dw_share)i));
		dw_cell_real(&row[1], (double)steps->share_ns[i] / count);
		dw_cell_real(&row[2], of(steps->share_ns[i], (double)steps->recorded_ns));
	}
	dw_table_sort(table, 1);
	if (steps->share_ns[DW_SHARE_OTHER]) {
		row = dw_table_row(table, 0);
		dw_cell_text(table, &row[0], dw_view_share(DW_SHARE_OTHER));
		dw_cell_real(&row[1], (double)steps->share_ns[DW_SHARE_OTHER] / count);
		dw_cell_real(&row[2],
		             of(steps->share_ns[DW_SHARE_OTHER], (double)steps->recorded_ns));
	}
	row = dw_table_totals(table);
	dw_cell_text(table, &row[0], "all");
	dw_cell_real(&row[1], (double)steps->recorded_ns / count);
	dw_cell_real(&row[2], 1);
	return table;
}

/* ---- a run without steps -------------------------------------------------------------------- */

static const struct dw_column wall_columns[] = {
	DW_COLUMN("name", "main thread", NONE, TEXT),
	DW_COLUMN("total_ns", "", NS, INT, .one_unit = true),
	DW_COLUMN("share", "share", RATIO, REAL, .bar = true),
	DW_COLUMN("calls", "calls", COUNT, INT),
};

/* The root of the thread that leads: the first process's main thread, or, where that
 * recorded nothing, the busiest of all. */
static size_t main_root(const struct dw_source *source, const struct dw_tree *tree)
{
	size_t best = tree->count;

	for (size_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];
		const struct dw_source_thread *thread = &source->threads[node->thread];

		if (node->symbol != DW_NO_INDEX || !node->stat.total_ns)
			continue;
		if (thread->tid == source->processes[thread->process].pid &&
		    source->processes[thread->process].parent == DW_NO_INDEX)
			return i;
		if (best == tree->count || node->stat.total_ns > tree->nodes[best].stat.total_ns)
			best = i;
	}
	return best;
}

static void wall_row(struct dw_table *table, const char *name, uint64_t ns, uint64_t wall_ns)
{
	struct dw_cell *row = dw_table_row(table, 0);

	dw_cell_text(table, &row[0], name);
	dw_cell_int(&row[1], (int64_t)ns);
	dw_cell_real(&row[2], of(ns, (double)wall_ns));
}

struct dw_table *dw_overview_wall(const struct dw_overview *overview, struct dwell_error *error)
{
	const struct dw_tree *tree = dw_model_tree(overview->model, error);
	size_t root = tree ? main_root(overview->source, tree) : 0;
	uint64_t wall_ns, named_ns = 0, small_ns = 0;
	struct dw_table *table;

	if (!tree || root == tree->count)
		return NULL;
	table = dw_view_table("overview", wall_columns, 4, error);
	if (!table)
		return NULL;
	table->part = "wall";
	wall_ns = overview->flat->wall_ns;
	if (wall_ns < tree->nodes[root].stat.total_ns)
		wall_ns = tree->nodes[root].stat.total_ns;
	for (size_t i = root + 1; i < tree->count && tree->nodes[i].symbol != DW_NO_INDEX; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->parent != root)
			continue;
		named_ns += node->stat.total_ns;
		if (table->row_count == 12 || of(node->stat.total_ns, (double)wall_ns) < 0.0005) {
			small_ns += node->stat.total_ns;
			continue;
		}
		wall_row(table, overview->symbols[node->symbol].name, node->stat.total_ns, wall_ns);
		dw_cell_int(&dw_table_at(table, table->row_count - 1)[3], (int64_t)node->stat.count);
	}
	if (small_ns)
		wall_row(table, "smaller ones", small_ns, wall_ns);
	if (wall_ns > named_ns)
		wall_row(table, "in no range", wall_ns - named_ns, wall_ns);
	struct dw_cell *totals = dw_table_totals(table);
	dw_cell_text(table, &totals[0], "all");
	dw_cell_int(&totals[1], (int64_t)wall_ns);
	dw_cell_real(&totals[2], 1);
	return table;
}

/* ---- names ------------------------------------------------------------------------------- */

static const struct dw_column step_columns[] = {
	DW_COLUMN("name", "operators by self time", NONE, TEXT),
	DW_COLUMN("calls_per_step", "calls/step", COUNT, REAL),
	DW_COLUMN("self_per_step_ns", "self/step", NS, REAL),
	DW_COLUMN("share", "share", RATIO, REAL),
	DW_COLUMN("p99_ns", "p99", NS, INT),
};

static const struct dw_column run_columns[] = {
	DW_COLUMN("name", "operators by self time", NONE, TEXT),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("share", "share", RATIO, REAL),
	DW_COLUMN("p99_ns", "p99", NS, INT),
};

struct dw_table *dw_overview_names(const struct dw_overview *overview, struct dwell_error *error)
{
	struct dw_model *model = overview->inside ? overview->inside : overview->model;
	const struct dw_flat *flat = dw_model_flat(model, DW_VIEW_CATEGORY(OPERATOR), error);
	size_t steps = overview->inside ? overview->steps->recorded_count : 0;
	uint64_t whole_ns = steps ? overview->steps->recorded_ns : overview->flat->wall_ns;
	bool operators = flat && flat->count;
	struct dw_table *table;

	if (flat && !flat->count)
		flat = dw_model_flat(model, DW_VIEW_OWN, error);
	if (!flat || !flat->count)
		return NULL;
	table = dw_view_table("overview", steps ? step_columns : run_columns, 5, error);
	if (!table)
		return NULL;
	table->part = operators ? "operators" : "actions";
	if (!operators)
		table->columns[0].label = "named ranges by self time";
	for (size_t i = 0; i < flat->count; i++) {
		const struct dw_stat *stat = &flat->rows[i].stat;
		struct dw_cell *row = dw_table_row(table, 0);

		dw_cell_text(table, &row[0], overview->symbols[flat->rows[i].symbol].name);
		if (steps) {
			dw_cell_real(&row[1], (double)stat->count / (double)steps);
			dw_cell_real(&row[2], (double)stat->self_ns / (double)steps);
		} else {
			dw_cell_int(&row[1], (int64_t)stat->count);
			dw_cell_int(&row[2], (int64_t)stat->self_ns);
		}
		dw_cell_real(&row[3], of(stat->self_ns, (double)whole_ns));
		dw_cell_int(&row[4], (int64_t)stat->p99_ns);
	}
	return table;
}
