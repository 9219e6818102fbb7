/*
 * Makes the product from the tree: rows depth first, calls by layer, operators by place.
 *
 * Only this file converts sums to nanoseconds.
 */

#include "base/free.h"
#include "base/numbers.h"
#include "base/order.h"
#include "model/layers/layer_tree.h"

struct taking {
	struct dw_layer_tree *tree;
	const struct dw_layers_ask *ask;
	struct dw_layers *layers;
	double ns_per_tick;
	struct dw_layer_ticks *own, *all; /* by node: of its places; with the nodes below it */
	struct dw_layer_ticks *call_all;  /* by place: with the calls within it */
	bool *used;                       /* by node: the node or one below it has a row */
	uint32_t *rows;                   /* by node: its row */
	size_t *first_entry;              /* by place: its first index in `order` */
	uint32_t *order;                  /* entries by place, then in order of their first calls */
};

static uint64_t rows_ns(const struct taking *taking, uint64_t ticks)
{
	return dw_whole((double)ticks * taking->ns_per_tick + 0.5);
}

static struct dw_layer_sums rows_convert_sums(const struct taking *taking, const struct dw_layer_ticks *from)
{
	return (struct dw_layer_sums){
		.operators_ns = rows_ns(taking, from->operators),
		.backward_ns = rows_ns(taking, from->backward),
		.device_ns = rows_ns(taking, from->device) + from->events_ns,
		.backward_device_ns = from->backward_events_ns,
		.device_events = from->events,
		.bytes = from->bytes,
		.backward_bytes = from->backward_bytes,
		.device_bytes = from->device_bytes,
		.flops = from->flops,
	};
}

/* ---- sums over the tree ------------------------------------------------------------------- */

static bool rows_is_used(const struct dw_layer_node *node, const struct dw_layer_ticks *own)
{
	return node->calls || own->operators || own->backward || own->device || own->bytes ||
	       own->backward_bytes || own->device_bytes || own->events;
}

static void rows_add_up(struct taking *taking)
{
	const struct dw_layer_tree *tree = taking->tree;

	for (size_t i = tree->place_count; i-- > 0;) {
		const struct dw_layer_place *place = &tree->places[i];

		if (place->node == DW_LAYER_LATE)
			continue;
		dw_layer_ticks_add(&taking->own[place->node], &place->ticks);
		dw_layer_ticks_add(&taking->call_all[i], &place->ticks);
		if (place->around)
			dw_layer_ticks_add(&taking->call_all[place->around], &taking->call_all[i]);
	}
	for (size_t i = tree->count; i-- > 1;) {
		const struct dw_layer_node *node = &tree->nodes[i];

		dw_layer_ticks_add(&taking->all[i], &taking->own[i]);
		taking->used[i] |= taking->ask->uncalled || rows_is_used(node, &taking->own[i]);
		if (node->parent) {
			dw_layer_ticks_add(&taking->all[node->parent], &taking->all[i]);
			taking->used[node->parent] |= taking->used[i];
		}
	}
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool rows_place_counts(const struct dw_layer_tree *tree, const struct dw_layer_entry *entry)
{
	return tree->places[entry->place].node != DW_LAYER_LATE && (entry->calls || entry->backward_calls);
}

/* Sorts entries by place, as a counting sort: counts those of each place, then places them. */
static void rows_sort_operators(struct taking *taking)
{
	const struct dw_layer_tree *tree = taking->tree;
	size_t at = 0;

	for (size_t i = 1; i < tree->entry_count; i++)
		if (rows_place_counts(tree, &tree->entries[i]))
			taking->first_entry[tree->entries[i].place]++;
	for (size_t i = 0; i <= tree->place_count; i++) {
		size_t count = taking->first_entry[i];

		taking->first_entry[i] = at;
		at += count;
	}
	for (size_t i = 1; i < tree->entry_count; i++)
		if (rows_place_counts(tree, &tree->entries[i]))
			taking->order[taking->first_entry[tree->entries[i].place]++] = (uint32_t)i;
	/* Each first_entry has moved to the first entry of the next place: moves them back. */
	memmove(taking->first_entry + 1, taking->first_entry, tree->place_count * sizeof *taking->first_entry);
	taking->first_entry[0] = 0;
}

static struct dw_layer_operators rows_make_operators(struct taking *taking, uint32_t place)
{
	const struct dw_layer_tree *tree = taking->tree;
	struct dw_layers *layers = taking->layers;
	struct dw_layer_operators taken = { layers->operator_count, 0 };

	for (size_t i = taking->first_entry[place]; i < taking->first_entry[place + 1]; i++) {
		const struct dw_layer_entry *entry = &tree->entries[taking->order[i]];
		struct dw_layer_operator *to = &layers->operators[layers->operator_count++];

		*to = (struct dw_layer_operator){ .name = tree->model->symbols[tree->model->row_symbol[entry->row]].name,
			.calls = entry->calls, .backward_calls = entry->backward_calls, .total_ns = rows_ns(taking, entry->total),
			.total_bytes = entry->total_bytes, .device_total_bytes = entry->device_total_bytes,
			.device_total_ns = entry->device_total_ns, .backward_total_ns = rows_ns(taking, entry->backward_total),
			.own = rows_convert_sums(taking, &entry->ticks) };
		taken.count++;
	}
	return taken;
}

/* ---- calls ----------------------------------------------------------------------------------- */

DW_ORDER(rows_compare_calls, struct dw_layer_call, DW_UP(layer) DW_UP(start_ns) DW_UP(number))

static void rows_make_call(struct taking *taking, uint32_t index)
{
	const struct dw_layer_place *place = &taking->tree->places[index];
	struct dw_layer_call *call = &taking->layers->calls[taking->layers->call_count++];

	*call = (struct dw_layer_call){ .layer = taking->rows[place->node], .number = index, .thread = place->thread,
		.start_ns = place->start_ns, .total_ns = rows_ns(taking, place->total), .self_ns = rows_ns(taking, place->self),
		.open = place->open, .own = rows_convert_sums(taking, &place->ticks),
		.all = rows_convert_sums(taking, &taking->call_all[index]), .operators = rows_make_operators(taking, index) };
}

static void rows_make_calls(struct taking *taking)
{
	const struct dw_layer_tree *tree = taking->tree;
	struct dw_layers *layers = taking->layers;

	for (uint32_t i = 1; i < tree->place_count; i++)
		if (tree->places[i].counted)
			rows_make_call(taking, i);
	DW_SORT(layers->calls, layers->call_count, rows_compare_calls);
	for (size_t i = 0; i < layers->call_count; i++) {
		struct dw_layer_call *call = &layers->calls[i];
		struct dw_layer *row = &layers->rows[call->layer];

		if (!row->call_count)
			row->first_call = i;
		call->number = (uint32_t)row->call_count++;
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The number of elements of all tensors. The shapes of a layer are those of its parameters. */
static uint64_t rows_count_elements(const struct dw_entry_shapes *shapes)
{
	const uint8_t *tensor = shapes ? shapes->tensors : NULL;
	uint64_t elements = 0;

	for (uint32_t i = 0; shapes && i < shapes->entry.aux; i++, tensor += 8 + tensor[1] * 8) {
		uint64_t product = 1;
		int64_t size;

		for (unsigned d = 0; d < tensor[1]; d++) {
			memcpy(&size, tensor + 8 + (size_t)d * 8, sizeof size);
			product *= size > 0 ? (uint64_t)size : 0;
		}
		elements += product;
	}
	return elements;
}

static void rows_make_layer(struct taking *taking, uint32_t index)
{
	const struct dw_layer_tree *tree = taking->tree;
	const struct dw_layer_node *node = &tree->nodes[index];
	struct dw_layers *layers = taking->layers;
	struct dw_layer *row = &layers->rows[layers->count];
	const char *dot = node->parent ? node->path + tree->nodes[node->parent].path_length : NULL;

	taking->rows[index] = (uint32_t)layers->count++;
	row->path = node->path;
	row->name = dot ? dot + 1 : node->path;
	row->parent = node->parent ? taking->rows[node->parent] : DW_NO_INDEX;
	row->depth = node->parent ? layers->rows[row->parent].depth + 1 : 0;
	row->leaf = true;
	if (node->parent)
		layers->rows[row->parent].leaf = false;
	if (node->symbol != DW_NO_INDEX) {
		row->type = tree->model->symbols[node->symbol].detail;
		row->parameters = rows_count_elements(tree->model->symbols[node->symbol].shapes);
	}
	row->calls = node->calls;
	row->open = node->open;
	row->total_ns = rows_ns(taking, node->total);
	row->self_ns = rows_ns(taking, node->self);
	row->own = rows_convert_sums(taking, &taking->own[index]);
	row->all = rows_convert_sums(taking, &taking->all[index]);
	row->operators = rows_make_operators(taking, node->place);
	layers->has_parameters |= row->parameters > 0;
}

static void rows_make_layers(struct taking *taking)
{
	const struct dw_layer_tree *tree = taking->tree;
	uint32_t at = tree->nodes[0].first_child;

	while (at) {
		if (taking->used[at])
			rows_make_layer(taking, at);
		if (taking->used[at] && tree->nodes[at].first_child) {
			at = tree->nodes[at].first_child;
			continue;
		}
		while (at && !tree->nodes[at].next)
			at = tree->nodes[at].parent;
		at = at ? tree->nodes[at].next : 0;
	}
}

static void rows_make_all(struct taking *taking)
{
	struct dw_layers *layers = taking->layers;

	rows_add_up(taking);
	rows_sort_operators(taking);
	rows_make_layers(taking);
	rows_make_calls(taking);
	layers->outside = rows_convert_sums(taking, &taking->own[0]);
	layers->outside_operators = rows_make_operators(taking, 0);
	for (size_t i = 0; i < taking->tree->count; i++) {
		layers->has_backward |= taking->own[i].backward > 0;
		layers->has_backward_memory |= taking->own[i].backward_bytes != 0;
		layers->has_flops |= taking->own[i].flops > 0;
		layers->has_device |= taking->own[i].device > 0 || taking->own[i].events_ns > 0;
		layers->has_backward_device |= taking->own[i].backward_events_ns > 0;
		layers->has_device_events |= taking->own[i].events > 0;
	}
}

bool dw_layers_take(struct dw_layer_tree *tree, const struct dw_layers_ask *ask, struct dw_layers *layers)
{
	struct dw_arena *arena = &tree->model->arena;
	struct taking taking = { .tree = tree, .ask = ask, .layers = layers,
		.ns_per_tick = tree->model->source->files[0].clock.ns_per_tick };
	size_t nodes = tree->count, places = tree->place_count;
	bool done;

	layers->rows = dw_arena_alloc(arena, nodes * sizeof *layers->rows);
	layers->calls = dw_arena_alloc(arena, (ask->calls ? places : 1) * sizeof *layers->calls);
	layers->operators = dw_arena_alloc(arena, tree->entry_count * sizeof *layers->operators);
	done = layers->rows && layers->calls && layers->operators && DW_NEW(&taking.own, nodes) &&
	       DW_NEW(&taking.all, nodes) && DW_NEW(&taking.call_all, places) && DW_NEW(&taking.used, nodes) &&
	       DW_NEW(&taking.rows, nodes) && DW_NEW(&taking.first_entry, places + 2) &&
	       DW_NEW(&taking.order, tree->entry_count);
	if (done)
		rows_make_all(&taking);
	DW_FREE(taking.own, taking.all, taking.call_all, taking.used, taking.rows, taking.first_entry, taking.order);
	return done;
}
