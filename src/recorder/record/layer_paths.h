/* Which layers are recorded. */
#pragma once

#include "record/record.h"

/* Stores the path of the layer with this id. */
void dw_layers_remember(uint32_t id, const char *path);
/* A layer's path, and whether the current list selects it. */
#define DW_LAYER_CHAINS 4096u
struct dw_layer {
	struct dw_layer *next;
	uint32_t id;
	/* atomic, relaxed: it refers to no other memory. Session << 32 | generation | wanted; a list's
	 * generation is even. */
	uint64_t decision;
	char path[];
};
/* Pushed with a compare-and-swap, never removed from. */
extern struct dw_layer *dw_layer_chains[DW_LAYER_CHAINS];
static inline struct dw_layer *dw_layer_find(uint32_t id)
{
	/* Pairs with the release in dw_layers_remember(): layers are complete. */
	struct dw_layer *layer =
		__atomic_load_n(&dw_layer_chains[id % DW_LAYER_CHAINS], __ATOMIC_ACQUIRE);

	while (layer && layer->id != id)
		layer = layer->next;
	return layer;
}
/* Decides by the list of this generation, and stores the decision. */
bool dw_layer_decide(struct dw_layer *layer, struct dw_control *control, uint32_t generation);
/* Whether a list of layers can be set; if not, `error` says why. */
bool dw_layers_fit(const char *list, struct dwell_error *error);
/* Sets the list in a control page that no other process has mapped yet. */
void dw_layers_fill(struct dw_control *control, const char *list);
