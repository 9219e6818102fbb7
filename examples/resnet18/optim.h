/*
 * optim.h - SGD with momentum and RMSprop, as PyTorch defines them. The update
 * is the third phase of the list of operations: one operation a parameter.
 */
#pragma once

#include "graph.h"

enum optimizer_kind { OPTIMIZER_SGD, OPTIMIZER_RMSPROP };

struct optimizer {
	enum optimizer_kind kind;
	float learning_rate;
	float momentum;
};

const char *optimizer_name(enum optimizer_kind kind);

/* `optimizer` must outlive the graph. */
void optimizer_append(const struct optimizer *optimizer, struct graph *graph);
