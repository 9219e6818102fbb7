/*
 * graph.h - a network as a list of operations: name, reads, writes, run.
 *
 * Building appends operations (the op_*.c files); each forward operation that
 * has a gradient also leaves an entry on the tape, and graph_build_backward
 * walks the tape in reverse to append the backward operations. The finished
 * list is all that running needs: tensors live from the first operation that
 * writes them to the last that uses them.
 */
#pragma once

#include <dwell/probe.h>

#include "params.h"
#include "tensor.h"

enum {
	OP_READS_MAX = 6,
	OP_WRITES_MAX = 5,
	OP_ARGUMENTS_MAX = OP_READS_MAX + OP_WRITES_MAX,
	TAPE_TENSORS_MAX = 4,
	GRAPH_LAYER_MAX = 64,
	GRAPH_LAYER_DEPTH_MAX = 8
};

enum op_phase { OP_FORWARD, OP_BACKWARD, OP_OPTIMIZER, OP_PHASE_COUNT };

/* For operations that oneDNN does not run: no argument number. */
#define OP_PLAIN 0

struct op {
	const char *name;            /* what it does: "convolution" */
	char layer[GRAPH_LAYER_MAX]; /* for which layer: "ResNet.layer1.0.conv1" */
	enum op_phase phase;
	int read_count, write_count;
	struct tensor *reads[OP_READS_MAX];
	struct tensor *writes[OP_WRITES_MAX];
	void (*run)(const struct op *op, const struct dnn *dnn);
	const void *settings; /* of a plain operation; outlives the graph */
	bool communicates;    /* with other ranks */
	dnnl_primitive_t primitive;
	int argument_count;
	dnnl_exec_arg_t arguments[OP_ARGUMENTS_MAX];
	struct dwell_site site; /* where dwell sees it (profile.c) */
	uint32_t layer_ids[GRAPH_LAYER_DEPTH_MAX]; /* of "ResNet", "ResNet.layer1", ...; 0: not named yet */
};

struct graph;
struct profile_layers;
struct ranks;

/* What a forward operation remembers for its backward. */
struct tape_entry {
	void (*append_backward)(struct graph *graph, struct tape_entry *entry);
	char layer[GRAPH_LAYER_MAX];
	dnnl_primitive_desc_t forward; /* owned; NULL for plain operations */
	struct tensor *input, *output;
	struct tensor *saved[TAPE_TENSORS_MAX];
	struct param *weight, *bias;
	dnnl_dims_t kernel, strides, padding;
};

struct graph {
	const struct dnn *dnn;
	struct params *params;
	bool training;
	struct ranks *norm_ranks; /* that normalize by the statistics of all their parts; or NULL */
	bool frozen_norm; /* batch normalization by running statistics, which stay as they are */
	char layer[GRAPH_LAYER_MAX]; /* the layer of the operations being appended */
	enum op_phase phase;         /* and their phase */
	struct op *ops;
	int op_count, op_capacity;
	int phase_first[OP_PHASE_COUNT + 1];
	struct tensor **tensors;
	int tensor_count, tensor_capacity;
	struct tape_entry *tape;
	int tape_count, tape_capacity;
};

void graph_init(struct graph *graph, const struct dnn *dnn, struct params *params, bool training);
void graph_reset(struct graph *graph);

/* Building. */
void graph_set_layer(struct graph *graph, const char *layer);
struct tensor *graph_tensor(struct graph *graph, enum tensor_category category,
							enum tensor_lifetime lifetime, const char *name,
							const dnnl_memory_desc_t *layout);
struct op *graph_plain_op(struct graph *graph, const char *name,
						  void (*run)(const struct op *, const struct dnn *));
struct op *graph_kernel_op(struct graph *graph, const char *name,
						   const_dnnl_primitive_desc_t kernel);
void op_reads(struct op *op, int argument, struct tensor *tensor);
void op_writes(struct op *op, int argument, struct tensor *tensor);
struct tape_entry *graph_tape(struct graph *graph, struct tensor *input, struct tensor *output);

/* The tensor in another layout: itself if it is, else the result of a reorder. */
struct tensor *graph_in_layout(struct graph *graph, struct tensor *tensor,
							   const dnnl_memory_desc_t *layout);
/* For a result in the kernel's own layout: `staging` before the op, `settle` after it. */
struct tensor *graph_staging(struct graph *graph, struct tensor *target,
							 const dnnl_memory_desc_t *layout);
void graph_settle(struct graph *graph, struct tensor *staging, struct tensor *target);
/* A gradient of `tensor` is known; a second one is added to the first. */
void graph_add_gradient(struct graph *graph, struct tensor *tensor, struct tensor *gradient);

void graph_build_backward(struct graph *graph);
void graph_begin_phase(struct graph *graph, enum op_phase phase);
void graph_finish(struct graph *graph);

/* Running. */
void graph_run(const struct graph *graph, enum op_phase phase);
/* One operation, of a list that is run in its order; `open`: the layers before it. */
void graph_run_op(const struct graph *graph, int index, struct profile_layers *open);
