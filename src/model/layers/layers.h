/*
 * Layers: the tree of a model's modules, and the operators that each module caused.
 *
 * The name of a LAYER range is the path of its module ("ResNet.layer1.0.conv1"). If the path does
 * not begin with the root of the layer around it, it is a path below that layer. Modules that are
 * never called themselves (lists of modules) are added as parents of the modules in them.
 *
 * An operator belongs to the innermost layer around it. An operator of the backward pass belongs to
 * the layer of the forward operator that its LINK names, or, if the program marks the backward
 * pass itself, to the layer around it. A range of a device belongs to the layer around it, or to
 * the layer from which its flow comes. Work of a device belongs to the layer and the operator of
 * the call that submitted it.
 *
 * Invariant: the operators' self times of all nodes and of `outside` sum to those of the profile by
 * name. Those of a layer's calls, and of its operators outside calls, sum to those of the layer.
 *
 * One thread makes one pass. Memory grows with the nodes, the links, and the parts of the request.
 */
#pragma once

#include "model/core/model.h"
#include "model/time/flops.h"

struct dw_layers_ask {
	bool operators; /* by name, in each layer */
	bool calls;     /* each call of each layer; `operators` are then those of each call */
	bool uncalled;  /* also layers that were never called, of a model that was called */
	bool no_memory; /* without bytes: what a free subtracts need not be known */
};

/* Sums of a layer without its child layers. */
struct dw_layer_sums {
	uint64_t operators_ns, backward_ns; /* operators' self times: not backward; backward */
	uint64_t device_ns;                 /* self time of ranges of devices, and device time (as in
	                                     * device/sums.h) of calls that are not in the backward */
	uint64_t backward_device_ns;        /* device time of calls in the backward pass */
	uint64_t device_events;             /* events of a device, of both passes */
	int64_t bytes, backward_bytes;      /* allocated less freed, of the CPU's memory */
	int64_t device_bytes;               /* likewise of devices, outside the backward pass */
	uint64_t flops;                     /* of both passes */
};

/* All operators of one name in a layer, or in one call of it. */
struct dw_layer_operator {
	const char *name;
	uint64_t calls, backward_calls;
	uint64_t total_ns, backward_total_ns; /* inclusive; a recursive call counts once */
	int64_t total_bytes, device_total_bytes; /* like total_ns, of the forward calls */
	uint64_t device_total_ns;             /* the same: device time of calls in it */
	struct dw_layer_sums own;             /* its own, without the operators within it */
};

/* Consecutive entries of dw_layers.operators, in order of their first calls. */
struct dw_layer_operators {
	size_t first, count;
};

struct dw_layer_call {
	uint32_t layer;            /* index */
	uint32_t number;           /* in its layer, from 0, in order of start */
	uint32_t thread;           /* index into source threads */
	uint64_t start_ns, total_ns, self_ns;
	bool open;                 /* it did not end, or its end was lost */
	struct dw_layer_sums own, all; /* `all` with the calls within it; both passes */
	struct dw_layer_operators operators;
};

struct dw_layer {
	const char *path, *name;  /* "ResNet.layer1", "layer1" */
	const char *type;         /* "Conv2d"; or NULL */
	uint32_t parent;          /* index, smaller than its own, or DW_NO_INDEX */
	uint32_t depth;
	bool leaf;                /* it has no child layers */
	uint64_t calls;           /* 0: never called, or only in the backward pass */
	uint64_t total_ns;        /* of its calls; a recursive call counts once */
	uint64_t self_ns;         /* without child layers */
	uint64_t open;            /* number of `calls` that did not end or whose end was lost */
	uint64_t parameters;      /* number of elements, without those of child layers */
	struct dw_layer_sums own, all; /* `all` with the layers below */
	struct dw_layer_operators operators; /* if calls were requested: those outside calls */
	size_t first_call, call_count; /* in dw_layers.calls */
};

struct dw_layers {
	struct dw_layer *rows;    /* depth first, siblings in order of first calls */
	size_t count;
	struct dw_layer_call *calls;         /* by layer, then by start */
	size_t call_count;
	struct dw_layer_operator *operators; /* by layer or call */
	size_t operator_count;
	struct dw_layer_sums outside; /* outside any layer */
	struct dw_layer_operators outside_operators;
	bool has_backward, has_memory, has_backward_memory, has_flops, has_parameters;
	bool has_device, has_backward_device, has_device_events, has_device_memory;
};

/* `ask` may be NULL: only layers. Returns NULL with `error` when out of memory. */
const struct dw_layers *dw_model_layers(struct dw_model *model, const struct dw_layers_ask *ask,
                                        struct dwell_error *error);

enum dw_layer_choice {
	DW_LAYER_LEFT_OUT, /* neither the layer nor one below it was chosen */
	DW_LAYER_ABOVE,    /* not chosen, but a layer below it is */
	DW_LAYER_CHOSEN,   /* chosen */
	DW_LAYER_BELOW,    /* below a chosen layer, whose sums include it */
};

/* Finds the layers that a list of paths and patterns ("Net.stem,Net.block.*") names; NULL names
 * all. Sets *choices to an array by row, in the model's arena. Returns DWELL_E_NAME, with the
 * nearest layer in the message, if a pattern matches no layer. */
int dw_layers_choose(struct dw_model *model, const struct dw_layers *layers, const char *paths,
                     enum dw_layer_choice **choices, struct dwell_error *error);

static inline void dw_layer_sums_add(struct dw_layer_sums *into, const struct dw_layer_sums *from)
{
	into->operators_ns += from->operators_ns;
	into->backward_ns += from->backward_ns;
	into->device_ns += from->device_ns;
	into->backward_device_ns += from->backward_device_ns;
	into->device_events += from->device_events;
	into->bytes += from->bytes;
	into->backward_bytes += from->backward_bytes;
	into->device_bytes += from->device_bytes;
	into->flops = dw_flops_add(into->flops, from->flops);
}
