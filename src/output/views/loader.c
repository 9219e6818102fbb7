/* Collects data loading from the tree: the outermost DATA ranges of each thread; see loader.h. */
#include "views/loader.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/order.h"

static bool loader_steps_in(const struct dw_source *source, uint32_t thread)
{
	for (size_t i = 0; i < source->step_count; i++)
		if (source->steps[i].thread == thread)
			return true;
	return false;
}

/* The DATA ranges around the current node. Only the outermost range is counted. */
struct place {
	bool loop;          /* the thread has steps */
	uint32_t depth;     /* of the outermost DATA range around the node; 0: none */
	uint32_t own_depth; /* of a DATA range nested in that one; 0: none */
};

static void loader_add(struct dw_loader *loader, const struct dw_tree_node *node, bool loop)
{
	struct dw_loader_row *row = &loader->rows[loader->row_count++];

	*row = (struct dw_loader_row){ node->thread, node->symbol, !loop, node->stat };
	if (loop) {
		/* Starting an epoch is a range too. Batches are the range with the most calls. */
		if (node->stat.count > loader->batches)
			loader->batches = node->stat.count;
		loader->wait_ns += node->stat.total_ns;
	} else {
		loader->made += node->stat.count;
		loader->making_ns += node->stat.total_ns;
	}
}

static void loader_gather(struct dw_loader *loader, const struct dw_source *source, const struct dw_tree *tree,
                          const struct dw_symbol *symbols)
{
	struct place place = { false, 0, 0 };
	uint32_t last_worker = DW_NO_INDEX;

	for (size_t i = 0; i < tree->count; i++) {
		const struct dw_tree_node *node = &tree->nodes[i];

		if (node->symbol == DW_NO_INDEX) {
			place = (struct place){ loader_steps_in(source, node->thread), 0, 0 };
			continue;
		}
		place.depth = node->depth <= place.depth ? 0 : place.depth;
		place.own_depth = node->depth <= place.own_depth ? 0 : place.own_depth;
		if (symbols[node->symbol].category != DWELL_CATEGORY_DATA || place.own_depth)
			continue;
		if (place.depth) {
			place.own_depth = node->depth;
			loader->own_ns += place.loop ? node->stat.total_ns : 0;
			continue;
		}
		place.depth = node->depth;
		loader_add(loader, node, place.loop);
		if (!place.loop && node->thread != last_worker) {
			last_worker = node->thread;
			loader->workers++;
		}
	}
}

static void loader_count_queue(struct dw_loader *loader, const struct dw_flat *flat, const struct dw_symbol *symbols)
{
	for (size_t i = 0; i < flat->count; i++) {
		const char *detail = symbols[flat->rows[i].symbol].detail;

		if (!detail)
			continue;
		if (strcmp(detail, DW_LOADER_EMPTY) == 0)
			loader->empty += flat->rows[i].stat.count;
		else if (strcmp(detail, DW_LOADER_READY) != 0)
			continue;
		loader->queued += flat->rows[i].stat.count;
	}
}

DW_ORDER(loader_compare_roles, struct dw_loader_row, DW_UP(worker) DW_DOWN(stat.total_ns))

struct dw_loader *dw_loader(struct dw_model *model, struct dwell_error *error)
{
	const struct dw_symbol *symbols = dw_model_symbols(model, NULL);
	const struct dw_tree *tree = dw_model_tree(model, error);
	const struct dw_flat *flat = tree ? dw_model_flat_by(model, DW_VIEW_CATEGORY(DATA), DW_BY_SYMBOL, error) : NULL;
	struct dw_loader *loader = flat ? calloc(1, sizeof *loader) : NULL;

	if (loader)
		loader->rows = calloc(tree->count + 1, sizeof *loader->rows);
	if (!loader || !loader->rows) {
		dw_loader_done(loader);
		if (flat)
			dw_error_set(error, DWELL_E_NOMEM, "out of memory");
		return NULL;
	}
	loader_gather(loader, dw_model_source(model), tree, symbols);
	loader_count_queue(loader, flat, symbols);
	qsort(loader->rows, loader->row_count, sizeof *loader->rows, loader_compare_roles);
	return loader;
}

void dw_loader_done(struct dw_loader *loader)
{
	if (loader)
		free(loader->rows);
	free(loader);
}
