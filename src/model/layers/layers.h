/*
 * Layers: the tree of a model's modules, and which operators each caused.
 *
 * A LAYER range carries the path of its module ("ResNet.layer1.0.conv1"). One that
 * begins with another name than the layer around it lies below that one; modules that
 * are never called themselves (lists of others) are made up for their children. An
 * operator belongs to the innermost layer around it; one of the backward pass to the
 * layer of the forward operator that its LINK names, or to the layer that brackets it
 * where a program marks its backward pass itself. A range of a device belongs to the
 * layer around it, or to that of the place its flow comes from.
 *
 * Invariant: operators' self times over all nodes and `outside` are those of the flat
 * product; over a layer's calls and its own remainder, those of the layer. One pass in
 * one thread; memory grows with the nodes, the links, and what is asked for.
 */
#ifndef DW_MODEL_LAYERS_LAYERS_H
#define DW_MODEL_LAYERS_LAYERS_H

#include "model/core/model.h"

struct dw_layers_ask {
	bool operators; /* by name, within each layer */
	bool calls;     /* each call of each layer; operators then within each call */
	bool uncalled;  /* layers of a model that was called, which were named and never called */
};

/* What is in a layer and in none of its child layers. */
struct dw_layer_sums {
	uint64_t operators_ns, backward_ns; /* operators' self times: all but backward, backward */
	uint64_t device_ns;                 /* ranges of devices, less those within them */
	int64_t bytes, backward_bytes;      /* allocated less freed */
	uint64_t flops;                     /* of both passes */
};

/* All operators of a name in one layer, or in one call of it. */
struct dw_layer_operator {
	const char *name;
	uint64_t calls, backward_calls;
	uint64_t total_ns, backward_total_ns; /* inclusive; of one within itself, once */
	int64_t total_bytes;                  /* the same of the forward calls */
	struct dw_layer_sums own;             /* self */
};

/* A stretch of dw_layers.operators, as they were first seen. */
struct dw_layer_operators {
	size_t first, count;
};

struct dw_layer_call {
	uint32_t layer;            /* index */
	uint32_t number;           /* from 0, by start, by layer */
	uint32_t thread;           /* index into source threads */
	uint64_t start_ns, total_ns, self_ns;
	bool open;                 /* it did not end, or its end is lost */
	struct dw_layer_sums own, all; /* `all` with the calls within; both passes */
	struct dw_layer_operators operators;
};

struct dw_layer {
	const char *path, *name;  /* "ResNet.layer1", "layer1" */
	const char *type;         /* "Conv2d"; or NULL */
	uint32_t parent;          /* index, before this one, or DW_NO_INDEX */
	uint32_t depth;
	bool leaf;                /* no layer lies below it */
	uint64_t calls;           /* 0: never called itself, or in the backward pass only */
	uint64_t total_ns;        /* of the calls; of a layer within itself, once */
	uint64_t self_ns;         /* less child layers */
	uint64_t open;            /* of `calls`, those that did not end or whose end is lost */
	uint64_t parameters;      /* its own, counted in elements */
	struct dw_layer_sums own, all; /* `all` with the layers below */
	struct dw_layer_operators operators; /* with calls asked for: those in none of its calls */
	size_t first_call, call_count; /* in dw_layers.calls */
};

struct dw_layers {
	struct dw_layer *rows;    /* depth first, siblings as they were first called */
	size_t count;
	struct dw_layer_call *calls;         /* by layer, then by start */
	size_t call_count;
	struct dw_layer_operator *operators; /* by layer or call */
	size_t operator_count;
	struct dw_layer_sums outside; /* of operators in no layer */
	struct dw_layer_operators outside_operators;
	bool has_backward, has_memory, has_backward_memory, has_flops, has_device, has_parameters;
};

/* `ask` NULL: layers alone. NULL with `error` when out of memory. */
const struct dw_layers *dw_model_layers(struct dw_model *model, const struct dw_layers_ask *ask,
                                        struct dwell_error *error);

enum dw_layer_choice {
	DW_LAYER_LEFT_OUT, /* neither it nor one below it was asked for */
	DW_LAYER_ABOVE,    /* it is not, one below it is */
	DW_LAYER_CHOSEN,   /* it is */
	DW_LAYER_BELOW,    /* it lies below one that is, which covers it */
};

/* Which layers a list of paths and patterns ("Net.stem,Net.block.*"; NULL: all) asks for,
 * by row, in the model's arena. DWELL_E_NAME, with the nearest: a path that names none. */
int dw_layers_choose(struct dw_model *model, const struct dw_layers *layers, const char *paths,
                     enum dw_layer_choice **choices, struct dwell_error *error);

static inline void dw_layer_sums_add(struct dw_layer_sums *into, const struct dw_layer_sums *from)
{
	into->operators_ns += from->operators_ns;
	into->backward_ns += from->backward_ns;
	into->device_ns += from->device_ns;
	into->bytes += from->bytes;
	into->backward_bytes += from->backward_bytes;
	into->flops += from->flops;
}

#endif
