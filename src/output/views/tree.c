/*
 * tree: who calls whom, and what does it take?
 *
 * The table shows calls by path for each thread. Self time excludes all nested ranges of any kind.
 * Rows with less than half a percent of their thread's time are omitted and counted; --limit all
 * shows them. If a child has little of its thread's time but much device time, it is hidden too.
 */
#include "base/text.h"
#include "views/common.h"
#include "views/device.h"
#include "views/places.h"

#define LEAST_SHARE 0.005

static const struct dw_column columns[] = {
	DW_COLUMN("name", "call", NONE, TEXT),
	DW_COLUMN("depth", "depth", NONE, INT, .data_only = true),
	DW_COLUMN("category", "kind", NONE, TEXT, .data_only = true),
	DW_COLUMN("total_ns", "total", NS, INT),
	DW_COLUMN("self_ns", "self", NS, INT),
	DW_COLUMN("calls", "calls", COUNT, INT),
	DW_COLUMN("mean_ns", "mean", NS, INT, .wide_only = true),
	DW_COLUMN("p99_ns", "p99", NS, INT, .wide_only = true),
	DW_COLUMN("share", "of thread", RATIO, REAL, .bar = true),
};
#define COLUMNS (sizeof columns / sizeof *columns)

static void tree_fill_row(struct dwell_table *table, struct dw_model *model,
                          const struct dw_tree_node *node, const struct dw_device_sum *device,
                          uint64_t root_ns)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_stat *stat = &node->stat;
	bool call = node->symbol != DW_NO_INDEX, called = call && stat->count;
	struct dw_cell *row;
	char name[256];

	row = DW_TABLE_ROW(table, (int)node->depth,
	                   DW_STRING(call ? symbols[node->symbol].name
	                                  : dw_view_thread_name(model, node->thread, false, name)),
	                   DW_INT(node->depth),
	                   DW_STRING(call ? dw_view_category(symbols[node->symbol].category) : "thread"),
	                   DW_INT(stat->total_ns), call ? DW_INT(stat->self_ns) : DW_EMPTY,
	                   call ? DW_INT(stat->count) : DW_EMPTY,
	                   called ? DW_INT((stat->total_ns + stat->count / 2) / stat->count) : DW_EMPTY,
	                   called && stat->p99_ns != DW_NOT_KEPT ? DW_INT(stat->p99_ns) : DW_EMPTY,
	                   DW_PART(stat->total_ns, root_ns));
	if (device)
		dw_view_device_cells(&row[COLUMNS], device);
}

static struct dwell_table *tree_view(struct dw_model *model,
                                     const struct dwell_view_options *options,
                                     struct dwell_error *error)
{
	const struct dw_tree *tree = dw_model_tree(model, error);
	bool has_device = dw_model_has_device(model), all = options->limit == SIZE_MAX;
	const struct dw_device_sum *device = has_device ? dw_model_device_by_path(model, error) : NULL;
	struct dwell_table *table = NULL;
	uint64_t root_ns = 0, hidden = 0, open = 0;
	struct dw_view_places places;

	if (tree && (device || !has_device))
		table = dw_view_table_with_device(model, "tree", columns, COLUMNS, error);
	if (!table)
		return NULL;
	dw_view_places_init(&places, model);
	for (size_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX)
			root_ns = node->stat.total_ns;
		open += node->symbol != DW_NO_INDEX ? node->stat.open : 0;
		/* a child has at most its parent's time, so whole subtrees are omitted */
		if (!all && node->symbol != DW_NO_INDEX &&
		    (double)node->stat.total_ns < LEAST_SHARE * (double)root_ns)
			hidden++;
		else
			tree_fill_row(table, model, node, device ? &device[i] : NULL, root_ns);
		dw_view_places_take(&places, table, node->symbol);
	}
	dw_view_places_finish(&places, table);
	if (open)
		dw_table_note(table, "%s call%s did not end; counted until the end of %s process.",
		              dw_text_count((int64_t)open).at, dw_text_plural(open),
		              open == 1 ? "its" : "their");
	if (hidden)
		dw_table_note(table, "%s call%s under 0.5%% of %s thread hidden: --limit all shows %s.",
		              dw_text_count((int64_t)hidden).at, dw_text_plural(hidden),
		              hidden == 1 ? "its" : "their", hidden == 1 ? "it" : "them");
	return table;
}

const struct dw_view dw_view_tree = {
	.name = "tree",
	.question = "who calls whom, and what does it take?",
	.run = tree_view,
	.row_name = "name",
	.row_ns = "total_ns",
	.limit = SIZE_MAX,
};
