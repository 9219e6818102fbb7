/*
 * layers.h - the layers that a network is built from. Each call appends the
 * layer's forward operations to the graph and returns its output; in a graph
 * for training it also leaves the backward on the tape.
 */
#pragma once

#include "graph.h"

struct conv_shape {
	int channels; /* of the output */
	int kernel;
	int stride;
	int padding;
};

/* `name` is the parameters' prefix: "layer1.0.conv1". */
struct tensor *layer_conv(struct graph *graph, const char *name, struct tensor *input,
						  const struct conv_shape *shape, enum param_init init);
struct tensor *layer_batch_norm(struct graph *graph, const char *name, struct tensor *input);
struct tensor *layer_relu(struct graph *graph, struct tensor *input);
struct tensor *layer_max_pool(struct graph *graph, struct tensor *input, int kernel, int stride,
							  int padding);
struct tensor *layer_global_average_pool(struct graph *graph, struct tensor *input);
struct tensor *layer_add(struct graph *graph, struct tensor *a, struct tensor *b);
struct tensor *layer_linear(struct graph *graph, const char *name, struct tensor *input,
							int features);

/* Batch normalization over the ranks of graph->norm_ranks (op_norm_sync.c): the whole
 * batch's statistics of `input`, and what they add to the gradient of the layer's input. */
extern const float norm_epsilon;
void norm_sync_statistics(struct graph *graph, struct tensor *input, struct tensor *statistics[2]);
void norm_sync_gradient(struct graph *graph, const struct tape_entry *entry,
						struct tensor *gradient);

/* `labels` are int32 and negative for images that do not count; `loss` gets the
 * mean over the others and `correct` how many of them were recognized. */
void layer_cross_entropy(struct graph *graph, struct tensor *logits, struct tensor *labels,
						 struct tensor *loss, struct tensor *correct);
