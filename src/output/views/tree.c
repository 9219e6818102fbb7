/*
 * tree: who calls whom, and what does it take?
 *
 * The table shows calls by path for each thread. Self time excludes all nested ranges of any kind.
 * Rows with less than half a percent of their thread's time are omitted and counted; --limit all
 * shows them. If a child has little of its thread's time but much device time, it is hidden too.
 */

#include "base/error.h"
#include "base/map.h"
#include "base/text.h"
#include "views/device.h"
#include "views/places.h"

#define LEAST_SHARE 0.005

struct tree_cells {
	struct dw_cell name, depth, category, total_ns, self_ns, calls, mean_ns, p99_ns, share;
	struct dw_view_device device;
};

static const struct dw_column columns[] = {
	DW_FIELD(struct tree_cells, name, "call", NONE, TEXT),
	DW_FIELD(struct tree_cells, depth, "depth", NONE, INT, .data_only = true),
	DW_FIELD(struct tree_cells, category, "kind", NONE, TEXT, .data_only = true),
	DW_FIELD(struct tree_cells, total_ns, "total", NS, INT),
	DW_FIELD(struct tree_cells, self_ns, "self", NS, INT),
	DW_FIELD(struct tree_cells, calls, "calls", COUNT, INT),
	DW_FIELD(struct tree_cells, mean_ns, "mean", NS, INT, .wide_only = true),
	DW_FIELD(struct tree_cells, p99_ns, "p99", NS, INT, .wide_only = true),
	DW_FIELD(struct tree_cells, share, "of thread", RATIO, REAL, .bar = true),
	DW_VIEW_DEVICE_FIELDS(struct tree_cells, device),
};

/* ---- work of devices -------------------------------------------------------------------- */

struct tree_paths {
	const struct dw_tree *tree;
	struct dw_map map;   /* nodes by parent and symbol */
	uint32_t *roots;     /* by thread: its node, or DW_NO_INDEX */
	uint32_t *by_owner;  /* its node; DW_NO_INDEX: none */
};

static uint32_t tree_child(const struct tree_paths *paths, uint32_t parent, uint32_t symbol)
{
	uint32_t found;

	if (parent == DW_NO_INDEX)
		return DW_NO_INDEX;
	found = DW_MAP_FIND(&paths->map, dw_map_hash((uint64_t)parent << 32 | symbol), i,
	                    paths->tree->nodes[i].parent == parent && paths->tree->nodes[i].symbol == symbol);
	return found == DW_MAP_NONE ? parent : found;
}

static bool tree_find_nodes(struct tree_paths *paths, struct dw_model *model, const struct dw_device_work *work)
{
	const struct dw_tree *tree = paths->tree;

	paths->roots = malloc((dw_model_source(model)->thread_count + 1) * sizeof *paths->roots);
	paths->by_owner = malloc((work->owner_count + 1) * sizeof *paths->by_owner);
	if (!paths->roots || !paths->by_owner)
		return false;
	for (size_t i = 0; i < dw_model_source(model)->thread_count; i++)
		paths->roots[i] = DW_NO_INDEX;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX)
			paths->roots[node->thread] = i;
		else if (!dw_map_add(&paths->map, dw_map_hash((uint64_t)node->parent << 32 | node->symbol), i))
			return false;
	}
	for (size_t i = 0; i < work->owner_count; i++) { /* parents come first */
		const struct dw_device_owner *owner = &work->owners[i];

		paths->by_owner[i] =
		    tree_child(paths, owner->parent == DW_NO_INDEX ? paths->roots[owner->thread]
		                                                   : paths->by_owner[owner->parent],
		               dw_model_row_symbol(model, dw_model_symbol_row(model, owner->symbol)));
	}
	return true;
}

/* Sums by node of the tree: self time of a node, and total with all below it. The caller frees them. NULL: out of memory. */
static struct dw_device_sum *tree_device_sums(struct dw_model *model, const struct dw_tree *tree,
                                              struct dwell_error *error)
{
	const struct dw_device_work *work = dw_model_device_work(model, error);
	struct dw_device_sum *sums = calloc(tree->count + 1, sizeof *sums);
	struct tree_paths paths = { .tree = tree };
	bool good = work && sums && tree_find_nodes(&paths, model, work);

	for (size_t i = 0; good && i < work->call_count; i++) {
		const struct dw_device_call *call = &work->calls[i];
		uint32_t node = call->owner == DW_NO_INDEX ? paths.roots[call->thread] : paths.by_owner[call->owner];

		node = tree_child(&paths, node, dw_model_row_symbol(model, dw_model_symbol_row(model, call->symbol)));
		if (node == DW_NO_INDEX || !call->in_scope)
			continue;
		sums[node].self_ns += call->device_ns;
		sums[node].self_events += call->work;
	}
	for (size_t i = good ? tree->count : 0; i-- > 0;) { /* children come after their parents */
		struct dw_device_sum *parent;

		sums[i].total_ns += sums[i].self_ns;
		sums[i].total_events += sums[i].self_events;
		if (tree->nodes[i].parent == DW_NO_INDEX)
			continue;
		parent = &sums[tree->nodes[i].parent];
		parent->total_ns += sums[i].total_ns;
		parent->total_events += sums[i].total_events;
	}
	dw_map_reset(&paths.map);
	free(paths.roots);
	free(paths.by_owner);
	if (good)
		return sums;
	free(sums);
	dw_error_set(error, DWELL_E_NOMEM, "out of memory for the tree view");
	return NULL;
}

/* ---- rows ------------------------------------------------------------------------------- */

static void tree_fill_row(struct dwell_table *table, struct dw_model *model,
                          const struct dw_tree_node *node, const struct dw_device_sum *device, uint64_t root_ns)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_stat *stat = &node->stat;
	bool call = node->symbol != DW_NO_INDEX, called = call && stat->count;
	char name[256];

	DW_TABLE_PUT(
		table, (int)node->depth, struct tree_cells,
		.name = DW_STRING(call ? symbols[node->symbol].name : dw_view_thread_name(model, node->thread, false, name)),
		.depth = DW_INT(node->depth),
		.category = DW_STRING(call ? dw_view_category(symbols[node->symbol].category) : "thread"),
		.total_ns = DW_INT(stat->total_ns), .self_ns = call ? DW_INT(stat->self_ns) : DW_EMPTY,
		.calls = call ? DW_INT(stat->count) : DW_EMPTY,
		.mean_ns = called ? DW_INT((stat->total_ns + stat->count / 2) / stat->count) : DW_EMPTY,
		.p99_ns = called && stat->p99_ns != DW_NOT_KEPT ? DW_INT(stat->p99_ns) : DW_EMPTY,
		.share = DW_PART(stat->total_ns, root_ns), .device = dw_view_device_of(device));
}

static struct dwell_table *tree_view(struct dw_model *model, const struct dwell_view_options *options,
                                     struct dwell_error *error)
{
	const struct dw_tree *tree = dw_model_tree(model, error);
	bool has_device = dw_model_has_device(model), all = options->limit == SIZE_MAX;
	struct dw_device_sum *device = tree && has_device ? tree_device_sums(model, tree, error) : NULL;
	struct dwell_table *table = NULL;
	uint64_t root_ns = 0, hidden = 0, open = 0;
	struct dw_view_places places;

	if (tree && (device || !has_device))
		table = DW_VIEW_CHOOSE_DEVICE(model, "tree", columns, has_device ? DW_HAS_DEVICE : 0, error);
	if (!table) {
		free(device);
		return NULL;
	}
	dw_view_places_init(&places, model);
	for (size_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX)
			root_ns = node->stat.total_ns;
		open += node->symbol != DW_NO_INDEX ? node->stat.open : 0;
		/* a child has at most its parent's time, so whole subtrees are omitted */
		if (!all && node->symbol != DW_NO_INDEX && (double)node->stat.total_ns < LEAST_SHARE * (double)root_ns)
			hidden++;
		else
			tree_fill_row(table, model, node, device ? &device[i] : NULL, root_ns);
		dw_view_places_take(&places, table, node->symbol);
	}
	dw_view_places_finish(&places, table);
	free(device);
	dw_view_note_open(table, open);
	if (hidden)
		dw_table_note(table, "%s call%s under 0.5%% of %s thread hidden: --limit all shows %s.",
		              dw_text_count((int64_t)hidden).at, dw_text_plural(hidden),
		              hidden == 1 ? "its" : "their", hidden == 1 ? "it" : "them");
	return table;
}

const struct dw_view dw_view_tree = {
	.name = "tree", .question = "who calls whom, and what does it take?",
	.run = tree_view, .row_name = "name", .row_ns = "total_ns", .limit = SIZE_MAX,
	.tables = DW_VIEW_TABLES(DW_VIEW_TABLE(columns), &dw_view_places_columns),
};
