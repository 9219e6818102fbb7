/* The call paths of all runs of a comparison as one tree. */
#include <math.h>

#include "base/error.h"
#include "base/free.h"
#include "base/grow.h"
#include "base/order.h"
#include "diff/paths.h"
#include "model/model.h"

/* ---- adding a run ------------------------------------------------------------------------------ */

static uint32_t paths_find(struct dw_diff *diff, uint32_t parent, uint32_t depth, uint32_t category, const char *name)
{
	struct dw_diff_paths *paths = diff->paths;
	uint32_t hash = dw_map_hash_bytes(dw_map_hash((uint64_t)parent << 32 | category), name, strlen(name));
	uint32_t found = DW_MAP_FIND(&paths->map, hash, i,
	                             paths->nodes[i].parent == parent && paths->nodes[i].category == category &&
	                                 strcmp(paths->nodes[i].name, name) == 0);
	struct dw_diff_path *node;

	if (found != DW_MAP_NONE)
		return found;
	node = DW_GROW(&paths->nodes, &paths->capacity, paths->count);
	if (!node || !dw_map_add(&paths->map, hash, (uint32_t)paths->count))
		return DW_MAP_NONE;
	*node = (struct dw_diff_path){ .name = dw_arena_text(&diff->arena, name, strlen(name)),
		                           .category = category, .parent = parent, .depth = depth };
	return node->name ? (uint32_t)paths->count++ : DW_MAP_NONE;
}

/* The main thread has the program's name, which may be another one after the change, and so have threads without a name
 * of their own. */
static const char *paths_thread_name(const struct dw_source *source, uint32_t number)
{
	const struct dw_source_thread *thread = &source->threads[number];
	const struct dw_source_process *process = &source->processes[thread->process];

	if (thread->tid == process->pid)
		return "main thread";
	for (uint32_t i = 0; i < source->thread_count; i++)
		if (source->threads[i].process == thread->process && source->threads[i].tid == process->pid &&
		    strcmp(source->threads[i].name, thread->name) == 0)
			return "other threads";
	return thread->name;
}

int dw_diff_add_paths(struct dw_diff *diff, unsigned side, struct dw_model *model, struct dwell_error *error)
{
	const struct dw_paths *from = dw_model_paths(model, DW_PATHS_CALLS, error);
	const struct dw_facts *facts = from ? dw_facts(model, error) : NULL;
	const struct dw_source *source = dw_model_source(model);
	double steps = facts ? facts->at[DW_FACT_STEP_COUNT].value : 0;
	struct dw_diff_paths *paths = diff->paths;

	if (!facts)
		return error->code;
	if (!paths)
		paths = diff->paths = calloc(1, sizeof *paths);
	for (size_t i = 0; paths && i < from->count; i++) {
		const struct dw_path *path = &from->nodes[i];
		const struct dw_symbol *symbol = path->depth ? &from->symbols[path->symbol] : NULL;
		const char *name = symbol ? symbol->name : paths_thread_name(source, path->symbol);
		uint32_t parent = path->depth ? paths->open[path->depth - 1] : DW_MAP_NONE, at;

		if (path->depth >= paths->open_capacity && !DW_GROW(&paths->open, &paths->open_capacity, path->depth))
			break;
		at = paths_find(diff, parent, path->depth, symbol ? symbol->category : 0, *name ? name : "other threads");
		if (at == DW_MAP_NONE)
			break;
		paths->open[path->depth] = at;
		paths->nodes[at].total[side] += (double)path->total_ns / fmax(1, steps);
		paths->nodes[at].self[side] += (double)path->self_ns / fmax(1, steps);
		paths->nodes[at].calls[side] += path->count / fmax(1, steps);
		if (i + 1 == from->count)
			return 0;
	}
	return paths && !from->count ? 0 : dw_error_set(error, DWELL_E_NOMEM, "out of memory for the call paths");
}

void dw_diff_reset_paths(struct dw_diff_paths *paths)
{
	if (!paths)
		return;
	DW_FREE(paths->nodes, paths->open);
	dw_map_reset(&paths->map);
	free(paths);
}

/* ---- what changed ----------------------------------------------------------------------------- */

double dw_diff_path_mean(const struct dw_diff *diff, const double *sums, unsigned side)
{
	return sums[side] / (double)diff->sides[side].count;
}

double dw_diff_path_change(const struct dw_diff *diff, const double *sums)
{
	return dw_diff_path_mean(diff, sums, DW_DIFF_AFTER) - dw_diff_path_mean(diff, sums, DW_DIFF_BEFORE);
}

double dw_diff_paths_largest_ns(const struct dw_diff *diff)
{
	double largest_ns = 0;

	for (size_t i = 0; diff->paths && i < diff->paths->count; i++)
		if (diff->paths->nodes[i].depth)
			largest_ns = fmax(largest_ns, fabs(dw_diff_path_change(diff, diff->paths->nodes[i].self)));
	return largest_ns;
}

int dw_diff_path_class(const struct dw_diff *diff, const struct dw_diff_path *path, double largest_ns)
{
	double change = dw_diff_path_change(diff, path->self);
	double part = largest_ns > 0 ? fabs(change) / largest_ns : 0;
	int class = part >= 1 ? DW_DIFF_CLASSES : (int)(part * DW_DIFF_CLASSES) + 1;

	if (!path->depth || part < DW_DIFF_LEAST)
		return 0;
	return change > 0 ? class : -class;
}

/* ---- the order -------------------------------------------------------------------------------- */

struct paths_key {
	uint32_t parent, node;
	double ns;
};

DW_ORDER(paths_compare, struct paths_key, DW_UP(parent) DW_DOWN(ns) DW_UP(node))

/* Lists the children of each path, the longest first. Returns the first root. */
static uint32_t paths_link(struct dw_diff *diff, bool both, struct paths_key *keys)
{
	struct dw_diff_path *nodes = diff->paths->nodes;
	size_t count = diff->paths->count;
	uint32_t first = DW_MAP_NONE;

	for (uint32_t i = 0; i < count; i++) {
		double before = dw_diff_path_mean(diff, nodes[i].total, DW_DIFF_BEFORE);
		double after = dw_diff_path_mean(diff, nodes[i].total, DW_DIFF_AFTER);

		keys[i] = (struct paths_key){ nodes[i].parent, i, both ? fmax(before, after) : after };
		nodes[i].child = nodes[i].sibling = DW_MAP_NONE;
	}
	qsort(keys, count, sizeof *keys, paths_compare);
	for (size_t i = count; i-- > 0; ) {
		struct dw_diff_path *node = &nodes[keys[i].node];
		uint32_t *head = node->parent == DW_MAP_NONE ? &first : &nodes[node->parent].child;

		if (!(keys[i].ns > 0))
			continue;
		node->sibling = *head;
		*head = keys[i].node;
	}
	return first;
}

uint32_t *dw_diff_paths_sort(struct dw_diff *diff, bool both, size_t *count)
{
	size_t all = diff->paths ? diff->paths->count : 0;
	uint32_t *order = malloc((all + 1) * sizeof *order), at = DW_MAP_NONE;
	struct paths_key *keys = malloc((all + 1) * sizeof *keys);
	const struct dw_diff_path *nodes = all ? diff->paths->nodes : NULL;

	*count = 0;
	if (order && keys && all)
		at = paths_link(diff, both, keys);
	while (at != DW_MAP_NONE) {
		order[(*count)++] = at;
		if (nodes[at].child != DW_MAP_NONE) {
			at = nodes[at].child;
			continue;
		}
		while (at != DW_MAP_NONE && nodes[at].sibling == DW_MAP_NONE)
			at = nodes[at].parent;
		at = at == DW_MAP_NONE ? at : nodes[at].sibling;
	}
	if (!keys) {
		free(order);
		order = NULL;
	}
	free(keys);
	return order;
}
