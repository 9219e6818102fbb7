/*
 * net.h - torchvision's ResNet-18 for one-channel images and ten classes, with
 * a first convolution of 3x3, as a list of operations with its loss.
 */
#pragma once

#include "graph.h"

struct net {
	struct graph graph;
	struct tensor *images; /* bound: batch x 1 x height x width, row-major */
	struct tensor *labels; /* bound: batch, int32 */
	struct tensor *loss, *correct;
};

struct net_shape {
	int batch, height, width;
	struct ranks *norm_ranks; /* batch normalization by the statistics of all their parts */
	bool frozen_norm; /* batch normalization by running statistics in training too */
};

/* With `training` the backward phase is appended; the caller may append an
 * optimizer phase and must call graph_finish. */
void net_init(struct net *net, const struct dnn *dnn, struct params *params,
			  const struct net_shape *shape, bool training);
void net_reset(struct net *net);
float net_loss(const struct net *net);
/* Images recognized; with ranks, on average of the ranks. */
float net_correct(const struct net *net);
