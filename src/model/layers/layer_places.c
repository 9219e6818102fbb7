/*
 * Places: where the sums of operators go, and to which layer a late one belongs.
 *
 * The walk makes places and links while it meets them; when it is through, each late
 * place finds the one that its link names. A link may lead to another late place (a
 * backward pass that was itself differentiated): that one's counts.
 */
#include <stdlib.h>

#include "base/grow.h"
#include "model/layers/layer_tree.h"

#define MOST_HOPS 16 /* from one backward pass to the next */

bool dw_layer_places_make(struct dw_layer_tree *tree)
{
	if (!DW_GROW(&tree->entries, &tree->entry_capacity, 0))
		return false;
	tree->entry_count = 1;
	/* place 0, of node 0 */
	if (!DW_GROW(&tree->places, &tree->place_capacity, 0))
		return false;
	tree->place_count = 1;
	return true;
}

void dw_layer_places_reset(struct dw_layer_tree *tree)
{
	free(tree->places);
	free(tree->links);
	free(tree->entries);
	dw_map_reset(&tree->by_name);
}

uint32_t dw_layer_place(struct dw_layer_tree *tree, uint32_t node)
{
	struct dw_layer_place *place =
	    tree->place_count < UINT32_MAX
	        ? DW_GROW(&tree->places, &tree->place_capacity, tree->place_count) : NULL;

	if (!place)
		return 0;
	place->node = node;
	return (uint32_t)tree->place_count++;
}

uint32_t dw_layer_late(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread)
{
	uint32_t index = dw_layer_place(tree, DW_LAYER_LATE);

	if (index) {
		tree->places[index].sequence = sequence;
		tree->places[index].thread = thread;
	}
	return index;
}

bool dw_layer_link(struct dw_layer_tree *tree, uint64_t sequence, uint32_t thread, uint32_t place)
{
	struct dw_layer_link *link = DW_GROW(&tree->links, &tree->link_capacity, tree->link_count);

	if (!link)
		return false;
	*link = (struct dw_layer_link){ sequence, thread, place };
	tree->link_count++;
	return true;
}

/* ---- operators by name ---------------------------------------------------------------- */

uint32_t dw_layer_entry(struct dw_layer_tree *tree, uint32_t place, uint32_t row)
{
	uint32_t hash = dw_map_hash((uint64_t)place << 32 | row), found;
	struct dw_layer_entry *entry;

	found = DW_MAP_FIND(&tree->by_name, hash, i, tree->entries[i].place == place &&
	                                             tree->entries[i].row == row);
	if (found != DW_MAP_NONE)
		return found;
	entry = DW_GROW(&tree->entries, &tree->entry_capacity, tree->entry_count);
	if (!entry || !dw_map_add(&tree->by_name, hash, (uint32_t)tree->entry_count))
		return 0;
	entry->place = place;
	entry->row = row;
	return (uint32_t)tree->entry_count++;
}

/* ---- what was late ---------------------------------------------------------------------- */

static int compare_links(const void *left, const void *right)
{
	const struct dw_layer_link *a = left, *b = right;

	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static uint32_t settled(const struct dw_layer_tree *tree, uint32_t place)
{
	for (int hops = 0; tree->places[place].node == DW_LAYER_LATE; hops++) {
		struct dw_layer_link wanted = { tree->places[place].sequence, tree->places[place].thread, 0 };
		const struct dw_layer_link *link =
		    tree->link_count && hops < MOST_HOPS
		        ? bsearch(&wanted, tree->links, tree->link_count, sizeof *tree->links, compare_links)
		        : NULL;

		place = link ? link->place : 0;
	}
	return place;
}

/* Operators of late places join those of the place; in the order of their first calls. */
static bool settle_entries(struct dw_layer_tree *tree)
{
	for (uint32_t i = 1, count = (uint32_t)tree->entry_count; i < count; i++) {
		const struct dw_layer_entry from = tree->entries[i];
		struct dw_layer_entry *to;
		uint32_t index;

		if (tree->places[from.place].node != DW_LAYER_LATE)
			continue;
		index = dw_layer_entry(tree, tree->places[from.place].around, from.row);
		if (!index)
			return false;
		to = &tree->entries[index];
		to->calls += from.calls;
		to->backward_calls += from.backward_calls;
		to->total += from.total;
		to->backward_total += from.backward_total;
		to->total_bytes += from.total_bytes;
		dw_layer_ticks_add(&to->ticks, &from.ticks);
	}
	return true;
}

bool dw_layer_settle(struct dw_layer_tree *tree)
{
	if (tree->link_count)
		qsort(tree->links, tree->link_count, sizeof *tree->links, compare_links);
	for (uint32_t i = 1; i < tree->place_count; i++) {
		struct dw_layer_place *place = &tree->places[i];

		if (place->node != DW_LAYER_LATE)
			continue;
		place->around = settled(tree, i);
		dw_layer_ticks_add(&tree->places[place->around].ticks, &place->ticks);
	}
	return settle_entries(tree);
}
