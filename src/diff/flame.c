/*
 * The differential flame graph: the call paths of the runs after, coloured by what changed.
 *
 * Width is time per step after the change, as in a flame graph of those runs. Colour is the change of
 * a path's own time: a change in a deep function would colour all callers too if totals were shown.
 * The colours are quarters of the largest change, which the legend states. A path that only the runs
 * before have has no width; the subtitle has the sum of these.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "base/map.h"
#include "diff/diff.h"
#include "model/model.h"
#include "model/time/profiles.h"
#include "pictures/picture.h"

#define FLAME_CLASSES 4           /* of slower, and of faster */
#define FLAME_LEAST (1.0 / 16)    /* of the largest change: less is shown as no change */
enum { KIND_THREAD, KIND_SAME, KIND_FASTER, KIND_SLOWER = KIND_FASTER + FLAME_CLASSES,
       KINDS = KIND_SLOWER + FLAME_CLASSES };

/* A call path of all runs; the names of symbols differ in numbers from trace to trace. */
struct dw_diff_path {
	const char *name;
	uint32_t category, parent, depth; /* parent: DW_MAP_NONE for a thread */
	uint32_t child, sibling;          /* DW_MAP_NONE: none; set when the picture is drawn */
	double total[DW_DIFF_SIDES], self[DW_DIFF_SIDES], calls[DW_DIFF_SIDES]; /* per step, sums of runs */
};

struct dw_diff_paths {
	struct dw_diff_path *nodes;
	size_t count, capacity;
	struct dw_map map;
	uint32_t *open;           /* of the run that is added: the node of each depth */
	size_t open_capacity;
};

/* ---- adding a run ------------------------------------------------------------------------------ */

static uint32_t flame_find_node(struct dw_diff *diff, uint32_t parent, uint32_t depth,
                                uint32_t category, const char *name)
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

int dw_diff_add_paths(struct dw_diff *diff, unsigned side, struct dw_model *model,
                      struct dwell_error *error)
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
		const char *name = symbol ? symbol->name : source->threads[path->symbol].name;
		uint32_t parent = path->depth ? paths->open[path->depth - 1] : DW_MAP_NONE, at;

		if (path->depth >= paths->open_capacity &&
		    !DW_GROW(&paths->open, &paths->open_capacity, path->depth))
			break;
		at = flame_find_node(diff, parent, path->depth, symbol ? symbol->category : 0,
		                     *name ? name : "threads without a name");
		if (at == DW_MAP_NONE)
			break;
		paths->open[path->depth] = at;
		paths->nodes[at].total[side] += (double)path->total_ns / fmax(1, steps);
		paths->nodes[at].self[side] += (double)path->self_ns / fmax(1, steps);
		paths->nodes[at].calls[side] += path->count / fmax(1, steps);
		if (i + 1 == from->count)
			return 0;
	}
	return paths && !from->count ? 0
	                             : dw_error_set(error, DWELL_E_NOMEM, "out of memory for the call paths");
}

void dw_diff_reset_paths(struct dw_diff_paths *paths)
{
	if (!paths)
		return;
	free(paths->nodes);
	free(paths->open);
	dw_map_reset(&paths->map);
	free(paths);
}

/* ---- drawing ------------------------------------------------------------------------------------ */

struct flame {
	const struct dw_diff *diff;
	struct dw_diff_path *nodes;
	const uint32_t *order;      /* depth first */
	double runs[DW_DIFF_SIDES]; /* of each side */
	double largest_ns;          /* change of self time */
	char *note;                 /* space for the tooltip of the last node */
	size_t note_size;
};

static double flame_mean(const struct flame *flame, const double *sums, unsigned side)
{
	return sums[side] / flame->runs[side];
}

static double flame_change(const struct flame *flame, const double *sums)
{
	return flame_mean(flame, sums, DW_DIFF_AFTER) - flame_mean(flame, sums, DW_DIFF_BEFORE);
}

static uint32_t flame_kind(const struct flame *flame, const struct dw_diff_path *node)
{
	double change = flame_change(flame, node->self);
	double part = flame->largest_ns > 0 ? fabs(change) / flame->largest_ns : 0;
	uint32_t class;

	if (!node->depth)
		return KIND_THREAD;
	if (part < FLAME_LEAST)
		return KIND_SAME;
	class = part >= 1 ? FLAME_CLASSES - 1 : (uint32_t)(part * FLAME_CLASSES);
	return (change > 0 ? KIND_SLOWER : KIND_FASTER) + class;
}

static void flame_next_node(const void *context, size_t index, struct dw_picture_node *to)
{
	const struct flame *flame = context;
	const struct dw_diff_path *node = &flame->nodes[flame->order[index]];
	double change = flame_change(flame, node->total), own = flame_change(flame, node->self);

	to->label = node->name;
	to->value = (uint64_t)(flame_mean(flame, node->total, DW_DIFF_AFTER) + 0.5);
	to->self = DW_PICTURE_NO_SELF;
	to->count = 0;
	to->depth = node->depth;
	to->kind = flame_kind(flame, node);
	snprintf(flame->note, flame->note_size, "; %s before, %s%s", dw_text_ns(flame_mean(flame, node->total, DW_DIFF_BEFORE), " ").at,
	         change < 0 ? "-" : "+", dw_text_ns(fabs(change), " ").at);
	if (node->depth)
		snprintf(flame->note + strlen(flame->note), flame->note_size - strlen(flame->note),
		         "; self %s, %s%s; calls a step %.4g before, %.4g after",
		         dw_text_ns(flame_mean(flame, node->self, DW_DIFF_AFTER), " ").at, own < 0 ? "-" : "+",
		         dw_text_ns(fabs(own), " ").at, flame_mean(flame, node->calls, DW_DIFF_BEFORE),
		         flame_mean(flame, node->calls, DW_DIFF_AFTER));
	to->note = flame->note;
}

struct flame_key {
	uint32_t parent, node;
	double ns;
};

static int flame_compare(const void *left, const void *right)
{
	const struct flame_key *a = left, *b = right;

	if (a->parent != b->parent)
		return (a->parent > b->parent) - (a->parent < b->parent);
	if (a->ns < b->ns || a->ns > b->ns)
		return (a->ns < b->ns) - (a->ns > b->ns);
	return (a->node > b->node) - (a->node < b->node);
}

/* Siblings by time after, descending, and the order depth first. Returns the number of nodes that
 * the runs after have. */
static size_t flame_sort(struct dw_diff_path *nodes, size_t count, struct flame_key *keys,
                         uint32_t *order)
{
	uint32_t first = DW_MAP_NONE, at;
	size_t used = 0;

	for (uint32_t i = 0; i < count; i++) {
		keys[i] = (struct flame_key){ nodes[i].parent, i, nodes[i].total[DW_DIFF_AFTER] };
		nodes[i].child = nodes[i].sibling = DW_MAP_NONE;
	}
	qsort(keys, count, sizeof *keys, flame_compare);
	for (size_t i = count; i-- > 0; ) {
		struct dw_diff_path *node = &nodes[keys[i].node];
		uint32_t *head = node->parent == DW_MAP_NONE ? &first : &nodes[node->parent].child;

		if (!(keys[i].ns > 0))
			continue;
		node->sibling = *head;
		*head = keys[i].node;
	}
	for (at = first; at != DW_MAP_NONE; ) {
		order[used++] = at;
		if (nodes[at].child != DW_MAP_NONE) {
			at = nodes[at].child;
			continue;
		}
		while (at != DW_MAP_NONE && nodes[at].sibling == DW_MAP_NONE)
			at = nodes[at].parent;
		at = at == DW_MAP_NONE ? at : nodes[at].sibling;
	}
	return used;
}

static const char flame_style[] =
    ".dwp .c11{fill:#dbe9f8}.dwp .c12{fill:#b3d3f1}.dwp .c13{fill:#7fb4e6}.dwp .c14{fill:#4f92d6}\n"
    ".dwp .c15{fill:#fbe0dc}.dwp .c16{fill:#f6bdb4}.dwp .c17{fill:#ef9285}.dwp .c18{fill:#e8604f}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".dwp .c11{fill:#2f3c4a}.dwp .c12{fill:#2c4c6e}.dwp .c13{fill:#275d96}.dwp .c14{fill:#1f6dbd}\n"
    ".dwp .c15{fill:#4f3733}.dwp .c16{fill:#6f3a32}.dwp .c17{fill:#903a2f}.dwp .c18{fill:#b23a2c}\n"
    "}\n";

static bool flame_name_kinds(struct dw_diff *diff, double largest_ns,
                             struct dw_picture_kind kinds[KINDS])
{
	kinds[KIND_THREAD] = (struct dw_picture_kind){ "thread", DW_HUE_GREY };
	kinds[KIND_SAME] = (struct dw_picture_kind){ "self time as before", DW_HUE_STONE };
	for (unsigned i = 0; i < FLAME_CLASSES; i++) {
		double from = i ? largest_ns * i / FLAME_CLASSES : largest_ns * FLAME_LEAST;
		double to = largest_ns * (i + 1) / FLAME_CLASSES;

		for (unsigned slower = 0; slower < 2; slower++) {
			const char *name = dw_arena_printf(&diff->arena, "%s%s to %s%s", slower ? "+" : "-",
			                                   dw_text_ns(from, " ").at, slower ? "+" : "-", dw_text_ns(to, " ").at);

			kinds[(slower ? KIND_SLOWER : KIND_FASTER) + i] = (struct dw_picture_kind){
				name, (enum dw_picture_hue)(DW_HUE_COUNT + slower * FLAME_CLASSES + i) };
			if (!name)
				return false;
		}
	}
	return true;
}

static const char *flame_make_subtitle(struct dw_diff *diff, const struct flame *flame, size_t count)
{
	double gone = 0;

	for (size_t i = 0; i < count; i++)
		if (!(flame->nodes[i].total[DW_DIFF_AFTER] > 0))
			gone += flame_mean(flame, flame->nodes[i].self, DW_DIFF_BEFORE);
	return dw_arena_printf(&diff->arena, "Width: time per step after, of all threads. Colour: change of self time, "
	                                     "at most %s.%s%s%s", dw_text_ns(flame->largest_ns, " ").at,
	                       gone > 0 ? " Only before: " : "", gone > 0 ? dw_text_ns(gone, " ").at : "",
	                       gone > 0 ? "." : "");
}

static const char *flame_make_title(struct dw_diff *diff)
{
	double change = diff->pace.difference / diff->pace.before;
	size_t before = diff->sides[DW_DIFF_BEFORE].count;

	return dw_arena_printf(&diff->arena, "%+.1f%% per step: %zu run%s before, %zu after", 100 * change, before,
	                       dw_text_plural(before), diff->sides[DW_DIFF_AFTER].count);
}

int dw_diff_draw(struct dw_diff *diff, dw_put *put, void *to, struct dwell_error *error)
{
	size_t count = diff->paths ? diff->paths->count : 0;
	uint32_t *order = malloc((count + 1) * sizeof *order);
	struct flame_key *keys = malloc((count + 1) * sizeof *keys);
	struct dw_picture_kind kinds[KINDS];
	char note[512] = "";
	struct flame flame = { diff, count ? diff->paths->nodes : NULL, order,
		                   { (double)diff->sides[DW_DIFF_BEFORE].count, (double)diff->sides[DW_DIFF_AFTER].count },
		                   0, note, sizeof note };
	struct dw_picture picture = {
		.root = "all", .counted = "call", .unit = dw_text_ns, .kinds = kinds, .kind_count = KINDS,
		.node = flame_next_node, .context = &flame, .style = flame_style, .plain = true,
	};
	int code = 0;

	for (size_t i = 0; i < count; i++)
		if (flame.nodes[i].depth)
			flame.largest_ns = fmax(flame.largest_ns, fabs(flame_change(&flame, flame.nodes[i].self)));
	if (order && keys && flame_name_kinds(diff, flame.largest_ns, kinds)) {
		picture.count = count ? flame_sort(flame.nodes, count, keys, order) : 0;
		picture.title = flame_make_title(diff);
		picture.subtitle = flame_make_subtitle(diff, &flame, count);
	}
	if (picture.title && picture.subtitle)
		code = dw_picture_write(&picture, put, to, NULL, error);
	else
		code = dw_error_set(error, DWELL_E_NOMEM, "out of memory while drawing the comparison");
	free(keys);
	free(order);
	return code;
}
