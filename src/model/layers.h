/*
 * Layers: the tree of a model's modules, and which operators each caused.
 *
 * A LAYER range carries the path of its module ("ResNet.layer1.0.conv1"). One that
 * begins with another name than the layer around it lies below that one; modules that
 * are never called themselves (lists of others) are made up for their children. An
 * operator belongs to the innermost layer around it; one of the backward pass to the
 * layer of the forward operator that its LINK names, or to the layer that brackets it
 * where a program marks its backward pass itself.
 *
 * Invariant: operators' self times over all nodes and `outside` are those of the flat
 * product. One pass in one thread; memory grows with the nodes and the links.
 */
#ifndef DW_MODEL_LAYERS_H
#define DW_MODEL_LAYERS_H

#include "model/model.h"

/* What is in a layer and in none of its child layers. */
struct dw_layer_sums {
	uint64_t operators_ns, backward_ns; /* operators' self times: all but backward, backward */
	int64_t bytes, backward_bytes;      /* allocated less freed */
	uint64_t flops;                     /* of both passes */
};

struct dw_layer {
	const char *path, *name;  /* "ResNet.layer1", "layer1" */
	uint32_t parent;          /* index, before this one, or DW_NO_INDEX */
	uint32_t depth;
	uint64_t calls;           /* 0: never called itself, or in the backward pass only */
	uint64_t total_ns;        /* of the calls; of a layer within itself, once */
	uint64_t self_ns;         /* less child layers */
	uint64_t open;            /* of `calls`, those that did not end or whose end is lost */
	struct dw_layer_sums own, all; /* `all` with the layers below */
};

struct dw_layers {
	struct dw_layer *rows;    /* depth first, siblings as they were first called */
	size_t count;
	struct dw_layer_sums outside; /* of operators in no layer */
	bool has_backward, has_memory, has_flops;
};

/* In the model's arena, computed anew at each call; NULL with `error` when out of memory. */
const struct dw_layers *dw_model_layers(struct dw_model *model, struct dwell_error *error);

#endif
